"""One rate against another, a point per model and a panel per scenario, with the diagonal where they are equal."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import PercentFormatter

from toolcal.figures import panels
from toolcal.figures.labels import Box, around, place
from toolcal.figures.panels import Canvas
from toolcal.figures.style import ALERT, BLUE, GREY, INK, NORMAL, PAGE, SMALL, extent, plain, wrap

NAMED = 12
"""Up to so many points in a panel each bears its name, beyond it a number of the key."""

_NOTABLE, _SHORT = 3, 110
"""How many of the largest violations bear their names in a panel with a key, if no wider than so many points."""

_NEAR = 0.02
"""Points no farther apart share a label."""

_COLUMNS = ((1, 1), (2, 4), (3, 9), (4, math.inf))
"""How many panels stand side by side, and up to how many panels in all."""

_ROOMY = 3
"""With more panels than that side by side there is no room for names in them."""

_LIMITS = (-0.05, 1.05)
_DIAGONAL: dict[str, Any] = {"color": GREY, "linewidth": 0.7, "linestyle": (0, (4, 2))}


@dataclass(frozen=True)
class Point:
    """A model in a panel: where it stands, its intervals' ends (left, right, low, high), and how it is marked."""

    model: str
    x: float
    y: float
    ends: tuple[float, float, float, float]
    violation: bool
    hollow: bool = False
    note: str = ""
    """In brackets behind the model's name."""
    again: Point | None = None
    """The same model counted in another way: a mark without a label, and a line that leads to it."""
    arrow: bool = False
    """The line is an arrow from there to here, and the label stands at its middle."""

    @property
    def anchor(self) -> tuple[float, float]:
        """Where the label belongs."""
        if self.again is None or not self.arrow:
            return self.x, self.y
        return (self.x + self.again.x) / 2, (self.y + self.again.y) / 2

    def marks(self) -> Iterator[Point]:
        """The point, and the one joined to it."""
        yield self
        if self.again is not None:
            yield self.again


@dataclass(frozen=True)
class Panel:
    """A panel's points; without any, why it is left out; and whom it lacks, after words that say so."""

    points: Sequence[Point]
    why: str = ""
    lacking: str = ""
    lacks: Sequence[str] = ()


def draw(
    shown: Mapping[str, Panel],
    models: Sequence[str],
    *,
    heading: str,
    xlabel: str,
    ylabel: str,
    legend: Sequence[Artist],
    bound: str,
    columns: int | None = None,
) -> Figure:
    """Draw the panels.

    Args:
        shown: title to panel.
        models: all models, in the key's order.
        heading: what is shown, above the panels.
        xlabel: the rate that bounds the other.
        ylabel: the other.
        legend: the marks.
        bound: what the diagonal is, for the legend.
        columns: how many panels stand side by side; by default what suits their number.
    """
    empty = [f"{' '.join(title.split())}: {panel.why}" for title, panel in shown.items() if not panel.points]
    shown = {title: panel for title, panel in shown.items() if panel.points}
    if not shown:
        return panels.notice(f"Nothing to show: {'; '.join(empty)}.")
    columns = columns or next(columns for columns, most in _COLUMNS if len(shown) <= most)
    side = min(PAGE / columns, 3.5)
    width = max(side * columns, 4.5)
    wide = columns <= _ROOMY
    keyed = not wide or max(len(panel.points) + len(panel.lacks) for panel in shown.values()) > NAMED
    key = _key(models, width) if keyed else []
    rows = -(-len(shown) // columns)
    under = [_lacking(panel, models if key else [], 72 * (side - 0.6)) for panel in shown.values()]
    lines = sum(
        max(bool(text) + text.count("\n") for text in under[start : start + columns])
        for start in range(0, len(under), columns)
    )
    # Titles, axis names, legend and heading: a single row of panels shares its height with all of them.
    panel_height = (side if wide else side + 0.36) * rows + (0.75 if width < 6 else 1.0 if rows == 1 else 0.6)
    panel_height += 0.2 * lines
    key_height = 0.125 * max(map(len, key)) + 0.05 if key else 0.0

    figure = panels.blank(panel_height + key_height, width)
    top: Canvas = figure
    bottom: Canvas | None = None
    if key:
        top, bottom = figure.subfigures(2, 1, squeeze=False, height_ratios=[panel_height, key_height]).flat
    panels.heading(top, "; ".join([heading, *empty]), width)
    axes = panels.grid(top, list(shown), columns, width=side - 0.6, xlabel=xlabel, ylabel=ylabel)
    for canvas, panel, text in zip(axes, shown.values(), under, strict=True):
        _panel(canvas, panel, size=3.8 if key else 5.0, wide=wide)
        canvas.set_xlabel("\n".join(filter(None, (canvas.get_xlabel(), text))))
    top.legend(
        handles=[*legend, Line2D([], [], label=bound, **_DIAGONAL)],
        loc="outside lower center",
        ncols=3 if width > 6 else 2,
        handletextpad=0.4,
        columnspacing=1.5,
    )
    if bottom is not None:
        for column, entries in enumerate(key):
            bottom.text(0.01 + column / len(key), 1, "\n".join(entries), va="top", fontsize=SMALL, linespacing=1.25)

    panels.settle(figure)  # first, for the labels go where the finished layout leaves room
    for canvas, panel in zip(axes, shown.values(), strict=True):
        _label(canvas, panel.points, models if key else [], _NOTABLE if wide else 0)
    return figure


def _lacking(panel: Panel, keyed: Sequence[str], width: float) -> str:
    """Whom a panel lacks, in lines to stand under it."""
    names = [str(keyed.index(model) + 1) if keyed else plain(model) for model in panel.lacks]
    return wrap(f"{panel.lacking}: {', '.join(names)}", width, NORMAL) if names else ""


def entry(label: str, *, violation: bool = False, hollow: bool = False) -> Line2D:
    """A mark for the legend."""
    line = Line2D([], [], label=label)
    line.set(**_mark(violation, hollow))
    return line


def region(label: str) -> Patch:
    """The tint above the diagonal, for the legend."""
    return Patch(facecolor=ALERT, alpha=0.12, label=label)


def _panel(canvas: Axes, panel: Panel, size: float, *, wide: bool) -> None:
    canvas.set(xlim=_LIMITS, ylim=_LIMITS, aspect="equal")
    for axis in (canvas.xaxis, canvas.yaxis):
        axis.set_ticks([0, 0.25, 0.5, 0.75, 1] if wide else [0, 0.5, 1])
        axis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    canvas.fill([0, 1, 0], [0, 1, 1], color=ALERT, alpha=0.07, linewidth=0, zorder=0)
    canvas.plot([0, 1], [0, 1], zorder=1, **_DIAGONAL)
    for point in panel.points:
        if point.again is not None and point.arrow:
            _arrow(canvas, point.again, point, size)
        elif point.again is not None:
            canvas.plot([point.x, point.again.x], [point.y, point.again.y], color=INK, linewidth=0.6, zorder=2.5)
        for mark in point.marks():
            colour, (left, right, low, high) = ALERT if mark.violation else BLUE, mark.ends
            thin: dict[str, Any] = {
                "color": colour,
                "linewidth": 0.8 if mark is point else 0.5,
                "alpha": 0.45,
                "zorder": 2,
            }
            canvas.plot([left, right], [mark.y] * 2, **thin)
            canvas.plot([mark.x] * 2, [low, high], **thin)
            canvas.plot(mark.x, mark.y, zorder=4 if mark.violation else 3, **_mark(mark.violation, mark.hollow, size))


def _arrow(canvas: Axes, start: Point, end: Point, size: float) -> None:
    arrow = {"arrowstyle": "-|>,head_length=0.4,head_width=0.18", "linewidth": 0.8, "shrinkA": size / 2}
    look = {"color": ALERT if end.violation else BLUE, "alpha": 0.8, "shrinkB": size / 2, "clip_on": False}
    canvas.annotate("", (end.x, end.y), (start.x, start.y), arrowprops=arrow | look, zorder=2.5, annotation_clip=False)


def _mark(violation: bool, hollow: bool, size: float = 5.0) -> dict[str, Any]:
    colour = ALERT if violation else BLUE
    return {
        "linestyle": "none",
        "marker": "D" if violation else "o",
        "markersize": size,
        "markeredgecolor": colour,
        "markerfacecolor": "white" if hollow else colour,
        "markeredgewidth": 1.1,
        "clip_on": False,
    }


def _groups(points: Sequence[Point]) -> list[list[Point]]:
    """Points that a reader sees as one (same place, same mark) share a label."""
    groups: list[list[Point]] = []
    for point in points:
        for group in groups:
            (x, y), (other_x, other_y) = group[0].anchor, point.anchor
            if max(abs(x - other_x), abs(y - other_y)) <= _NEAR and group[0].violation == point.violation:
                group.append(point)
                break
        else:
            groups.append([point])
    return groups


def _label(canvas: Axes, points: Sequence[Point], keyed: Sequence[str], notable: int) -> None:
    if not points:
        return
    largest = sorted((p for p in points if p.violation), key=lambda p: p.x - p.y)[:notable] if keyed else []
    scale = 72 / canvas.figure.dpi

    def spot(x: float, y: float) -> tuple[float, float]:
        across, up = canvas.transData.transform((x, y)) * scale
        return float(across), float(up)

    def name(point: Point) -> str:
        words = plain(point.model) + (f" ({point.note})" if point.note else "")
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
    marks = [mark for point in points for mark in point.marks()]
    boxes = place(
        [spot(*point.anchor) for point in heads],
        [(width + 3, height) for width, height in map(extent, texts, repeat(SMALL))],
        edge,
        [around(*spot(mark.x, mark.y), 3 if keyed else 4) for mark in marks],
        [box for mark in marks for box in _bars(mark, spot, 0.5 if keyed else 1.5)]
        + [box for point in points for box in _shaft(point, spot)]
        + [around(*spot(at, at), 1.5) for at in np.linspace(0, 1, 80)],
    )
    for point, text, box in zip(heads, texts, boxes, strict=True):
        x, y = spot(*point.anchor)
        nearest = min(max(x, box[0]), box[2]) - x, min(max(y, box[1]), box[3]) - y
        if max(map(abs, nearest)) > 8:
            canvas.annotate(
                "",
                point.anchor,
                nearest,
                textcoords="offset points",
                arrowprops={"arrowstyle": "-", "color": GREY, "linewidth": 0.5, "shrinkA": 0, "shrinkB": 3},
            )
        canvas.annotate(
            text,
            point.anchor,
            (box[0] - x + 1.5, (box[1] + box[3]) / 2 - y),
            textcoords="offset points",
            va="center",
            ha="left",
            fontsize=SMALL,
            color=INK,
            zorder=5,
            gid="label",
        )


def _bars(point: Point, spot: Callable[[float, float], tuple[float, float]], half: float) -> list[Box]:
    left, right, low, high = point.ends
    pairs = [((left, point.y), (right, point.y)), ((point.x, low), (point.x, high))]
    return [
        (*around(*spot(*start), half)[:2], *around(*spot(*stop), half)[2:])
        for start, stop in pairs
        if np.isfinite([*start, *stop]).all()
    ]


def _shaft(point: Point, spot: Callable[[float, float], tuple[float, float]]) -> list[Box]:
    """The line to a point's other mark, in small boxes."""
    if point.again is None:
        return []
    other = point.again
    steps = np.linspace(0, 1, 2 + int(40 * max(abs(point.x - other.x), abs(point.y - other.y))))
    return [around(*spot(point.x + at * (other.x - point.x), point.y + at * (other.y - point.y)), 1.5) for at in steps]


def _key(models: Sequence[str], width: float) -> list[list[str]]:
    """Numbers and names in as many columns as fit."""
    entries = [f"{number} {plain(model)}" for number, model in enumerate(models, 1)]
    widest = max(extent(entry, SMALL)[0] for entry in entries) + 10
    columns = max(1, min(6, int(width * 72 * 0.98 // widest)))
    rows = -(-len(entries) // columns)
    return [entries[start : start + rows] for start in range(0, len(entries), rows)]
