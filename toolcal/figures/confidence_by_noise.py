"""Accuracy and mean stated confidence as the tool's results get worse, both tools in one picture."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import PercentFormatter

from toolcal.confidence.plan import level
from toolcal.figures import arms, panels
from toolcal.figures.style import GREY, PAGE, plain, styled

_SHIFT = {"none": 0.0, "search": -0.25, "python": 0.25}
"""Side by side, in parts of the room of a noise level's four marks."""
_MEASURES = {"accuracy": ("accuracy", -0.5), "mean_confidence": ("mean confidence", 0.5)}
"""Measure -> its name, and its place beside the other one of the tool."""

_NARROW = 5.6
"""Inches of width with one model."""


@styled
def draw(calibration: pd.DataFrame) -> Figure:
    """A panel per model: noise across, accuracy (full) and mean confidence (hollow) upwards.

    Args:
        calibration: rows of table calibration, of one question set.
    """
    data = calibration if calibration.empty else arms.whole(calibration)
    lacking = arms.nothing("calibration", data, "accuracy", answers="n", none="answer")
    if lacking:
        return panels.notice(lacking)
    models = list(arms.by_model(data))
    columns = min(3, len(models))
    titles = [f"{plain(model)}{words}\n{_counted(rows)}" for model, words, rows in models]
    page = PAGE if len(models) > 1 else _NARROW
    width = (page - 0.5) / columns - 0.1
    height = 2.3 * -(-len(models) // columns) + 1.2
    figure = panels.blank(height, page)
    panels.heading(
        figure,
        f"Accuracy and mean stated confidence, 95 % intervals; {panels.selection(data)}; n: answers with a verdict; "
        "read: share of them whose confidence could be read",
        page,
    )
    axes = panels.grid(figure, titles, columns, width=width, ylabel="")
    levels = sorted(data["noise"].unique())
    for panel, (_, _, rows) in zip(axes, models, strict=True):
        _panel(panel, rows, levels)
    tools = [tool for tool in arms.TOOLS if (data["tool"] == tool).any()]
    handles = [
        Line2D([], [], label=f"{arms.TOOLS[tool]}, {words}", **_look(tool, measure))
        for measure, (words, _) in _MEASURES.items()
        for tool in tools
    ]
    # Legends are filled column by column: a row per measure.
    order = [len(tools) * row + column for column in range(len(tools)) for row in range(2)]
    figure.legend(
        handles=[handles[place] for place in order], loc="outside lower center", ncols=len(tools), handlelength=3.2
    )
    return panels.settle(figure)


def _counted(rows: pd.DataFrame) -> str:
    shares = 100 * panels.numbers(rows, "coverage")
    shares = shares[np.isfinite(shares)]
    low, high = (f"{share:.0f}" for share in (shares.min(), shares.max())) if len(shares) else ("0", "0")
    return f"{panels.span(panels.numbers(rows, 'n'))}; read: {low if low == high else f'{low} to {high}'} %"


def _look(tool: str, measure: str) -> dict[str, Any]:
    look = {**arms.LOOKS[tool], "markersize": 4.2, "linewidth": 1.0}
    if measure == "accuracy":
        return look | {"linestyle": "-"}
    return look | {"linestyle": (0, (3, 1.5)), "markerfacecolor": "white"}


def _panel(panel: Axes, rows: pd.DataFrame, levels: list[float]) -> None:
    """Noise levels stand at even distances, `direct` on their left."""
    if not (rows["n"] > 0).any():
        panels.remark(panel, "no answers")
    panel.set(xlim=(-1.6, len(levels) - 0.4), ylim=(-0.03, 1.03))
    panel.set_xticks([-1, *range(len(levels))], ["direct", *map(level, levels)])
    panel.tick_params(axis="x", labelbottom=True)
    panel.axvline(-0.5, color=GREY, linewidth=0.5)
    panel.set_yticks([0, 0.25, 0.5, 0.75, 1])
    panel.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    panel.set_xlabel("noise in what the tool returns")
    panel.grid(axis="y")
    for tool, own in rows.groupby("tool"):
        places = np.array([-1.0 if tool == "none" else levels.index(noise) for noise in own["noise"]])
        for measure, (_, side) in _MEASURES.items():
            look = _look(str(tool), measure)
            x = places + 0.5 * _SHIFT[str(tool)] + 0.12 * side
            low, high = panels.numbers(own, f"{measure}_low"), panels.numbers(own, f"{measure}_high")
            panel.vlines(x, low, high, color=look["color"], linewidth=0.9)
            panel.plot(x, panels.numbers(own, measure), zorder=3, clip_on=False, **look)
