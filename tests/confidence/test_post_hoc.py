"""Post-hoc baselines: what they find, against scikit-learn, and that they are fitted on other questions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression

from toolcal.confidence.metrics import score
from toolcal.confidence.post_hoc import HistogramBinning, TemperatureScaling, held_out


def overconfident(seed, n, temperature=2.5):
    """Confidences whose logits are too large by a factor."""
    rng = np.random.default_rng(seed)
    true = rng.uniform(0.05, 0.95, n)
    return expit(temperature * logit(true)), (rng.random(n) < true).astype(float)


def test_the_temperature_is_found():
    said, right = overconfident(0, 20_000)
    fitted = TemperatureScaling.fit(said, right)
    assert fitted.temperature == pytest.approx(2.5, rel=0.05)


def test_it_is_logistic_regression_without_intercept():
    said, right = overconfident(1, 300)
    model = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-10).fit(
        logit(np.clip(said, 1e-3, 1 - 1e-3))[:, None], right
    )
    fitted = TemperatureScaling.fit(said, right)
    assert 1 / fitted.temperature == pytest.approx(model.coef_[0, 0], rel=1e-4)
    np.testing.assert_allclose(fitted.apply(said[:50]), model.predict_proba(
        logit(np.clip(said[:50], 1e-3, 1 - 1e-3))[:, None])[:, 1], atol=1e-4)  # fmt: skip


def test_both_lower_the_error_on_other_answers_and_the_temperature_keeps_the_order():
    said, right = overconfident(2, 4000)
    fit, test = slice(0, 2000), slice(2000, None)
    before = score(said[test], right[test], seed=0, resamples=0)
    for fitted in (TemperatureScaling.fit(said[fit], right[fit]), HistogramBinning.fit(said[fit], right[fit])):
        after = score(fitted.apply(said[test]), right[test], seed=0, resamples=0)
        assert after["ece10"] < 0.5 * before["ece10"]
        assert after["brier"] < before["brier"]
        if isinstance(fitted, TemperatureScaling):
            assert after["auroc"] == pytest.approx(before["auroc"], abs=1e-4)


def test_stated_0_and_1_stay_finite_and_missing_stays_missing():
    fitted = TemperatureScaling.fit([0, 1, 1, 0.5, None, 0.7], [0, 1, 0, 1, 1, None])
    found = fitted.apply([0, 1, np.nan])
    assert 0 < found[0] < 0.5 < found[1] < 1
    assert np.isnan(found[2])
    binned = HistogramBinning.fit([0, 1, 1, 0.5, None], [0, 1, 0, 1, 1]).apply([0, 1, np.nan])
    assert list(binned[:2]) == [0, 0.5]
    assert np.isnan(binned[2])


def test_histogram_binning_by_hand():
    fitted = HistogramBinning.fit([0.95, 1.0, 0.9, 0.15], [1, 0, 0, 1])
    assert fitted.accuracy == pytest.approx((0.5, 1, *(0.5,) * 7, 1 / 3))
    assert list(fitted.apply([0.9, 0.1, 0.55])) == pytest.approx([1 / 3, 1, 0.5])


@pytest.mark.parametrize(
    ("said", "right", "limit"),
    [([0.9] * 5, [0] * 5, 0.5), ([0.9] * 5, [1] * 5, 1.0), ([0.5] * 5, [1, 0, 1, 1, 0], 0.5)],
)
def test_one_class_goes_to_its_limit(said, right, limit):
    assert TemperatureScaling.fit(said, right).apply([said[0]])[0] == pytest.approx(limit, abs=1e-3)


@pytest.mark.parametrize("kind", [TemperatureScaling, HistogramBinning])
def test_nothing_to_fit_on_is_refused(kind):
    for said, right in (([], []), ([None], [1]), ([0.5], [None])):
        with pytest.raises(ValueError, match="nothing to fit on"):
            kind.fit(said, right)


def test_the_split_is_by_question_seeded_and_does_not_mind_the_order():
    names = [f"world-{i:04d}" for i in range(200)]
    half = held_out(names, share=0.5, seed=1)
    assert len(half) == 100
    assert half == held_out([*reversed(names), *names], share=0.5, seed=1)
    assert half != held_out(names, share=0.5, seed=2)
    assert held_out(names, share=0.25, seed=1) < half
    assert held_out([], share=0.5, seed=1) == frozenset()
    # What else is asked moves few: a question's rank is its own.
    assert len(half ^ held_out(names[:190], share=0.5, seed=1)) <= 20
