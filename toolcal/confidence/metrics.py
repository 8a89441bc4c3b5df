"""How well stated confidences fit what was right: every metric of part B1, with its interval and its coverage."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pandas as pd

from toolcal.confidence.binning import SCHEMES
from toolcal.confidence.scorer import Scorer
from toolcal.diagnosis.statistics import RESAMPLES, Floats, draws, percentile_interval, wilson

METRICS: Mapping[str, str] = {
    "coverage": "share of graded answers whose confidence could be read; all below but accuracy are of these",
    "accuracy": "share of graded answers that are right",
    "accuracy_covered": "the same among those whose confidence could be read",
    "mean_confidence": "mean stated confidence",
    "ece10": "expected calibration error, 10 bins of equal width; above 0 by construction, also where calibrated",
    "ece15": "the same with 15 bins",
    "ece_mass10": "the same with 10 bins of about equally many answers",
    "ece_debiased": "ece10 without that excess: 0 in the mean where calibrated, and may be negative",
    "brier": "mean squared difference of confidence and outcome",
    "reliability": "part of brier: squared calibration error of the 10 bins",
    "reliability_debiased": "reliability without the excess that chance adds; may be negative",
    "resolution": "part of brier, subtracted: how far the bins' accuracies lie apart",
    "uncertainty": "part of brier: accuracy times error rate",
    "within_variance": "part of brier: spread of confidences within the bins",
    "within_covariance": "part of brier, subtracted: twice the covariance of confidence and outcome within the bins",
    "auroc": "chance that a right answer is more confident than a wrong one, ties counting half",
    "strict_ranking": "the same, ties counting nothing",
    "aurc": "area under the risk-coverage curve: mean risk among the k most confident answers, over all k",
    "mcip": "mean confidence of the wrong answers (MCIP)",
    "mccp": "mean confidence of the right answers",
    "mcip_common": "MCIP on the questions that all compared configurations get wrong",
}
"""Each metric and what it is; all are 0 to 1, the debiased ones -1 to 1, within_covariance -0.5 to 0.5.

- Decomposition: brier = reliability - resolution + uncertainty + within_variance - within_covariance, exactly
  (Murphy 1973, J. Appl. Meteorol. 12, 595-600; the terms within bins: Stephenson, Coelho and Jolliffe 2008,
  Weather Forecast. 23, 752-757).
- `reliability_debiased` subtracts acc (1 - acc) / (n - 1) in each bin (Broecker 2012, Clim. Dyn. 39, 655-667; Ferro and
  Fricker 2012, Q. J. R. Meteorol. Soc. 138, 1954-1960; it is the squared debiased error of Kumar, Liang and Ma 2019,
  NeurIPS). Bins of one answer are left out.
- `ece_debiased` is of our making: the clusters are halved at random, the gap of a bin in one half gets the sign that it
  has in the other, and the halves are added up; the mean over 50 halvings. No answer chooses the sign under which it is
  counted, so that it is unbiased where all is calibrated, for any number of answers; elsewhere it is at most the true
  binned error in the mean, and equal to it where the signs are clear. (The correction of absolute gaps in Kumar et al.,
  by resampling, keeps over half of the excess of a calibrated model.)
"""
_RESAMPLED_BIAS = (*SCHEMES, "ece_debiased", "reliability", "reliability_debiased", "resolution")
"""A resample adds the chance differences of bins a second time: its values are moved back by their mean excess."""
_BOUNDS = {"ece_debiased": (-1.0, 1.0), "reliability_debiased": (-1.0, 1.0), "within_covariance": (-0.5, 0.5)}
_RATES = ("coverage", "accuracy", "accuracy_covered")
_BLOCK = 100
"""Resamples scored at once: bounds the memory to a few times 100 numbers an answer."""
REASONS = {
    "no_answers": "no graded answer",
    "no_confidence": "no confidence could be read",
    "no_errors": "no wrong answer among those with a confidence",
    "no_right_answers": "no right answer among them",
    "no_common_errors": "no wrong answer among them to a question that all compared configurations get wrong",
}
"""Why a metric is null."""


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
    worst = [verdict.groupby(level=0).agg(lambda trials: trials.sum(skipna=False)) for verdict in verdicts.values()]
    together = pd.concat(worst, axis=1, join="inner")
    return together.index[(together == 0).all(axis=1)]


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
    least, most = bounds or _BOUNDS.get(name, (0.0, 1.0))
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
