from __future__ import annotations

import asyncio
import json

import pytest

from toolcal import perturbations, rollout, tables
from toolcal.benchmarks.case_table import to_frame
from toolcal.benchmarks.grades import grade_trajectories
from toolcal.cells import BASELINE, Cell
from toolcal.models.policies import POLICIES, Policy
from toolcal.models.protocol import Reply

MADE_FOR_PROBES = ("halts_early", "calls_held_out")
"""What comes out for these is in perturbations/probes."""


class Script:
    """Answers with the next of the given replies, then with `done`; keeps the requests."""

    execute_leaked = False
    concurrency = 1

    def __init__(self, *replies):
        self.replies = list(replies)
        self.requests = []

    async def respond(self, request):
        self.requests.append(request)
        found = self.replies.pop(0) if self.replies else {"role": "assistant", "content": "The request is done."}
        return found if isinstance(found, Reply) else Reply(found, "tool_calls" if "tool_calls" in found else "stop")


def calling(*calls, content=None):
    return {
        "role": "assistant",
        "content": content,
        "tool_calls": [
            {"id": f"c{i}", "type": "function", "function": {"name": name, "arguments": arguments}}
            for i, (name, arguments) in enumerate(calls)
        ],
    }


def run(bfcl, case, model):
    return asyncio.run(rollout.run_case(case, perturbations.baseline(case), model, bfcl)).trajectories


def run_policy(bfcl, cases, policy, name="m"):
    """Trajectories and grades of a policy, as tables."""
    cell = Cell(name, cases[0].scenario, BASELINE)
    contexts = {case.case_id: perturbations.baseline(case) for case in cases}
    data, *_ = asyncio.run(rollout.run_cell(cell, cases, contexts, Policy(policy, bfcl), bfcl))
    tables.check("trajectories", data)
    grades = grade_trajectories(data, to_frame(cases, 0))
    tables.check("grades", grades)
    return data, grades


def test_a_turn_goes_on_while_calls_are_made(bfcl, bfcl_cases):
    case = bfcl_cases["base"][0]
    model = Script(calling(("ls", "{}"), ("pwd", ""), content="Looking."), calling(("cd", '{"folder": "document"}')))
    rows = run(bfcl, case, model)
    assert [(row["turn"], row["step"], row["executed"]) for row in rows[:4]] == [
        (0, 0, 2),
        (0, 1, 1),
        (0, 2, 0),
        (1, 0, 0),
    ]
    assert {row["status"] for row in rows} == {"ok"}
    history = model.requests[2].messages
    assert [message["role"] for message in history] == ["user", "assistant", "tool", "tool", "assistant", "tool"]
    assert history[1]["content"] == "Looking."
    assert [message["tool_call_id"] for message in history[2:4]] == [c["id"] for c in history[1]["tool_calls"]]
    assert model.requests[3].turn_start == len(model.requests[3].messages) - 1
    assert model.requests[0].seed != model.requests[1].seed


def test_the_21st_calling_emission_of_a_turn_ends_the_case(bfcl, bfcl_cases):
    rows = run(bfcl, bfcl_cases["base"][0], Script(*[calling(("ls", "{}"))] * 100))
    assert len(rows) == 21
    assert rows[-1]["executed"] == 1


@pytest.mark.parametrize("failure", ["context_exceeded", "infra_error"])
def test_a_failure_ends_the_case_and_is_no_answer(bfcl, bfcl_cases, failure):
    rows = run(bfcl, bfcl_cases["base"][0], Script(Reply({}, raw="told so", failure=failure)))
    assert [(row["status"], row["raw"]) for row in rows] == [(failure, '"told so"')]


def test_a_call_that_leaked_into_the_text_is_not_executed(bfcl, bfcl_cases):
    case = bfcl_cases["base"][0]
    rows = run(bfcl, case, Script({"role": "assistant", "content": "[mkdir(dir_name='x')]"}))
    assert (rows[0]["status"], rows[0]["executed"], rows[0]["step"], rows[1]["turn"]) == ("ok", 0, 0, 1)


def test_by_setting_it_is_and_the_model_reads_its_result(bfcl, bfcl_cases):
    model = Script({"role": "assistant", "content": "At once.\n[mkdir(dir_name='x')]"})
    model.execute_leaked = True
    rows = run(bfcl, bfcl_cases["base"][0], model)
    assert (rows[0]["executed"], rows[0]["state_changed"], rows[1]["turn"], rows[1]["step"]) == (1, True, 0, 1)
    said, read = model.requests[1].messages[-2:]
    assert (said["content"], said["tool_calls"][0]["function"]["name"], read["role"]) == ("At once.", "mkdir", "tool")


def test_a_malformed_call_ends_the_turn_and_every_call_in_the_history_has_an_answer(bfcl, bfcl_cases):
    model = Script(calling(("ls", '{"a": true}{"a": false}'), ("pwd", "{}")))
    rows = run(bfcl, bfcl_cases["base"][0], model)
    assert (rows[0]["status"], rows[0]["executed"], rows[1]["turn"]) == ("malformed_call", 0, 1)
    assert '{\\"a\\": true}{\\"a\\": false}' in rows[0]["tool_calls"]
    _, said, *answers, _ = model.requests[1].messages
    assert [answer["tool_call_id"] for answer in answers] == [call["id"] for call in said["tool_calls"]]
    assert all(isinstance(json.loads(call["function"]["arguments"]), dict) for call in said["tool_calls"])


def test_a_text_that_was_not_recorded_is_no_empty_emission(bfcl, bfcl_cases):
    silent = Reply({"role": "assistant", "content": None}, text_recorded=False)
    called = Reply(calling(("ls", "{}")), text_recorded=False)
    rows = run(bfcl, bfcl_cases["base"][0], Script(called, silent))
    assert [(row["status"], row["text_recorded"]) for row in rows[:3]] == [
        ("ok", False),
        ("not_recorded", False),
        ("ok", True),
    ]


def test_a_tool_outside_this_turns_list_is_run_and_flagged(bfcl, bfcl_cases):
    case = bfcl_cases["miss_func"][1]
    held = next(tool["function"]["name"] for turn, tool in case.tools if turn)
    assert held == "mv"
    rows = run(bfcl, case, Script(calling(("mv", '{"source": "workspace", "destination": "x"}'), ("ls", "{}"))))
    results = json.loads(rows[0]["tool_results"])
    assert [(r["executed"], r["held_out"]) for r in results] == [(True, True), (True, False)]
    assert rows[0]["held_out"]


def test_parts_of_text_and_legacy_calls_are_stored_as_the_labels_read_them(bfcl, bfcl_cases):
    parts = {"role": "assistant", "content": [{"type": "text", "text": "Let me "}, {"type": "text", "text": "look."}]}
    legacy = {"role": "assistant", "content": None, "function_call": {"name": "ls", "arguments": "{}"}}
    rows = run(bfcl, bfcl_cases["base"][0], Script(parts, legacy))
    assert rows[0]["content"] == "Let me look."
    assert json.loads(rows[1]["tool_calls"]) == [{"name": "ls", "arguments": "{}"}]
    assert rows[1]["executed"] == 1


def test_an_unknown_tool_is_answered_not_run(bfcl, bfcl_cases):
    rows = run(bfcl, bfcl_cases["base"][0], Script(calling(("teleport", '{"to": "moon"}'))))
    assert (rows[0]["status"], rows[0]["executed"], rows[0]["held_out"]) == ("ok", 0, False)
    assert "name 'teleport' is not defined" in rows[0]["tool_results"]


HOSTILE = {
    "python in arguments": (calling(("cd", "{\"folder\": \"__import__('os').system('touch pwned')\"}")), "ok"),
    "python as name": (calling(("__import__('os').system", '{"command": "touch pwned"}')), "ok"),
    "python as key": (calling(("ls", "{\"a=open('pwned','w'), b\": 1}")), "ok"),
    "broken JSON": (calling(("cd", '{"folder": "x"')), "malformed_call"),
    "no JSON object": (calling(("cd", "[1, 2]")), "malformed_call"),
    "1 MB of text": ({"role": "assistant", "content": "a? " * 350_000}, "ok"),
    "1 MB of brackets": ({"role": "assistant", "content": "[" * 1_000_000}, None),
    "1 MB of arguments": (calling(("cd", json.dumps({"folder": "x" * 1_000_000}))), "ok"),
    "control characters": ({"role": "assistant", "content": "\x00\x1b[31m\u202e\ud800 done"}, "ok"),
    "a surrogate in arguments": (calling(("cd", '{"folder": "\\ud800"}')), "ok"),
    "parts instead of text": (
        {"role": "assistant", "content": [{"type": "text", "text": "The request is done."}]},
        "ok",
    ),
    "nothing": ({}, "empty"),
    "a number": ({"role": "assistant", "content": 3}, None),
    "calls that are none": ({"role": "assistant", "content": None, "tool_calls": [None, 1, {}]}, "malformed_call"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_emissions_run_nothing_and_keep_the_tables_valid(bfcl, bfcl_cases, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    message, status = HOSTILE[name]
    case = bfcl_cases["miss_param"][0]
    cell = Cell("m", case.scenario, BASELINE)
    contexts = {case.case_id: perturbations.baseline(case)}
    data, *_ = asyncio.run(rollout.run_cell(cell, [case], contexts, Script(message), bfcl))
    tables.write("trajectories", data, tmp_path / "t.parquet")
    back = tables.read("trajectories", tmp_path / "t.parquet")
    tables.check("grades", grade_trajectories(back, to_frame([case], 0)))
    if status:
        assert back["status"][0] == status
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.parquet"]


@pytest.mark.parametrize("policy", [name for name in POLICIES if name not in MADE_FOR_PROBES])
def test_policies_get_their_known_verdicts(bfcl, bfcl_cases, policy):
    """The table of issue A, on every tenth case and the four odd ones; the whole is in end_to_end."""
    knows_gold = policy in ("oracle", "explore_first", "guess_early")
    for category, found in bfcl_cases.items():
        cases = [case for case in found if int(case.cluster_id) % 10 == 0 or case.cluster_id in ("49", "167", "173")]
        _, grades = run_policy(bfcl, cases, policy)
        assert set(grades["passed"]) == {knows_gold}, category
        strict = knows_gold and (policy == "oracle" or category in ("base", "long_context"))
        odd = grades["passed_strict"] != strict
        # Gold makes no call in turn 4 of 167, its last, nor in 3 and 4 of 180, where the next can be guessed.
        exceptions = {"explore_first": {"167", "180"}, "guess_early": {"180"}}.get(policy, set())
        found = {id.rsplit("_", 1)[1] for id in grades["case_id"][odd]}
        assert found == (set() if category.startswith("miss_") else exceptions), category


def test_the_gold_of_miss_func_49_calls_a_held_out_tool_early(bfcl, bfcl_cases):
    case = next(case for case in bfcl_cases["miss_func"] if case.cluster_id == "49")
    data, grades = run_policy(bfcl, [case], "oracle")
    assert data["held_out"].sum() == 1
    assert grades["passed_strict"].all()


def test_state_is_isolated_under_names_that_the_package_confuses(bfcl, bfcl_cases):
    """`a-b`, `a.b` and `a/b` are one name to bfcl-eval; a run that stops half-way must not be seen by the next."""
    cases = [case for found in bfcl_cases.values() for case in found[:40]]
    by_scenario = {}
    for case in cases:
        by_scenario.setdefault(case.scenario, []).append(case)
    for name in ("a-b", "a.b"):
        for found in by_scenario.values():
            half, grades = run_policy(bfcl, found, "oracle", name)
            half = half[half["turn"] < 1]
            grade_trajectories(half, to_frame(found, 0))
            _, again = run_policy(bfcl, found[::-1], "oracle", name)
            assert again["passed"].all()
            assert grades["passed"].all()


def test_the_same_run_twice_gives_the_same_table(bfcl, bfcl_cases):
    first, _ = run_policy(bfcl, bfcl_cases["miss_func"][:10], "guess_early")
    second, _ = run_policy(bfcl, bfcl_cases["miss_func"][:10][::-1], "guess_early")
    assert first.equals(second)
