"""Published tau2 runs: what is counted in them, and their databases replayed."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from types import SimpleNamespace

import pytest

from tests.timing import best_of, cpu
from toolcal import tables
from toolcal.benchmarks.tau2 import engine
from toolcal.benchmarks.tau2.cases import ask_tasks, gold_writes, load
from toolcal.benchmarks.tau2.grading import actions_made, gold_state
from toolcal.cells import BASELINE, Cell
from toolcal.recordings import grades, rows, tau1, tau2

RUNS = {
    "gpt-4o-2024-11-20_airline_50": {
        "pass": 0.46, "runs": 50, "writes": (54, 11, 52), "no_gold_write": 20, "no_action": 7, "equal": (50, 50),
        "met": {"REFUSE": (6, 7), "TOOL_CALL": (20, 43)}, "checked": 43,
    },
    "gpt-4.1_retail_40": {
        "pass": 0.85, "runs": 40, "writes": (61, 7, 61), "no_gold_write": 3, "no_action": 0, "equal": (40, 40),
        "met": {"TOOL_CALL": (22, 40)}, "checked": 40,
    },
    "qwen2.5-7b_airline_50": {
        "pass": 0.18, "runs": 50, "writes": (117, 55, 114), "no_gold_write": 20, "no_action": 7, "equal": (40, 40),
        "met": {"REFUSE": (4, 7), "TOOL_CALL": (9, 43)}, "checked": 33,
    },
}  # fmt: skip


@pytest.fixture(scope="module", params=RUNS)
def published(request, recorded):
    path = recorded / "tau2" / f"{request.param}.json"
    domain = tau2.domain_of(path)
    recording = tau2.read(path, domain)
    cell = Cell("m", f"tau2-{domain}", BASELINE)
    return domain, recording, cell, RUNS[request.param]


def test_every_run_is_read_and_judged_by_its_own_tasks(published):
    _, recording, _, expected = published
    assert recording.problems == []
    assert len(recording.runs) == len(recording.cases) == expected["runs"]
    assert sum(run.verdict.passed for run in recording.runs) / len(recording.runs) == expected["pass"]
    cases = recording.cases.values()
    assert sum(not gold_writes(case) for case in cases) == expected["no_gold_write"]
    assert sum(case.gold_actions[0] == "REFUSE" for case in cases) == expected["no_action"]
    (revision,) = {case.revision for case in cases}
    assert revision.startswith("tau2-tasks-")


def test_writes_are_counted_as_recorded(published):
    domain, recording, cell, expected = published
    data = rows.to_frame(cell, recording.runs, recording.cases)
    tables.check("trajectories", data)
    made = [result for text in data["tool_results"] for result in json.loads(text)]
    writes = [result for result in made if result["name"] in engine.domain(domain).write_tools]
    failed = [result for result in writes if not result["executed"]]
    asked = [result for result in writes if result["name"] in engine.domain(domain).to_be_confirmed]
    assert (len(writes), len(failed), len(asked)) == expected["writes"]
    assert all(result["error"] for result in failed)
    changing = {result["name"] for result in made if result["state_changed"]}
    assert changing
    assert changing <= engine.domain(domain).write_tools


def test_databases_end_as_recorded_within_a_second_a_case(published):
    _, recording, cell, expected = published
    found = []

    def work():
        found.append(grades.to_frame(cell, recording.runs, recording.cases))

    assert best_of(lambda: cpu(work), len(recording.runs)) < len(recording.runs)
    data = found[0]
    tables.check("grades", data)
    compared = data[data["regrade_differs"].notna()]
    assert (int((~compared["regrade_differs"].astype(bool)).sum()), len(compared)) == expected["equal"]


def test_gold_is_met_by_the_benchmarks_rules(published):
    """Counted in the files' own action checks and tool results; one of qwen's ten cut-off runs adds 1."""
    _, recording, cell, expected = published
    told = grades.to_frame(cell, recording.runs, recording.cases)["gold_met"].map(json.loads)
    found = {action: [met[action] for met in told if action in met] for action in expected["met"]}
    assert {action: (sum(values), len(values)) for action, values in found.items()} == expected["met"]
    checked = [run for run in recording.runs if run.action_checks is not None]
    assert len(checked) == expected["checked"]
    for run in checked:
        assert actions_made(recording.cases[run.case_id], rows.calls_made(run)) == list(run.action_checks)


def test_no_model_wrote_the_greeting(published):
    _, recording, cell, _ = published
    data = rows.to_frame(cell, recording.runs, recording.cases)
    canned = data[data["origin"] == "benchmark"]
    assert len(canned) == len(recording.runs)
    assert set(canned["content"]) == {"Hi! How can I help you today?"}
    assert set(data["origin"]) == {"model", "benchmark"}


def test_which_arguments_of_a_call_are_compared():
    case = SimpleNamespace(
        initial_state={
            "task": {"evaluation_criteria": {"actions": [
                {"name": "f", "arguments": {"a": 1, "b": 2}},
                {"name": "g", "arguments": {"a": 1, "b": 2}, "compare_args": ["a"]},
                {"name": "h", "arguments": {}, "compare_args": []},
            ]}}
        }
    )  # fmt: skip
    assert actions_made(case, []) == [False, False, False]
    assert actions_made(case, [engine.Call("f", {"a": 2}), engine.Call("g", {"a": 2, "b": 2})]) == [False, False, False]
    made = [engine.Call("f", {"a": 1, "b": 2}), engine.Call("g", {"a": 1, "b": 3}), engine.Call("h", {"x": 1})]
    assert actions_made(case, made) == [True, True, True]
    assert actions_made(case, [engine.Call("f", {"b": 2})]) == [True, False, False], "tau2's rule: what a call lacks"


def test_runs_that_broke_off_failed_and_say_why(recorded):
    recording = tau2.read(recorded / "tau2/qwen2.5-7b_airline_50.json", "airline")
    ends = Counter((run.verdict.status, run.verdict.reason) for run in recording.runs)
    assert ends == {("done", None): 40, ("premature", "agent_error"): 9, ("premature", "too_many_errors"): 1}
    broken = [run.verdict for run in recording.runs if run.verdict.status == "premature"]
    assert {(verdict.passed, verdict.db_match) for verdict in broken} == {(False, None)}
    data = rows.to_frame(Cell("m", "tau2-airline", BASELINE), recording.runs, recording.cases)
    assert (data["status"] == "empty").sum() == 9, "the empty answers that ended nine runs"


def test_turns_follow_the_users_messages(recorded):
    recording = tau2.read(recorded / "tau2/gpt-4.1_retail_40.json", "retail")
    run = recording.runs[0]
    found = list(rows.rows_of(run, recording.cases[run.case_id]))
    assert [(row["turn"], row["step"]) for row in found[:5]] == [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2)]
    assert (found[0]["content"], found[0]["origin"]) == ("Hi! How can I help you today?", "benchmark")
    assert {row["origin"] for row in found[1:]} == {"model"}
    assert json.loads(found[2]["tool_calls"])[0]["function"]["name"] == "find_user_id_by_email"
    assert json.loads(found[2]["tool_results"])[0]["result"] == "isabella_lopez_6490"


@pytest.mark.parametrize("name", ["gpt-4o-2024-11-20_airline_50", "gpt-4.1_retail_40"])
def test_the_kept_changes_compare_as_the_whole_database_does(name, recorded):
    """The engine's own way: build two databases, hash each whole."""
    domain = name.split("_")[1]
    recording = tau2.read(recorded / f"tau2/{name}.json", domain)
    for run in recording.runs[:6]:
        case = recording.cases[run.case_id]
        hashes, states = [], []
        for calls in (
            [engine.Call(a["name"], a["arguments"]) for a in case.gold[0]],
            [rows._call(call) for call, _ in rows.answered_calls(run)],
        ):
            environment = engine._environment(domain)
            for call in calls:
                with contextlib.suppress(Exception):
                    environment.use_tool(call.name, **call.arguments)
            hashes.append(environment.get_db_hash())
            states.append(engine.replay(domain, None, calls)[0])
        assert (hashes[0] == hashes[1]) == (states[0] == states[1]) == run.verdict.db_match
        assert states[0] == gold_state(case)


def test_a_replay_leaves_no_trace():
    calls = [engine.Call("send_certificate", {"user_id": "mia_li_3668", "amount": 50})]
    first, results = engine.replay("airline", None, calls)
    assert results[0].executed
    assert results[0].state_changed
    assert list(first) == ["users"]
    assert engine.replay("airline", None, calls)[0] == first
    assert engine.replay("airline", None, [])[0] == {}


def test_what_is_no_write_is_not_run():
    huge = engine.Call("calculate", {"expression": "9**9**9**9"})
    private = engine.Call("__init__", {"db": 1})
    state, results = engine.replay("airline", None, [huge, private, engine.Call("update_db", {"update_data": {}})])
    assert state == {}
    assert not any(result.executed for result in results)


def test_failing_writes_are_results():
    _, (result,) = engine.replay("retail", None, [engine.Call("cancel_pending_order", {"nonsense": 1})])
    assert not result.executed
    assert "nonsense" in result.error
    assert not result.state_changed


def test_the_installed_tasks_are_cases():
    assert {domain: len(load(domain)) for domain in engine.DOMAINS} == {"airline": 50, "retail": 114}
    counts = {
        subset: [sum("ASK" in case.gold_actions for case in load(domain, subset)) for domain in engine.DOMAINS]
        for subset in ("candidates", "published", "valid")
    }
    assert counts == {"candidates": [13, 28], "published": [8, 28], "valid": [6, 13]}
    with pytest.raises(ValueError, match=r"ask_tasks: found 'all', allowed are candidates, published, valid"):
        ask_tasks("airline", "all")


def test_domains_with_other_rules_are_refused():
    with pytest.raises(engine.EngineError, match="telecom"):
        engine.domain("telecom")


def test_tau1_runs_are_judged_by_their_reward(recorded):
    path = recorded / "tau1/gpt-4o_airline_50.json"
    assert tau1.domain_of(path) == "airline"
    recording = tau1.read(path, "airline")
    assert recording.problems == []
    assert len(recording.runs) == len(recording.cases) == 50
    assert sum(run.verdict.passed for run in recording.runs) == 21
    cell = Cell("m", "tau1-airline", BASELINE)
    data = rows.to_frame(cell, recording.runs, recording.cases)
    tables.check("trajectories", data)
    made = [result for text in data["tool_results"] for result in json.loads(text)]
    assert len(made) == 282
    assert sum(not result["executed"] for result in made) == 17
    graded = grades.to_frame(cell, recording.runs, recording.cases)
    tables.check("grades", graded)
    assert graded["regrade_differs"].isna().all()
    assert graded["passed_strict"].isna().all()
    assert Counter(graded["gold_met"]) == {'{"TOOL_CALL":null}': 43, '{"REFUSE":true}': 4, '{"REFUSE":false}': 3}
