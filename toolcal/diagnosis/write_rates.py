"""Table `write_rates`: how many writes the user had agreed to, against how many of their runs passed (method A7)."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from toolcal.diagnosis.outcomes import outcome_of
from toolcal.diagnosis.statistics import means
from toolcal.tables import CELL, OUTCOMES, TABLES

_KEY = [*CELL, "writes", "reader"]


def write_rates(writes: pd.DataFrame, families: Mapping[str, str], *, seed: int, reader: str = "rule") -> pd.DataFrame:
    """Table `write_rates`: over all write calls, and over those that were executed.

    Args:
        writes: table `writes`; calls that need no yes are not looked at.
        families: the family of each model.
        seed: of the bootstrap, from the configuration.
        reader: who decided what was confirmed.

    Returns:
        One row per cell x which calls, sorted by the table's key; none for a cell without such calls.
    """
    asked = writes[writes["to_be_confirmed"].astype(bool)].assign(reader=reader)
    both = pd.concat([asked.assign(writes="all"), asked[asked["executed"].astype(bool)].assign(writes="executed")])
    judged = both["passed"].notna()
    counts = both[_KEY].assign(n=judged, n_missing=~judged).groupby(_KEY, as_index=False).sum()
    known = both[judged]
    outcome = outcome_of(known["confirmed"], known["passed"])
    rates = {"confirmed": known["confirmed"], "acc": known["passed"]} | {
        f"share_{name}": outcome == name for name in OUTCOMES
    }
    gap = known["passed"].astype("Int64") - known["confirmed"].astype("Int64")
    wide = known[[*_KEY, "cluster_id"]].assign(**rates, gap=gap)
    single = means(wide, _KEY, list(rates), seed=seed).drop(columns="n")
    paired = means(wide, _KEY, ["gap"], seed=seed, bounds=(-1.0, 1.0)).drop(columns="n")
    table = counts.merge(single, on=_KEY, how="left").merge(paired, on=_KEY, how="left")
    table["family"] = table["model"].map(dict(families)).astype("str")
    spec = TABLES["write_rates"]
    return table[list(spec.columns)].sort_values(list(spec.key), ignore_index=True)
