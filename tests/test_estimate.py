from __future__ import annotations

import json
import runpy
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.conftest import CATEGORIES, ROOT
from toolcal import perturbations, tables
from toolcal.benchmarks import case_table
from toolcal.benchmarks.protocol import Case
from toolcal.benchmarks.tau2 import cases as tau2_cases
from toolcal.estimate import sizes, table
from toolcal.estimate.model import Line, line, seconds
from toolcal.estimate.remaining import answered, asked, ended, remaining
from toolcal.estimate.work import Work
from toolcal.journal import Journal
from toolcal.perturbations import Context

MAIN = runpy.run_path(str(ROOT / "scripts/estimate.py"))["main"]

ENTRY = {
    "source": "api",
    "family": "f",
    "model": "openai/m",
    "endpoint": "here",
    "tool_mode": "native",
    "parameters": {},
}
PRICES = {"input": 2.0, "output": 10.0}
ENDPOINTS = {"here": {"api_base": "http://localhost:1/v1", "concurrency": 4}}
PLACE = ("s", "baseline")


def write_journal(path, runs, **measures):
    """A journal: (case id, trial) -> calls in each turn reached."""
    record = {"prompt_tokens": 1000, "completion_tokens": 50, "latency": 2.0, "cost": None, "failure": None, **measures}
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as lines:
        for (case_id, trial), turns in runs.items():
            for call in ([case_id, trial, turn, step, 0] for turn, calls in enumerate(turns) for step in range(calls)):
                lines.write(json.dumps({"key": f"{path} {call}", "call": call, "record": record}) + "\n")


def left_of(tmp_path, turns, runs, done=None, **measures):
    write_journal(tmp_path / "j.jsonl", runs, **measures)
    return remaining([(case, 0) for case in turns], turns, asked(tmp_path / "j.jsonl"), done or {})


def no_sizes(place):
    raise AssertionError("there is a journal")


# What a conversation takes by its sizes


def tiny_case(messages):
    tool = {"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}}}
    turns = tuple(({"role": "user", "content": text},) for text in messages)
    case = Case("bfcl", "bfcl-base", "r", "c", "0", turns, ((0, tool),), {}, (), (), None)
    return case, Context(None, turns, case.tools), len(tables.dumps((tool,))) / 4


def test_sizes_by_hand():
    case, context, tools = tiny_case(["12345678", "1234"])
    found = sizes.size(case, context, [[40, 40], []])
    # Turn 0: 3 calls and a text; each call adds 50 tokens and a result of 10 to what the next one reads.
    first = sum(tools + 2 + read for read in (0, 60, 120, 180))
    # Turn 1: a text, after the first turn's message, calls, results and text.
    second = tools + 1 + (2 + 180 + 150)
    assert found == Work(5, pytest.approx(first + second), 3 * 50 + 2 * 150)


def test_in_json_mode_long_results_are_cut_and_the_current_turn_may_be_all_that_is_read():
    case, context, _ = tiny_case(["12345678", "1234"])
    long, cut = (sizes.size(case, context, [[n], []], json_tools=True) for n in (90_000, 2000))
    assert long == cut
    turn, conversation = (
        sizes.size(case, context, [[40, 40], []], json_tools=True, by_turn=by_turn) for by_turn in (True, False)
    )
    assert conversation.prompt_tokens - turn.prompt_tokens == pytest.approx(2 + 180 + 150)
    assert (turn.calls, turn.answer_tokens) == (conversation.calls, conversation.answer_tokens)


def test_sizes_are_within_a_factor_of_two_of_recorded_runs(recorded, bfcl, bfcl_cases):
    for name, counted in {"deepseek": True, "claude": False}.items():  # Claude's run left cached prompt tokens out
        guessed, true = Work(), Work()
        for category in CATEGORIES:
            cases = {case.case_id: case for case in bfcl_cases[category]}
            path = recorded / f"bfcl/result_{name}/multi_turn/BFCL_v4_multi_turn_{category}_result.json"
            for run in map(json.loads, path.read_text().splitlines()):
                case = cases[run["id"]]
                results = sizes.result_lengths(case)
                guessed += sizes.size(case, perturbations.baseline(case), results)
                prompts, answers = (
                    [n for turn in run[f"{way}_token_count"] for n in turn] for way in ("input", "output")
                )
                true += Work(len(answers), sum(prompts), sum(answers))
        assert 0.5 < guessed.calls / true.calls < 2
        assert 0.5 < guessed.answer_tokens / true.answer_tokens < 2
        assert not counted or 0.5 < guessed.prompt_tokens / true.prompt_tokens < 2


# What is left


def test_a_journal_without_a_table_counts_turns_reached(tmp_path):
    found = left_of(tmp_path, {"a": 4, "b": 4, "c": 4}, {("a", 0): [2, 1, 1, 1], ("b", 0): [3]})
    assert found.left == {("b", 0): 0.75, ("c", 0): 1.0}
    assert (found.measured.runs, found.measured.calls) == (1, 5)  # b is not whole


def test_what_the_table_has_is_done_unless_an_infrastructure_error_ended_it(tmp_path):
    turns = {"a": 4, "b": 4, "c": 4}
    runs = {("a", 0): [2], ("b", 0): [1, 1, 1, 1]}
    found = left_of(tmp_path, turns, runs, {("a", 0): True, ("b", 0): False, ("c", 0): False})
    assert found.left == {("b", 0): 0.25, ("c", 0): 1.0}
    assert found.measured.calls == 2


def test_an_exceeded_context_ends_a_case_trial(tmp_path):
    assert left_of(tmp_path, {"a": 4}, {("a", 0): [1]}, failure="context_exceeded").left == {}


def test_a_cut_line_and_lines_of_an_older_version_do_no_harm(tmp_path):
    path = tmp_path / "j.jsonl"
    path.write_text('{"key": "old", "record": {"prompt_tokens": 1}}\n')
    write_journal(path, {("a", 0): [1]})
    with path.open("a") as lines:
        lines.write('{"key": "x", "call": ["a", 0, 1, 0, 0], "rec')
    with Journal(tmp_path / "other.jsonl"):
        assert {run: len(found.calls) for run, found in asked(path).items()} == {("a", 0): 1}
    assert asked(tmp_path / "none.jsonl") == {}


def test_the_lock_of_a_run_under_way_is_left_alone(tmp_path):
    with Journal(tmp_path / "j.jsonl") as journal:
        journal.put("k", ("a", 0, 0, 0, 0), {"prompt_tokens": 7, "latency": 1.0})
        assert asked(tmp_path / "j.jsonl")["a", 0].calls == {(0, 0, 0): (7, None, 1.0, None)}


# One model


def test_calls_tokens_cost_and_time_by_hand(tmp_path):
    turns = {"a": 2, "b": 2, "c": 2}
    cell = left_of(tmp_path, turns, {("a", 0): [2, 1], ("b", 0): [3, 2]})  # 4 calls a case-trial; c is left
    found = line("m", {**ENTRY, "prices": PRICES}, {PLACE: cell}, no_sizes, ENDPOINTS)
    assert (found.planned, found.left, found.basis) == (3, 1, ("journal",))
    assert found.work == Work(4, 4000, 200)
    assert found.cost == pytest.approx(4000 * 2e-6 + 200 * 10e-6)
    assert found.seconds == pytest.approx(8)  # one case-trial makes one call at a time


def test_costs_in_the_journal_come_before_prices(tmp_path):
    cell = left_of(tmp_path, {"a": 1, "b": 1}, {("a", 0): [4]}, cost=0.5)
    assert line("m", {**ENTRY, "prices": PRICES}, {PLACE: cell}, no_sizes, ENDPOINTS).cost == pytest.approx(2.0)


def test_an_unknown_price_is_unknown_and_a_complete_run_costs_nothing(tmp_path):
    cell = left_of(tmp_path, {"a": 1, "b": 1}, {("a", 0): [4]})
    assert line("m", ENTRY, {PLACE: cell}, no_sizes, ENDPOINTS).cost is None
    cell = left_of(tmp_path, {"a": 1}, {})
    done = line("m", ENTRY, {PLACE: cell}, no_sizes, ENDPOINTS)
    assert (done.left, done.work, done.cost, done.seconds) == (0, Work(), 0, 0)


def test_another_scenario_s_journal_stands_in_and_sizes_where_there_is_none(tmp_path):
    known = left_of(tmp_path, {"a": 1, "b": 1}, {("a", 0): [4]})
    fresh = remaining([("x", 0), ("x", 1)], {"x": 3}, {}, {})
    found = line("m", ENTRY, {PLACE: known, ("t", "baseline"): fresh}, no_sizes, ENDPOINTS)
    assert found.work.calls == pytest.approx(4 + 2 * 4)
    assert found.basis == ("journal", "journals of other scenarios")
    alone = line("m", ENTRY, {PLACE: fresh}, lambda place: {"x": Work(5, 100, 20)}, ENDPOINTS)
    assert (alone.work, alone.basis, alone.seconds) == (Work(10, 200, 40), ("case sizes",), None)


def test_tokens_that_an_endpoint_does_not_count_come_from_sizes(tmp_path):
    cell = left_of(tmp_path, {"a": 1, "b": 1}, {("a", 0): [4]}, prompt_tokens=None)
    found = line("m", ENTRY, {PLACE: cell}, lambda place: {"b": Work(2, 100, 20)}, ENDPOINTS)
    assert (found.work, found.basis) == (Work(4, 200, 40), ("journal, tokens by case sizes",))


def test_limits_a_minute_bound_the_time_from_below():
    limited = {"here": {"concurrency": 4, "requests_per_minute": 10, "tokens_per_minute": 1000}}
    work = Work(20, 900, 100)
    assert seconds(work, 2.0, 8, ENTRY, ENDPOINTS) == (10, False)
    assert seconds(work, 2.0, 2, ENTRY, ENDPOINTS) == (20, False)
    assert seconds(work, 2.0, 8, ENTRY, limited) == (120, False)
    assert seconds(work, None, 8, ENTRY, limited) == (120, True)
    assert seconds(Work(1, 2900, 100), None, 8, ENTRY, limited) == (180, True)
    assert seconds(work, None, 8, ENTRY, ENDPOINTS) == (None, False)
    assert seconds(work, 2.0, 8, {"source": "vllm", "concurrency": 8}, {}) == (5, False)
    assert seconds(work, 2.0, 8, {"source": "embedded"}, {}) == (40, False)


# The table


def a_line(model="m", paid=True, cost: float | None = 1.5, **changed):
    values = {"planned": 10, "left": 4.0, "work": Work(1234.4, 5e6, 70), "seconds": 3700.0, "at_least": False}
    return Line(model=model, paid=paid, cost=cost, basis=("journal",), **{**values, **changed})


def test_the_table_by_hand():
    lines = [a_line(), a_line("local", False, None, seconds=None), a_line("odd", cost=None, at_least=True)]
    text = table.shown(lines, ["oracle"], max_usd=None, spent=0)
    rows = [line.split("  ") for line in text.splitlines()]
    cells = {row[0]: [cell.strip() for cell in row[1:] if cell.strip()] for row in rows}
    amounts = ["4 of 10", "1,234", "5,000,000", "70"]
    assert cells["m"] == [*amounts, "1.50", "62 min", "journal"]
    assert cells["local"] == [*amounts, "-", "unknown", "journal"]
    assert cells["odd"] == [*amounts, "unknown", "at least 62 min", "journal"]
    assert cells["total"][:6] == ["12 of 30", "3,703", "15,000,000", "210", "at least 1.50", "at least 2 h 03 min"]
    assert "No calls: oracle." in text
    assert "unknown for 1 of the models: give their entries prices." in text


@pytest.mark.parametrize(
    ("lines", "spent", "told"),
    [
        ([a_line()], 3, "limits.max_usd is 5.00: 3.00 spent so far, 2.00 left; the estimate fits."),
        ([a_line()], 4, "1.00 left; by the estimate, 1.50, it would stop before its end."),
        ([a_line(), a_line("odd", cost=None)], 4, "by the estimate, at least 1.50"),
        ([a_line(cost=None)], 0, "5.00 left; the estimate fits, as far as it is known."),
        ([a_line()], 7, "7.00 spent so far, 0.00 left; by the estimate"),
    ],
)
def test_the_budget(lines, spent, told):
    assert told in table.shown(lines, [], max_usd=5, spent=spent)


# The target, on real cases


@pytest.fixture
def run(bfcl_cases, tmp_path, capsys):
    """Makes the estimate over 30 cases of two scenarios; returns its printed rows by their first column."""
    config = {
        "seed": 1,
        "trials": 1,
        "limits": {},
        "endpoints": ENDPOINTS,
        "perturbations": {},
        "conversations": {"user": "scripted"},
        "scenarios": {"bfcl-base": {"limit": 30}, "bfcl-miss_func": {"limit": 30}},
        "models": {"m": ENTRY, "oracle": {"source": "policy", "policy": "oracle", "family": "p"}},
    }
    cells = [(model, scenario) for model in config["models"] for scenario in config["scenarios"]]
    found = {scenario: bfcl_cases[scenario.removeprefix("bfcl-")] for scenario in config["scenarios"]}
    for scenario, cases in found.items():
        tables.write("cases", case_table.to_frame(cases, 1), tmp_path / f"cases/{scenario}.parquet")
        tables.write("contexts", perturbations.to_frame(cases, "baseline"), tmp_path / f"contexts/{scenario}.parquet")
    smk = SimpleNamespace(
        config=config,
        input=SimpleNamespace(
            **{name: [tmp_path / f"{name}/{scenario}.parquet" for scenario in found] for name in ("cases", "contexts")}
        ),
        params=SimpleNamespace(
            folder=str(tmp_path / "journal"),
            journals=[str(tmp_path / f"journal/{model}/{scenario}.jsonl") for model, scenario in cells],
            study=[],
            user_journals=[str(tmp_path / f"journal/user/{model}/{scenario}.jsonl") for model, scenario in cells],
            trajectories=[str(tmp_path / f"trajectories/{model}.{scenario}.parquet") for model, scenario in cells],
            turn_confidence=[
                str(tmp_path / f"turn_confidence/{model}.{scenario}.parquet") for model, scenario in cells
            ],
        ),
        log=[str(tmp_path / "log")],
    )
    selected = {
        scenario: case_table.select(case_table.to_frame(cases, 1), 30)["case_id"].tolist()
        for scenario, cases in found.items()
    }

    def estimate(**changed):
        config.update(changed)
        MAIN(smk)
        out = capsys.readouterr().out
        return out, {
            row.split("  ")[0]: [part.strip() for part in row.split("  ")[1:] if part.strip()]
            for row in out.splitlines()
        }

    turns = {case.case_id: len(case.turns) for cases in found.values() for case in cases}
    return SimpleNamespace(estimate=estimate, smk=smk, selected=selected, turns=turns)


def test_without_a_journal_the_sizes_of_the_cases_taken_count(run, bfcl_cases):
    out, rows = run.estimate()
    case_trials, calls, *_, cost, time, basis = rows["m"]
    chosen = [
        case
        for cases in bfcl_cases.values()
        for case in cases
        if any(case.case_id in ids for ids in run.selected.values())
    ]
    expected = sum(len(case.turns) + 1.5 * sum(map(len, case.gold)) for case in chosen)
    assert (case_trials, calls) == ("60 of 60", f"{round(expected):,}")
    assert (cost, time, basis) == ("unknown", "unknown", "case sizes")
    assert "4 characters a token" in out
    assert "No calls: oracle." in out


def test_a_perturbed_cell_counts_without_the_cases_that_are_left_out(run, bfcl_cases, tmp_path):
    cases, asked = bfcl_cases["base"], set(run.selected["bfcl-base"][4:])
    contexts = [perturbations.baseline(case) for case in cases]
    contexts = [
        context if case.case_id in asked else replace(context, left_out="for a reason")
        for case, context in zip(cases, contexts, strict=True)
    ]
    tables.write("contexts", perturbations.to_frame(cases, "p", contexts), tmp_path / "contexts/bfcl-base.p.parquet")
    run.smk.input.contexts.append(tmp_path / "contexts/bfcl-base.p.parquet")
    for name in ("journals", "user_journals", "trajectories", "turn_confidence"):
        getattr(run.smk.params, name).insert(
            1, str(tmp_path / "none")
        )  # the model's second cell, which has nothing yet
    _, rows = run.estimate(perturbations={"p": {"kind": "static", "models": ["m"], "scenarios": ["bfcl-base"]}})
    assert rows["m"][0] == "86 of 86"


def test_after_a_complete_run_nothing_is_left_and_with_a_third_left_a_third(run):
    runs = {
        Path(journal): {(case_id, 0): [2] * run.turns[case_id] for case_id in ids}
        for journal, ids in zip(run.smk.params.journals, run.selected.values(), strict=False)
    }
    calls = sum(sum(turns) for part in runs.values() for turns in part.values())
    for journal, part in runs.items():
        write_journal(journal, {run: turns for n, (run, turns) in enumerate(part.items()) if n % 3}, cost=0.01)
    _, rows = run.estimate(limits={"max_usd": 5.0})
    assert rows["m"][0] == "20 of 60"
    assert float(rows["m"][1]) == pytest.approx(calls / 3, rel=0.1)
    assert float(rows["m"][4]) == pytest.approx(0.01 * calls / 3, rel=0.1)
    assert rows["m"][6] == "journal"
    for journal, part in runs.items():
        write_journal(journal, {run: turns for n, (run, turns) in enumerate(part.items()) if not n % 3}, cost=0.01)
    out, rows = run.estimate(limits={"max_usd": 5.0})
    assert rows["m"][:6] == ["0 of 60", "0", "0", "0", "0.00", "0 s"]
    assert out.startswith("Nothing is left to ask: all 60 case-trials")
    assert f"{calls / 100:.2f} spent so far" in out


@pytest.mark.parametrize(
    ("changed", "left"),
    [
        ({"limit": 3, "prices": PRICES, "family": "g"}, {("b", 0), ("c", 0)}),
        ({"parameters": {"temperature": 1}}, None),
        ({"model": "openai/n"}, None),
    ],
)
def test_a_table_counts_where_it_was_made_with_the_settings_of_today(tmp_path, changed, left):
    key = {"model": "m", "scenario": "s", "perturbation": "baseline", "trial": 0, "turn": 0, "step": 0, "attempt": 0}
    flags = dict.fromkeys(("state_changed", "held_out", "retracted", "cached", "replayed"), False)
    values = {"tool_calls": "[]", "tool_results": "[]", "executed": 0, "text_recorded": True, "origin": "model"}
    rows = [
        {
            **dict.fromkeys(tables.TABLES["trajectories"].columns),
            **key,
            **flags,
            **values,
            "case_id": case_id,
            "status": status,
        }
        for case_id, status in (("a", "ok"), ("b", "infra_error"))
    ]
    path = tmp_path / "t.parquet"
    tables.write("trajectories", tables.frame("trajectories", rows), path, {"model": ENTRY, "run": {"seed": 1}})
    table = ended(path, {**ENTRY, **changed}, 1)
    assert (None if table is None else remaining([(c, 0) for c in "abc"], {}, {}, table).left.keys()) == left
    assert ended(path, ENTRY, 2) is None  # each call is asked with a seed of its own
    assert ended(tmp_path / "none.parquet", ENTRY, 1) == {}


def test_questions_after_turns_are_told_from_the_conversations_calls(tmp_path):
    path = tmp_path / "j.jsonl"
    write_journal(path, {("a", 0): [2, 1]})
    record = {"prompt_tokens": 100, "completion_tokens": 5, "latency": 1.0, "cost": None, "failure": "context_exceeded"}
    with path.open("a") as lines:
        for turn in (0, 1):
            call = ["a", 0, turn, 0, 0, "confidence"]
            lines.write(json.dumps({"key": f"beside {turn}", "call": call, "record": record}) + "\n")
    own, beside = asked(path)["a", 0], asked(path, "confidence")["a", 0]
    assert (len(own.calls), own.over, len(beside.calls), beside.over) == (3, False, 2, False)
    assert {values[0] for values in own.calls.values()} == {1000}
    assert {values[0] for values in beside.calls.values()} == {100}


def confidences(path, question, **statuses):
    rows = [
        dict.fromkeys(tables.TABLES["turn_confidence"].columns)
        | {"model": "m", "scenario": "s", "perturbation": "b", "case_id": case_id, "trial": 0, "turn": 0}
        | {"reasked": False, "cached": False, "status": status}
        for case_id, status in statuses.items()
    ]
    tables.write("turn_confidence", tables.frame("turn_confidence", rows), path, {"question": question})


def test_questions_after_turns_are_done_where_they_were_put_so_and_answered(tmp_path):
    path, question = tmp_path / "c.parquet", {"scale": "percent", "version": 1}
    table = {("a", 0): True, ("b", 0): True, ("c", 0): False}
    assert answered(path, {"question": question}, table) == {}
    confidences(path, question, a="ok", b="infra_error", c="ok")
    assert answered(path, {"question": question}, table) == {("a", 0): True, ("b", 0): False, ("c", 0): False}
    assert answered(path, {"question": question | {"scale": "unit"}}, table) is None
    assert answered(path, {"question": question}, None) is None


def test_the_work_of_questions_after_turns_by_hand():
    case, context, tools = tiny_case(["12345678", "1234"])
    asking, answer = sizes.CONFIDENCE_TOKENS
    found = sizes.confidence_size(case, context, [[40, 40], []])
    first = 2 + 180 + 150  # what the turn has added: its text, three calls with their results, and its last words
    assert found == Work(2, pytest.approx((tools + asking + first) + (tools + asking + first + 1 + 150)), 2 * answer)


def test_the_estimate_has_a_line_for_questions_after_turns(run):
    out, rows = run.estimate(turn_confidence={"scale": "percent"})
    turns = sum(run.turns[case_id] for ids in run.selected.values() for case_id in ids)
    assert rows["m after its turns"][:2] == ["60 of 60", str(turns)]
    assert "oracle after its turns" not in out
    for journal, ids in zip(run.smk.params.journals, run.selected.values(), strict=False):
        write_journal(Path(journal), {(case_id, 0): [1] * run.turns[case_id] for case_id in ids})
    _, rows = run.estimate()
    assert (rows["m"][0], rows["m after its turns"][:2]) == ("0 of 60", ["60 of 60", str(turns)])


def test_a_conversation_s_work_is_guessed_for_agent_and_user():
    case = next(case for case in tau2_cases.load("airline") if case.case_id == "2")
    results = sizes.result_lengths(case)
    assert len(results) == sizes.USER_TURNS
    assert sum(map(len, results)) == len(case.gold[0])
    work = sizes.size(case, perturbations.baseline(case), results)
    assert work.calls == sizes.USER_TURNS + 1.5 * len(case.gold[0])
    assert work.prompt_tokens > work.calls * len(case.system) / 4
    user = sizes.user_size(case)
    assert (user.calls, user.answer_tokens) == (sizes.USER_TURNS, sizes.USER_TURNS * sizes.USER_TOKENS)
