"""A figure with a panel for each reward design."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from toolcal.figures import panels
from toolcal.figures.style import PAGE, plain

_COLUMNS = 4


def per_design(
    rows: pd.DataFrame, heading: str, *, height: float, room: float, xlabel: str, ylabel: str
) -> tuple[Figure, list[tuple[Axes, pd.DataFrame]]]:
    """The figure, and of each design its panel and rows.

    Args:
        rows: with a column `design`; the designs stand in the order in which they come.
        heading: of the figure.
        height: of a row of panels, in inches.
        room: for heading and legend, in inches.
        xlabel: of all panels.
        ylabel: of all panels.
    """
    designs = list(dict.fromkeys(rows["design"]))
    columns = min(_COLUMNS, len(designs))
    figure = panels.blank(height * -(-len(designs) // columns) + room)
    panels.heading(figure, heading)
    axes = panels.grid(
        figure,
        [plain(design) for design in designs],
        columns,
        width=(PAGE - 0.6) / columns - 0.1,
        xlabel=xlabel,
        ylabel=ylabel,
    )
    return figure, [(panel, rows[rows["design"] == design]) for panel, design in zip(axes, designs, strict=True)]
