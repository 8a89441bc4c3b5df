"""The four shares of cases: right or wrong action, passed or failed."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from toolcal.figures import panels
from toolcal.figures.bars import Bar, Part, stacked
from toolcal.figures.style import ALERT, GREEN, PALE, SKY, styled

PARTS = {
    "calibrated": Part("calibrated success", GREEN),
    "masked": Part("masked miscalibration (violation)", ALERT, "/////"),
    "slack": Part("execution failure (slack)", SKY),
    "failed": Part("miscalibrated failure", PALE),
}


@styled
def draw(cells: pd.DataFrame, view: str = "case_any") -> Figure:
    """The four shares as stacked bars, per model, a panel per scenario.

    Args:
        cells: rows of table cells, of one labeller and one perturbation.
        view: `case_any` or `decisive`.
    """
    columns = [f"share_{part}" if view == "case_any" else f"share_{part}_{view}" for part in PARTS]
    lacking = panels.missing("cells", cells, columns)
    if lacking:
        return panels.notice(lacking)
    unknown = "n_unknown" if view == "case_any" else f"n_unknown_{view}"
    some_missing = bool((cells["n_missing"] > 0).any())
    scenarios = {
        title: {row["model"]: _bar(row, columns, unknown) for _, row in rows.iterrows()}
        for title, rows in panels.by_scenario(cells)
    }
    note = "; in brackets, cases without one" if some_missing else ""
    return stacked(
        scenarios,
        list(dict.fromkeys(cells["model"])),
        list(PARTS.values()),
        heading=f"Outcomes of the cases ({panels.view(cells, view)}); {panels.selection(cells)}; "
        f"on the right n, cases with a verdict{note}",
        xlabel="share of cases",
        absent="not run",
    )


def _bar(row: pd.Series, columns: list[str], unknown: str) -> Bar:
    widths = [np.nan if pd.isna(row[column]) else float(row[column]) for column in columns]
    counts = f"{row['n']} ({row['n_missing']})" if row["n_missing"] else f"{row['n']}"
    if np.isnan(widths).any():
        return Bar((), f"{'not recorded' if row[unknown] else 'no share'}, n = {counts}")
    return Bar(widths, counts)
