"""Of the comparison, the metrics that are means over answers: how many are in form, and what they would be paid."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from toolcal.diagnosis.paired_tests import permutation_of_fractions
from toolcal.diagnosis.statistics import cluster_bootstrap, means
from toolcal.training.designs import Design
from toolcal.training.rewards import reward

MEANS = ("coverage", "format_share", "reward")
"""Share with a confidence, share in form, mean reward."""
_KEY = ["question_id", "trial"]

_Row = dict[str, Any]


def of_answers(answers: pd.DataFrame, design: Design | None) -> pd.DataFrame:
    """The columns `MEANS` of each graded answer, beside its key; a reward is null without a design.

    Args:
        answers: `question_id`, `trial`, `correct`, `confidence` and `in_form`, as the comparison has them.
        design: pays them.
    """
    graded = answers[answers["correct"].notna()]
    paid = np.full(len(graded), np.nan)
    if design is not None:
        paid = reward(design, graded["correct"], graded["confidence"], graded["in_form"])
    stated = graded["confidence"].notna().astype(float)
    in_form = graded["in_form"].astype(float)
    return graded[_KEY].assign(coverage=stated, format_share=in_form, reward=paid)


def values(answers: pd.DataFrame, design: Design | None, *, seed: int, resamples: int) -> dict[str, _Row]:
    """Each mean with its interval: metric -> `value`, `value_low`, `value_high`, `value_reason`."""
    one = of_answers(answers, design).assign(of="all")
    found: dict[str, _Row] = {}
    for metric in MEANS:
        reason = "no_answers" if one.empty else "no_design" if one[metric].isna().all() else None
        found[metric] = dict.fromkeys(("value", "value_low", "value_high"), np.nan) | {"value_reason": reason}
        if reason is None:
            bounds = _bounds(metric, design)
            mean = means(one, ["of"], [metric], seed=seed, cluster="question_id", bounds=bounds, resamples=resamples)
            found[metric] |= {f"value{end}": float(mean[f"{metric}{end}"].iloc[0]) for end in ("", "_low", "_high")}
    return found


def changes(
    first: pd.DataFrame, second: pd.DataFrame, design: Design | None, *, seed: int, resamples: int
) -> dict[str, _Row]:
    """Each mean's paired difference, second less first, with its interval and test; a metric without pairs is left out.

    Args:
        first: answers, as in `of_answers`.
        second: answers to the same questions.
        design: pays both.
        seed: from the configuration.
        resamples: number of bootstrap samples.
    """
    both = of_answers(first, design).merge(of_answers(second, design), on=_KEY, suffixes=("_first", "_second"))
    found: dict[str, _Row] = {}
    for metric in MEANS:
        before, after = both[f"{metric}_first"], both[f"{metric}_second"]
        if both.empty or before.isna().all():
            continue
        change = (after - before).groupby(both["question_id"]).agg(["sum", "count"])
        low, high = _bounds(metric, design)
        ends = cluster_bootstrap(
            change["sum"], change["count"], seed=seed, bounds=(low - high, high - low), resamples=resamples
        )
        moved = bool(change["sum"].abs().gt(1e-12).any())
        found[metric] = {
            "n_pairs": len(both),
            "untreated": float(before.mean()),
            "delta": float(change["sum"].sum() / len(both)),
            "delta_low": float(ends[0]),
            "delta_high": float(ends[1]),
            "p": permutation_of_fractions(change["sum"], seed=seed) if moved else None,
            "test": "permutation_clustered" if moved else None,
        }
    return found


def _bounds(metric: str, design: Design | None) -> tuple[float, float]:
    """The least and the greatest that one answer can have."""
    if metric != "reward" or design is None:
        return 0.0, 1.0
    extremes = reward(design, [1, 1, 0, 0], [0, 1, 0, 1], True)
    return float(min(0.0, extremes.min())), float(extremes.max())
