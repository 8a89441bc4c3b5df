"""What becomes of verdicts in the diagnosis: rates by the judge, and its agreement with the rule."""

from __future__ import annotations

import pandas as pd
import pytest

from tests.judging.invented import cancelling, table_of
from toolcal import tables
from toolcal.diagnosis.judge_agreement import judge_agreement, judged_writes, judges
from toolcal.diagnosis.write_rates import write_rates
from toolcal.judging.write_items import WRITE
from toolcal.validity.agreement import kappa

JUDGE = "openai/j"
AGREEMENT = ["n", "n_undecided", "n_missing", "n_rule", "n_judge"]


def written(rule, passed=True):
    """Table `writes`: one write a case, with the rule's decisions."""
    talks = [cancelling(f"c{n:02}") for n in range(len(rule))]
    return table_of("writes", *talks).assign(confirmed=rule, passed=passed)


def judged(writes, verdicts, judge=JUDGE):
    """Table `judgements`: a verdict, or the status of a write without one; no row where that is None."""
    rows = [
        {
            **{column: row[column] for column in WRITE},
            **{"question": "confirmed_write", "judge": judge, "cached": False},
            **({"verdict": told, "status": "decided"} if isinstance(told, bool) else {"status": told}),
        }
        for row, told in zip(tables.records(writes), verdicts, strict=True)
        if told is not None
    ]
    return tables.frame("judgements", rows)


def test_agreement_is_over_what_both_decided():
    rule = [True] * 12 + [False] * 8
    told = [True] * 10 + [False] * 9 + ["undecided"]
    writes = written(rule)
    data = judge_agreement(writes, judged(writes, told), seed=0)
    tables.check("judge_agreement", data)
    (row,) = tables.records(data)
    assert [row[name] for name in AGREEMENT] == [19, 1, 0, 12, 10]
    assert row["agree"] == pytest.approx(17 / 19)
    assert row["kappa"] == pytest.approx(kappa(rule[:19], told[:19]))
    assert row["kappa_low"] < row["kappa"] < row["kappa_high"] <= 1
    assert row["agree_low"] < row["agree"] < row["agree_high"] < 1


def test_without_verdicts_there_is_no_agreement_and_with_one_answer_no_kappa():
    writes = written([True, True, True, True])
    none = judge_agreement(writes, judged(writes, ["infra_error", "context_exceeded", None, "undecided"]), seed=0)
    (row,) = tables.records(none)
    assert [row[name] for name in (*AGREEMENT, "agree", "kappa")] == [0, 2, 2, 0, 0, None, None]
    (row,) = tables.records(judge_agreement(writes, judged(writes, [True] * 4), seed=0))
    assert (row["agree"], row["kappa"], row["kappa_low"]) == (1, None, None)
    assert 0 < row["agree_low"] < 1
    tables.check("judge_agreement", judge_agreement(writes, tables.frame("judgements", []), seed=0))


def test_judges_stand_side_by_side_and_writes_that_need_no_yes_nowhere():
    writes = written([True, False, True])
    both = pd.concat([judged(writes, [True, False, True], judge) for judge in ("openai/b", "openai/a")])
    writes.loc[2, "to_be_confirmed"] = False
    assert judges(both) == ["openai/a", "openai/b"]
    found = judge_agreement(writes, both, seed=0)
    assert found[["judge", "n", "kappa"]].to_numpy().tolist() == [["openai/a", 2, 1], ["openai/b", 2, 1]]


def test_rates_by_the_judge_are_over_the_writes_it_decided():
    writes = written([True, True, False, False], passed=[True, False, True, None])
    data = judged_writes(writes, judged(writes, [False, "undecided", True, True]), JUDGE)
    rates = write_rates(data, {"m": "f"}, seed=0, reader=JUDGE)
    tables.check("write_rates", rates)
    row = tables.records(rates)[0]
    assert [row[name] for name in ("writes", "reader", "n", "n_missing")] == ["all", JUDGE, 2, 2]
    assert [row[name] for name in ("confirmed", "acc", "gap", "share_masked")] == [0.5, 1.0, 0.5, 0.5]
    assert writes["passed"].tolist() == [True, False, True, None]
