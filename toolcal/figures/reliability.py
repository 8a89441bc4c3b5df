"""Reliability diagrams: accuracy against stated confidence, bin by bin, with the number of answers in each bin."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from toolcal.figures import arms, panels
from toolcal.figures.style import GREY, INK, LARGE, PAGE, PALE, plain, styled, wrap

_STRIP, _TALLEST = -0.36, 0.2
"""Where the counts stand below the diagram, and how high the largest is."""
_TINY = 5.5
"""Font size in points of the counts."""


@styled
def draw(reliability: pd.DataFrame) -> Figure:
    """A panel per cell: a row per model and noise level, a column per tool.

    Args:
        reliability: rows of table reliability, of one question set.
    """
    lacking = arms.nothing("reliability", reliability, "accuracy", none="confidence that could be read")
    if lacking:
        return panels.notice(lacking)
    groups = [
        (model, words, float(noise), rows[rows["noise"] == noise])
        for model, words, rows in arms.by_model(reliability)
        for noise in sorted(rows["noise"].unique())
    ]
    tools = [tool for tool in arms.TOOLS if (reliability["tool"] == tool).any()]
    figure = panels.blank(1.95 * len(groups) + 0.75)
    panels.heading(
        figure,
        f"Share of right answers by stated confidence, 95 % intervals (Wilson); {panels.selection(reliability)}; "
        "below each diagram the number of answers in each of ten bins; n: answers with a confidence, "
        "of all with a verdict",
    )
    axes = figure.subplots(len(groups), len(tools), sharex=True, sharey=True, squeeze=False)
    for line, (model, words, noise, rows) in zip(axes, groups, strict=True):
        for panel, tool in zip(line, tools, strict=True):
            cell = rows[rows["tool"] == tool].sort_values("bin")
            if cell.empty:
                panel.remove()
                continue
            _panel(panel, cell, tool)
            title = f"{plain(model)}{words}\n{arms.name(tool, noise)}, n = {_counted(cell)}"
            panel.set_title(wrap(title, (PAGE / len(tools) - 0.45) * 72, LARGE))
    _name_axes(figure)
    handles = [
        Line2D([], [], label="as confident as right", color=GREY, linewidth=0.8, linestyle=(0, (4, 2))),
        *(
            Line2D([], [], label=arms.TOOLS[tool], **{**arms.LOOKS[tool], "linestyle": "none", "markersize": 4})
            for tool in tools
        ),
        Patch(facecolor=PALE, label="number of answers"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), columnspacing=1.6)
    return panels.settle(figure)


def _counted(cell: pd.DataFrame) -> str:
    return arms.read(int(cell["n"].sum()), int(cell["n_answers"].iloc[0]))


def _panel(panel: Axes, cell: pd.DataFrame, tool: str) -> None:
    panel.set(xlim=(-0.02, 1.02), ylim=(_STRIP - 0.02, 1.04))
    panel.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
    panel.set_yticks([0, 0.5, 1], ["0", "0.5", "1"])
    panel.axhline(0, color=INK, linewidth=0.5)
    count, middle = panels.numbers(cell, "n"), (panels.numbers(cell, "low") + panels.numbers(cell, "high")) / 2
    heights = _TALLEST * count / max(1.0, count.max())
    panel.bar(middle, heights, 0.088, _STRIP, color=PALE, linewidth=0)
    for place, height, n in zip(middle, heights, count, strict=True):
        if n:
            words = f"{n:.0f}" if n < 1000 else f"{n / 1000:.1f}k"
            panel.text(place, _STRIP + height + 0.012, words, ha="center", va="bottom", fontsize=_TINY)
    there = count > 0
    if not there.any():
        panels.remark(panel, "no confidence could be read" if cell["n_answers"].iloc[0] else "no answers")
        return
    panel.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, linestyle=(0, (4, 2)), zorder=1)
    look = arms.LOOKS[tool]
    said, right = panels.numbers(cell, "confidence")[there], panels.numbers(cell, "accuracy")[there]
    low, high = panels.numbers(cell, "accuracy_low")[there], panels.numbers(cell, "accuracy_high")[there]
    panel.vlines(said, low, high, color=look["color"], linewidth=1.0, zorder=2)
    panel.plot(said, right, color=look["color"], linewidth=0.7, alpha=0.5, zorder=2)
    panel.plot(said, right, color=look["color"], marker=look["marker"], markersize=4, linestyle="none", zorder=3)


def _name_axes(figure: Figure) -> None:
    """Name the axes of panels that have none below them, and of the first in each row."""
    places = {}
    for panel in figure.axes:
        place = panel.get_subplotspec()
        if place is not None:
            places[place.rowspan.start, place.colspan.start] = panel
    for (row, column), panel in places.items():
        if (row + 1, column) not in places:
            panel.xaxis.set_tick_params(labelbottom=True)
            panel.set_xlabel("stated confidence")
        if (row, column - 1) not in places:
            panel.yaxis.set_tick_params(labelleft=True)
            panel.set_ylabel("share right")
            panel.yaxis.set_label_coords(-0.16, float(np.interp(0.5, [_STRIP - 0.02, 1.04], [0, 1])))
