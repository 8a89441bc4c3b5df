"""Made-up panels, their tables and their figures, each made once in a run of the tests: a test changes none of them."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from tests.figures import frames, moves, paid, study, sure, talks, trained
from toolcal.figures import FIGURES, draw

CELLS = {
    "small": frames.small_cells(),
    "large": frames.large_cells(),
    "odd": frames.odd_cells(),
    "recorded": frames.recorded_cells(),
    "joint": talks.joint_cells(),
}
EFFECTS = {"small": "policies", "large": "large", "odd": "odd", "recorded": "probed", "joint": "probed"}
"""The effects that belong to a panel, by their names in `moves`."""


trained_rows = cache(trained.comparison)


@cache
def all_tables(panel: str) -> dict[str, pd.DataFrame]:
    """Every table that some figure shows, as a stage that draws it would read it."""
    own = {"write_rates": talks.write_rates(), "validity": talks.validity()} | moves.rows_of(EFFECTS[panel])
    own |= study.tables_of(panel if panel in study.STUDIES else "small")
    own["comparison"] = trained_rows()
    own |= paid.reward_tables()
    own["turn_calibration"] = sure.turn_calibration(CELLS[panel])
    with tempfile.TemporaryDirectory() as folder:
        return {**frames.all_tables(CELLS[panel], Path(folder)), **frames.written(own, Path(folder))}


def rows(panel: str, name: str) -> pd.DataFrame:
    """The rows that a figure of this panel shows."""
    return all_tables(panel)[FIGURES[name].table]


@cache
def drawn(panel: str, name: str, **options: Any) -> Figure:
    """A figure of this panel."""
    return draw(name, rows(panel, name), **options)


def effects(made: Sequence[dict[str, Any]], table: str = "effects") -> pd.DataFrame:
    """Rows of a table of effects as they are read back."""
    with tempfile.TemporaryDirectory() as folder:
        return frames.written({table: list(made)}, Path(folder))[table]
