"""How well stated confidences fit what was right: every metric of part B1, with its interval and its coverage."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pandas as pd

from toolcal.confidence.binning import SCHEMES
from toolcal.confidence.metric_names import BOUNDS
from toolcal.confidence.metric_names import METRICS as METRICS
from toolcal.confidence.metric_names import REASONS as REASONS
from toolcal.confidence.scorer import Scorer
from toolcal.diagnosis.statistics import RESAMPLES, Floats, draws, percentile_interval, wilson

_RESAMPLED_BIAS = (*SCHEMES, "ece_debiased", "reliability", "reliability_debiased", "resolution")
"""A resample adds the chance differences of bins a second time: its values are moved back by their mean excess."""
_RATES = ("coverage", "accuracy", "accuracy_covered")
_BLOCK = 100
"""Resamples scored at once: bounds the memory to a few times 100 numbers an answer."""


def score(
    confidence: npt.ArrayLike,
    correct: npt.ArrayLike,
    *,
    seed: int,
    cluster: npt.ArrayLike | None = None,
    common: npt.ArrayLike | None = None,
    resamples: int = RESAMPLES,
) -> dict[str, float | int | str | None]:
    """All metrics of a set of answers, as columns of a table.

    Args:
        confidence: (n,), 0 to 1; NaN or None is missing.
        correct: (n,), 0 or 1; NaN or None has no verdict, and is only counted.
        seed: of the bootstrap, from the configuration.
        cluster: (n,) labels; whole clusters are resampled. Without it each answer is its own.
        common: (n,) booleans: answers to questions that all compared configurations get wrong (`common_errors`).
            Without it `mcip_common` is null.
        resamples: number of bootstrap samples; 0 leaves the intervals out.

    Returns:
        `n` (graded), `n_ungraded`, `n_confident` (with a confidence), of which `n_wrong` and `n_common`, `n_clusters`;
        for each metric m of `METRICS`: m, m_low, m_high (None where undefined) and then m_reason, one of `REASONS`.

    Raises:
        ValueError: for arrays of different lengths, confidences outside 0 to 1, verdicts other than 0 and 1, or an
            answer without a cluster.
    """
    stated, right = checked(confidence, correct)
    graded = ~np.isnan(right)
    labels = np.arange(len(graded)) if cluster is None else pd.factorize(np.asarray(cluster), sort=True)[0]
    shared = np.zeros(len(graded), bool) if common is None else np.asarray(common, bool)
    if len(labels) != len(graded) or len(shared) != len(graded):
        raise ValueError(f"{len(graded)} answers, but {len(labels)} clusters and {len(shared)} marks of common errors")
    if (labels < 0).any():
        raise ValueError("an answer has no cluster")
    codes, groups = np.unique(labels[graded], return_inverse=True)
    scorer = Scorer(stated[graded], right[graded], groups.astype(np.int64), len(codes), shared[graded])
    covered = graded & ~np.isnan(stated)
    wrong = covered & (right == 0)
    found: dict[str, float | int | str | None] = {
        "n": int(graded.sum()),
        "n_ungraded": int((~graded).sum()),
        "n_confident": int(covered.sum()),
        "n_wrong": int(wrong.sum()),
        "n_common": int((wrong & shared).sum()),
        "n_clusters": len(codes),
    }
    whole = {name: float(value[0]) for name, value in scorer.scores(np.ones((1, len(codes)))).items()}
    ends = _intervals(scorer, whole, len(codes), seed, resamples)
    if resamples and len(codes) == found["n"]:
        ends |= _wilson_ends(whole, int(graded.sum()), int(covered.sum()))
    for name in METRICS:
        there = not np.isnan(whole[name])
        low, high = ends.get(name, (np.nan, np.nan)) if there else (np.nan, np.nan)
        found[name] = whole[name] if there else None
        found[f"{name}_low"], found[f"{name}_high"] = (None if np.isnan(end) else float(end) for end in (low, high))
        found[f"{name}_reason"] = None if there else _reason(name, found)
    return found


def common_errors(verdicts: Mapping[str, pd.Series[float]]) -> pd.Index[str]:
    """The questions that all compared configurations get wrong.

    Args:
        verdicts: configuration -> its verdicts (1, 0; null: none) by question. Of several trials all must be wrong; a
            question without a verdict in some configuration is not among them.
    """
    if not verdicts:
        return pd.Index([], dtype=str)
    wrong = [
        verdict.eq(0).fillna(False).astype(bool).groupby(level=0).all().rename(name)
        for name, verdict in verdicts.items()
    ]
    together = pd.concat(wrong, axis=1, join="inner")
    return together.index[together.all(axis=1)]


def checked(confidence: npt.ArrayLike, correct: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Confidences and verdicts as numbers, NaN where there is none.

    Raises:
        ValueError: for arrays of different lengths, confidences outside 0 to 1, or verdicts other than 0 and 1.
    """
    stated, right = _numbers(confidence), _numbers(correct)
    if stated.shape != right.shape or stated.ndim != 1:
        raise ValueError(f"confidences {stated.shape} and verdicts {right.shape} must be of one length")
    for values, wrong, what in (
        (stated, (stated < 0) | (stated > 1), "a confidence must be within 0 and 1"),
        (right, ~np.isin(right, (0, 1)) & ~np.isnan(right), "a verdict must be 0 or 1"),
    ):
        if wrong.any():
            raise ValueError(f"{what}, not {values[wrong][0]:g}")
    return stated, right


def _numbers(values: npt.ArrayLike) -> Floats:
    plain = np.asarray(values)
    if plain.dtype.kind == "O":
        plain = pd.array(plain, dtype="Float64").to_numpy(np.float64, na_value=np.nan)
    return plain.astype(np.float64)


def _intervals(
    scorer: Scorer, whole: Mapping[str, float], clusters: int, seed: int, resamples: int
) -> dict[str, tuple[float, float]]:
    if not resamples or not clusters:
        return {}
    blocks = [scorer.scores(drawn) for drawn in draws(clusters, seed, resamples, block=_BLOCK)]
    found = {}
    for name, value in whole.items():
        drawn = np.concatenate([block[name] for block in blocks])
        if not np.isnan(value) and not np.isnan(drawn).all():
            found[name] = ends_of(name, value, drawn, clusters)
    return found


def ends_of(
    name: str, value: float, drawn: Floats, clusters: int, bounds: tuple[float, float] | None = None
) -> tuple[float, float]:
    """The ends of a metric's interval.

    Args:
        name: the metric.
        value: of the whole.
        drawn: of the resamples.
        clusters: number of clusters resampled.
        bounds: least and greatest value; without it the metric's own.
    """
    least, most = bounds or BOUNDS.get(name, (0.0, 1.0))
    moved = drawn - np.nanmean(drawn) + value if name in _RESAMPLED_BIAS else drawn
    low, high = percentile_interval(moved, clusters, bounds=(least, most))
    return float(np.clip(low, least, most)), float(np.clip(high, least, most))


def _wilson_ends(whole: Mapping[str, float], n: int, covered: int) -> dict[str, tuple[float, float]]:
    """Of plain rates, where each answer is its own cluster."""
    trials = dict(zip(_RATES, (n, n, covered), strict=True))
    found = {}
    for name in _RATES:
        if not np.isnan(whole[name]):
            low, high = wilson(round(whole[name] * trials[name]), trials[name])
            found[name] = (float(low), float(high))
    return found


def _reason(name: str, counts: Mapping[str, float | int | str | None]) -> str:
    if not counts["n"]:
        return "no_answers"
    if not counts["n_confident"]:
        return "no_confidence"
    if name == "mcip_common" and counts["n_wrong"]:
        return "no_common_errors"
    if name != "mccp" and not counts["n_wrong"]:
        return "no_errors"
    return "no_right_answers"
