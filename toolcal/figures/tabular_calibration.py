"""What trained tabular agents state, against the chance that they are right: does a design reach its own optimum?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from toolcal.figures import panels
from toolcal.figures.per_design import per_design
from toolcal.figures.style import BLUE, GREY, INK, ORANGE, styled

LOOKS: dict[bool, dict[str, Any]] = {
    False: {"color": BLUE, "marker": "o", "label": "advantage: difference from the group's mean"},
    True: {"color": ORANGE, "marker": "s", "label": "divided by the group's standard deviation"},
}
"""How agents look, by whether their advantages were scaled."""
_ASIDE = 0.012
"""How far the marks of a chance stand to its side."""


@styled
def draw(tabular_kinds: pd.DataFrame) -> Figure:
    """A panel per design: mean confidence by kind of question, of agents trained on spread difficulty.

    Args:
        tabular_kinds: rows of table tabular_kinds.
    """
    lacking = panels.missing("tabular_kinds", tabular_kinds, ["confidence"])
    if lacking:
        return panels.notice(lacking)
    figure, parts = per_design(
        tabular_kinds[tabular_kinds["population"] == "spread"],
        "Stated confidence of trained tabular agents by the chance p that their answer is right (difficulty spread), "
        "mean over seeds with 95 % interval",
        height=1.8,
        room=0.8,
        xlabel="chance of a right answer p",
        ylabel="stated confidence",
    )
    for panel, rows in parts:
        _panel(panel, rows)
    handles = [
        *(Line2D([], [], linestyle="none", markersize=4, **look) for look in LOOKS.values()),
        Line2D([], [], color=INK, linewidth=0.9, linestyle=(0, (4, 1.5)), label="pays best, q*(p)"),
        Line2D([], [], color=GREY, linewidth=0.6, label="as confident as right"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=2)
    return panels.settle(figure)


def _panel(panel: Axes, rows: pd.DataFrame) -> None:
    panel.set(xlim=(0, 1), ylim=(-0.03, 1.03))
    panel.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
    panel.set_yticks([0, 0.5, 1], ["0", "0.5", "1"])
    panel.plot([0, 1], [0, 1], color=GREY, linewidth=0.6, zorder=1)
    for scaled, look in LOOKS.items():
        own = rows[rows["scaled"] == scaled].sort_values("p")
        if own.empty:
            continue
        p = panels.numbers(own, "p")
        best = panels.numbers(own, "optimum")
        if np.isfinite(best).any():
            panel.plot(p, best, color=INK, linewidth=0.9, linestyle=(0, (4, 1.5)), zorder=2)
        across = p + (_ASIDE if scaled else -_ASIDE)
        ends = panels.numbers(own, "confidence_low"), panels.numbers(own, "confidence_high")
        panel.vlines(across, *ends, color=look["color"], linewidth=0.9, zorder=3)
        marks = {"color": look["color"], "marker": look["marker"], "markersize": 4, "linestyle": "none"}
        panel.plot(across, panels.numbers(own, "confidence"), zorder=4, clip_on=False, **marks)
