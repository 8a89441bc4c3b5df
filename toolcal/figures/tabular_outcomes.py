"""What tabular agents end with, by reward design, population and scaling of the advantages."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from toolcal.figures import panels
from toolcal.figures.style import GREY, PAGE, plain, styled
from toolcal.figures.tabular_calibration import LOOKS

_PANELS = {
    "accuracy": "accuracy",
    "abstention": "abstention",
    "ece_debiased": "ECE, debiased",
    "auroc": "AUROC",
    "sd_confidence": "spread (sd)\nof confidence",
}
_PLACES = {("spread", False): -0.27, ("spread", True): -0.09, ("uniform", False): 0.09, ("uniform", True): 0.27}
"""Where a design's agents stand in its row."""


@styled
def draw(tabular_summary: pd.DataFrame) -> Figure:
    """A panel per metric, a row per design, a mark per population and scaling.

    Args:
        tabular_summary: rows of table tabular_summary.
    """
    lacking = panels.missing("tabular_summary", tabular_summary, ["mean"])
    if lacking:
        return panels.notice(lacking)
    designs = list(dict.fromkeys(tabular_summary["design"]))
    seeds = panels.span(panels.numbers(tabular_summary, "n_seeds"))
    figure = panels.blank(0.36 * len(designs) + 1.25)
    panels.heading(
        figure,
        f"Tabular agents after training, mean over seeds ({seeds}) with 95 % interval; accuracy and abstention are of "
        "all questions, the rest of those that were answered",
    )
    axes = panels.grid(figure, list(_PANELS.values()), len(_PANELS), width=PAGE / 6, sharex=False)
    for panel, metric in zip(axes, _PANELS, strict=True):
        panel.set(ylim=(len(designs) - 0.5, -0.5))
        panel.set_yticks(range(len(designs)), [plain(design) for design in designs])
        panel.tick_params(axis="y", length=0)
        panel.spines["left"].set_visible(False)
        panel.grid(axis="x")
        for place in range(1, len(designs)):
            panel.axhline(place - 0.5, color=GREY, linewidth=0.3)
        own = tabular_summary[tabular_summary["metric"] == metric]
        for row in own.to_dict("records"):
            _mark(panel, row, designs.index(row["design"]))
        if own.empty:
            panels.remark(panel, "no rows")
        elif metric != "accuracy":
            panel.set_xlim(left=min(-0.02, panel.get_xlim()[0]), right=max(0.3, panel.get_xlim()[1]))
        low, high = panel.get_xlim()
        inside = [tick for tick in MaxNLocator(3).tick_values(low, high) if low <= tick <= high]
        panel.set_xticks(inside, [f"{tick:g}" for tick in inside])
    handles = [
        Line2D([], [], linestyle="none", markersize=4, **_look(population, scaled)) for population, scaled in _PLACES
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=2)
    return panels.settle(figure)


def _look(population: str, scaled: bool) -> dict[str, Any]:
    face = {} if population == "spread" else {"markerfacecolor": "white"}
    how = "scaled advantages" if scaled else "unscaled advantages"
    return LOOKS[scaled] | face | {"label": f"difficulty {population}, {how}"}


def _mark(panel: Axes, row: Mapping[Hashable, Any], place: int) -> None:
    if pd.isna(row["mean"]):
        return
    at = place + _PLACES[row["population"], bool(row["scaled"])]
    look = _look(row["population"], bool(row["scaled"]))
    ends = np.array([row["low"], row["high"]], np.float64)
    panel.plot(ends, [at, at], color=look["color"], linewidth=1.0)
    panel.plot(row["mean"], at, linestyle="none", markersize=3.6, zorder=3, clip_on=False, **look)
