"""How far labels made here agree with careful readers: precision, recall, F1, and kappa beside the readers' own."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from toolcal.figures import panels
from toolcal.figures.style import GREY, INK, MARKERS, PAGE, SERIES, plain, styled

MEASURES = {"precision": "precision", "recall": "recall", "f1": "F1", "kappa": "Cohen's kappa"}
LABELS = {
    "ASK": "ASK",
    "REFUSE": "REFUSE",
    "CONFIRM": "CONFIRM",
    "OTHER": "OTHER",
    "macro": "macro mean",
    "confirmed": "confirmed write",
}
"""The rows, from the top; sub-labels are in the table only."""

_UNIT = 0.105
"""Inches of height that one mark has to itself."""

_GAP = 1.5
"""Between two labels, in marks."""

_READERS: dict[str, Any] = {"color": INK, "marker": "|", "markeredgewidth": 1.8, "markersize": 9, "linestyle": "none"}


@styled
def draw(validity: pd.DataFrame) -> Figure:
    """A panel per measure, a row per label, a mark per labeller: full for the half `test`, pale below it for `dev`.

    Args:
        validity: rows of table validity.
    """
    lacking = panels.missing("validity", validity, ["f1", "kappa"])
    if lacking:
        return panels.notice(lacking)
    rows = validity[validity["label"].isin(list(LABELS))].sort_values("half", ascending=False, kind="stable")
    labellers = list(dict.fromkeys(validity["labeller"]))
    looks: dict[str, dict[str, Any]] = {
        name: {"color": SERIES[i], "marker": MARKERS[i]} for i, name in enumerate(labellers)
    }
    places, ticks = _places(rows)
    bottom = max(places.values()) + 1
    figure = panels.blank(_UNIT * (bottom + 1) + 1.1)
    panels.heading(
        figure,
        f"Labels against the readers' settled answer, 95 % intervals; {_counts(rows)}; "
        f"in brackets: how many in {rows['half'].iloc[0]} have the label by the readers",
    )
    axes = panels.grid(figure, list(MEASURES.values()), len(MEASURES), width=PAGE / 5, sharex=False)
    for panel, measure in zip(axes, MEASURES, strict=True):
        panel.set(ylim=(bottom, -1), xlim=(min(0.0, np.nanmin(panels.numbers(rows, f"{measure}_low"))) - 0.02, 1.02))
        panel.set_yticks([place for _, place in ticks], [words for words, _ in ticks])
        panel.tick_params(axis="y", length=0)
        panel.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "", "0.5", "", "1"])
        panel.grid(axis="x")
        for row in rows.to_dict("records"):
            _mark(panel, row, measure, places[_slot(row)], looks[row["labeller"]])
        if measure == "kappa":
            for label, readers in rows.groupby("label")["kappa_readers"].first().dropna().items():
                at = [place for (name, _, _), place in places.items() if name == label]
                panel.vlines(readers, min(at) - 0.7, max(at) + 0.7, color=INK, linewidth=1.8, zorder=1)
    handles = [Line2D([], [], label=plain(name), markersize=4.5, **look) for name, look in looks.items()]
    handles += [Line2D([], [], label="pale: half dev", **_pale({"color": GREY, "marker": "o"}))]
    handles += [Line2D([], [], label="the two readers with each other", **_READERS)]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), columnspacing=1.5)
    return panels.settle(figure)


def _slot(row: Mapping[Hashable, Any]) -> tuple[str, str, str]:
    return row["label"], row["labeller"], row["half"]


def _places(rows: pd.DataFrame) -> tuple[dict[tuple[str, str, str], float], list[tuple[str, float]]]:
    """Where each mark stands, from the top; and each label's words with the middle of its marks."""
    places: dict[tuple[str, str, str], float] = {}
    ticks = []
    start = 0.0
    for label, words in LABELS.items():
        of = rows[rows["label"] == label].sort_values("labeller", kind="stable")
        if of.empty:
            continue
        found = {_slot(row): start + i for i, row in enumerate(of.to_dict("records"))}
        places |= found
        right = of["n_right"].iloc[0]
        ticks.append((words if pd.isna(right) else f"{words} ({int(right)})", float(np.mean(list(found.values())))))
        start += len(found) - 1 + _GAP + 1
    return places, ticks


def _counts(rows: pd.DataFrame) -> str:
    """The number of items in each half."""
    words = []
    for half, of in rows.groupby("half", sort=False):
        writes = of["label"] == "confirmed"
        counts = [
            f"{of['n'][kind].iloc[0]} {name}"
            for name, kind in (("messages", ~writes), ("writes", writes))
            if kind.any()
        ]
        words.append(f"{'pale: ' if half == 'dev' else ''}half {half}, n = {' and '.join(counts)}")
    return "; ".join(words)


def _mark(panel: Axes, row: Mapping[Hashable, Any], measure: str, place: float, look: dict[str, Any]) -> None:
    if pd.isna(row[measure]):
        return
    look = look if row["half"] == "test" else _pale(look)
    ends = [row[f"{measure}_low"], row[f"{measure}_high"]]
    panel.plot(ends, [place] * 2, color=look["color"], alpha=look.get("alpha"), linewidth=1.2)
    panel.plot(row[measure], place, clip_on=False, zorder=3, **{"markersize": 4.5, **look, "linestyle": "none"})


def _pale(look: dict[str, Any]) -> dict[str, Any]:
    return {**look, "alpha": 0.45, "markersize": 3.2, "markerfacecolor": "white"}
