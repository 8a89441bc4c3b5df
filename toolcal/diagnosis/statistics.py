"""Intervals: Wilson for independent rates, a clustered bootstrap for everything else (method A8).

Every interval is a pure function of its own numbers and the seed. The resampling weights depend only on the seed and
the number of clusters, so neither the order of rows nor what else is in the table moves an interval.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import ndtri

Floats = npt.NDArray[np.float64]

LEVEL = 0.95
RESAMPLES = 2000
_BLOCK = 256
"""Statistics resampled at once: bounds the memory to RESAMPLES x 256 numbers."""
_KEPT = RESAMPLES * 5000
"""Draws of up to so many numbers are kept, 2 bytes each."""


def wilson(k: npt.ArrayLike, n: npt.ArrayLike, level: float = LEVEL) -> tuple[Floats, Floats]:
    """Wilson score interval of a proportion.

    Source: Wilson (1927), J. Am. Stat. Assoc. 22, 209-212; no continuity correction.

    Args:
        k: successes, any shape that broadcasts with `n`.
        n: trials; 0 gives NaN.
        level: confidence level.

    Returns:
        Lower and upper ends (0 to 1), in the broadcast shape.
    """
    successes, trials = np.broadcast_arrays(np.asarray(k, float), np.asarray(n, float))
    z = float(ndtri((1 + level) / 2))
    with np.errstate(invalid="ignore", divide="ignore"):
        centre = (successes + z**2 / 2) / (trials + z**2)
        half = z * np.sqrt(successes * (trials - successes) / trials + z**2 / 4) / (trials + z**2)
    # The ends are exactly 0 and 1 there; rounding would leave 1e-18.
    low = np.where((successes == 0) & (trials > 0), 0.0, centre - half)
    high = np.where((successes == trials) & (trials > 0), 1.0, centre + half)
    return low, high


def draws(clusters: int, seed: int, resamples: int = RESAMPLES, *, block: int = RESAMPLES) -> Iterator[Floats]:
    """How often each cluster is drawn in each resample.

    Args:
        clusters: number of clusters.
        seed: from the configuration, not negative.
        resamples: number of bootstrap samples.
        block: samples given at once; it bounds the memory and changes no number.

    Yields:
        (block, clusters), the last one with what is left of the resamples; rows sum to `clusters`.
    """
    parts = _kept(clusters, seed, resamples) if clusters * resamples <= _KEPT else None
    generator = np.random.default_rng([seed, clusters])
    for start in range(0, resamples, block):
        size = min(block, resamples - start)
        drawn = _multinomial(generator, clusters, size) if parts is None else parts[start : start + size]
        yield drawn.astype(np.float64)


def _multinomial(generator: np.random.Generator, clusters: int, size: int) -> npt.NDArray[np.int64]:
    return generator.multinomial(clusters, np.full(clusters, 1 / clusters), size=size)


@lru_cache(maxsize=4)
def _kept(clusters: int, seed: int, resamples: int) -> npt.NDArray[np.uint16]:
    """All resamples, for the next statistic of equally many clusters: to draw them takes as long as to use them."""
    return _multinomial(np.random.default_rng([seed, clusters]), clusters, resamples).astype(np.uint16)


@lru_cache(maxsize=32)
def _weights(clusters: int, seed: int, resamples: int) -> Floats:
    """All resamples of `draws`, kept for the next statistic of equally many clusters."""
    (drawn,) = draws(clusters, seed, resamples, block=resamples)
    drawn.setflags(write=False)
    return drawn


def resample(numerators: Floats, denominators: Floats, *, seed: int, resamples: int = RESAMPLES) -> Floats:
    """Ratios of sums in bootstrap samples of whole clusters.

    Args:
        numerators: sums per cluster, (clusters, ...). A mean has sums of values here and counts below; a paired
            difference has sums of the differences here.
        denominators: as `numerators`.
        seed: from the configuration, not negative.
        resamples: number of bootstrap samples.

    Returns:
        (resamples, ...); NaN where a sample has nothing in the denominator.
    """
    clusters = numerators.shape[0]
    drawn = _weights(clusters, seed, resamples)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios: Floats = (drawn @ numerators.reshape(clusters, -1)) / (drawn @ denominators.reshape(clusters, -1))
    return ratios.reshape(resamples, *numerators.shape[1:])


def percentile_interval(
    replicates: Floats, clusters: int, *, bounds: tuple[float, float] = (0.0, 1.0), level: float = LEVEL
) -> tuple[Floats, Floats]:
    """Percentile interval of bootstrap replicates, with an answer where all clusters agree.

    Where they agree on a value v, all replicates are v and the bootstrap would claim certainty. Seeing no dissent in G
    clusters, at most u = Wilson's upper end of 0 in G are unlike the ones seen, and those lie within the bounds; so
    the mean lies within v + u (bound - v). For a rate of 0 or 1 that is Wilson on the number of clusters; for a
    difference of 0 everywhere it is (-u, u).

    Args:
        replicates: (resamples, ...), NaN are left out.
        clusters: number of clusters that were resampled.
        bounds: what the statistic of one cluster can be: (0, 1) for rates, (-1, 1) for differences of rates.
        level: confidence level.

    Returns:
        Lower and upper ends, each of shape (...).
    """
    tails = [(1 - level) / 2, (1 + level) / 2]
    quantile = np.nanquantile if np.isnan(replicates).any() else np.quantile
    low, high = quantile(replicates, tails, axis=0)
    # fmin and fmax pass over NaN.
    value = np.fmin.reduce(replicates, axis=0)
    agreed = np.fmax.reduce(replicates, axis=0) - value <= 1e-12
    unlike = wilson(0, clusters, level)[1]
    return (
        np.where(agreed, value + unlike * (bounds[0] - value), low)[()],
        np.where(agreed, value + unlike * (bounds[1] - value), high)[()],
    )


def cluster_bootstrap(
    numerators: npt.ArrayLike,
    denominators: npt.ArrayLike,
    *,
    seed: int,
    bounds: tuple[float, float] = (0.0, 1.0),
    level: float = LEVEL,
    resamples: int = RESAMPLES,
) -> tuple[Floats, Floats]:
    """Percentile interval of a ratio of sums, resampling whole clusters.

    Args:
        numerators: sums per cluster, (clusters,) or (clusters, statistics); see `resample` for means and differences.
        denominators: as `numerators`, all above 0.
        seed: from the configuration, not negative.
        bounds: see `percentile_interval`.
        level: confidence level.
        resamples: number of bootstrap samples.

    Returns:
        Lower and upper ends: one number each, or (statistics,).

    Raises:
        ValueError: where shapes differ, there is no cluster, or a denominator is not above 0.
    """
    above, below = np.asarray(numerators, float), np.asarray(denominators, float)
    if above.shape != below.shape or above.ndim not in (1, 2):
        raise ValueError(f"numerators {above.shape} and denominators {below.shape} must share one or two dimensions")
    if above.shape[0] == 0 or not (below > 0).all():
        raise ValueError("a clustered bootstrap needs at least one cluster, and something in each cluster")
    blocks = [slice(i, i + _BLOCK) for i in range(0, above.shape[1], _BLOCK)] if above.ndim == 2 else [slice(None)]
    ends = [
        percentile_interval(
            resample(above[..., block], below[..., block], seed=seed, resamples=resamples),
            above.shape[0],
            bounds=bounds,
            level=level,
        )
        for block in blocks
    ]
    if above.ndim == 1:
        return ends[0]
    return (
        np.concatenate([low for low, _ in ends]) if ends else np.empty(0),
        np.concatenate([high for _, high in ends]) if ends else np.empty(0),
    )


def means(
    data: pd.DataFrame,
    by: Sequence[str],
    values: Sequence[str],
    *,
    seed: int,
    cluster: str = "cluster_id",
    bounds: tuple[float, float] = (0.0, 1.0),
    level: float = LEVEL,
    resamples: int = RESAMPLES,
) -> pd.DataFrame:
    """The mean of each value in each group, with its interval.

    A rate of rows that are 0 or 1, one a cluster, gets Wilson's interval; all else the clustered bootstrap. Null values
    are left out of a mean, and a cluster with none but null values out of its resampling.

    Args:
        data: one row per observation; `values` are within `bounds`, boolean or null.
        by: columns of the group.
        values: columns to average.
        seed: from the configuration, not negative.
        cluster: column of the cluster.
        bounds: (0, 1) for rates, (-1, 1) for differences, which never get Wilson's interval.
        level: confidence level.
        resamples: number of bootstrap samples.

    Returns:
        One row per group, sorted: the columns `by`, `n` (rows), and for each value v: v, v_low, v_high; NaN where the
        group has no value.
    """
    group = data.groupby(list(by), sort=True).ngroup().to_numpy().astype(np.int64)
    keys = data[list(by)].iloc[np.unique(group, return_index=True)[1]].reset_index(drop=True)
    labels, names = pd.factorize(data[cluster], sort=True)
    pair, position = np.unique(group * max(len(names), 1) + labels, return_inverse=True)
    owner = pair // max(len(names), 1)
    result: dict[str, Any] = {"n": np.bincount(group, minlength=len(keys))}
    for value in values:
        x = data[value].astype("Float64").to_numpy(dtype=float, na_value=np.nan)
        there = ~np.isnan(x)
        total = np.bincount(position, np.where(there, x, 0.0), len(pair)).astype(np.float64)
        count = np.bincount(position, there, len(pair)).astype(np.float64)
        kept = count > 0
        result |= _group_means(value, owner[kept], total[kept], count[kept], len(keys), seed, bounds, level, resamples)
    return keys.assign(**result)


def known_throughout(data: pd.DataFrame, by: Sequence[str], known: pd.Series[bool]) -> pd.Series[bool]:
    """Of each row, whether all rows of its group are known: a mean over the known ones alone would be biased.

    Args:
        data: the rows.
        by: columns of the group.
        known: of each row, whether its value is known.
    """
    return known.groupby([data[column] for column in by]).transform("all").astype(bool)


def _group_means(
    name: str,
    owner: npt.NDArray[np.int64],
    total: Floats,
    count: Floats,
    groups: int,
    seed: int,
    bounds: tuple[float, float],
    level: float,
    resamples: int,
) -> dict[str, Floats]:
    """One value's mean and ends per group, from cluster sums sorted by their group (`owner`)."""
    n, k = np.bincount(owner, count, groups), np.bincount(owner, total, groups)
    clusters = np.bincount(owner, minlength=groups)
    start = np.cumsum(clusters) - clusters
    low, high = wilson(k, n, level) if bounds == (0.0, 1.0) else (np.full(groups, np.nan), np.full(groups, np.nan))
    fractional = np.bincount(owner, total % 1 != 0, groups) > 0
    resampled = (clusters > 0) & ((n > clusters) | fractional | (bounds != (0.0, 1.0)))
    # Groups with equally many clusters share one matrix of weights.
    for size in np.unique(clusters[resampled]):
        these = np.flatnonzero(resampled & (clusters == size))
        rows = (start[these][:, None] + np.arange(size)).T
        low[these], high[these] = cluster_bootstrap(
            total[rows], count[rows], seed=seed, bounds=bounds, level=level, resamples=resamples
        )
    with np.errstate(invalid="ignore"):
        return {name: k / n, f"{name}_low": low, f"{name}_high": high}
