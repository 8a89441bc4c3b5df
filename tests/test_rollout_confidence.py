"""Confidences after the turns of a rollout: the conversation, its grades and its journal's keys are as without them."""

from __future__ import annotations

import asyncio
import json

import pandas as pd
import pytest

from tests.models.asking import warm, with_chat  # noqa: F401
from tests.perturbations.probes.runs import context
from tests.standins.endpoint import endpoint
from tests.standins.player import completion, play
from tests.test_rollout import Script, calling
from toolcal import perturbations, rollout, tables
from toolcal.benchmarks.case_table import to_frame
from toolcal.benchmarks.grades import grade_trajectories
from toolcal.cells import Cell
from toolcal.confidence.turn import TurnQuestion
from toolcal.confidence.turn_plan import BESIDE
from toolcal.models.protocol import Reply

PERCENT = TurnQuestion("percent")
MEASURED = ["latency", "cached"]


class Asked(Script):
    """Answers the question after a turn with the next of `sure`, and anything else as a Script."""

    def __init__(self, *replies, sure=()):
        super().__init__(*replies)
        self.sure = list(sure)
        self.beside = []

    async def respond(self, request):
        if not request.beside:
            return await super().respond(request)
        self.beside.append(request)
        found = self.sure.pop(0) if self.sure else "Confidence: 60"
        return found if isinstance(found, Reply) else Reply({"role": "assistant", "content": found}, "stop")


def run(bfcl, case, model, question=PERCENT):
    return asyncio.run(rollout.run_case(case, perturbations.baseline(case), model, bfcl, question=question))


def playing(body):
    """Plays along, but opens a second turn with a tool that is none; answers the question after a turn in four ways."""
    if body.get("response_format"):
        return play(body)
    last = str(body["messages"][-1]["content"])
    if "before we go on" in last or "the line that was asked for" in last:
        ways = ("Confidence: 85", "Rather sure.", "Confidence: high")
        if len(json.dumps(body)) % 4 == 3:
            return play(body | {"messages": [{"role": "user", "content": "go"}]})
        return completion(body, {"content": ways[len(json.dumps(body)) % 4]})
    if [message["role"] for message in body["messages"]].count("user") == 2 and body["messages"][-1]["role"] == "user":
        return completion(body, calling(("teleport", "{}")))
    return play(body)


def cell(path, url, bfcl, cases, question, probe=None, replay=None, **settings):
    contexts = {case.case_id: context(case, probe) for case in cases}

    async def work(chat):
        return await rollout.run_cell(
            Cell("m", cases[0].scenario, "p"), cases, contexts, chat, bfcl, trials=2, question=question
        )

    return with_chat(path, url, work, replay=replay, **settings)


@pytest.mark.parametrize("mode", ["native", "python_list", "json"])
def test_all_but_the_confidences_is_the_same_with_and_without_the_question(mode, bfcl, bfcl_cases, tmp_path):
    cases = bfcl_cases["miss_param"][:4]
    question = TurnQuestion("percent", in_json=mode == "json")
    with endpoint(playing) as server:
        without = cell(tmp_path / "a", server.url, bfcl, cases, None, tool_mode=mode)
        asked = len(server.bodies)
        with_them = cell(tmp_path / "b", server.url, bfcl, cases, question, tool_mode=mode)
        both = len(server.bodies)
        again = cell(tmp_path / "a", server.url, bfcl, cases, question, tool_mode=mode)
        assert cell(tmp_path / "a", server.url, bfcl, cases, question, tool_mode=mode).turn_confidence["cached"].all()
    confidences = with_them.turn_confidence
    for name, data in with_them._asdict().items():
        tables.check(name, data)
    pd.testing.assert_frame_equal(
        without.trajectories.drop(columns=MEASURED), with_them.trajectories.drop(columns=MEASURED)
    )
    pd.testing.assert_frame_equal(without.probe_events, with_them.probe_events)
    graded = [
        grade_trajectories(made.trajectories, to_frame(cases, 0)).drop(columns=["case_id"])
        for made in (without, with_them)
    ]
    pd.testing.assert_frame_equal(*graded)
    assert without.turn_confidence.empty
    last = without.trajectories.groupby(["case_id", "trial", "turn"]).last()
    ended = last[last["executed"] == 0].index  # the others were cut off by the benchmark's limit of steps
    assert list(ended) == list(confidences.set_index(["case_id", "trial", "turn"]).index)
    assert len(ended) >= 20
    # The answers of the run without the question are found in its journal: no key of the conversation has changed.
    assert again.trajectories["cached"].all()
    calls = len(confidences) + int(confidences["reasked"].sum())
    assert both - asked == asked + calls == len(server.bodies) - both + asked
    if mode == "native":
        assert {"ok", "broken_form"} == set(confidences["status"])
        assert set(confidences["confidence"].dropna()) == {0.85}
        assert "no_number" in set(confidences["confidence_reason"])
    if mode == "json":
        assert confidences["confidence"].between(0, 1).all()


def test_calls_beside_the_conversation_say_so_in_the_journal_and_their_keys_do_not_collide(bfcl, bfcl_cases, tmp_path):
    with endpoint(playing) as server:
        made = cell(tmp_path / "j", server.url, bfcl, bfcl_cases["base"][:2], PERCENT)
    lines = [json.loads(line) for line in (tmp_path / "j").read_text().splitlines()]
    assert len({line["key"] for line in lines}) == len(lines)
    own = [line["call"] for line in lines if len(line["call"]) == 5]
    beside = [line["call"] for line in lines if len(line["call"]) == 6]
    assert len(own) == len(made.trajectories)
    assert {call[5] for call in beside} == {BESIDE}
    assert len(beside) == len(made.turn_confidence) + made.turn_confidence["reasked"].sum()
    seeds = [body["seed"] for body in server.bodies]
    assert len(set(seeds)) == len(seeds) - made.turn_confidence["reasked"].sum()


def test_a_probe_takes_the_answers_of_its_baseline_where_the_conversation_was_the_same(bfcl, bfcl_cases, tmp_path):
    cases = bfcl_cases["miss_param"][:4]
    with endpoint(playing) as server:
        baseline = cell(tmp_path / "b", server.url, bfcl, cases, PERCENT)
        asked = len(server.bodies)
        found = cell(tmp_path / "p", server.url, bfcl, cases, PERCENT, "cri", tmp_path / "b")
        fresh = len(server.bodies) - asked
    acted = found.probe_events.query("triggered").groupby(["case_id", "trial"])["turn"].min()
    first = [acted.get(key, 99) for key in zip(*(found.turn_confidence[c] for c in ("case_id", "trial")), strict=True)]
    before = found.turn_confidence["turn"] < first
    assert 0 < before.sum() < len(before)
    assert list(found.turn_confidence["cached"]) == list(before)
    assert fresh == (~found.trajectories["replayed"]).sum() + (1 + found.turn_confidence["reasked"])[~before].sum()
    assert not baseline.turn_confidence["cached"].any()


def test_the_model_is_asked_after_each_turn_and_never_reads_it_again(bfcl, bfcl_cases):
    case = bfcl_cases["base"][0]
    model = Asked(calling(("ls", "{}")), sure=["Confidence: 85", "Sure.", "Confidence: 40"])
    found = run(bfcl, case, model)
    assert [row["turn"] for row in found.turn_confidence] == list(range(len(case.turns)))
    assert [(row["confidence"], row["reasked"]) for row in found.turn_confidence[:3]] == [
        (0.85, False),
        (0.4, True),
        (0.6, False),
    ]
    assert [message["role"] for message in model.beside[0].messages] == [
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
    ]
    assert model.beside[0].turn_start == 0
    assert "Confidence" not in json.dumps([request.messages for request in model.requests])
    assert "before we go on" not in json.dumps([request.messages for request in model.requests])


@pytest.mark.parametrize("failure", ["infra_error", "context_exceeded"])
def test_a_failure_beside_the_conversation_does_not_end_it(bfcl, bfcl_cases, failure):
    case = bfcl_cases["base"][0]
    model = Asked(sure=[Reply({}, raw="told so", failure=failure)])
    found = run(bfcl, case, model)
    assert {row["status"] for row in found.trajectories} == {"ok"}
    assert [row["status"] for row in found.turn_confidence] == [failure, *["ok"] * (len(case.turns) - 1)]


def test_a_turn_that_was_cut_off_has_no_confidence(bfcl, bfcl_cases):
    case = bfcl_cases["base"][0]
    done = {"role": "assistant", "content": "Done."}
    limit = run(bfcl, case, Asked(done, *[calling(("ls", "{}"))] * 100))
    failed = run(bfcl, case, Asked(done, Reply({}, failure="context_exceeded")))
    for found in (limit, failed):
        assert [row["turn"] for row in found.turn_confidence] == [0]


def test_nobody_is_asked_without_a_question(bfcl, bfcl_cases):
    model = Asked()
    assert run(bfcl, bfcl_cases["base"][0], model, None).turn_confidence == []
    assert model.beside == []
