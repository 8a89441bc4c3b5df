"""Gold Action Recall against accuracy: who passes without the gold action."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from toolcal.figures import panels, scatter
from toolcal.figures.panels import POLICY
from toolcal.figures.scatter import Panel, Point, entry
from toolcal.figures.style import plain, styled

_NOT_RECORDED = "GAR not recorded"


@styled
def draw(cells: pd.DataFrame, view: str = "case_any") -> Figure:
    """GAR against Acc, a panel per scenario, with the diagonal above which the bound is broken.

    Args:
        cells: rows of table cells, of one labeller and one perturbation.
        view: `case_any` or `decisive`.
    """
    lacking = panels.missing("cells", cells, [f"gar_{view}", "acc"])
    if lacking:
        return panels.notice(lacking)
    shown = {title: _panel(rows, view) for title, rows in panels.by_scenario(cells)}
    heading = (
        f"Gold Action Recall ({panels.view(cells, view)}) and pass rate, 95 % intervals; {panels.selection(cells)}; "
        f"n = cases with a verdict{_undrawn(shown, cells)}"
    )
    counts = {title: _drawn(rows, view)["n"].to_list() for title, rows in panels.by_scenario(cells)}
    return scatter.draw(
        {f"{title}, {panels.span(counts[title])}" if counts[title] else title: p for title, p in shown.items()},
        list(dict.fromkeys(cells["model"])),
        heading=heading,
        xlabel="GAR",
        ylabel="Acc",
        legend=[
            entry("model"),
            entry("scripted policy", hollow=True),
            entry("model, violation (Acc > GAR)", violation=True),
            entry("scripted policy, violation", violation=True, hollow=True),
            scatter.region("bound broken: passes without the gold action"),
        ],
        bound="the bound, Acc = GAR",
    )


def _panel(rows: pd.DataFrame, view: str) -> Panel:
    suffix = "" if view == "case_any" else f"_{view}"
    lacks = list(rows["model"][rows[f"n_unknown{suffix}"] > 0])
    points = _points(_drawn(rows, view), f"gar_{view}", f"violation{suffix}")
    return Panel(points, _NOT_RECORDED if lacks else "no rates", _NOT_RECORDED, lacks)


def _drawn(rows: pd.DataFrame, view: str) -> pd.DataFrame:
    return rows[np.isfinite(panels.numbers(rows, f"gar_{view}")) & np.isfinite(panels.numbers(rows, "acc"))]


def _points(rows: pd.DataFrame, gar: str, violation: str) -> list[Point]:
    ends = [f"{rate}_{end}" for rate in (gar, "acc") for end in ("low", "high")]
    counts = rows["n"].to_list()
    usual = max(counts, key=counts.count, default=0)
    values = zip(
        rows["model"],
        rows["family"],
        panels.truths(rows, violation),
        counts,
        panels.numbers(rows, gar),
        panels.numbers(rows, "acc"),
        *(panels.numbers(rows, end) for end in ends),
        strict=True,
    )
    return [
        Point(
            str(model),
            x,
            y,
            (left, right, low, high),
            violation=bool(broken),
            hollow=str(family).startswith(POLICY),
            note="" if n == usual else f"n = {n}",
        )
        for model, family, broken, n, x, y, left, right, low, high in values
    ]


def _undrawn(shown: Mapping[str, Panel], cells: pd.DataFrame) -> str:
    """Whom the panels lack of those that took part in their benchmark, but for those named under them.

    A panel that lacks all says so itself.
    """
    part = {benchmark: list(dict.fromkeys(rows)) for benchmark, rows in cells.groupby("benchmark")["model"]}
    of = dict(zip(cells["scenario"].map(plain), cells["benchmark"], strict=True))
    lacking: dict[str, Sequence[str]] = {}
    for title, panel in shown.items():
        scenario = title.split("\n")[0]
        there = {*panel.lacks, *(point.model for point in panel.points)}
        absent = [plain(model) for model in part[of[scenario]] if model not in there]
        if panel.points and absent:
            lacking[" ".join(title.split())] = absent
    words = [f"{panel}: {', '.join(names)}" for panel, names in lacking.items()]
    return f"; without both rates, not drawn: {'; '.join(words)}" if words else ""
