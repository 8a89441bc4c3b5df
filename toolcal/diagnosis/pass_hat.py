"""pass^k: how often a model passes a case every time (method A7)."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pandas as pd

from toolcal.diagnosis.statistics import means
from toolcal.tables import CELL, TABLES


def pass_hat_k(trials: int, passed: int, k: int) -> float:
    """tau-bench's pass^k of one case: the chance that k of its trials, drawn without replacement, all passed.

    The unbiased estimator C(passed, k) / C(trials, k). Source: Yao et al. (2024), tau-bench, arXiv 2406.12045.

    Raises:
        ValueError: for more draws than trials.
    """
    if not 1 <= k <= trials:
        raise ValueError(f"pass^{k} needs at least {k} trials, and there are {trials}")
    return math.comb(passed, k) / math.comb(trials, k)


def pass_hat(runs: pd.DataFrame, families: Mapping[str, str], *, seed: int) -> pd.DataFrame:
    """Table `pass_hat`, for every k that all cases of the cell have trials for.

    A trial without a verdict (infrastructure error) is no trial, and a case without any trial left is out of the mean.

    Args:
        runs: from `plan.graded_runs`: those of cases without a gold action count as well.
        families: the family of each model.
        seed: of the bootstrap, from the configuration.

    Returns:
        One row per cell x k, sorted by the table's key; the interval is clustered as in `cells`.
    """
    judged = runs[runs["passed"].notna()]
    cases = judged.groupby([*CELL, "case_id", "cluster_id"], as_index=False).agg(
        trials=("passed", "size"), passes=("passed", "sum")
    )
    cases["trials_min"] = cases.groupby(list(CELL))["trials"].transform("min")
    upto = cases["trials_min"].map(lambda most: list(range(1, most + 1)))
    every_k = cases.assign(k=upto).explode("k").astype({"k": "int64"})
    every_k["pass_hat"] = [
        pass_hat_k(n, passed, k)
        for n, passed, k in zip(*(every_k[c].tolist() for c in ("trials", "passes", "k")), strict=True)
    ]
    table = means(every_k, [*CELL, "trials_min", "k"], ["pass_hat"], seed=seed)
    table["family"] = table["model"].map(dict(families)).astype("str")
    spec = TABLES["pass_hat"]
    return table[list(spec.columns)].sort_values(list(spec.key), ignore_index=True)
