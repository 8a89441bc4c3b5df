"""How far two readers agree who each say yes or no of the same items: precision, recall, F1, kappa and intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from toolcal.diagnosis.statistics import Floats, percentile_interval, resample

SCORES = ("precision", "recall", "f1", "kappa")


class TwoReaders:
    """One reader's answers (`said`) against another's that are taken for right, whole and in bootstrap samples.

    Args:
        said: (items,) booleans.
        right: (items,) booleans.
        cluster: (items,) labels; whole clusters are resampled.
        seed: of the bootstrap, from the configuration.

    Raises:
        ValueError: where there are no items.
    """

    def __init__(self, said: npt.ArrayLike, right: npt.ArrayLike, cluster: npt.ArrayLike, *, seed: int) -> None:
        one, other = np.asarray(said, bool), np.asarray(right, bool)
        if not len(one):
            raise ValueError("no items to compare")
        labels, names = pd.factorize(np.asarray(cluster), sort=True)
        counts = np.zeros((len(names), 4))
        np.add.at(counts, (labels, np.select([one & other, one, other], [0, 1, 2], 3)), 1)
        self.clusters = len(names)
        self.whole: Floats = counts.sum(axis=0)
        """(4,): both say yes, the one alone, the other alone, neither."""
        sizes = np.broadcast_to(counts.sum(axis=1, keepdims=True), counts.shape)
        self.drawn = resample(counts, sizes, seed=seed)
        """(resamples, 4): the same as shares of each sample."""

    @property
    def n(self) -> int:
        """Items."""
        return int(self.whole.sum())

    @property
    def n_said(self) -> int:
        """Items of which the one says yes."""
        return int(self.whole[0] + self.whole[1])

    @property
    def n_right(self) -> int:
        """Items of which the other says yes."""
        return int(self.whole[0] + self.whole[2])

    def score(self, name: str) -> dict[str, float | None]:
        """One of `SCORES` with its interval, as columns of a table; None where it is undefined (0 / 0)."""
        function, bounds = _FUNCTIONS[name]
        return with_interval(name, function(self.whole), function(self.drawn), self.clusters, bounds)


def macro_f1(classes: list[TwoReaders]) -> dict[str, float | None]:
    """The unweighted mean of the classes' F1 with its interval; the classes are of the same items."""
    drawn = np.mean([_f1(readers.drawn) for readers in classes], axis=0)
    return with_interval("f1", np.mean([_f1(readers.whole) for readers in classes]), drawn, classes[0].clusters)


def with_interval(
    name: str, value: Any, drawn: Floats, clusters: int, bounds: tuple[float, float] = (0.0, 1.0)
) -> dict[str, float | None]:
    """A value and the ends of its interval under the columns of a table, None where it is undefined."""
    if np.isnan(value):
        return {name: None, f"{name}_low": None, f"{name}_high": None}
    low, high = percentile_interval(drawn, clusters, bounds=bounds)
    return {name: float(value), f"{name}_low": float(low), f"{name}_high": float(high)}


def _precision(counts: Floats) -> Floats:
    return _ratio(counts[..., 0], counts[..., 0] + counts[..., 1])


def _recall(counts: Floats) -> Floats:
    return _ratio(counts[..., 0], counts[..., 0] + counts[..., 2])


def _f1(counts: Floats) -> Floats:
    return _ratio(2 * counts[..., 0], 2 * counts[..., 0] + counts[..., 1] + counts[..., 2])


def kappa_of(counts: Floats) -> Floats:
    """Cohen's kappa from counts or shares (..., 4) as in `TwoReaders.whole`; NaN where chance alone would agree."""
    total = counts.sum(axis=-1)
    said, right = counts[..., 0] + counts[..., 1], counts[..., 0] + counts[..., 2]
    agreed, chance = counts[..., 0] + counts[..., 3], (said * right + (total - said) * (total - right)) / total
    return _ratio(agreed - chance, total - chance)


def _ratio(above: Floats, below: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(np.abs(below) < 1e-12, np.nan, above / below)


_FUNCTIONS = {
    "precision": (_precision, (0.0, 1.0)),
    "recall": (_recall, (0.0, 1.0)),
    "f1": (_f1, (0.0, 1.0)),
    "kappa": (kappa_of, (-1.0, 1.0)),
}
