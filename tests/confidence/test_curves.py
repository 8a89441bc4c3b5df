"""Bins, risk by coverage and causes, cell by cell."""

from __future__ import annotations

import numpy as np
import pytest

from tests.confidence import scripted
from tests.confidence.test_calibration import DIRECT, NOISY, SEARCH, study
from toolcal.confidence.curves import answer_causes, reliability, risk_coverage
from toolcal.confidence.tables import CAUSES, STUDY
from toolcal.diagnosis.statistics import wilson


def of(data, cell):
    return data[(data[list(STUDY)] == list(cell)).all(axis=1)]


def test_every_cell_has_ten_bins_that_hold_its_confident_answers():
    rows = study(said=scripted.shy, broken=[SEARCH])
    found = reliability(rows)
    assert len(found) == 10 * len(rows)
    direct = of(found, DIRECT)
    assert direct["bin"].tolist() == list(range(10))
    assert direct["n"].tolist() == [0] * 9 + [60]
    assert (direct["n_answers"] == 80).all()
    confident = rows[DIRECT][rows[DIRECT]["confidence"].notna()]
    assert direct["accuracy"].iloc[-1] == pytest.approx(confident["correct"].mean())
    assert (of(found, SEARCH)[["n", "n_answers"]] == 0).all(axis=None)


def test_risk_at_full_coverage_is_the_error_rate_of_confident_answers():
    rows = study()
    found = of(risk_coverage(rows), NOISY)
    last = found.iloc[-1]
    assert last["coverage"] == 1
    assert last["risk"] == pytest.approx(1 - rows[NOISY]["correct"].mean())
    assert [last["risk_low"], last["risk_high"]] == pytest.approx(
        [float(end) for end in wilson((rows[NOISY]["correct"] == 0).sum(), 80)]
    )
    assert found["threshold"].is_monotonic_decreasing
    assert (found["risk_low"] <= found["risk"]).all()
    assert (found["risk"] <= found["risk_high"]).all()


def test_a_cell_without_confidence_has_a_row_without_risk():
    rows = study(n=8, said=lambda chance, rng: np.full(len(chance), np.nan))
    (row,) = of(risk_coverage(rows), DIRECT).to_dict("records")
    assert (row["n"], row["n_confident"], row["n_answers"], row["coverage"]) == (0, 0, 8, 0)
    assert np.isnan(row["risk"])


def test_causes_add_up_to_the_wrong_answers_also_without_confidence():
    rows = study(said=scripted.shy, broken=[SEARCH])
    found = of(answer_causes(rows), NOISY)
    planned = rows[NOISY]
    wrong = int((planned["correct"] == 0).sum())
    assert found["cause"].tolist() == list(CAUSES)
    assert found["n"].sum() == wrong == found["n_wrong"].iloc[0]
    assert found["share"].sum() == pytest.approx(1)
    assert found["n_confident"].sum() == (planned["confidence"].notna() & (planned["correct"] == 0)).sum()
    assert set(found["mean_confidence"].dropna().round(9)) == {0.9}
    assert (found["n"] > 0).sum() > 2
    gone = of(answer_causes(rows), SEARCH)
    assert gone["share"].isna().all()
    assert (gone["n_answers"] == 0).all()
