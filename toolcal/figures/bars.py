"""Stacked horizontal bars, a row per model and a panel per scenario."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import PercentFormatter

from toolcal.figures import panels
from toolcal.figures.style import GREY, PAGE, SMALL, extent, plain

ACROSS, LONG = 4, 1.6
"""How many panels stand side by side, or half as many where names are as long as so many inches."""


@dataclass(frozen=True)
class Part:
    """One segment of every bar: its name and how it is filled."""

    label: str
    colour: str
    hatch: str = ""
    hatch_colour: str = "white"


@dataclass(frozen=True)
class Bar:
    """One model's bar: the width of each part, and its n in words; or, without widths, why there is no bar."""

    widths: Sequence[float]
    note: str


def stacked(
    scenarios: Mapping[str, Mapping[str, Bar]],
    models: Sequence[str],
    parts: Sequence[Part],
    *,
    heading: str,
    xlabel: str,
    absent: str,
) -> Figure:
    """Draw the bars.

    Args:
        scenarios: panel title to model to bar.
        models: the rows, from the top.
        parts: the segments, from the left.
        heading: what is shown, above the panels.
        xlabel: what the bars' length means.
        absent: what stands where a model has no bar at all.
    """
    widest = max(extent(plain(model), SMALL)[0] for model in models) / 72
    across = ACROSS if widest < LONG else ACROSS // 2
    blocks = list(grouped(scenarios, models))
    legend_columns = min(4, len(parts))
    legend_rows = -(-len(parts) // legend_columns)
    heights = [-(-len(titles) // min(len(titles), across)) * (0.19 * len(rows) + 0.5) for titles, rows in blocks]
    heights[-1] += 0.25  # the axis' name
    figure = panels.blank(sum(heights) + 0.5 + 0.16 * legend_rows)
    panels.heading(figure, heading)
    canvases = figure.subfigures(len(blocks), 1, height_ratios=heights, squeeze=False)[:, 0]
    for canvas, (titles, rows) in zip(canvases, blocks, strict=True):
        columns = min(len(titles), across)
        label = xlabel if canvas is canvases[-1] else ""
        axes = panels.grid(canvas, titles, columns, width=(PAGE - widest) / columns - 0.2, xlabel=label)
        for panel, title in zip(axes, titles, strict=True):
            panel.set(xlim=(0, 1), ylim=(len(rows) - 0.45, -0.55))
            panel.set_yticks(range(len(rows)), [plain(model) for model in rows])
            panel.tick_params(axis="y", length=0)
            panel.set_xticks([0, 0.5, 1])
            panel.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
            for row, model in enumerate(rows):
                _bar(panel, row, scenarios[title].get(model, Bar((), absent)), parts)
    figure.legend(handles=[_patch(part) for part in parts], loc="outside lower center", ncols=legend_columns)
    return panels.settle(figure)


def grouped(scenarios: Mapping[str, Mapping[str, Any]], models: Sequence[str]) -> Iterator[tuple[list[str], list[str]]]:
    """Titles and rows of panels that stand together: those of benchmarks in which the same models took part.

    Args:
        scenarios: panel title to model to what is drawn of it.
        models: the rows, from the top.
    """
    took_part: dict[str, set[str]] = {}
    for title, bars in scenarios.items():
        took_part.setdefault(_benchmark(title), set()).update(bars)
    for _, group in groupby(scenarios, key=lambda title: took_part[_benchmark(title)]):
        titles = list(group)
        yield titles, [model for model in models if model in took_part[_benchmark(titles[0])]]


def _benchmark(title: str) -> str:
    return title.split("-")[0]


def _bar(panel: Axes, row: int, bar: Bar, parts: Sequence[Part]) -> None:
    if not len(bar.widths):
        panel.text(0.02, row, bar.note, va="center", color=GREY, fontsize=SMALL, style="italic")
        return
    starts = np.concatenate([[0], np.cumsum(bar.widths)[:-1]])
    for part, start, width in zip(parts, starts, bar.widths, strict=True):
        if width > 0:
            look: dict[str, Any] = {
                "facecolor": part.colour,
                "edgecolor": part.hatch_colour,
                "hatch": part.hatch,
                "linewidth": 0,
            }
            panel.barh(row, width, 0.74, start, **look)
    panel.text(1.03, row, bar.note, va="center", fontsize=SMALL)


def _patch(part: Part) -> Patch:
    return Patch(facecolor=part.colour, edgecolor=part.hatch_colour, hatch=part.hatch, linewidth=0, label=part.label)
