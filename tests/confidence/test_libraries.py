"""Metrics against scikit-learn, relplot and plain Python, on 10,000 random sets."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import relplot
import sklearn
from scipy.stats import rankdata
from sklearn.calibration import calibration_curve
from sklearn.metrics import auc, brier_score_loss, roc_curve

from toolcal.confidence.binning import SCHEMES, equal_mass, equal_width, reliability, risk_coverage
from toolcal.confidence.metrics import METRICS, score
from toolcal.confidence.scorer import Scorer

KINDS = ("continuous", "percent", "usual", "constant", "one_class", "middles", "empty")


def random_set(rng, number):
    kind = KINDS[number % len(KINDS)]
    n = 0 if kind == "empty" else int(rng.integers(1, 60))
    said = {
        "percent": lambda: rng.integers(0, 101, n) / 100,
        "usual": lambda: rng.choice([0.0, 0.5, 0.8, 0.85, 0.9, 0.95, 1.0], n),
        "constant": lambda: np.full(n, rng.integers(0, 101) / 100),
        "middles": lambda: (rng.integers(0, 10, n) + 0.45) / 10,
    }.get(kind, lambda: rng.random(n))()
    right = (rng.random(n) < said).astype(float)
    return kind, said, np.full(n, float(rng.integers(0, 2))) if kind == "one_class" else right


def by_hand(said, right, bins):
    """ECE with the bins of exact fractions, in plain Python."""
    held = {}
    for c, y in zip(said, right, strict=True):
        held.setdefault(min(int(Fraction(str(c)) * bins), bins - 1), []).append(c - y)
    return sum(abs(sum(gaps)) for gaps in held.values()) / len(said)


def off_edges(said, bins):
    return bool((np.abs(said * bins - np.round(said * bins)) > 1e-9)[said < 1].all())


def alike(one, other):
    """Faster than `pytest.approx`, which counts over so many sets."""
    return abs(one - other) < 1e-9


def below_1(said):
    """relplot gives a confidence of exactly 1 a bin of its own."""
    return np.minimum(said, np.nextafter(1, 0))


@pytest.mark.slow
@sklearn.config_context(skip_parameter_validation=True, assume_finite=True)
def test_ten_thousand_random_sets():
    rng = np.random.default_rng(0)
    seen = dict.fromkeys((*KINDS, "relplot", "two classes"), 0)
    for number in range(10_000):
        kind, said, right = random_set(rng, number)
        seen[kind] += 1
        found = score(said, right, seed=0, resamples=0)
        if kind == "empty":
            assert all(found[name] is None and found[f"{name}_reason"] == "no_answers" for name in METRICS)
            continue
        assert alike(found["brier"], brier_score_loss(right, said, pos_label=1))
        for name, bins in (("ece10", 10), ("ece15", 15)):
            if not off_edges(said, bins):
                assert alike(found[name], by_hand(said, right, bins))
            else:
                seen["relplot"] += 1
                assert alike(found[name], relplot.metrics.binnedECE(below_1(said), right, bins))
        if 0 < right.sum() < len(right):
            seen["two classes"] += 1
            assert alike(found["auroc"], auc(*roc_curve(right, said)[:2]))
            pairs = said[right == 1][:, None] > said[right == 0]
            assert alike(found["strict_ranking"], pairs.mean())
            assert alike(found["mcip"], said[right == 0].mean())
        else:
            assert found["auroc"] is None
            assert found["auroc_reason"] == ("no_errors" if right.all() else "no_right_answers")
    assert min(seen.values()) > 1000, seen


def test_bins_against_scikit_learn():
    rng = np.random.default_rng(1)
    for _ in range(100):
        said = rng.random(80)
        right = rng.random(80) < said
        for bins in (10, 15):
            table = reliability(said, right, bins)
            accuracy, confidence = calibration_curve(right, said, n_bins=bins)
            filled = table[table["n"] > 0]
            np.testing.assert_allclose(filled["accuracy"], accuracy, atol=1e-12)
            np.testing.assert_allclose(filled["confidence"], confidence, atol=1e-12)
            assert table["n"].sum() == 80
            assert len(table) == bins


@pytest.mark.parametrize("bins", [10, 15, 20])
def test_edges_lie_in_the_bin_above_and_1_in_the_last(bins):
    edges = np.array([k / bins for k in range(bins + 1)])
    assert list(equal_width(edges, bins)) == [*range(bins), bins - 1]
    hundredths = np.array([float(f"{k / 100:.2f}") for k in range(101)])
    exact = [min(k * bins // 100, bins - 1) for k in range(101)]
    assert list(equal_width(hundredths, bins)) == exact
    assert list(equal_width(np.nextafter(edges[1:], 0), bins)) == list(range(bins))


def test_equal_mass_bins_are_even_without_ties_and_keep_ties_together():
    rng = np.random.default_rng(2)
    said = rng.random(70)
    parts = np.array_split(np.argsort(said), 10)
    assert [set(np.flatnonzero(equal_mass(said, 10) == k)) for k in range(10)] == [set(part) for part in parts]
    tied = rng.choice([0.5, 0.8, 0.9, 1.0], 1000)
    where = equal_mass(tied, 10)
    assert len(set(zip(tied, where, strict=True))) == 4
    assert (np.diff(where[np.argsort(tied, kind="stable")]) >= 0).all()
    assert len(set(equal_mass(np.full(7, 0.9), 10))) == 1
    assert list(equal_mass(np.empty(0), 10)) == []


def test_the_schemes_are_what_they_are_called():
    assert {name: bins for name, (_, bins) in SCHEMES.items()} == {"ece10": 10, "ece15": 15, "ece_mass10": 10}


def test_risk_coverage_by_hand():
    table = risk_coverage([0.9, 0.8, 0.8, 0.1, np.nan], [1, 0, 1, 0, 1])
    assert table.to_dict(orient="list") == {
        "threshold": [0.9, 0.8, 0.1], "n": [1, 3, 4], "coverage": [0.25, 0.75, 1], "risk": [0, 1 / 3, 0.5],
    }  # fmt: skip
    assert risk_coverage([], []).empty


def test_aurc_is_the_mean_risk_over_all_orders_of_ties():
    rng = np.random.default_rng(4)
    said = rng.choice([0.2, 0.5, 0.9], 12)
    right = (rng.random(12) < 0.5).astype(float)
    risks = []
    for _ in range(20_000):
        order = np.lexsort((rng.random(12), -said))
        risks.append(np.mean(np.cumsum(1 - right[order]) / np.arange(1, 13)))
    found = score(said, right, seed=0, resamples=0)["aurc"]
    assert found == pytest.approx(np.mean(risks), abs=4 * np.std(risks) / np.sqrt(len(risks)))
    # Without ties it is the plain mean.
    said = rng.random(50)
    right = (rng.random(50) < said).astype(float)
    wrong = 1 - right[np.argsort(-said)]
    exact = np.mean(np.cumsum(wrong) / np.arange(1, 51))
    assert score(said, right, seed=0, resamples=0)["aurc"] == pytest.approx(exact, abs=1e-12)


def test_bootstrap_replicates_are_the_metrics_of_resampled_answers():
    """The weighted sums say of a resample what a plain computation says of its rows, ties and clusters included."""
    rng = np.random.default_rng(5)
    said, cluster = rng.choice([0.1, 0.35, 0.5, 0.9, 1.0, np.nan], 60), np.repeat(np.arange(20), 3)
    right = (rng.random(60) < 0.5).astype(float)
    weights = rng.multinomial(20, np.full(20, 1 / 20), size=30).astype(float)
    found = Scorer(said, right, cluster, 20, np.zeros(60, bool)).scores(weights)
    for i, drawn in enumerate(weights.astype(int)):
        rows = np.repeat(np.arange(60), drawn[cluster])
        c, y = said[rows], right[rows]
        known = ~np.isnan(c)
        plain = score(c, y, seed=0, resamples=0)
        for name in set(METRICS) - {"ece_mass10", "ece_debiased"}:
            assert plain[name] is None or found[name][i] == pytest.approx(plain[name], abs=1e-9), name
        ranks = rankdata(c[known])
        hits = y[known] == 1
        u = ranks[hits].sum() - hits.sum() * (hits.sum() + 1) / 2
        assert found["auroc"][i] == pytest.approx(u / hits.sum() / (~hits).sum(), abs=1e-9)
