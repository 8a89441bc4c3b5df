"""Paired tests between cells: which are compared, their numbers, Holm, and what cannot be tested."""

from __future__ import annotations

import pandas as pd
import pytest

from tests.confidence import scripted
from tests.confidence.test_calibration import DIRECT, NOISY, SEARCH, study
from toolcal.confidence.calibration_tests import calibration_tests, comparisons
from toolcal.confidence.compare import COMPARED, compare
from toolcal.diagnosis.paired_tests import holm

QUICK = {"seed": 0, "resamples": 50, "swaps": 199}


def test_which_cells_are_compared():
    rows = study(n=8, models={"base": "prompted", "later": "trained"})
    found = [(kind, *first[2:], *second) for kind, first, second in comparisons(rows, {"later": "base"})]
    of_base = [row[:-5] + row[-3:] for row in found if row[-5] == "base"]
    quiet, noisy = ("prompted", "search", 0.0), ("prompted", "search", 0.5)
    code, noisy_code = ("prompted", "python", 0.0), ("prompted", "python", 0.5)
    direct = ("direct", "none", 0.0)
    assert sorted(of_base) == sorted(
        [
            *(("tool", *direct, *cell) for cell in (quiet, noisy, code, noisy_code)),
            ("tools", *quiet, *code),
            ("tools", *noisy, *noisy_code),
            ("noise", *quiet, *noisy),
            ("noise", *code, *noisy_code),
        ]
    )
    training = [row[1:] for row in found if row[0] == "training"]
    assert training == [
        ("prompted", tool, noise, "later", "world", "trained", tool, noise)
        for tool in ("search", "python")
        for noise in (0.0, 0.5)
    ]
    assert len(found) == 2 * len(of_base) + 4
    once_more = comparisons(study(n=8, models={"a": "trained", "b": "trained"}), {"a": "base", "b": "a"})
    assert {(first.model, second.model) for kind, first, second in once_more if kind == "training"} == {("a", "b")}


def test_numbers_are_those_of_compare_and_holm_is_over_one_metric():
    rows = study(said=scripted.boastful)
    tests = calibration_tests(rows, {}, **QUICK)
    one = tests[(tests["comparison"] == "noise") & (tests["tool"] == "search")].set_index("metric")
    alone = compare(rows[SEARCH], rows[NOISY], **QUICK).set_index("metric")
    assert list(one.index) == list(COMPARED)
    columns = ["n", "n_questions", "first", "second", "delta", "delta_low", "delta_high", "p"]
    pd.testing.assert_frame_equal(one[columns], alone[columns])
    assert (one["first_noise"] == 0).all()
    assert one.loc["accuracy", "delta"] < 0
    for _, family in tests.groupby("metric"):
        assert family["p_holm"].tolist() == pytest.approx(holm(family["p"], ["one"] * len(family)).tolist())
        assert (family["comparisons"] == len(family)).all()
    assert tests["p_reason"].isna().all()


def test_what_cannot_be_tested_says_why_and_counts_only_where_it_was_compared():
    rows = study(broken=[SEARCH._replace(tool="python")])
    same = rows | {SEARCH: rows[DIRECT]}
    tests = calibration_tests(same, {}, **QUICK)
    agree = tests[(tests["comparison"] == "tool") & (tests["tool"] == "search") & (tests["noise"] == 0)]
    assert set(agree["p_reason"]) == {"no_difference"}
    assert agree[["p", "p_holm", "test"]].isna().all(axis=None)
    assert (agree["delta"] == 0).all()
    gone = tests[(tests["tool"] == "python") & (tests["noise"] == 0)]
    assert set(gone["p_reason"]) == {"no_pairs"}
    assert gone["delta"].isna().all()
    brier = tests[tests["metric"] == "brier"]
    assert (brier["comparisons"] == brier["delta"].notna().sum()).all()
    right = {cell: planned.assign(correct=1.0) for cell, planned in study(n=20).items()}
    undefined = calibration_tests(right, {}, **QUICK)
    assert set(undefined["p_reason"][undefined["metric"] == "mcip"]) == {"undefined"}


def test_one_cell_has_nothing_to_be_compared_with():
    rows = study(n=8)
    assert calibration_tests({DIRECT: rows[DIRECT]}, {}, **QUICK).empty
