"""How every figure looks: sizes, colours, markers, hatches and fonts."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

import matplotlib
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

PAGE = 7.0
"""Width in inches of a figure across a two-column page."""

SMALL, NORMAL, LARGE = 7.0, 7.5, 8.0
"""Font sizes in points: marks inside a panel, axes, panel titles."""

WIDEST = 175.0
"""Width in points of the widest name, at `SMALL`: about forty characters."""

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, VERMILLION, PURPLE = "#F0E442", "#0072B2", "#D55E00", "#CC79A7"
"""The palette of Okabe and Ito, which colour-blind readers can tell apart."""

ALERT = VERMILLION
"""A pass without the gold action, and nothing else that could be mistaken for one."""

GREY, PALE, INK = "#8C8C8C", "#D9D9D9", "#262626"

SERIES = (BLUE, ORANGE, GREEN, PURPLE, SKY, GREY, BLACK)
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES: tuple[Any, ...] = ("-", (0, (4, 1.5)), (0, (1, 1.2)), (0, (4, 1, 1, 1)), (0, (7, 2)), (0, (2, 1)), "-")
HATCHES = ("", "....", "\\\\\\\\", "xxxx", "----", "oo", "||||")
"""Marks of the series in a figure that has many; place by place they differ without their colours."""

RC: Any = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Arial", "Helvetica", "sans-serif"],
    "font.size": NORMAL,
    "axes.titlesize": LARGE,
    "axes.labelsize": NORMAL,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "legend.fontsize": SMALL,
    "figure.titlesize": NORMAL,
    "axes.titlelocation": "left",
    "axes.titlepad": 4,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "grid.color": PALE,
    "grid.linewidth": 0.4,
    "lines.linewidth": 1.0,
    "lines.markersize": 4.5,
    "hatch.linewidth": 0.7,
    "legend.frameon": False,
    "text.color": INK,
    "text.parse_math": False,  # a model's name is never a formula
    "svg.fonttype": "none",
    "svg.hashsalt": "toolcal",
    "pdf.fonttype": 42,
    "savefig.dpi": 300,
}

P = ParamSpec("P")
T = TypeVar("T")


def styled(function: Callable[P, T]) -> Callable[P, T]:
    """Run a function under the house's rcParams, and leave the caller's as they were."""

    @wraps(function)
    def inside(*args: P.args, **kwargs: P.kwargs) -> T:
        with matplotlib.rc_context(RC):
            return function(*args, **kwargs)

    return inside


@cache
def extent(text: str, size: float) -> tuple[float, float]:
    """Width and height in points of a text of one or more lines."""
    font = FontProperties(family=RC["font.sans-serif"][0], size=size)
    lines = text.split("\n")
    widths = [text_to_path.get_text_width_height_descent(line, font, ismath=False)[0] for line in lines]
    return max(widths), 1.2 * size * len(lines)


@cache
def plain(text: object) -> str:
    """A name as one line of printable text, its middle left out where it is too wide."""
    line = "".join(c if c.isprintable() else " " if c.isspace() else "\ufffd" for c in str(text))
    short, kept = line, len(line)
    while extent(short, SMALL)[0] > WIDEST:
        kept -= 1
        short = f"{line[: (kept + 1) // 2]}…{line[len(line) - kept // 2 :]}"
    return short


def wrap(text: str, width: float, size: float) -> str:
    """Break lines wider than `width` points at spaces, and words wider than that anywhere."""
    lines = []
    for line in text.split("\n"):
        lines.append("")
        for word in re.findall(r" *[^ ]+", line):
            for piece in [word] if extent(word, size)[0] <= width else list(word):
                if lines[-1] and extent(lines[-1] + piece, size)[0] > width:
                    lines.append("")
                    piece = piece.lstrip()
                lines[-1] += piece
    return "\n".join(lines)
