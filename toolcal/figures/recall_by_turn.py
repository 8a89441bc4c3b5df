"""Gold Action Recall as the conversation goes on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import PercentFormatter

from toolcal.figures import panels
from toolcal.figures.style import DASHES, MARKERS, PAGE, SERIES, SMALL, extent, plain, styled

FEW = 10
"""A turn with fewer cases than this is drawn hollow."""

_TOGETHER = len(SERIES)
_DODGE = 0.07


@styled
def draw(turns: pd.DataFrame) -> Figure:
    """Recall by turn, a line per model with its interval, a panel per scenario; many models are split into groups.

    Args:
        turns: rows of table turns, of one labeller and one perturbation.
    """
    lacking = panels.missing("turns", turns, ["recall"])
    if lacking:
        return panels.notice(lacking)
    models = list(dict.fromkeys(turns["model"]))
    partly = set(turns["model"][turns["n_unknown"] > 0])
    names = {model: plain(model) + ("*" if model in partly else "") for model in models}
    parts = -(-len(models) // _TOGETHER)
    size = -(-len(models) // parts)
    groups = [models[start : start + size] for start in range(0, len(models), size)]
    scenarios = dict(panels.by_scenario(turns))
    columns = min(len(scenarios), 2 if len(groups) == 1 else 4)
    rows = -(-len(scenarios) // columns)
    legends = [_legend_columns([names[model] for model in group]) for group in groups]
    heights = [
        rows * (1.95 if columns <= 2 else 1.55) + 0.17 * -(-len(group) // across) + 0.2
        for group, across in zip(groups, legends, strict=True)
    ]
    figure = panels.blank(sum(heights) + 0.45)
    panels.heading(
        figure,
        f"Share of turns whose class is the turn's gold (turn view), 95 % intervals; {panels.selection(turns)}; "
        f"n = turns counted, below each turn its most and least over the models; hollow: n < {FEW}"
        + ("; *: turns that recorded runs did not keep whole are left out" if partly else ""),
    )
    blocks = figure.subfigures(len(groups), 1, height_ratios=heights, squeeze=False)[:, 0]
    for block, group, across in zip(blocks, groups, legends, strict=True):
        width = (PAGE - 0.5) / columns - 0.1
        axes = panels.grid(block, list(scenarios), columns, sharex=False, width=width)
        for place, (panel, data) in enumerate(zip(axes, scenarios.values(), strict=True)):
            _panel(panel, data[data["model"].isin(group)], group, width * 72, first=place % columns == 0)
        handles = [Line2D([], [], label=names[model], **_look(i)) for i, model in enumerate(group)]
        block.legend(handles=handles, loc="outside lower center", ncols=across, handlelength=3.2)
    return panels.settle(figure)


def _legend_columns(names: Sequence[str]) -> int:
    widest = max(extent(name, SMALL)[0] for name in names) + 45
    return max(1, min(len(names), int(PAGE * 72 // widest)))


def _look(index: int) -> dict[str, Any]:
    return {"color": SERIES[index], "marker": MARKERS[index], "linestyle": DASHES[index], "markersize": 4.0}


def _thinning(marks: Sequence[str], room: float) -> int:
    """Each how-manieth turn can bear its mark if a turn has so many points of room."""
    return int(np.ceil((max(extent(mark, SMALL)[0] for mark in marks) + 1) / room))


def _panel(panel: Axes, data: pd.DataFrame, group: Sequence[str], width: float, *, first: bool) -> None:
    known = data[np.isfinite(panels.numbers(data, "recall"))]
    panel.set_ylim(-0.04, 1.04)
    panel.set_yticks([0, 0.5, 1])
    panel.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    panel.grid(axis="y")
    if known.empty:
        panel.set_xticks([])
        panels.remark(panel, "not recorded" if (data["n_unknown"] > 0).any() else "no turns")
        return
    for index, model in enumerate(group):
        rows = data[data["model"] == model].sort_values("turn")  # a turn without recall is a gap in the line
        if model not in set(known["model"]):  # an empty band has no extent, and would break the layout
            continue
        # Side by side, for many lines run along 0 % or 100 % together.
        x = panels.numbers(rows, "turn") + (index - (len(group) - 1) / 2) * _DODGE
        recall, look = panels.numbers(rows, "recall"), _look(index)
        ends = panels.numbers(rows, "recall_low"), panels.numbers(rows, "recall_high")
        panel.fill_between(x, *ends, color=SERIES[index], alpha=0.13, linewidth=0)
        panel.plot(x, recall, clip_on=False, **look)
        few = panels.numbers(rows, "n") < FEW
        panel.plot(x[few], recall[few], clip_on=False, **{**look, "linestyle": "none", "markerfacecolor": "white"})
    counts = known.groupby("turn")["n"].agg(["max", "min"])
    differ = bool((counts["max"] != counts["min"]).any())
    marks = [f"{t}\n{most}\n{least}" if differ else f"{t}\n{most}" for t, most, least in counts.itertuples()]
    every = _thinning(marks, width / (np.ptp(counts.index) + 1))
    panel.set_xticks(counts.index[::every], marks[::every])
    panel.set_xlim(counts.index.min() - 0.5, counts.index.max() + 0.5)
    if first:
        names = "turn\nn most\nn least" if differ else "turn\nn"
        style: dict[str, Any] = {"ha": "right", "va": "top", "fontsize": SMALL, "textcoords": "offset points"}
        panel.annotate(names, (0, 0), (-4, -5), xycoords="axes fraction", **style)
