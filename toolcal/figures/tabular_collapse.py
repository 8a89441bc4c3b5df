"""Which confidences trained tabular agents state, where difficulty is spread and where it is one throughout."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from toolcal.figures import panels
from toolcal.figures.style import INK, PAGE, SMALL, plain, styled

_NAMED = 0.05
"""Shares from here on are written into their cells."""


@styled
def draw(tabular_confidences: pd.DataFrame) -> Figure:
    """A panel per population and scaling, a row per design, a cell per confidence.

    Args:
        tabular_confidences: rows of table tabular_confidences.
    """
    lacking = panels.missing("tabular_confidences", tabular_confidences, ["share"])
    if lacking:
        return panels.notice(lacking)
    designs = list(dict.fromkeys(tabular_confidences["design"]))
    cells = list(tabular_confidences.groupby(["scaled", "population"]))
    columns = min(2, len(cells))
    figure = panels.blank(-(-len(cells) // columns) * (0.2 * len(designs) + 0.45) + 0.75)
    panels.heading(
        figure,
        "Share of answers (%) by stated confidence, over all seeds: agents trained on five difficulties (spread) and "
        "on one (uniform), with advantages as differences from the group's mean (unscaled) or divided by its deviation",
    )
    titles = [f"difficulty {population}, {'scaled' if scaled else 'unscaled'}" for (scaled, population), _ in cells]
    axes = panels.grid(figure, titles, columns, width=(PAGE - 0.9) / columns, xlabel="stated confidence")
    for panel, (_, rows) in zip(axes, cells, strict=True):
        _panel(panel, rows, designs)
    return panels.settle(figure)


def _panel(panel: Axes, rows: pd.DataFrame, designs: list[str]) -> None:
    table = rows.pivot(index="design", columns="confidence", values="share").reindex(designs)
    shares = table.to_numpy(np.float64)
    panel.pcolormesh(np.ma.masked_invalid(shares), cmap="Blues", vmin=0, vmax=1.6, edgecolors="white", linewidth=0.8)
    panel.set(ylim=(len(designs), 0))
    panel.spines[:].set_visible(False)
    panel.tick_params(length=0)
    panel.set_xticks(np.arange(len(table.columns)) + 0.5, [f"{value:g}" for value in table.columns])
    panel.set_yticks(np.arange(len(designs)) + 0.5, [plain(design) for design in designs])
    for row, column in np.argwhere(shares >= _NAMED):
        panel.text(
            column + 0.5,
            row + 0.5,
            f"{100 * shares[row, column]:.0f}",
            ha="center",
            va="center",
            fontsize=SMALL,
            color=INK,
        )
