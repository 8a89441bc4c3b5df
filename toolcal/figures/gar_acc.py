"""Gold Action Recall against accuracy: who passes without the gold action."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import PercentFormatter

from toolcal.figures import panels
from toolcal.figures.labels import Box, around, place
from toolcal.figures.panels import Canvas
from toolcal.figures.style import ALERT, BLUE, GREY, INK, NORMAL, PAGE, SMALL, extent, plain, styled, wrap

POLICY = "policy/"
"""How the families of scripted agents begin; these are drawn hollow."""

NAMED = 12
"""Up to so many models each point bears its name, beyond it a number of the key."""

_NOTABLE, _SHORT = 3, 110
"""How many of the largest violations bear their names in a panel with a key, if no wider than so many points."""

_NEAR = 0.02
"""Points no farther apart share a label."""

_NOT_RECORDED = "GAR not recorded"

_LIMITS = (-0.05, 1.05)


@dataclass(frozen=True)
class _Point:
    """A model in a panel: where it stands, its interval's ends, and how it is marked."""

    model: str
    policy: bool
    violation: bool
    n: int
    x: float
    y: float
    ends: tuple[float, float, float, float]


@styled
def draw(cells: pd.DataFrame, view: str = "case_any") -> Figure:
    """GAR against Acc, a panel per scenario, with the diagonal above which the bound is broken.

    Args:
        cells: rows of table cells, of one labeller and one perturbation.
        view: `case_any` or `decisive`.
    """
    suffix = "" if view == "case_any" else f"_{view}"
    gar, violation, unknown = f"gar_{view}", f"violation{suffix}", f"n_unknown{suffix}"
    lacking = panels.missing("cells", cells, [gar, "acc"])
    if lacking:
        return panels.notice(lacking)
    models = list(dict.fromkeys(cells["model"]))
    shown = {title: _points(rows, gar, violation) for title, rows in panels.by_scenario(cells)}
    unrecorded = {title: list(rows["model"][rows[unknown] > 0]) for title, rows in panels.by_scenario(cells)}
    columns = 1 if len(shown) == 1 else 2 if len(shown) <= 4 else 3
    side = min(PAGE / columns, 3.5)
    width = max(side * columns, 4.5)
    key = _key(models, width) if len(models) > NAMED else []
    rows = -(-len(shown) // columns)
    # Titles, axis names, legend and heading: a single row of panels shares its height with all of them.
    panel_height = side * rows + (0.75 if width < 6 else 1.0 if rows == 1 else 0.6)
    key_height = 0.125 * max(map(len, key)) + 0.05 if key else 0.0

    figure = panels.blank(panel_height + key_height, width)
    top: Canvas = figure
    bottom: Canvas | None = None
    if key:
        top, bottom = figure.subfigures(2, 1, squeeze=False, height_ratios=[panel_height, key_height]).flat
    panels.heading(
        top,
        f"Gold Action Recall ({view} view) and pass rate, 95 % intervals; {panels.selection(cells)}; "
        f"n = cases with a verdict{_undrawn(shown, unrecorded, models)}",
        width,
    )
    titles = [f"{title}, {panels.span([p.n for p in points])}" if points else title for title, points in shown.items()]
    axes = panels.grid(top, titles, columns, width=side - 0.6, xlabel=f"GAR ({view} view)", ylabel="Acc")
    for panel, points, lacks in zip(axes, shown.values(), unrecorded.values(), strict=True):
        _panel(panel, points, size=3.8 if key else 5.0, why=_NOT_RECORDED if lacks else "no rates")
        names = [str(models.index(model) + 1) if key else plain(model) for model in lacks]
        if names:
            words = wrap(f"{_NOT_RECORDED}: {', '.join(names)}", 72 * (side - 0.6), NORMAL)
            panel.set_xlabel("\n".join(filter(None, (panel.get_xlabel(), words))))
    top.legend(
        handles=_legend(), loc="outside lower center", ncols=3 if width > 6 else 2, handletextpad=0.4, columnspacing=1.5
    )
    if bottom is not None:
        for column, entries in enumerate(key):
            bottom.text(0.01 + column / len(key), 1, "\n".join(entries), va="top", fontsize=SMALL, linespacing=1.25)

    panels.settle(figure)  # first, for the labels go where the finished layout leaves room
    for panel, points in zip(axes, shown.values(), strict=True):
        _label(panel, points, models if key else [])
    return figure


def _points(rows: pd.DataFrame, gar: str, violation: str) -> list[_Point]:
    ends = [f"{rate}_{end}" for rate in (gar, "acc") for end in ("low", "high")]
    values = zip(
        rows["model"],
        rows["family"],
        panels.truths(rows, violation),
        rows["n"],
        panels.numbers(rows, gar),
        panels.numbers(rows, "acc"),
        *(panels.numbers(rows, end) for end in ends),
        strict=True,
    )
    return [
        _Point(str(model), str(family).startswith(POLICY), bool(broken), int(n), x, y, (left, right, low, high))
        for model, family, broken, n, x, y, left, right, low, high in values
        if np.isfinite(x) and np.isfinite(y)
    ]


def _undrawn(
    shown: Mapping[str, Sequence[_Point]], unrecorded: Mapping[str, Sequence[str]], models: Sequence[str]
) -> str:
    """Whom the panels lack, but for those named under them; a panel that lacks all says so itself."""
    lacking = {
        title.split("\n")[0]: [
            plain(model) for model in models if model not in {*unrecorded[title], *(point.model for point in points)}
        ]
        for title, points in shown.items()
        if points
    }
    words = [f"{scenario}: {', '.join(names)}" for scenario, names in lacking.items() if names]
    return f"; without both rates, not drawn: {'; '.join(words)}" if words else ""


def _panel(panel: Axes, points: Sequence[_Point], size: float, why: str) -> None:
    panel.set(xlim=_LIMITS, ylim=_LIMITS, aspect="equal")
    for axis in (panel.xaxis, panel.yaxis):
        axis.set_ticks([0, 0.25, 0.5, 0.75, 1])
        axis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    if not points:
        panels.remark(panel, why)
        return
    panel.fill([0, 1, 0], [0, 1, 1], color=ALERT, alpha=0.07, linewidth=0, zorder=0)
    panel.plot([0, 1], [0, 1], color=GREY, linewidth=0.7, linestyle=(0, (4, 2)), zorder=1)
    for point in points:
        colour = ALERT if point.violation else BLUE
        left, right, low, high = point.ends
        panel.plot([left, right], [point.y] * 2, color=colour, linewidth=0.8, alpha=0.45, zorder=2)
        panel.plot([point.x] * 2, [low, high], color=colour, linewidth=0.8, alpha=0.45, zorder=2)
        panel.plot(point.x, point.y, zorder=4 if point.violation else 3, **_mark(point.violation, point.policy, size))


def _mark(violation: bool, policy: bool, size: float = 5.0) -> dict[str, Any]:
    colour = ALERT if violation else BLUE
    return {
        "linestyle": "none",
        "marker": "D" if violation else "o",
        "markersize": size,
        "markeredgecolor": colour,
        "markerfacecolor": "white" if policy else colour,
        "markeredgewidth": 1.1,
        "clip_on": False,
    }


def _legend() -> list[Line2D | Patch]:
    def entry(label: str, violation: bool, policy: bool) -> Line2D:
        line = Line2D([], [], label=label)
        line.set(**_mark(violation, policy))
        return line

    return [
        entry("model", False, False),
        entry("scripted policy", False, True),
        entry("model, violation (Acc > GAR)", True, False),
        entry("scripted policy, violation", True, True),
        Line2D([], [], color=GREY, linewidth=0.7, linestyle=(0, (4, 2)), label="the bound, Acc = GAR"),
        Patch(facecolor=ALERT, alpha=0.12, label="bound broken: passes without the gold action"),
    ]


def _groups(points: Sequence[_Point]) -> list[list[_Point]]:
    """Points that a reader sees as one (same place, same mark) share a label."""
    groups: list[list[_Point]] = []
    for point in points:
        for group in groups:
            first = group[0]
            apart = max(abs(first.x - point.x), abs(first.y - point.y))
            if apart <= _NEAR and first.violation == point.violation:
                group.append(point)
                break
        else:
            groups.append([point])
    return groups


def _label(panel: Axes, points: Sequence[_Point], keyed: Sequence[str]) -> None:
    if not points:
        return
    counts = [point.n for point in points]
    usual = max(counts, key=counts.count)
    largest = sorted((p for p in points if p.violation), key=lambda p: p.x - p.y)[:_NOTABLE] if keyed else []
    scale = 72 / panel.figure.dpi

    def spot(x: float, y: float) -> tuple[float, float]:
        across, up = panel.transData.transform((x, y)) * scale
        return float(across), float(up)

    def name(point: _Point) -> str:
        words = plain(point.model) if point.n == usual else f"{plain(point.model)} (n = {point.n})"
        if not keyed:
            return words
        number = str(keyed.index(point.model) + 1)
        return f"{number} {words}" if point in largest and extent(words, SMALL)[0] < _SHORT else number

    edge: Box = (*spot(-0.04, -0.04), *spot(1.04, 1.04))
    texts = []
    for group in _groups(points):
        names = [name(point) for point in group]
        if keyed and not any(point in largest for point in group):
            names = [wrap(", ".join(names), 60, SMALL)]
        texts.append("\n".join(wrap(words, 0.97 * (edge[2] - edge[0]), SMALL) for words in names))
    heads = [group[0] for group in _groups(points)]
    boxes = place(
        [spot(point.x, point.y) for point in heads],
        [(width + 3, height) for width, height in map(extent, texts, repeat(SMALL))],
        edge,
        [around(*spot(point.x, point.y), 3 if keyed else 4) for point in points],
        [box for point in points for box in _bars(point, spot, 0.5 if keyed else 1.5)]
        + [around(*spot(at, at), 1.5) for at in np.linspace(0, 1, 80)],
    )
    for point, text, box in zip(heads, texts, boxes, strict=True):
        x, y = spot(point.x, point.y)
        nearest = min(max(x, box[0]), box[2]) - x, min(max(y, box[1]), box[3]) - y
        if max(map(abs, nearest)) > 8:
            panel.annotate(
                "",
                (point.x, point.y),
                nearest,
                textcoords="offset points",
                arrowprops={"arrowstyle": "-", "color": GREY, "linewidth": 0.5, "shrinkA": 0, "shrinkB": 3},
            )
        panel.annotate(
            text,
            (point.x, point.y),
            (box[0] - x + 1.5, (box[1] + box[3]) / 2 - y),
            textcoords="offset points",
            va="center",
            ha="left",
            fontsize=SMALL,
            color=INK,
            zorder=5,
            gid="label",
        )


def _bars(point: _Point, spot: Callable[[float, float], tuple[float, float]], half: float) -> list[Box]:
    left, right, low, high = point.ends
    pairs = [((left, point.y), (right, point.y)), ((point.x, low), (point.x, high))]
    return [
        (*around(*spot(*start), half)[:2], *around(*spot(*stop), half)[2:])
        for start, stop in pairs
        if np.isfinite([*start, *stop]).all()
    ]


def _key(models: Sequence[str], width: float) -> list[list[str]]:
    """Numbers and names in as many columns as fit."""
    entries = [f"{number} {plain(model)}" for number, model in enumerate(models, 1)]
    widest = max(extent(entry, SMALL)[0] for entry in entries) + 10
    columns = max(1, min(6, int(width * 72 * 0.98 // widest)))
    rows = -(-len(entries) // columns)
    return [entries[start : start + rows] for start in range(0, len(entries), rows)]
