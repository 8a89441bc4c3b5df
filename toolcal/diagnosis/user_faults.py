"""Table `user_faults`: Acc and GAR over all runs, and without those in which the simulated user has a fault."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pandas as pd

from toolcal.diagnosis.cells import KEY
from toolcal.diagnosis.statistics import Floats, known_throughout, means, percentile_interval, resample
from toolcal.tables import CASE, CELL, TABLES, USER_FAULTS

_BY_FAULT = {f"n_{name}": name for name in USER_FAULTS}
_RATES = {"acc": "passed", "gar_case_any": "emitted_case_any"}


def user_faults(outcomes: pd.DataFrame, runs: pd.DataFrame, families: Mapping[str, str], *, seed: int) -> pd.DataFrame:
    """Table `user_faults`. The table `cells` has every run; here the tagged ones are taken out beside it.

    As in `cells`, GAR is null where it is unknown of some run whether the gold action was emitted.

    Args:
        outcomes: table `outcomes`.
        runs: from `plan.graded_runs`.
        families: the family of each model.
        seed: of the bootstrap, from the configuration.

    Returns:
        One row per cell x gold action x labeller, sorted by the table's key; none for cells without a simulated user.
    """
    rows = outcomes.merge(_told(runs), on=list(CASE))
    verdict = rows["passed"].notna()
    counts = {column: rows[column] & verdict for column in ("n_unread", "n_with_fault", *_BY_FAULT)}
    table = rows[KEY].assign(n=verdict, n_missing=~verdict, **counts).groupby(KEY, as_index=False).sum()
    table = table.astype(dict.fromkeys(["n", "n_missing", *counts], "int64"))
    judged = rows[verdict]
    for part in (
        _rates(judged, "", seed),
        _rates(judged[~judged["n_with_fault"]], "_without", seed),
        _differences(judged, seed),
    ):
        table = table.merge(part, on=KEY, how="left", validate="one_to_one")
    table["family"] = table["model"].map(dict(families)).astype("str")
    spec = TABLES["user_faults"]
    return table[list(spec.columns)].sort_values(list(spec.key), ignore_index=True)


def _told(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs of cells with a simulated user, and of each whether it has some fault, and which."""
    read = runs["user_faults"].notna()
    texts = runs["user_faults"].where(read, "[]")
    found = [{fault["fault"] for fault in json.loads(text)} for text in texts]
    told = runs[list(CASE)].assign(
        n_unread=~read,
        n_with_fault=pd.Series([bool(names) for names in found], runs.index, dtype=bool),
        **{
            column: pd.Series([name in names for names in found], runs.index, dtype=bool)
            for column, name in _BY_FAULT.items()
        },
    )
    return told[read.groupby([runs[column] for column in CELL]).transform("any").astype(bool)]


def _known(rows: pd.DataFrame) -> dict[str, pd.Series[bool]]:
    """The values to be averaged; null throughout a cell in which some are."""
    return {
        name: rows[column].astype("boolean").where(known_throughout(rows, KEY, rows[column].notna()))
        for name, column in _RATES.items()
    }


def _rates(rows: pd.DataFrame, suffix: str, seed: int) -> pd.DataFrame:
    values = {f"{name}{suffix}": value for name, value in _known(rows).items()}
    return means(rows[[*KEY, "cluster_id"]].assign(**values), KEY, list(values), seed=seed).drop(columns="n")


def _differences(rows: pd.DataFrame, seed: int) -> pd.DataFrame:
    """The rates without the tagged runs minus those over all, the same clusters drawn for both."""
    wide = rows[[*KEY, "cluster_id"]].assign(good=~rows["n_with_fault"], **_known(rows))
    found = [
        dict(zip(KEY, key, strict=True)) | {k: v for name in _RATES for k, v in _difference(part, name, seed).items()}
        for key, part in wide.groupby(KEY)
    ]
    columns = [*KEY, *(f"{name}_difference{end}" for name in _RATES for end in ("", "_low", "_high"))]
    return pd.DataFrame(found, columns=columns).astype(dict.fromkeys(KEY, "str"))


def _difference(cell: pd.DataFrame, name: str, seed: int) -> dict[str, float]:
    ends = [f"{name}_difference{end}" for end in ("", "_low", "_high")]
    if cell[name].isna().any() or not cell["good"].any():
        return dict.fromkeys(ends, float("nan"))
    sums = pd.DataFrame(
        {
            "hits": cell[name].astype(float),
            "runs": 1.0,
            "good_hits": cell[name].astype(float) * cell["good"],
            "good_runs": cell["good"].astype(float),
        }
    )
    hits, runs, good_hits, good_runs = sums.groupby(cell["cluster_id"], sort=True).sum().to_numpy(dtype=float).T
    apart: Floats = resample(good_hits, good_runs, seed=seed) - resample(hits, runs, seed=seed)
    low, high = percentile_interval(apart, len(hits), bounds=(-1.0, 1.0))
    value = good_hits.sum() / good_runs.sum() - hits.sum() / runs.sum()
    return dict(zip(ends, (float(value), float(low), float(high)), strict=True))
