"""What a judge says of assertions, against the verdicts of the same runs."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from statsmodels.stats.proportion import proportion_confint

from tests.diagnosis.panel import CALL, Panel, typed
from toolcal import tables
from toolcal.diagnosis.nl_assertions import nl_assertions
from toolcal.diagnosis.statistics import cluster_bootstrap

CELL = ("model", "tau2-airline", "none")
JUDGE = "openai/j"
COUNTS = ["n", "n_undecided", "n_missing", "n_assertions"]


class Judged(Panel):
    """A panel of runs with assertions, and what a judge says of them."""

    def __init__(self):
        super().__init__()
        self.judgements = []

    def asserted(self, case_id, passed, told, *, count=None, status="done", trials=(0,)):
        """A case's runs; `told` are the verdicts, or the status of a run without; no rows where it is None."""
        count = len(told) if count is None else count
        self.case(case_id, scenario=CELL[1], gold=("TOOL_CALL",))
        task = {"evaluation_criteria": {"nl_assertions": ["x"] * count}}
        self.rows["cases"][-1]["initial_state"] = json.dumps({"domain": "airline", "task": task})
        self.planned(case_id, cell=CELL, trials=len(trials))
        for trial in trials:
            if status != "missing":
                now = passed[trial] if isinstance(passed, list) else passed
                self.run(case_id, [[CALL], [CALL]], now, status=status, cell=CELL, trial=trial)
            for number in range(0 if told is None else count):
                verdict = {"status": told} if isinstance(told, str) else {"status": "decided", "verdict": told[number]}
                key = dict(zip(tables.CASE, (*CELL, case_id, trial), strict=True)) | {"assertion": number}
                about = {"question": "nl_assertions", "judge": JUDGE, "cached": False}
                self.judgements.append(key | about | verdict)

    def table(self, seed=0):
        found = nl_assertions(typed("judgements", self.judgements), self.graded(), self.families, seed=seed)
        tables.check("nl_assertions", found)
        return found


def four_kinds():
    panel = Judged()
    panel.asserted("a", True, [True, True])
    panel.asserted("b", True, [True, False, False])
    panel.asserted("c", False, [True])
    panel.asserted("d", False, [False, True])
    return panel


def test_rates_are_over_the_runs_that_both_judged():
    (row,) = four_kinds().table().to_dict("records")
    assert [row[name] for name in (*tables.CELL, "judge", "family")] == [*CELL, JUDGE, "family"]
    assert [row[name] for name in COUNTS] == [4, 0, 0, 8]
    rates = {"all_met": 0.5, "met": 5 / 8, "acc": 0.5, "passed_unmet": 0.25, "failed_met": 0.25}
    assert {name: row[name] for name in rates} == pytest.approx(rates)
    wilson = proportion_confint(1, 4, method="wilson")
    assert (row["passed_unmet_low"], row["passed_unmet_high"]) == pytest.approx(wilson)
    assert (row["met_low"], row["met_high"]) == cluster_bootstrap([2, 1, 1, 1], [2, 3, 1, 2], seed=0)


def test_what_has_no_verdict_is_counted_and_in_no_rate():
    panel = four_kinds()
    (before,) = panel.table().to_dict("records")
    panel.asserted("e", True, "undecided", count=2)
    panel.asserted("f", True, "context_exceeded", count=1)
    panel.asserted("g", True, "infra_error", count=2)  # the judge's call failed
    panel.asserted("h", None, None, count=2, status="infra_error")
    panel.asserted("i", None, None, count=2, status="missing")
    panel.asserted("j", None, [True, True], status="not_graded")
    panel.asserted("k", True, None, count=0)  # nothing to judge
    (row,) = panel.table().to_dict("records")
    assert [row[name] for name in COUNTS] == [4, 2, 4, 8]
    assert {k: v for k, v in row.items() if k not in COUNTS} == {k: v for k, v in before.items() if k not in COUNTS}


def test_trials_are_clustered_and_a_run_that_was_cut_short_failed():
    panel = Judged()
    panel.asserted("a", [True, False], [True], trials=(0, 1))
    panel.asserted("b", None, [True, True], status="step_limit")
    (row,) = panel.table(seed=3).to_dict("records")
    assert [row[name] for name in COUNTS] == [3, 0, 0, 4]
    assert (row["all_met"], row["acc"], row["failed_met"]) == pytest.approx((1, 1 / 3, 2 / 3))
    assert (row["failed_met_low"], row["failed_met_high"]) == cluster_bootstrap([1, 1], [2, 1], seed=3)


def test_a_cell_in_which_nothing_was_decided_keeps_its_row():
    panel = Judged()
    panel.asserted("a", True, "undecided", count=2)
    (row,) = panel.table().to_dict("records")
    assert [row[name] for name in COUNTS] == [0, 1, 0, 0]
    assert all(row[name] != row[name] for name in ("all_met", "met", "acc", "passed_unmet_low"))


def test_there_is_a_table_only_where_the_judge_is_asked():
    panel = four_kinds()
    judgements = typed("judgements", panel.judgements)
    assert not {"judge_agreement", "nl_assertions"} & set(panel.diagnose())
    writes = panel.diagnose(judgements=judgements, questions=["confirmed_write"])
    assert "nl_assertions" not in writes
    assert writes["judge_agreement"].empty  # and takes no verdict about assertions for one about writes
    assert writes["write_rates"].empty
    assert panel.diagnose(questions=["nl_assertions"])["nl_assertions"].empty
    assertions = panel.diagnose(judgements=judgements, questions=["nl_assertions"])
    pd.testing.assert_frame_equal(assertions["nl_assertions"], panel.table())
