"""Paired differences that a perturbation makes, model by model, with their intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator

from toolcal.figures import panels
from toolcal.figures.effects import (
    SIGNIFICANT,
    STARRED,
    Rate,
    Row,
    in_brackets,
    moved,
    of_rates,
    pairs,
    rates,
    significant,
    why,
)
from toolcal.figures.style import GREY, INK, LARGE, PAGE, PALE, SMALL, extent, plain, styled

_ROW = 0.13
"""Inches of height of a model."""

_TALL = 60
"""With more rows than that, scenarios stand side by side in pairs, on a page as wide as this one is high."""

_WIDE = 1.5 * PAGE

_HEADS = ("n", "gained", "lost")
_GAP = 6.0
"""Points between the columns of counts."""


@styled
def draw(effects: pd.DataFrame, view: str = "case_any") -> Figure:
    """A forest plot: a row per model, grouped by scenario, GAR on the left and the pass rate on the right.

    Args:
        effects: rows of table effects, of one labeller and one perturbation.
        view: `case_any` or `decisive`.
    """
    data = of_rates(effects, view, "model")
    lacking = panels.missing("effects", data, ["delta"])
    if lacking:
        return panels.notice(lacking)
    groups = dict(panels.by_scenario(data))
    both = rates(view)
    sizes = [rows["model"].nunique() for rows in groups.values()]
    across, width = (2, _WIDE) if sum(sizes) > _TALL else (1, PAGE)
    heights = [_ROW * max(sizes[start : start + across]) + 0.1 for start in range(0, len(sizes), across)]
    figure = panels.blank(sum(heights) + 0.42 * len(heights) + 1.1, width)
    panels.heading(
        figure,
        f"Differences in Gold Action Recall ({panels.view(data, view)}) and pass rate, with the perturbation less "
        f"without, paired by case, 95 % intervals; {panels.selection(data)}; n: pairs{in_brackets(data)}; gained, "
        "lost: pairs that have it with the perturbation only, without it only"
        f"{STARRED if data['scripted'].any() else ''}",
        width,
    )
    # Above a pair of panels, on the left, stands the group's name of two lines: the rates' names make room for it.
    titles = [f"\nΔ {rate.name}" for _ in groups for rate in both]
    axes = panels.grid(figure, titles, 2 * across, width=width, sharey=False, align="center", heights=heights)
    engine = figure.get_layout_engine()
    if isinstance(engine, ConstrainedLayoutEngine) and across > 1:
        engine.set(wspace=0.05)  # counts on the right of one panel, and names on the left of the next
    reach = _reach(data)
    for gar, acc, (title, rows) in zip(axes[::2], axes[1::2], groups.items(), strict=True):
        for panel, rate in zip((gar, acc), both, strict=True):
            panel.set(xlim=(-reach, reach), ylim=(rows["model"].nunique() - 0.5, -0.5))
            _panel(panel, rows, rate, named=panel is gar)
            if panel in axes[-2 * across :]:
                panel.set_xlabel("percentage points")
        _title(gar, title, rows)
    figure.legend(handles=_legend(), loc="outside lower center", ncols=3, columnspacing=2)
    return panels.settle(figure)


def _title(panel: Axes, title: str, rows: pd.DataFrame) -> None:
    """The name of a pair of panels, above the models' names."""
    left = max(extent(plain(shown), SMALL)[0] for shown in rows["shown"])
    written = panel.annotate(
        title,
        (0, 1),
        (-left - 4, 4),
        xycoords="axes fraction",
        textcoords="offset points",
        fontsize=LARGE,
        annotation_clip=False,
    )
    written.set_in_layout(False)


def _reach(data: pd.DataFrame) -> float:
    """How far the axis goes on either side of 0: the same in all panels."""
    ends = np.abs(np.concatenate([panels.numbers(data, f"delta{end}") for end in ("", "_low", "_high")]))
    return float(max(0.05, np.nanmax(ends)) * 1.06)


def _panel(panel: Axes, rows: pd.DataFrame, rate: Rate, *, named: bool) -> None:
    models = list(dict.fromkeys(rows["model"]))
    shown = dict(zip(rows["model"], rows["shown"], strict=True))
    panel.set_yticks(range(len(models)), [plain(shown[model]) for model in models] if named else [""] * len(models))
    panel.tick_params(axis="y", length=0)
    panel.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    panel.xaxis.set_major_formatter(FuncFormatter(_tick))
    panel.spines["left"].set_visible(False)
    panel.grid(axis="x")
    panel.axvline(0, color=GREY, linewidth=0.7, zorder=1)
    of = {row["model"]: row for row in rows[rows["measure"] == rate.measure].to_dict("records")}
    for place in range(len(models)):
        panel.axhspan(place - 0.5, place + 0.5, color=PALE if place % 2 else "none", alpha=0.3, linewidth=0, zorder=0)
    lines = [of.get(model) for model in models]
    for place, row in enumerate(lines):
        if row is not None and pd.notna(row["delta"]):
            _mark(panel, row, rate, place)
        else:
            words = "no row" if row is None else why(row)
            panel.text(0, place, words, ha="center", va="center", color=GREY, fontsize=SMALL, style="italic")
    cells = [("", "", "") if row is None else (pairs(row), _count(row, "gained"), _count(row, "lost")) for row in lines]
    beside = list(zip(_HEADS, map(list, zip(*cells, strict=True)), strict=True))
    panels.columns_beside(panel, beside, head_at=-0.5, gap=_GAP, lift=3)


def _tick(value: float, _: int) -> str:
    tens = round(100 * value)
    return f"{tens:+d}".replace("-", "\N{MINUS SIGN}") if tens else "0"


def _mark(panel: Axes, row: Row, rate: Rate, place: int) -> None:
    panel.plot([row["delta_low"], row["delta_high"]], [place] * 2, color=rate.colour, linewidth=1.1, zorder=2)
    panel.plot(
        row["delta"], place, zorder=3, **_look(rate.marker, rate.colour, filled=significant(row), differs=moved(row))
    )


def _look(marker: str, colour: str, *, filled: bool, differs: bool = True) -> dict[str, Any]:
    if not differs:
        return {"marker": "|", "markersize": 5, "color": INK, "markeredgewidth": 1.2, "linestyle": "none"}
    look: dict[str, Any] = {"marker": marker, "markersize": 4, "linestyle": "none", "markeredgewidth": 1.0}
    return look | {"markeredgecolor": colour, "markerfacecolor": colour if filled else "white"}


def _count(row: Row, name: str) -> str:
    return "" if pd.isna(row[name]) else f"{int(row[name])}"


def _legend() -> list[Line2D]:
    looks: dict[str, Any] = {
        f"p < {SIGNIFICANT} after Holm": {"filled": True},
        f"p ≥ {SIGNIFICANT}": {"filled": False},
        "no pair differs, nothing to test": {"filled": False, "differs": False},
    }
    return [Line2D([], [], label=words, **_look("o", INK, **look)) for words, look in looks.items()]
