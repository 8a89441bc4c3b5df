import itertools
from math import comb

import numpy as np
import pytest
from scipy.stats import norm
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from toolcal.diagnosis.paired_tests import holm, mcnemar_exact, permutation, permutation_of_fractions


def test_mcnemar_agrees_with_statsmodels():
    pairs = [(b, c) for b in range(31) for c in range(31) if b + c] + [(90, 60), (700, 704), (0, 200), (1, 1403)]
    found = mcnemar_exact(*np.array(pairs).T)
    expected = [mcnemar([[5, b], [c, 7]], exact=True).pvalue for b, c in pairs]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_mcnemar_without_discordant_pairs_tested_nothing():
    assert np.isnan(mcnemar_exact(0, 0))
    # By hand: 5 of 5 to one side, 2 / 2^5.
    assert mcnemar_exact([5, 0], [0, 5]).tolist() == [0.0625, 0.0625]


def enumerated(differences):
    sums = [sum(s * d for s, d in zip(signs, differences, strict=True)) for signs in SIGNS[len(differences)]]
    return np.mean([abs(s) >= abs(sum(differences)) - 1e-12 for s in sums])


SIGNS = {n: list(itertools.product((1, -1), repeat=n)) for n in range(1, 13)}


def test_the_permutation_test_is_what_all_swaps_give():
    rng = np.random.default_rng(0)
    for size in range(1, 13):
        differences = rng.integers(-4, 5, size)
        assert permutation(differences) == pytest.approx(enumerated(differences), abs=1e-12)
        assert permutation_of_fractions(differences / 7, seed=0) == pytest.approx(enumerated(differences), abs=1e-12)


def test_with_one_pair_a_cluster_both_tests_are_one():
    for gained, lost in [(1, 0), (5, 5), (12, 3), (60, 90), (0, 200)]:
        differences = [1] * gained + [-1] * lost + [0] * 20
        assert permutation(differences) == pytest.approx(float(mcnemar_exact(gained, lost)), abs=1e-12)


def test_clusters_are_swapped_whole():
    # Ten pairs gained: in ten clusters, or all in one, in which case nothing tells it from chance.
    assert permutation([1] * 10) == pytest.approx(2 / 2**10)
    assert permutation([10]) == 1.0
    assert permutation([0, 0]) == permutation_of_fractions([0.0, 0.0], seed=0) == 1.0


def test_sampled_swaps_come_near_the_exact_ones_and_rest_on_the_seed():
    differences = np.random.default_rng(3).integers(-3, 5, 60)
    exact, sampled = permutation(differences), permutation_of_fractions(differences / 3, seed=0)
    assert 0.01 < exact < 0.5
    assert sampled == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 9999))
    assert sampled == permutation_of_fractions(differences / 3, seed=0)
    assert sampled != permutation_of_fractions(differences / 3, seed=1)
    # Nothing is more certain than the number of samples.
    assert permutation_of_fractions(np.full(60, 0.1), seed=0) == 1 / 10_000


def test_holm_agrees_with_statsmodels():
    rng = np.random.default_rng(1)
    p = np.concatenate([rng.random(40) ** 4, [0.0, 1.0, 1.0, 0.01, 0.01]])
    family = rng.integers(0, 3, len(p))
    found = holm(p, family)
    for one in range(3):
        expected = multipletests(p[family == one], method="holm")[1]
        np.testing.assert_allclose(found[family == one], expected, rtol=0, atol=1e-12)


def test_what_has_no_p_is_no_comparison():
    # By hand: 0.01 x 2, then 0.04 x 1.
    assert holm([0.04, np.nan, 0.01], [0, 0, 0]).tolist() == pytest.approx([0.04, np.nan, 0.02], nan_ok=True)
    assert holm([], []).size == 0


WITHIN = 0.49
"""Of two runs of a case by one model: how far their verdicts correlate in the panels below. tau-bench's leaderboard
(its README) gives 0.36 to 0.58, by pass^1 and pass^2; runs without sampling agree more."""


def panels(count, *, cells=12, cases=200, trials=1, shift=None):
    """Verdicts without and with a perturbation, (panels, cells, cases, trials) each.

    A case is passed where a normal number exceeds a threshold. Of its variance, 0.3 is the case's difficulty, shared by
    all cells of the panel, 0.4 what the cell makes of the case, shared by its runs, and 0.3 the run. `shift` moves the
    pass rate of the first cell from 0.5.
    """
    rng = np.random.default_rng(7)
    case = np.sqrt(0.3) * rng.standard_normal((count, 1, cases, 1), dtype=np.float32)
    case = case + np.sqrt(0.4) * rng.standard_normal((count, cells, cases, 1), dtype=np.float32)
    spread = np.linspace(0.15, 0.85, cells) if shift is None else np.full(cells, 0.5)
    threshold = norm.isf(spread)[:, None, None]
    runs = [
        case + np.sqrt(0.3) * rng.standard_normal((count, cells, cases, trials), dtype=np.float32) for _ in range(2)
    ]
    runs[1][:, 0] += norm.ppf(0.5 + (shift or 0))
    return [run > threshold for run in runs]


def rejections(p):
    """Of each panel's comparisons, which are rejected after Holm; those without a p count as compared."""
    count, cells = p.shape
    return holm(np.nan_to_num(p, nan=1.0).ravel(), np.repeat(np.arange(count), cells)).reshape(p.shape) <= 0.05


def p_values(without, with_):
    if without.shape[-1] == 1:
        return mcnemar_exact((with_ & ~without).sum((2, 3)), (without & ~with_).sum((2, 3)))
    differences = with_.sum(3, dtype=int) - without.sum(3, dtype=int)
    return np.array([[permutation(cell) for cell in panel] for panel in differences])


def test_the_panels_correlate_within_a_case_as_stated():
    without, with_ = panels(20, shift=0.0)
    assert np.corrcoef(without.ravel(), with_.ravel())[0, 1] == pytest.approx(WITHIN, abs=0.02)


@pytest.mark.parametrize("trials", [1, 4])
def test_without_any_effect_few_panels_have_a_rejection(trials):
    """1,000 panels of 12 comparisons with 200 cases; pass rates from 0.15 to 0.85."""
    found = rejections(p_values(*panels(1000, trials=trials)))
    assert found.any(axis=1).mean() <= 0.065


def test_an_effect_of_15_points_is_found():
    """Pass rate 0.5 to 0.65 in one of 12 cells, n = 200: power by itself, and after Holm over all 12."""
    p = p_values(*panels(1000, shift=0.15))
    assert (p[:, 0] <= 0.05).mean() >= 0.8
    assert rejections(p)[:, 0].mean() >= 0.8


def test_mcnemar_by_hand():
    # 8 gained, 1 lost: 2 (C(9,0) + C(9,1)) / 2^9.
    assert mcnemar_exact(8, 1) == pytest.approx(2 * (comb(9, 0) + comb(9, 1)) / 512, abs=1e-15)
