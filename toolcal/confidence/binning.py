"""Bins of stated confidences, and what a reliability diagram and a risk-coverage curve show of them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from toolcal.diagnosis.statistics import Floats, wilson

Counts = npt.NDArray[np.int64]


def equal_width(confidence: Floats, bins: int) -> Counts:
    """The bin of each confidence among bins of one width, closed below, the last one closed above too.

    The edges are k / bins rounded once, as a confidence read from text is: one that is stated as an edge lies in the
    bin above it.

    Args:
        confidence: (n,), 0 to 1.
        bins: number of bins.
    """
    return np.searchsorted(np.arange(1, bins) / bins, confidence, side="right").astype(np.int64)


def equal_mass(confidence: Floats, bins: int) -> Counts:
    """The bin of each confidence among bins of about equally many answers.

    Answers of one confidence share a bin, that of the middle of their ranks, so that no order of rows matters. Where
    none are tied and `bins` divides n, each bin holds n / bins; where many are tied, some bins are empty.

    Args:
        confidence: (n,), 0 to 1.
        bins: number of bins.
    """
    _, value, count = np.unique(confidence, return_inverse=True, return_counts=True)
    middle = np.cumsum(count) - (count + 1) / 2
    return np.floor(middle[value] * bins / max(len(confidence), 1)).astype(np.int64)


SCHEMES = {"ece10": (equal_width, 10), "ece15": (equal_width, 15), "ece_mass10": (equal_mass, 10)}
"""The binned calibration errors."""


def reliability(confidence: npt.ArrayLike, correct: npt.ArrayLike, bins: int = 10) -> pd.DataFrame:
    """What a reliability diagram shows: equal-width bins, the empty ones too.

    Args:
        confidence: (n,), 0 to 1; NaN (missing) is left out.
        correct: (n,), 0 or 1; NaN (no verdict) is left out.
        bins: number of bins.

    Returns:
        A row per bin: `low`, `high` (its edges), `n`, `confidence` (mean) and `accuracy` with Wilson's interval
        `accuracy_low`, `accuracy_high`; NaN where it is empty.
    """
    stated, right = _both(confidence, correct)
    where = equal_width(stated, bins)
    n = np.bincount(where, minlength=bins)
    hits = np.bincount(where, right, bins)
    low, high = wilson(hits, n)
    edges = np.arange(bins + 1) / bins
    with np.errstate(invalid="ignore"):
        means = {"confidence": np.bincount(where, stated, bins) / n, "accuracy": hits / n}
    return pd.DataFrame(
        {"low": edges[:-1], "high": edges[1:], "n": n, **means, "accuracy_low": low, "accuracy_high": high}
    )


def risk_coverage(confidence: npt.ArrayLike, correct: npt.ArrayLike) -> pd.DataFrame:
    """The share of errors among the answers that are at least so confident.

    Args:
        confidence: (n,), 0 to 1; NaN (missing) is left out.
        correct: (n,), 0 or 1; NaN (no verdict) is left out.

    Returns:
        A row per stated value, from the highest: `threshold`, `n` (answers at or above it), `coverage` (their share)
        and `risk` (their share of errors).
    """
    stated, right = _both(confidence, correct)
    values, where = np.unique(-stated, return_inverse=True)
    n = np.cumsum(np.bincount(where, minlength=len(values)))
    wrong = np.cumsum(np.bincount(where, 1 - right, len(values)))
    return pd.DataFrame({"threshold": -values, "n": n, "coverage": n / max(len(stated), 1), "risk": wrong / n})


def _both(confidence: npt.ArrayLike, correct: npt.ArrayLike) -> tuple[Floats, Floats]:
    stated, right = np.asarray(confidence, np.float64), np.asarray(correct, np.float64)
    known = ~np.isnan(stated) & ~np.isnan(right)
    return stated[known], right[known]
