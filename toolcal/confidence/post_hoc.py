"""Post-hoc baselines: how much better calibrated the same confidences get by a rescaling that is fitted elsewhere."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar
from scipy.special import expit, logit

from toolcal.confidence.binning import equal_width
from toolcal.confidence.metrics import checked
from toolcal.diagnosis.statistics import Floats

_EDGE = 1e-3
"""A stated 0 or 1 has no logit: it is taken for so much, or for 1 less so much."""
_STEEPEST = 100.0


def held_out(question_ids: Iterable[str], *, share: float, seed: int) -> frozenset[str]:
    """The questions that a rescaling is fitted on; the others are what it is tested on.

    Whole questions, with all their trials and in all configurations alike: each is ranked by a hash of the seed and its
    own name, so that neither the order nor what else is asked moves it much.

    Args:
        question_ids: the questions, any number of times each.
        share: of the questions, 0 to 1, rounded to whole ones.
        seed: from the configuration.
    """
    names = sorted(set(question_ids), key=lambda name: hashlib.sha256(f"{seed} {name}".encode()).digest())
    return frozenset(names[: round(share * len(names))])


@dataclass(frozen=True)
class TemperatureScaling:
    """Confidence c becomes sigmoid(logit(c) / temperature); above 1 softens, infinity says 0.5 of everything.

    Source: Platt scaling with one parameter, as in Guo et al. 2017 (ICML), on the stated confidence, as a model that
    states one gives no logits. The order of answers stays, but for those beyond 0.001 and 0.999, which are tied.
    """

    temperature: float

    @classmethod
    def fit(cls, confidence: npt.ArrayLike, correct: npt.ArrayLike) -> TemperatureScaling:
        """The temperature of the greatest likelihood.

        Args:
            confidence: (n,), 0 to 1; NaN is left out.
            correct: (n,), 0 or 1; NaN is left out.

        Raises:
            ValueError: where nothing is left.
        """
        stated, right = _usable(confidence, correct)
        scores = _logits(stated) * (2 * right - 1)
        # The loss is convex in 1 / temperature.
        found = minimize_scalar(
            lambda steepness: float(np.logaddexp(0, -steepness * scores).mean()),
            bounds=(0.0, _STEEPEST),
            method="bounded",
            options={"xatol": 1e-9},
        )
        return cls(1 / found.x if found.x > 1e-6 else np.inf)

    def apply(self, confidence: npt.ArrayLike) -> Floats:
        """The rescaled confidences, NaN where they are missing."""
        return np.asarray(expit(_logits(np.asarray(confidence, np.float64)) / self.temperature))


@dataclass(frozen=True)
class HistogramBinning:
    """Confidence becomes the accuracy of its bin among what it was fitted on (Zadrozny and Elkan 2001, ICML)."""

    accuracy: tuple[float, ...]
    """Of each of the bins of equal width; the accuracy of all where a bin was empty."""

    @classmethod
    def fit(cls, confidence: npt.ArrayLike, correct: npt.ArrayLike, bins: int = 10) -> HistogramBinning:
        """The accuracies of the bins.

        Args:
            confidence: (n,), 0 to 1; NaN is left out.
            correct: (n,), 0 or 1; NaN is left out.
            bins: number of bins.

        Raises:
            ValueError: where nothing is left.
        """
        stated, right = _usable(confidence, correct)
        where = equal_width(stated, bins)
        n, hits = np.bincount(where, minlength=bins), np.bincount(where, right, bins)
        return cls(tuple(np.where(n > 0, hits / np.maximum(n, 1), right.mean()).tolist()))

    def apply(self, confidence: npt.ArrayLike) -> Floats:
        """The rescaled confidences, NaN where they are missing."""
        stated = np.asarray(confidence, np.float64)
        binned = np.array(self.accuracy)[equal_width(np.nan_to_num(stated), len(self.accuracy))]
        return np.where(np.isnan(stated), np.nan, binned)


def _usable(confidence: npt.ArrayLike, correct: npt.ArrayLike) -> tuple[Floats, Floats]:
    stated, right = checked(confidence, correct)
    known = ~np.isnan(stated) & ~np.isnan(right)
    if not known.any():
        raise ValueError("nothing to fit on: no answer has both a confidence and a verdict")
    return stated[known], right[known]


def _logits(confidence: Floats) -> Floats:
    return np.asarray(logit(np.clip(confidence, _EDGE, 1 - _EDGE)))
