"""All metrics of some answers at once, under any number of weightings: the whole, bootstrap samples, swapped labels.

Every metric is a function of sums over answers (in all, by bin, by stated value), so that a weighting of the clusters
gives them by one matrix product.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.special import digamma

from toolcal.confidence.binning import SCHEMES, Counts, equal_width
from toolcal.diagnosis.statistics import Floats

_HALVINGS = 50
"""Random halvings of the clusters, always the same ones, that the debiased error is the mean of."""
_ZERO = 1e-9
"""Sums of differences below this are rounding."""


class Scorer:
    """Answers, ready to be scored.

    Args:
        confidence: (n,), 0 to 1; NaN is missing.
        correct: (n,), 0 or 1, without NaN.
        cluster: (n,), the cluster of each answer, 0 to clusters - 1.
        clusters: number of clusters.
        common: (n,), answers of a subset that MCIP is also wanted of.
    """

    def __init__(
        self, confidence: Floats, correct: Floats, cluster: Counts, clusters: int, common: npt.NDArray[np.bool_]
    ) -> None:
        self._cluster = cluster
        self._parts: dict[str, slice] = {}
        self._rows = 0
        self._entries: list[tuple[Floats, Counts, Counts]] = []
        known = ~np.isnan(confidence)
        c, y = np.where(known, confidence, 0.0), correct
        wrong = known & (y == 0)
        self._add("n", np.ones(len(c)))
        self._add("right", y)
        self._add("known", known)
        self._add("known_right", known * y)
        self._add("confidence", c)
        self._add("brier", np.where(known, (c - y) ** 2, 0.0))
        self._add("wrong_confidence", wrong * c)
        self._add("right_confidence", (known & (y == 1)) * c)
        self._add("common_wrong", wrong & common)
        self._add("common_confidence", (wrong & common) * c)
        for name, (binned, bins) in SCHEMES.items():
            bin_of = np.zeros(len(c), np.int64)
            bin_of[known] = binned(c[known], bins)
            self._add(name, np.where(known, c - y, 0.0), bin_of, bins)
        ten = equal_width(c, 10)
        halves = np.random.default_rng(_HALVINGS).random((_HALVINGS, clusters)) < 0.5
        self._add_halves(np.where(known, c - y, 0.0), ten, halves[:, cluster])
        for name, values in {"": np.ones(len(c)), "_y": y, "_c": c, "_cc": c * c, "_cy": c * y}.items():
            self._add("bin" + name, known * values, ten, 10)
        distinct, value = np.unique(c[known], return_inverse=True)
        place = np.zeros(len(c), np.int64)
        place[known] = value
        self._add("right_at", known * y, place, len(distinct))
        self._add("wrong_at", wrong, place, len(distinct))
        sums, rows, columns = (np.concatenate(parts) for parts in zip(*self._entries, strict=True))
        self._matrix = csr_array((sums, (rows, columns)), shape=(self._rows, clusters))

    def _add(self, name: str, values: npt.ArrayLike, row: Counts | None = None, rows: int = 1) -> None:
        """Sums of values over answers: in all, or in each of some rows."""
        self._add_parts(name, np.asarray(values, np.float64), self._cluster, row, rows)

    def _add_halves(self, values: Floats, bin_of: Counts, halves: npt.NDArray[np.bool_]) -> None:
        """Sums of values by halving and bin, over one half each; `halves` is (halvings, n)."""
        halving, answer = np.nonzero(halves)
        row = halving * 10 + bin_of[answer]
        self._add_parts("halves", values[answer], self._cluster[answer], row, 10 * len(halves))

    def _add_parts(self, name: str, values: Floats, cluster: Counts, row: Counts | None, rows: int) -> None:
        there = np.flatnonzero(values)
        at = np.full(len(there), self._rows) if row is None else row[there] + self._rows
        self._entries.append((values[there], at, cluster[there]))
        self._parts[name] = slice(self._rows, self._rows + rows)
        self._rows += rows

    def scores(self, weights: Floats) -> dict[str, Floats]:
        """Every metric under each weighting.

        Args:
            weights: (weightings, clusters), how often each cluster counts; whole numbers.

        Returns:
            Metric -> (weightings,); NaN where it is undefined.
        """
        return self._scores(self._matrix @ weights.T)

    def swapped(self, swaps: npt.NDArray[np.bool_]) -> tuple[dict[str, Floats], dict[str, Floats]]:
        """Every metric of two configurations whose answers lie in the first and the second half of the clusters, where
        the labels of some pairs of clusters are swapped.

        Args:
            swaps: (clusters / 2, swaps), whether the labels of a pair are swapped.

        Returns:
            Of either configuration, metric -> (swaps,).
        """
        start, both, difference = self._halves
        # Sums are linear: what a swap takes from the one it gives to the other.
        first = start + difference @ swaps.astype(np.float64)
        return self._scores(first), self._scores(both - first)

    @cached_property
    def _halves(self) -> tuple[Floats, Floats, csr_array]:
        """Sums of the first half of the clusters and of all, (sums, 1); and by pair, the second half less the first."""
        pairs = self._matrix.shape[1] // 2
        one, other = self._matrix[:, :pairs], self._matrix[:, pairs:]
        start, both = (np.asarray(part.sum(axis=1), np.float64)[:, None] for part in (one, self._matrix))
        return start, both, other - one

    def _scores(self, product: Floats) -> dict[str, Floats]:
        """Every metric from the sums of each weighting, (sums, weightings)."""
        sums = {name: product[part] for name, part in self._parts.items()}
        one = {name: found[0] for name, found in sums.items() if len(found) == 1}
        wrong = one["known"] - one["known_right"]
        found = {
            "coverage": _ratio(one["known"], one["n"]),
            "accuracy": _ratio(one["right"], one["n"]),
            "accuracy_covered": _ratio(one["known_right"], one["known"]),
            "mean_confidence": _ratio(one["confidence"], one["known"]),
            "brier": _ratio(one["brier"], one["known"]),
            "mcip": _ratio(one["wrong_confidence"], wrong),
            "mccp": _ratio(one["right_confidence"], one["known_right"]),
            "mcip_common": _ratio(one["common_confidence"], one["common_wrong"]),
        }
        found |= {name: _ratio(np.abs(sums[name]).sum(axis=0), one["known"]) for name in SCHEMES}
        found["ece_debiased"] = _ratio(_crossed(sums["ece10"], sums["halves"]), one["known"])
        return found | _decomposition(sums, one["known"]) | _ranking(sums["right_at"], sums["wrong_at"])


def _crossed(bins: Floats, halves: Floats) -> Floats:
    """Each half's gap in a bin with the other half's sign, summed over bins, in the mean of the halvings.

    Args:
        bins: sums of confidence less outcome, (10, weightings).
        halves: of one half each, (halvings x 10, weightings).
    """
    one = halves.reshape(-1, *bins.shape)
    other = bins - one
    return np.asarray((_sign(other) * one + _sign(one) * other).sum(axis=1).mean(axis=0))


def _sign(sums: Floats) -> Floats:
    return np.where(np.abs(sums) < _ZERO, 0.0, np.sign(sums))


def _decomposition(sums: Mapping[str, Floats], n: Floats) -> dict[str, Floats]:
    """The Brier score's parts over ten equal-width bins; each sum is (bins, weightings)."""
    count, right, stated = sums["bin"], sums["bin_y"], sums["bin_c"]
    accuracy, confidence = _or_zero(right, count), _or_zero(stated, count)
    overall = _ratio(right.sum(axis=0), n)
    gap = (confidence - accuracy) ** 2
    spread = _or_zero(accuracy * (1 - accuracy), count - 1) * (count > 1)
    return {
        "reliability": _ratio((count * gap).sum(axis=0), n),
        "reliability_debiased": _ratio((count * (gap - spread) * (count > 1)).sum(axis=0), n),
        "resolution": _ratio((count * (accuracy - overall) ** 2).sum(axis=0), n),
        "uncertainty": overall * (1 - overall),
        "within_variance": _ratio((sums["bin_cc"] - stated * confidence).sum(axis=0), n),
        "within_covariance": _ratio(2 * (sums["bin_cy"] - stated * accuracy).sum(axis=0), n),
    }


def _ranking(right: Floats, wrong: Floats) -> dict[str, Floats]:
    """Metrics of the order of answers, from counts by stated value (values, weightings), the lowest value first."""
    below = np.cumsum(wrong, axis=0) - wrong
    pairs = right.sum(axis=0) * wrong.sum(axis=0)
    strict, tied = (right * below).sum(axis=0), (right * wrong).sum(axis=0)
    # From the most confident down: tied answers in expectation over their orders, so that errors grow evenly in a tie.
    count, errors = (right + wrong)[::-1], wrong[::-1]
    before, errors_before = np.cumsum(count, axis=0) - count, np.cumsum(errors, axis=0) - errors
    rate = _or_zero(errors, count)
    risk = rate * count + (errors_before - rate * before) * (digamma(before + count + 1) - digamma(before + 1))
    return {
        "auroc": _ratio(strict + tied / 2, pairs),
        "strict_ranking": _ratio(strict, pairs),
        "aurc": _ratio(risk.sum(axis=0), count.sum(axis=0)),
    }


def _ratio(above: Floats, below: Floats) -> Floats:
    return np.asarray(np.divide(above, below, out=np.full(np.shape(below), np.nan), where=below > 0))


def _or_zero(above: Floats, below: Floats) -> Floats:
    return np.asarray(np.divide(above, below, out=np.zeros(np.shape(above)), where=below > 0))
