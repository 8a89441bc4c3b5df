"""The metrics of part B1 and what each of them is; `metrics` computes them, `tables` has a column for each."""

from __future__ import annotations

from collections.abc import Mapping

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
BOUNDS = {"ece_debiased": (-1.0, 1.0), "reliability_debiased": (-1.0, 1.0), "within_covariance": (-0.5, 0.5)}
"""Least and greatest value of the metrics that are not 0 to 1."""
REASONS = {
    "no_answers": "no graded answer",
    "no_confidence": "no confidence could be read",
    "no_errors": "no wrong answer among those with a confidence",
    "no_right_answers": "no right answer among them",
    "no_common_errors": "no wrong answer among them to a question that all compared configurations get wrong",
}
"""Why a metric is null."""
