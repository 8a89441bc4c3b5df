"""What a reader sees of a figure."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Any

from matplotlib.artist import Artist
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text


def words(figure: Figure) -> str:
    """All text of a figure, with line breaks as spaces."""
    return "\n".join(text.get_text().replace("\n", " ") for text in figure.findobj(Text))


def clipped(figure: Figure) -> list[str]:
    """Texts that leave the canvas."""
    renderer = FigureCanvasAgg(figure).get_renderer()
    canvas = figure.bbox.padded(0.5)
    found = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text()]
    boxes = {text.get_text(): text.get_window_extent(renderer) for text in found}
    return [t for t, b in boxes.items() if b.x0 < canvas.x0 or b.y0 < canvas.y0 or b.x1 > canvas.x1 or b.y1 > canvas.y1]


def overlapping(figure: Figure, parts: Iterable[Artist]) -> list[tuple[str, str]]:
    """Pairs of these parts that cover each other."""
    renderer = FigureCanvasAgg(figure).get_renderer()
    boxes = [(str(part), part.get_window_extent(renderer).padded(-1)) for part in parts]
    return [(one, other) for (one, a), (other, b) in combinations(boxes, 2) if a.overlaps(b)]


def crowded(figure: Figure) -> list[tuple[str, str]]:
    """Pairs of labels of points that cover each other."""
    labels = [[text for text in axes.texts if text.get_gid() == "label"] for axes in figure.axes]
    return [pair for some in labels for pair in overlapping(figure, some)]


def marks(figure: Figure, *markers: str) -> list[Any]:
    """The marks of these kinds."""
    return [line for axes in figure.axes for line in axes.lines if line.get_marker() in markers]


def place(mark: Any) -> tuple[float, float]:
    """Where a mark stands."""
    return float(mark.get_xdata()[0]), float(mark.get_ydata()[0])


def hollow(mark: Any) -> bool:
    """Whether a mark is not filled."""
    return bool(mark.get_markerfacecolor() == "white")
