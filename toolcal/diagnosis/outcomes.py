"""The four outcomes of a case: was the gold action emitted, and did the case pass (method A4)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from toolcal.tables import CASE, TABLES

VIEWS = ("case_any", "decisive")
"""The case-level views of Gold Action Recall in which a case has an outcome."""


def outcomes(runs: pd.DataFrame, emitted: pd.DataFrame) -> pd.DataFrame:
    """Table `outcomes`: all planned runs, with nulls where there is no verdict, or the emission is unknown.

    Args:
        runs: from `plan.graded_runs`.
        emitted: from `gar.emitted`.

    Returns:
        One row per planned run x gold action x labeller, sorted by the table's key.
    """
    columns = [*CASE, "cluster_id", "status", "passed", "passed_strict", "reason"]
    rows = emitted.merge(runs[columns], left_on="run", right_index=True)
    for view in VIEWS:
        rows[f"outcome_{view}"] = outcome_of(rows[f"emitted_{view}"], rows["passed"])
    table = TABLES["outcomes"]
    return rows[list(table.columns)].sort_values(list(table.key), ignore_index=True)


def outcome_of(shown: pd.Series[bool], passed: pd.Series[bool]) -> pd.Series[str]:
    """The outcome of each row: was the gold action there, and did the case pass; null where either is."""
    known = (shown.notna() & passed.notna()).to_numpy()
    emits, passes = (column.fillna(False).to_numpy(dtype=bool) for column in (shown, passed))
    names = np.where(emits, np.where(passes, "calibrated", "slack"), np.where(passes, "masked", "failed"))
    return pd.Series(names, index=shown.index, dtype="str").where(known)
