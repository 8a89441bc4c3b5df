"""What the rollout does at the seams: rows, history, environment and the graded trace."""

from __future__ import annotations

import json

import pytest
from bfcl_eval.eval_checker.multi_turn_eval import multi_turn_checker

from tests.perturbations.probes.runs import run
from tests.test_rollout import Script, calling
from toolcal import tables
from toolcal.models.protocol import Reply
from toolcal.perturbations.probes import cri


def said(text):
    return {"role": "assistant", "content": text}


@pytest.fixture
def case(bfcl_cases):
    """`mv` arrives at turn 2, turn 1 is the decisive one."""
    return bfcl_cases["miss_func"][1]


def rows(found, *columns):
    names = ["turn", "step", "attempt", *columns]
    return [tuple(row[name] for name in names) for row in tables.records(found.trajectories)]


def events(found):
    columns = ["turn", "step", "attempt", "seam", "triggered", "reason"]
    return [tuple(row) for row in found.events[columns].to_numpy()]


def test_sri_drops_the_halt_from_the_history_and_asks_again(bfcl, case):
    model = Script(calling(("pwd", "{}")), said("That is all."), calling(("ls", "{}")), said("Now it is."))
    found = run(bfcl, [case], model, "sri")
    assert rows(found, "content", "executed", "retracted")[:4] == [
        (0, 0, 0, None, 1, False),
        (0, 1, 0, "That is all.", 0, False),
        (0, 1, 1, None, 1, False),
        (0, 2, 0, "Now it is.", 0, False),
    ]
    assert events(found)[:2] == [(0, 1, 0, "halt", True, "no_call"), (0, 2, 0, "halt", False, "once_a_turn")]
    read = model.requests[2].messages
    assert [message["role"] for message in read] == ["user", "assistant", "tool", "system"]
    assert read[-1]["content"] == found.events["appended"][0]
    assert "pwd.current_working_directory" in read[-1]["content"]
    assert model.requests[2].seed != model.requests[1].seed
    assert model.requests[3].messages[: len(read)] == read


def test_sri_leaves_the_halt_in_the_history_where_its_variant_says_so(bfcl, case):
    model = Script(said("That is all."))
    run(bfcl, [case], model, "sri", variant="no_history_edit")
    assert [message["content"] for message in model.requests[1].messages[1:-1]] == ["That is all."]


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (said(""), "empty"),
        (calling(("ls", '{"a": ')), "malformed_call"),
        (said("[ls(a=True)]"), "no_call"),  # it leaked, and is not executed
        (Reply(said("I would now"), "length"), "truncated"),
    ],
)
def test_every_emission_that_leaves_nothing_to_execute_is_a_halt(reply, reason, bfcl, case):
    model = Script(reply, calling(("ls", "{}")))
    found = run(bfcl, [case], model, "sri")
    assert events(found)[0] == (0, 0, 0, "halt", True, reason)
    assert [message["role"] for message in model.requests[1].messages] == ["user", "system"]
    assert found.trajectories["executed"][1] == 1


@pytest.mark.parametrize("failure", ["infra_error", "context_exceeded"])
def test_a_failure_is_no_halt(failure, bfcl, case):
    found = run(bfcl, [case], Script(Reply({}, raw="told so", failure=failure)), "sri")
    assert found.events.empty


def test_cri_takes_a_call_back(bfcl, case):
    model = Script(
        calling(("mv", '{"source": "a", "destination": "b"}'), content="Moving."), said("No tool moves files.")
    )
    found = run(bfcl, [case], model, "cri", detectors=["mc"])
    assert rows(found, "retracted", "executed", "held_out")[:2] == [
        (0, 0, 0, True, 0, False),
        (0, 0, 1, False, 0, False),
    ]
    assert [message["role"] for message in model.requests[1].messages] == ["user", "system"]
    assert model.requests[1].messages[-1]["content"] == cri.wording()["retry"] == found.events["appended"][0]
    assert events(found)[0] == (0, 0, 0, "call", True, "mc")
    assert found.events["detector"][0] == '{"mc":"mv"}'


def test_what_was_executed_before_the_suspected_call_stays(bfcl, case):
    """The calls of an emission are looked at one after the other; those after the suspected one go with it."""
    model = Script(calling(("ls", "{}"), ("mv", '{"source": "a", "destination": "b"}'), ("pwd", "{}")), said("No."))
    found = run(bfcl, [case], model, "cri")
    assert rows(found, "retracted", "executed")[:2] == [(0, 0, 0, False, 1), (0, 0, 1, False, 0)]
    assert [result["name"] for result in json.loads(found.trajectories["tool_results"][0])] == ["ls"]
    _, made, result, told = model.requests[1].messages
    assert [call["function"]["name"] for call in made["tool_calls"]] == ["ls"]
    assert (result["role"], told["role"]) == ("tool", "system")


def test_cri_acts_once_in_a_case_and_not_once_the_tool_has_arrived(bfcl, case):
    held_out = calling(("mv", '{"source": "a", "destination": "b"}'))
    done = said("Done.")
    model = Script(held_out, held_out, done, held_out, done, calling(("flee", "{}")), done)
    found = run(bfcl, [case], model, "cri", detectors=["mc"])
    assert [row for row in events(found) if row[-1] != "not_suspected"] == [
        (0, 0, 0, "call", True, "mc"),
        (0, 0, 1, "call", False, "once_a_case"),
        (1, 0, 0, "call", False, "once_a_case"),
        (2, 0, 0, "call", False, "arrived"),
    ]
    assert found.trajectories.query("turn == 1 and step == 0")["held_out"].all()


def test_bypass_answers_in_the_models_place_and_ends_the_turn(bfcl, case):
    held_out = calling(("mv", '{"source": "a", "destination": "b"}'))
    model = Script(held_out, said("Done."), held_out, said("What else?"))
    found = run(bfcl, [case], model, "cri", variant="bypass", detectors=["mc"])
    abstention = cri.wording()["abstention"]
    assert rows(found, "origin", "content", "retracted")[2:5] == [
        (1, 0, 0, "model", None, True),
        (1, 0, 1, "probe", abstention, False),
        (2, 0, 0, "model", "What else?", False),
    ]
    assert model.requests[3].messages[-2]["content"] == abstention
    assert [row[-1] for row in events(found)] == ["not_decisive", "mc"]


@pytest.mark.parametrize("variant", ["retry", "bypass"])
def test_the_graded_trace_holds_nothing_of_a_call_that_was_taken_back(variant, bfcl, bfcl_cases, monkeypatch):
    cases = bfcl_cases["miss_func"][:20]
    handed = []
    official = multi_turn_checker.multi_turn_checker

    def noting(turns, *others):
        handed.append(turns)
        return official(turns, *others)

    found = run(bfcl, cases, "calls_held_out", "cri", detectors=["mc"], variant=variant)
    monkeypatch.setattr(multi_turn_checker, "multi_turn_checker", noting)
    assert len(found.passed) == 20
    traces = dict(zip(sorted(case.case_id for case in cases), handed, strict=True))
    for row in found.triggers.to_dict("records"):
        assert traces[row["case_id"]][row["turn"]] == []
    held_out = {case.case_id: {tool["function"]["name"] for turn, tool in case.tools if turn} for case in cases}
    decisive = {case.case_id: case.decisive_turn for case in cases}
    for case_id, turns in traces.items():
        early = [call for steps in turns[: decisive[case_id] + 1] for calls in steps for call in calls]
        assert not [call for call in early if call.partition("(")[0] in held_out[case_id]]


def test_no_probe_no_events(bfcl, case):
    assert run(bfcl, [case], Script(said("Done."))).events.empty


def test_a_probe_that_is_not_there_is_refused(bfcl, case):
    with pytest.raises(ValueError, match="no probe is called 'dri'"):
        run(bfcl, [case], "oracle", "dri")
    with pytest.raises(ValueError, match="no variant 'loud'"):
        run(bfcl, [case], "oracle", "sri", variant="loud")


def test_the_step_limit_holds_with_a_probe(bfcl, case):
    listing = [calling(("ls", "{}"))] * 20
    model = Script(*listing, said("Done."), *listing)
    found = run(bfcl, [case], model, "sri")
    assert found.trajectories["executed"].sum() == 21
    assert rows(found)[-1] == (0, 20, 1)
