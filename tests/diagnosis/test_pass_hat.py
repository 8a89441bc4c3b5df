"""pass^k: the estimator by hand, the table's rules, and the rates of published runs."""

from __future__ import annotations

import itertools
import math

import pandas as pd
import pytest

from tests.diagnosis.panel import CALL, Panel, row
from toolcal import tables
from toolcal.cells import BASELINE, Cell
from toolcal.diagnosis.pass_hat import pass_hat, pass_hat_k
from toolcal.recordings import grades, tau1, tau2

AIRLINE = ("m", "tau2-airline", BASELINE)
FAMILIES = {"m": "f"}
PUBLISHED = {
    "tau2/gpt-4o-2024-11-20_airline_50.json": 0.46,
    "tau2/gpt-4.1_retail_40.json": 0.85,
    "tau2/qwen2.5-7b_airline_50.json": 0.18,
    "tau1/gpt-4o_airline_50.json": 0.42,
}


def runs(verdicts, *, cell=AIRLINE, clusters=None):
    """Graded runs from the verdicts of each case's trials."""
    return [
        dict(zip(tables.CELL, cell, strict=True))
        | {"case_id": case_id, "trial": trial, "passed": passed, "cluster_id": (clusters or {}).get(case_id, case_id)}
        for case_id, trials in verdicts.items()
        for trial, passed in enumerate(trials)
    ]


def table(*rows, seed=0):
    data = pd.DataFrame(list(itertools.chain(*rows)), columns=[*tables.CASE, "passed", "cluster_id"])
    found = pass_hat(data.astype({"passed": "boolean"}), FAMILIES, seed=seed)
    tables.check("pass_hat", found)
    return found


def test_the_estimator_is_unbiased():
    assert [pass_hat_k(4, 3, k) for k in (1, 2, 3, 4)] == [3 / 4, 3 / 6, 1 / 4, 0]
    for trials, passed in itertools.product(range(1, 6), range(6)):
        drawn = [True] * min(passed, trials) + [False] * (trials - min(passed, trials))
        for k in range(1, trials + 1):
            every = [all(some) for some in itertools.combinations(drawn, k)]
            assert pass_hat_k(trials, sum(drawn), k) == pytest.approx(sum(every) / len(every))


@pytest.mark.parametrize("k", [0, 3])
def test_more_draws_than_trials(k):
    with pytest.raises(ValueError, match=rf"pass\^{k} needs at least {k} trials, and there are 2"):
        pass_hat_k(2, 1, k)


def test_the_mean_is_over_cases_that_have_a_trial_left():
    found = table(runs({"a": [True, True], "b": [True, False, None], "c": [None]}))
    assert dict(zip(found["k"], found["pass_hat"], strict=True)) == {1: 0.75, 2: 0.5}
    assert set(found["n"]) == {2}
    assert set(found["trials_min"]) == {2}
    assert set(found["family"]) == {"f"}
    assert math.isclose(found["pass_hat"].iloc[0], (1 + 1 / 2) / 2)


def test_a_trial_counts_once_whatever_it_was_scored_for():
    panel = Panel(labellers=("paper_like", "refined"))
    for case_id, gold, passed in (("a", ("ASK", "TOOL_CALL"), True), ("b", ("REFUSE",), False), ("c", (), False)):
        panel.case(case_id, gold=gold)
        panel.run(case_id, [[CALL]], passed)
    panel.planned("a", "b", "c")
    one = row(panel.diagnose()["pass_hat"], k=1)
    assert (one["n"], one["pass_hat"]) == (3, pytest.approx(1 / 3)), "cases without a gold action count as well"


def test_each_cell_has_its_own_trials():
    retail = ("m", "tau2-retail", BASELINE)
    found = table(runs({"a": [True, True, True]}), runs({"a": [False]}, cell=retail))
    assert list(zip(found["scenario"], found["k"], found["pass_hat"], strict=True)) == [
        ("tau2-airline", 1, 1.0),
        ("tau2-airline", 2, 1.0),
        ("tau2-airline", 3, 1.0),
        ("tau2-retail", 1, 0.0),
    ]


def test_one_trial_a_case_is_the_cells_accuracy():
    panel = Panel()
    verdicts = [True, True, False, None, True]
    for at, passed in enumerate(verdicts):
        panel.case(str(at), gold=("TOOL_CALL",))
        panel.run(str(at), [[CALL]], passed, status="done" if passed is not None else "infra_error")
    panel.planned(*map(str, range(len(verdicts))))
    found = panel.diagnose()
    cell = row(found["cells"], gold_action="TOOL_CALL")
    one = row(found["pass_hat"], k=1)
    assert [one["pass_hat"], one["pass_hat_low"], one["pass_hat_high"]] == [
        cell["acc"],
        cell["acc_low"],
        cell["acc_high"],
    ]
    assert one["n"] == cell["n"] == 4


def test_cases_that_resemble_each_other_make_a_wider_interval():
    verdicts = {str(at): [at < 10] for at in range(20)}
    alone = row(table(runs(verdicts)), k=1)
    pairs = row(table(runs(verdicts, clusters={str(at): str(at // 5) for at in range(20)})), k=1)
    assert alone["pass_hat"] == pairs["pass_hat"] == 0.5
    assert pairs["pass_hat_low"] < alone["pass_hat_low"] < alone["pass_hat_high"] < pairs["pass_hat_high"]


@pytest.mark.parametrize("verdicts", [{}, {"a": [None], "b": [None, None]}])
def test_without_any_verdict_there_is_no_row(verdicts):
    assert len(table(runs(verdicts))) == 0


@pytest.mark.parametrize(("file", "rate"), PUBLISHED.items())
def test_published_runs(file, rate, recorded):
    reader = tau2 if file.startswith("tau2") else tau1
    domain = reader.domain_of(recorded / file)
    recording = reader.read(recorded / file, domain)
    cell = Cell("m", f"x-{domain}", BASELINE)
    graded = tables.records(grades.to_frame(cell, recording.runs, recording.cases))
    verdicts = {line["case_id"]: [line["passed"]] for line in graded}
    (one,) = tables.records(table(runs(verdicts, cell=cell)))
    assert (one["k"], one["pass_hat"], one["n"]) == (1, pytest.approx(rate), len(recording.cases))


def test_with_as_many_trials_each_pass_at_one_is_the_cells_accuracy_with_its_interval():
    panel = Panel()
    for at in range(8):
        panel.case(str(at), gold=("TOOL_CALL",))
        for trial in range(4):
            panel.run(str(at), [[CALL]], trial < at % 5, trial=trial)
    panel.planned(*map(str, range(8)), trials=4)
    found = panel.diagnose()
    cell, one = row(found["cells"], gold_action="TOOL_CALL"), row(found["pass_hat"], k=1)
    for end in ("", "_low", "_high"):
        assert one[f"pass_hat{end}"] == pytest.approx(cell[f"acc{end}"])
