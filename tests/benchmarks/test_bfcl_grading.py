"""The verdicts against BFCL's own runner, and the isolation of runs from each other."""

from __future__ import annotations

import json
import random
import subprocess
import sys

import pytest

from tests.benchmarks import official
from tests.timing import best_of, cpu
from toolcal.benchmarks.bfcl import grading
from toolcal.benchmarks.protocol import Emission

SCORED_BY_AN_OLDER_SIMULATOR = {("deepseek", "multi_turn_long_context_0")}


@pytest.fixture(scope="session")
def runner(tmp_path_factory):
    return official.load_runner(tmp_path_factory.mktemp("bfcl"))


def emissions(turns):
    """A result list of BFCL (turns of steps of [{name: JSON arguments}] or text) as emissions."""
    return [
        Emission(
            turn,
            "ok",
            tuple(
                (name, json.loads(arguments))
                for call in (step if isinstance(step, list) else [])
                if isinstance(call, dict)
                for name, arguments in call.items()
            ),
        )
        for turn, steps in enumerate(turns)
        for step in (steps or [""])
    ]


def gold_turns(bfcl, case):
    """Gold as a result list: one emission a turn, arguments as JSON."""
    calls = [[{n: json.dumps(a)} for n, a in bfcl.reference_calls(case, turn)] for turn in range(len(case.gold))]
    return [[step] if step else [] for step in calls]


def ours(bfcl, case, turns):
    grade = bfcl.grade(case, emissions(turns))
    return grade.passed, grade.reason, grade.detail


def recorded_runs(folder):
    for path in sorted(folder.glob("bfcl/result_*/multi_turn/*.json")):
        provider = path.parts[-3].removeprefix("result_")
        for line in path.read_text().splitlines():
            entry = json.loads(line)
            yield provider, entry["id"], entry["result"]


def published_scores(folder):
    """(provider, entry) -> passed, for the entries of the score files."""
    scores = {}
    for path in folder.glob("bfcl/score_*/multi_turn/*.json"):
        provider = path.parts[-3].removeprefix("score_")
        head, *failed = (json.loads(line) for line in path.read_text().splitlines())
        category = path.name.removeprefix("BFCL_v4_").removesuffix("_score.json")
        ids = {f"{category}_{number}" for number in range(head["total_count"])}
        scores |= {(provider, id): id not in {entry["id"] for entry in failed} for id in ids}
    return scores


def test_recorded_runs_get_the_official_verdict(bfcl, bfcl_cases, recorded, runner):
    cases = {case.case_id: case for found in bfcl_cases.values() for case in found}
    runs = list(recorded_runs(recorded))
    assert len(runs) == 16
    verdicts = {}
    for provider, id, turns in runs:
        verdicts[provider, id] = ours(bfcl, cases[id], turns)
        assert verdicts[provider, id] == official.verdict(runner, cases[id], turns), (provider, id)
    published = published_scores(recorded)
    assert len(published) == 10
    differ = {key for key, passed in published.items() if verdicts[key][0] != passed}
    assert differ == SCORED_BY_AN_OLDER_SIMULATOR


def mutations(turns, generator):
    """A result list with one to three changes: calls dropped, doubled, reordered, arguments changed."""
    turns = json.loads(json.dumps(turns))
    for _ in range(generator.randint(1, 3)):
        steps = [(turn, step) for turn in turns for step in turn if isinstance(step, list)]
        if not steps:
            return turns
        turn, step = generator.choice(steps)
        kind = generator.choice(["drop", "double", "reorder", "change", "unknown", "text"])
        if kind == "drop":
            step.pop(generator.randrange(len(step)))
            if not step:
                turn.remove(step)
        elif kind == "double":
            step.append(generator.choice(step))
        elif kind == "reorder":
            generator.shuffle(turns)
        elif kind == "change":
            call = generator.choice(step)
            name, arguments = next(iter(call.items()))
            values = json.loads(arguments)
            if values:
                odd = [None, "x(y)", -1, 3.5, True, ["a"], {}, "ls", 'it\'s "quoted" \\ \n']
                values[generator.choice(list(values))] = generator.choice(odd)
            call[name] = json.dumps(values)
        elif kind == "unknown":
            step.append({"teleport": '{"to": "moon"}'})
        else:
            turn.insert(0, "I will do that now.")
    return turns


def test_mutated_gold_gets_the_official_verdict_and_reason(bfcl, bfcl_cases, runner):
    generator = random.Random(20260901)
    cases = [case for found in bfcl_cases.values() for case in found]
    reasons = set()
    for case in generator.sample(cases, 500):
        turns = mutations(gold_turns(bfcl, case), generator)
        verdict = ours(bfcl, case, turns)
        assert verdict == official.verdict(runner, case, turns), (case.case_id, turns)
        reasons.add(verdict[1])
    assert reasons == {
        None,
        "multi_turn:empty_turn_model_response",
        "multi_turn:execution_response_mismatch",
        "multi_turn:instance_state_mismatch",
    }


def test_a_run_that_was_cut_short_gets_the_official_verdict(bfcl, bfcl_cases, runner):
    case = bfcl_cases["base"][0]
    turns = gold_turns(bfcl, case)[:2]
    turns[-1] *= grading.STEP_LIMIT + 1
    grade = bfcl.grade(case, emissions(turns))
    assert grade.status == "step_limit"
    assert (grade.passed, grade.reason, grade.detail) == official.verdict(runner, case, turns)


def test_the_step_limit_in_the_last_turn_is_still_graded(bfcl, bfcl_cases):
    case = bfcl_cases["base"][0]
    turns = gold_turns(bfcl, case)
    turns[-1] += [[{"ls": "{}"}]] * grading.STEP_LIMIT
    grade = bfcl.grade(case, emissions(turns))
    assert (grade.status, grade.passed) == ("step_limit", True)


def test_turn_checks_say_where_it_went_wrong(bfcl, bfcl_cases):
    case = next(case for case in bfcl_cases["miss_func"] if case.decisive_turn == 1 and len(case.gold) > 3)
    turns = gold_turns(bfcl, case)
    turns[1] = [[{"pwd": "{}"}]]
    turns[3] = []
    grade = bfcl.grade(case, emissions(turns))
    assert [tuple(check.values()) for check in grade.turn_checks[:4]] == [
        (True, True, None),
        (None, None, False),
        (True, True, None),
        (None, None, None),
    ]
    assert (grade.passed, grade.passed_strict) == (False, False)


@pytest.mark.parametrize("status", ["infra_error", "context_exceeded"])
def test_runs_that_broke_off(bfcl, bfcl_cases, status):
    grade = bfcl.grade(bfcl_cases["base"][0], [Emission(0, "ok", (("ls", {}),)), Emission(0, status)])
    assert grade.status == status
    assert grade.passed is (None if status == "infra_error" else False)


def test_runs_never_see_each_others_state(bfcl, bfcl_cases):
    """Half a run graded first, then the whole one, all in one shuffled process."""
    jobs = [(case, half) for found in bfcl_cases.values() for case in found for half in (True, False, False)]
    random.Random(3).shuffle(jobs)

    def work():
        passed = 0
        for case, half in jobs:
            turns = gold_turns(bfcl, case)
            if half:
                turns = [turns[0] * 2, *([] for _ in turns[1:])]
                bfcl.grade(case, emissions(turns))
            else:
                passed += bfcl.grade(case, emissions(turns)).passed
        assert passed == 2 * 800

    assert best_of(lambda: cpu(work), 30) < 30


def test_the_official_module_keeps_nothing(bfcl, bfcl_cases):
    from bfcl_eval.eval_checker.multi_turn_eval import multi_turn_utils

    before = set(vars(multi_turn_utils))
    bfcl.grade(bfcl_cases["base"][0], emissions(gold_turns(bfcl, bfcl_cases["base"][0])))
    assert set(vars(multi_turn_utils)) == before


def test_grading_all_oracle_runs_takes_seconds(bfcl, bfcl_cases):
    runs = [(case, emissions(gold_turns(bfcl, case))) for found in bfcl_cases.values() for case in found]

    def work():
        assert all(bfcl.grade(case, run).passed for case, run in runs)

    assert best_of(lambda: cpu(work), 5) <= 5


@pytest.mark.parametrize(
    "call",
    [
        ("__import__('os').system", {"x": 1}),
        ("print", {"x": 1}),
        ("ls", {"a=__import__('pathlib').Path('pwned').touch(), b": 1}),
        ("globals", {}),
        ("execute_multi_turn_func_call", {}),
    ],
)
def test_hostile_calls_never_reach_the_checker(bfcl, bfcl_cases, call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    case = bfcl_cases["base"][0]
    assert grading.call_strings(case, [Emission(0, "ok", (call,))]) == [[[grading.UNDECODABLE]]]
    run = [Emission(0, "ok", (call,)), *emissions(gold_turns(bfcl, case))]
    assert bfcl.grade(case, run).passed
    assert not list(tmp_path.iterdir())


def test_the_package_makes_no_folders_where_it_is_used(tmp_path):
    """BFCL's own settings module makes folders on import, so nothing of ours may import it."""
    code = """
import sys
from toolcal.benchmarks.bfcl import Bfcl
from toolcal.benchmarks.protocol import Emission
bfcl = Bfcl()
case = bfcl.cases("bfcl-miss_func")[0]
bfcl.environment(case).execute("ls", {})
bfcl.grade(case, [Emission(turn, "ok") for turn in range(len(case.gold))])
assert "bfcl_eval.constants.eval_config" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
    assert not list(tmp_path.iterdir())


def test_differences_say_what_the_check_compared(bfcl, bfcl_cases):
    seen = set()
    for case in bfcl_cases["base"][:12]:
        turns = gold_turns(bfcl, case)
        assert bfcl.grade(case, emissions(turns)).differences == []
        turns[-1] = [[{"pwd": "{}"}]]
        grade = bfcl.grade(case, emissions(turns))
        if grade.passed is False:
            assert grade.differences
            assert all(one["reference"] != one["model"] for one in grade.differences)
            seen.add((grade.reason.split(":")[1], grade.differences[0]["model"] is None))
    assert ("execution_response_mismatch", True) in seen
    assert ("instance_state_mismatch", False) in seen
