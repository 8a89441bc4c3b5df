"""What the figures of the confidence study share: its cells in order, their names, and how each tool looks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from toolcal.confidence.plan import level
from toolcal.figures import panels
from toolcal.figures.style import BLUE, INK, ORANGE

TOOLS: dict[str, str] = {"none": "direct", "search": "search", "python": "python"}
"""The tools and how a cell is called that is offered one."""
LOOKS: dict[str, dict[str, Any]] = {
    "none": {"color": INK, "marker": "o", "linestyle": (0, (1, 1.2))},
    "search": {"color": BLUE, "marker": "s", "linestyle": "-"},
    "python": {"color": ORANGE, "marker": "^", "linestyle": (0, (4, 1.5))},
}
"""Colour, marker and dash of each tool; in grey the markers and dashes tell them apart."""
WHOLE = {"difficulty": "all", "post_hoc": "none", "questions": "all"}
"""The rows of table calibration that are of a whole cell, as it was stated."""


def whole(calibration: pd.DataFrame) -> pd.DataFrame:
    """The rows of table calibration that are of whole cells, in the order of `by_model`."""
    for column, value in WHOLE.items():
        calibration = calibration[calibration[column] == value]
    return calibration


def nothing(table: str, data: pd.DataFrame, needed: str, *, answers: str = "n_answers", none: str) -> str | None:
    """Why there is nothing to show of a question set; None where there is something.

    Args:
        table: the table's name.
        data: its rows.
        needed: the column that a figure cannot do without.
        answers: the column that counts the answers with a verdict.
        none: what there is none of where `needed` is null although there are answers, e.g. `wrong answer`.
    """
    lacking = panels.missing(table, data, [needed])
    if lacking is None or needed not in data or data.empty:
        return lacking
    what = none if (data[answers] > 0).any() else "answer with a verdict"
    return f"Nothing to show: no {what}; {panels.selection(data)}."


def by_model(data: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Each model, its name in words (with `trained` behind it where it is), and its rows: direct first, then search,
    then python, by rising noise."""
    order = data["tool"].map(list(TOOLS).index)
    data = data.assign(_tool=order).sort_values(["_tool", "noise"], kind="stable")
    for model in dict.fromkeys(data.sort_index()["model"]):
        rows = data[data["model"] == model].drop(columns="_tool")
        words = " (trained)" if (rows["configuration"] == "trained").any() else ""
        yield str(model), words, rows


def name(tool: str, noise: float) -> str:
    """A cell in words: direct, or the tool with its noise level."""
    return TOOLS[tool] if tool == "none" else f"{TOOLS[tool]}, noise {level(noise)}"


def read(confident: int, answers: int) -> str:
    """How many answers have a confidence, in words."""
    return f"{confident} of {answers}" if confident != answers else f"{answers}"
