"""What a perturbation does to each family: GAR and pass rate without it, and with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import PercentFormatter

from toolcal.figures import panels
from toolcal.figures.effects import (
    SIGNIFICANT,
    STARRED,
    Rate,
    Row,
    in_brackets,
    of_rates,
    pairs,
    points,
    rates,
    significant,
    why,
)
from toolcal.figures.style import GREY, INK, PAGE, PALE, SMALL, plain, styled

_ROW = 0.29
"""Inches of height of a family: two marks' lines."""

_APART = 0.2
"""How far a family's rates stand above and below its middle, in rows."""

_DELTA, _N = 4.0, 43.0
"""Points from a panel's right edge to the two columns beside it."""

_ALONE = 4.6
"""Width in inches of a figure with one panel."""


@styled
def draw(family_effects: pd.DataFrame, view: str = "case_any") -> Figure:
    """A dumbbell per rate and family, from the baseline to the perturbed rate, a panel per scenario.

    Args:
        family_effects: rows of table family_effects, of one labeller and one perturbation.
        view: `case_any` or `decisive`.
    """
    data = of_rates(family_effects, view, "family")
    lacking = panels.missing("family_effects", data, ["delta"])
    if lacking:
        return panels.notice(lacking)
    shown = dict(panels.by_scenario(data))
    names = _names(data)
    families = list(names)
    columns = min(2, len(shown))
    width = PAGE if columns > 1 else _ALONE
    lines = -(-len(shown) // columns)
    figure = panels.blank(lines * (_ROW * len(families) + 0.5) + 1.15, width)
    panels.heading(
        figure,
        f"Gold Action Recall ({panels.view(data, view)}) and pass rate without and with the perturbation; "
        f"{panels.selection(data)}; means over a family's models (in brackets, how many if several); Δ in "
        f"percentage points, * if p < {SIGNIFICANT} after Holm; n: pairs of cases"
        f"{in_brackets(data)}{STARRED if data['scripted'].any() else ''}",
        width,
    )
    axes = panels.grid(figure, list(shown), columns, width=width / columns - 1.1, xlabel="rate")
    for panel, rows in zip(axes, shown.values(), strict=True):
        panel.set(xlim=(-0.03, 1.03), ylim=(len(families) - 0.5, -0.5))
        panel.set_yticks(range(len(families)), [names[family] for family in families])
        panel.tick_params(axis="y", length=0)
        panel.set_xticks([0, 0.25, 0.5, 0.75, 1])
        panel.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        panel.grid(axis="x")
        panel.hlines([row + 0.5 for row in range(len(families) - 1)], -0.03, 1.03, color=PALE, linewidth=0.6)
        _panel(panel, rows, families, rates(view))
    figure.legend(handles=_legend(rates(view)), loc="outside lower center", ncols=2 * columns, columnspacing=1.5)
    return panels.settle(figure)


def _names(data: pd.DataFrame) -> dict[str, str]:
    """Each family's name beside its dumbbells, in the order of the rows."""
    most = data.groupby("family", sort=False)["n_models"].max()
    shown = dict(zip(data["family"], data["shown"], strict=True))
    return {str(family): plain(shown[family]) + (f" ({count})" if count > 1 else "") for family, count in most.items()}


def _panel(panel: Axes, rows: pd.DataFrame, families: Sequence[str], both: Sequence[Rate]) -> None:
    of = {(row["family"], row["measure"]): row for row in rows.to_dict("records")}
    for place, family in enumerate(families):
        for rate, shift in zip(both, (-_APART, _APART), strict=True):
            row = of.get((family, rate.measure))
            if row is None or pd.isna(row["delta"]):
                words = "not run" if row is None else f"{rate.name}: {why(row)}"
                middle = place if row is None else place + shift
                panel.text(0.0, middle, words, va="center", color=GREY, fontsize=SMALL, style="italic")
                if row is None:
                    break
            else:
                _dumbbell(panel, row, rate, place + shift)
        else:
            _beside(panel, pairs(of[family, both[0].measure]), place, _N, INK)
    for words, offset in (("Δ", _DELTA), ("n", _N)):
        _beside(panel, words, -0.72, offset, GREY)


def _dumbbell(panel: Axes, row: Row, rate: Rate, place: float) -> None:
    ends = [row["baseline"], row["perturbed"]]
    panel.plot(ends, [place] * 2, color=rate.colour, linewidth=1.6, alpha=0.45, solid_capstyle="butt", zorder=2)
    panel.plot(ends[0], place, zorder=3, **_mark(rate, "white", 4.6))
    panel.plot(ends[1], place, zorder=4, **_mark(rate, rate.colour, 3.6))
    _beside(panel, points(row["delta"]) + ("*" if significant(row) else " "), place, _DELTA, rate.colour)


def _beside(panel: Axes, words: str, place: float, offset: float, colour: str) -> None:
    panel.annotate(
        words,
        (1, place),
        (offset, 0),
        xycoords=("axes fraction", "data"),
        textcoords="offset points",
        va="center",
        fontsize=SMALL,
        color=colour,
        annotation_clip=False,
    )


def _mark(rate: Rate, fill: str, size: float) -> dict[str, Any]:
    look: dict[str, Any] = {"marker": rate.marker, "markersize": size, "linestyle": "none", "clip_on": False}
    return look | {"markeredgecolor": rate.colour, "markerfacecolor": fill, "markeredgewidth": 1.0}


def _legend(both: Sequence[Rate]) -> list[Line2D]:
    return [
        Line2D([], [], label=f"{rate.name} {words}", **_mark(rate, fill or rate.colour, size))
        for rate in both
        for words, fill, size in (("without (baseline)", "white", 4.6), ("with the perturbation", "", 3.6))
    ]
