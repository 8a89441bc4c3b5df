"""Table `nl_assertions`: what a judge says of tau2's assertions, against the verdicts of the same runs."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from toolcal.diagnosis.statistics import means
from toolcal.tables import CASE, CELL, TABLES, frame

QUESTION = "nl_assertions"
_KEY = [*CELL, "judge"]


def nl_assertions(
    judgements: pd.DataFrame, runs: pd.DataFrame, families: Mapping[str, str], *, seed: int
) -> pd.DataFrame:
    """Table `nl_assertions`: how often a run does what its task says in words, and how often it passes without.

    Args:
        judgements: table `judgements`; other questions are not looked at.
        runs: as `graded_runs` gives them; those of cases without assertions are not looked at.
        families: the family of each model.
        seed: of the bootstrap, from the configuration.

    Returns:
        One row per cell x judge, sorted by the table's key; none for a cell without assertions. Intervals by a
        bootstrap over clusters of cases, Wilson's where each run is a case of its own.
    """
    own = judgements[judgements["question"] == QUESTION]
    asserted = runs.loc[runs["n_assertions"] > 0, [*CASE, "cluster_id", "n_assertions", "verdict", "passed"]]
    every = asserted.rename(columns={"verdict": "ended"}).merge(
        pd.DataFrame({"judge": sorted(set(own["judge"]))}), "cross"
    )
    if every.empty:
        return frame("nl_assertions", [])
    key = [*CASE, "judge"]
    rows = every.merge(own[[*key, "assertion", "verdict", "status"]], on=key, how="left")
    rows = rows.assign(
        met=rows["verdict"].astype("Float64"),
        decided=rows["verdict"].notna(),
        answered=rows["status"].notna() & (rows["status"] != "infra_error"),
    )
    of_run = rows.groupby(key, as_index=False).agg(
        {"decided": "all", "answered": "all", "met": "min", "ended": "first", "passed": "first", "cluster_id": "first"}
    )
    known = of_run["ended"] & of_run["decided"]
    missing = ~(of_run["ended"] & of_run["answered"])
    counts = of_run[_KEY].assign(n=known, n_undecided=~(known | missing), n_missing=missing)
    counts = counts.groupby(_KEY, as_index=False).sum()
    judged = of_run[known]
    all_met, passed = judged["met"] == 1, judged["passed"].astype(bool)
    judged = judged.assign(all_met=all_met, acc=passed, passed_unmet=passed & ~all_met, failed_met=~passed & all_met)
    single = means(judged, _KEY, ["all_met", "acc", "passed_unmet", "failed_met"], seed=seed).drop(columns="n")
    of_judged = rows.merge(judged[key], on=key)
    pooled = means(of_judged, _KEY, ["met"], seed=seed).rename(columns={"n": "n_assertions"})
    table = counts.merge(single, on=_KEY, how="left").merge(pooled, on=_KEY, how="left")
    table["n_assertions"] = table["n_assertions"].fillna(0).astype("int64")
    table["family"] = table["model"].map(dict(families)).astype("str")
    spec = TABLES["nl_assertions"]
    return table[list(spec.columns)].sort_values(list(spec.key), ignore_index=True)
