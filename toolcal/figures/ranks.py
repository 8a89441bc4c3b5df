"""Families ranked by accuracy beside the same ranked by Gold Action Recall."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from toolcal.figures import panels
from toolcal.figures.panels import POLICY
from toolcal.figures.style import ALERT, BLUE, GREY, INK, PAGE, SMALL, extent, plain, styled, wrap

_LOOKS: dict[int, dict[str, Any]] = {
    1: {"color": ALERT, "linestyle": "-", "label": "lower by GAR than by Acc"},
    -1: {"color": BLUE, "linestyle": (0, (4, 1.5)), "label": "higher by GAR than by Acc"},
    0: {"color": GREY, "linestyle": (0, (1, 1.2)), "label": "same rank"},
}

_NARROW = 96
"""The widest label in points with which two panels fit side by side."""


@styled
def draw(families: pd.DataFrame) -> Figure:
    """A line per family from its rank by Acc to its rank by GAR, a panel per scenario; ties share their mean rank.

    Args:
        families: rows of table families, of one labeller and one perturbation.
    """
    lacking = panels.missing("families", families, ["rank_acc", "rank_gar"])
    if lacking:
        return panels.notice(lacking)
    scenarios = dict(panels.by_scenario(families))
    shown = {title: rows for title, rows in scenarios.items() if _ranked(rows).any()}
    empty = "".join(f"; {' '.join(title.split())}: no ranks" for title in scenarios if title not in shown)
    if not shown:
        return panels.notice("Nothing to show: no scenario has a family with both ranks.")
    policies = "; *: scripted policy" if any(str(f).startswith(POLICY) for f in families["family"]) else ""
    widest = max(extent(f"{name}  100.0%", SMALL)[0] for name in _names(families))
    columns = 2 if len(shown) > 1 and widest < _NARROW else 1
    sizes = [len(rows) for rows in shown.values()]
    heights = [0.17 * max(sizes[start : start + columns]) + 0.75 for start in range(0, len(sizes), columns)]
    figure = panels.blank(sum(heights) + 0.75)
    panels.heading(
        figure,
        f"Families ranked by pass rate and by Gold Action Recall ({panels.view(families, 'case_any')}), means over "
        f"their models (in brackets, how many if several); {panels.selection(families)}; n = cases with a verdict; "
        f"ties share their mean rank{policies}{empty}",
    )
    titles = [f"{title}, {panels.span(rows['n'].to_list())} a family" for title, rows in shown.items()]
    width = PAGE / columns - 0.5
    axes = panels.grid(
        figure, titles, columns, sharex=False, sharey=False, width=width, align="center", heights=heights
    )
    engine = figure.get_layout_engine()
    if isinstance(engine, ConstrainedLayoutEngine):
        engine.set(wspace=0.06)  # names on the right of one panel, and on the left of the next
    for panel, rows in zip(axes, shown.values(), strict=True):
        _panel(panel, rows)
    handles = [Line2D([], [], **look) for look in _LOOKS.values()]
    figure.legend(handles=handles, loc="outside lower center", ncols=3, handlelength=3)
    return panels.settle(figure)


def _ranked(rows: pd.DataFrame) -> NDArray[np.bool_]:
    """Which families have both ranks."""
    return np.isfinite(panels.numbers(rows, "rank_acc")) & np.isfinite(panels.numbers(rows, "rank_gar"))


def _names(rows: pd.DataFrame) -> list[str]:
    pairs = zip(rows["family"], rows["n_models"], strict=True)
    return [_name(family) if models == 1 else f"{_name(family)} ({models})" for family, models in pairs]


def _name(family: str) -> str:
    return plain(family.removeprefix(POLICY)) + ("*" if family.startswith(POLICY) else "")


def _ranks(ranks: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(pd.Series(ranks).rank(method="average"), dtype=np.float64)


def _slot(ranks: NDArray[np.float64], place: int, index: int) -> float:
    """Where the label of a family stands that is at this place in the order of ranks."""
    rank = ranks[index]
    return float(rank + (place - int((ranks < rank).sum())) - (int((ranks == rank).sum()) - 1) / 2)


def _panel(panel: Axes, rows: pd.DataFrame) -> None:
    left, right = panels.numbers(rows, "rank_acc"), panels.numbers(rows, "rank_gar")
    ranked = _ranked(rows)
    unranked = [_name(family) for family in rows["family"][~ranked]]
    # Among those that have both: one that is left out must not move the others on one side only.
    rows, left, right = rows[ranked], _ranks(left[ranked]), _ranks(right[ranked])
    count = len(rows)
    panel.set(xlim=(-0.12, 1.12), ylim=(len(ranked) + 0.6, 0.4))
    panel.spines[:].set_visible(False)
    panel.set_xticks([0, 1], ["by Acc", "by GAR"])
    panel.tick_params(axis="x", top=True, labeltop=True, bottom=False, labelbottom=False, length=0)
    if unranked:
        panel.set_xlabel(wrap(f"without a rate: {', '.join(unranked)}", 200, SMALL), fontsize=SMALL)
    names = _names(rows)
    acc = [f"{name}  {rate:.1%}" for name, rate in zip(names, panels.numbers(rows, "acc"), strict=True)]
    gar = [
        f"{rate:.1%}  {_name(f)}" for f, rate in zip(rows["family"], panels.numbers(rows, "gar_case_any"), strict=True)
    ]
    twin = panel.twinx()
    twin.set_ylim(panel.get_ylim())
    twin.spines[:].set_visible(False)
    for axes, x, ranks, other, labels in ((panel, 0, left, right, acc), (twin, 1, right, left, gar)):
        # The k families of a tie have k places around their mean rank: each label gets one, and a thin line to the tie.
        order = sorted(range(count), key=lambda i: (ranks[i], other[i], names[i]))
        slots = [_slot(ranks, place, i) for place, i in enumerate(order)]
        axes.set_yticks(slots, [labels[i] for i in order])
        axes.tick_params(axis="y", length=0, pad=1)
        for slot, i in zip(slots, order, strict=True):
            panel.plot([x, 1.12 if x else -0.12], [ranks[i], slot], color=INK, linewidth=0.4, zorder=1)
    for start, end in zip(left, right, strict=True):
        look = _LOOKS[int(np.sign(end - start))]
        panel.plot([0, 1], [start, end], zorder=3 if end > start else 2, linewidth=1.2, **look)
        panel.plot([0, 1], [start, end], linestyle="none", marker="o", markersize=3.5, color=INK, zorder=4)
