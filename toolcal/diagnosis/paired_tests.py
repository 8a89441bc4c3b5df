"""Paired tests of a difference, and their correction over a family of comparisons (method A8).

All p-values are two-sided. Both tests ask the same: if a case did not care which of the two conditions it met, how
often would the conditions' labels, swapped at random, give a difference as large as this? McNemar swaps pairs, the
permutation test whole clusters; where each cluster holds one pair they are one test.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy.stats import binom

Floats = npt.NDArray[np.float64]

PERMUTATIONS = 9999
"""Sampled swaps; the observed labels are one more, so that no p is below 1 / 10,000."""
_MOST_FEW = 12
"""Up to so many clusters that differ, all swaps (4,096) are gone through instead."""


def mcnemar_exact(gained: npt.ArrayLike, lost: npt.ArrayLike) -> Floats:
    """McNemar's exact test: the discordant pairs fall to either side like a fair coin.

    Source: McNemar (1947), Psychometrika 12, 153-157; exact by the binomial, without mid-p.

    Args:
        gained: pairs with it in the second condition only, any shape that broadcasts with `lost`.
        lost: pairs with it in the first condition only.

    Returns:
        p, in the broadcast shape; NaN without any discordant pair, for then nothing was tested.
    """
    up, down = np.broadcast_arrays(np.asarray(gained, float), np.asarray(lost, float))
    p = np.minimum(1.0, 2 * binom.cdf(np.minimum(up, down), up + down, 0.5))
    return np.where(up + down > 0, p, np.nan)


def permutation(differences: npt.ArrayLike) -> float:
    """The permutation test for whole numbers, exact for any number of clusters: their sum's distribution is known.

    The sum of the clusters' differences, each with a random sign, is a sum of independent steps, so its distribution
    is a product of binomials, convolved by their size; no swap needs to be drawn.

    Args:
        differences: of each cluster, the sum of its pairs' differences (-1, 0, 1).

    Returns:
        p; 1 where no cluster differs.
    """
    sums = np.asarray(differences).astype(np.int64)
    sizes, counts = np.unique(np.abs(sums[sums != 0]), return_counts=True)
    chances = _random_sums(tuple(sizes.tolist()), tuple(counts.tolist()))
    reached = np.abs(np.arange(len(chances)) - len(chances) // 2) >= abs(int(sums.sum()))
    return min(1.0, float(chances[reached].sum()))


@lru_cache(maxsize=1024)
def _random_sums(sizes: tuple[int, ...], counts: tuple[int, ...]) -> Floats:
    """The chance of each sum of so many steps of these sizes with random signs, from the lowest sum to the highest."""
    chances = np.ones(1)
    for size, count in zip(sizes, counts, strict=True):
        steps = np.zeros(2 * size * count + 1)
        steps[:: 2 * size] = _coins(count)
        chances = np.convolve(chances, steps)
    return chances


@lru_cache(maxsize=4096)
def _coins(count: int) -> Floats:
    return np.asarray(binom.pmf(np.arange(count + 1), count, 0.5))


def permutation_of_fractions(differences: npt.ArrayLike, *, seed: int) -> float:
    """The permutation test for clusters whose differences are no whole numbers, as in means of unequal denominators.

    Exact, by going through all swaps, where at most 12 clusters differ; else by sampling, in which the observed labels
    count as one of the samples (Phipson and Smyth 2010, Stat. Appl. Genet. Mol. Biol. 9, 39).

    Args:
        differences: of each cluster, its part of the difference.
        seed: from the configuration, not negative.

    Returns:
        p; 1 where no cluster differs.
    """
    parts = np.asarray(differences, float)
    parts = parts[parts != 0]
    few = len(parts) <= _MOST_FEW
    sums = (_all_signs(len(parts)) if few else _some_signs(len(parts), seed)) @ parts
    # Rounding must not tell apart what swaps make equal.
    reached = np.abs(sums) >= abs(parts.sum()) - 1e-12
    return float(reached.mean() if few else (1 + reached.sum()) / (1 + len(sums)))


@lru_cache(maxsize=_MOST_FEW + 1)
def _all_signs(clusters: int) -> Floats:
    bits = np.arange(2**clusters)[:, None] >> np.arange(clusters) & 1
    return (1 - 2 * bits).astype(np.float64)


@lru_cache(maxsize=8)
def _some_signs(clusters: int, seed: int) -> Floats:
    generator = np.random.default_rng([seed, clusters])
    return (1 - 2 * generator.integers(0, 2, (PERMUTATIONS, clusters))).astype(np.float64)


def holm(p: npt.ArrayLike, family: Sequence[Hashable] | npt.NDArray[np.int64]) -> Floats:
    """Holm's step-down correction within each family of comparisons.

    Source: Holm (1979), Scand. J. Stat. 6, 65-70. It keeps the chance of any false rejection in the family at the
    level, however the comparisons depend on each other.

    Args:
        p: (comparisons,); NaN are none.
        family: of each comparison.

    Returns:
        The adjusted p, NaN where p is; a comparison is rejected at a level where its adjusted p is at most the level.
    """
    values = np.asarray(p, float)
    adjusted = np.full(values.shape, np.nan)
    members: dict[Hashable, list[int]] = {}
    for place in np.flatnonzero(~np.isnan(values)).tolist():
        members.setdefault(family[place], []).append(place)
    for places in members.values():
        ordered = np.array(places)[np.argsort(values[places], kind="stable")]
        stepped = values[ordered] * np.arange(len(ordered), 0, -1)
        adjusted[ordered] = np.minimum(1.0, np.maximum.accumulate(stepped))
    return adjusted
