"""What training changed, method by method, beside the greatest changes that were published."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Any, cast

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, PercentFormatter

from toolcal.figures import arms, panels
from toolcal.figures.style import BLUE, GREY, ORANGE, PAGE, PALE, SMALL, plain, styled

PUBLISHED: Mapping[str, float] = {"ece10": -0.68, "auroc": 0.17, "accuracy": 0.0}
"""Greatest relative changes of "The Confidence Dichotomy" (arXiv 2601.07264): ECE down by up to 68 %, AUROC up by up to
17 %, accuracy kept."""
_PANELS = {
    "ece10": ("ECE, 10 bins,\nrelative change in %", "relative"),
    "auroc": ("AUROC,\nrelative change in %", "relative"),
    "accuracy": ("accuracy,\ndifference in % points", "delta"),
}
"""Metric -> its panel's title, and the column that is shown."""
_ROW = 0.165
"""Inches of height of a method."""
_SIGNIFICANT = 0.05
_FURTHEST = 1.5
"""Relative changes are drawn up to so much; what goes further ends in an arrow."""

_Row = Mapping[Hashable, Any]
_CELL = ["setting", "question_set", "tool", "noise"]


@styled
def draw(comparison: pd.DataFrame) -> Figure:
    """A panel per metric; a row per method under its setting, with the untreated model's values.

    Args:
        comparison: rows of table comparison.
    """
    lacking = panels.missing("comparison", comparison, ["value"])
    if lacking:
        return panels.notice(lacking)
    lines = list(_lines(comparison))
    figure = panels.blank(_ROW * len(lines) + 1.5)
    absent = dict.fromkeys(comparison.loc[comparison["value_reason"] == "not_asked", "setting"])
    panels.heading(
        figure,
        "What training changed, on the same questions, paired, 95 % intervals (of relative changes, with the untreated "
        "model's value taken as it is); grey: the greatest changes published, accuracy kept; n: answers that both gave "
        f"with a confidence{'; not asked: ' + ', '.join(map(_words, absent)) if absent else ''}",
    )
    axes = panels.grid(
        figure, [title for title, _ in _PANELS.values()], len(_PANELS), width=PAGE / 4, sharex=False, xlabel=""
    )
    for panel, (metric, (_, column)) in zip(axes, _PANELS.items(), strict=True):
        low, high = _reach(comparison, metric, column)
        panel.set(xlim=(low, high), ylim=(len(lines) - 0.4, -0.6))
        panel.set_yticks(range(len(lines)), ["" if rows is None else plain(words) for words, rows in lines])
        panel.tick_params(axis="y", length=0)
        panel.spines["left"].set_visible(False)
        panel.set_xticks([tick for tick in MaxNLocator(5).tick_values(low, high) if low <= tick <= high])
        panel.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0, symbol=""))
        panel.grid(axis="x")
        panel.axvline(0, color=GREY, linewidth=0.6, zorder=1)
        if PUBLISHED[metric]:
            panel.axvline(PUBLISHED[metric], color=GREY, linewidth=1.4, linestyle=(0, (1, 1)), zorder=1)
        for place, (_, rows) in enumerate(lines):
            if rows is None:
                panel.axhspan(place - 0.5, place + 0.5, color=PALE, alpha=0.4, linewidth=0, zorder=0)
            else:
                _mark(panel, rows.get(metric), column, place, (low, high))
    counts = ["" if rows is None or "ece10" not in rows else f"{int(rows['ece10']['n_pairs'])}" for _, rows in lines]
    panels.columns_beside(axes[-1], [("n", counts)], head_at=-0.6, gap=5, lift=1)
    names = {place: words for place, (words, rows) in enumerate(lines) if rows is None}
    panels.group_names(axes[0], names, [plain(words) for words, rows in lines if rows is not None])
    figure.legend(handles=_legend(), loc="outside lower center", ncols=4, columnspacing=2)
    return panels.settle(figure)


def _lines(data: pd.DataFrame) -> Iterator[tuple[str, dict[str, _Row] | None]]:
    """A line per setting with the untreated model's values, and under it one per method: its rows by metric."""
    asked = data[data["value_reason"].ne("not_asked").fillna(True)]
    for key, rows in asked.groupby(_CELL, sort=False):
        setting, name, tool, noise = cast("tuple[str, str, str, float]", key)
        untreated = rows[rows["method"] == "untreated"].set_index("metric")["value"]
        values = ", ".join(
            f"{words} {untreated[metric]:.2f}"
            for metric, words in (("ece10", "ECE"), ("auroc", "AUROC"), ("accuracy", "accuracy"))
            if metric in untreated and pd.notna(untreated[metric])
        )
        where = f"{_words(setting)}: {plain(name)}, {arms.name(tool, noise)}"
        yield where + (f"; untreated: {values}" if values else ""), None
        for method in dict.fromkeys(rows["method"]):
            if method != "untreated":
                own = rows[rows["method"] == method].to_dict("records")
                yield method, {str(row["metric"]): row for row in own}


def _words(setting: str) -> str:
    return setting.replace("_", " ")


def _reach(data: pd.DataFrame, metric: str, column: str) -> tuple[float, float]:
    """Where a metric's axis begins and ends: at its own marks, and at what was published."""
    rows = data[data["metric"] == metric]
    ends = np.concatenate([panels.numbers(rows, f"{column}{end}") for end in ("", "_low", "_high")])
    low = max(-_FURTHEST, float(np.nanmin([*ends, PUBLISHED[metric], -0.1])))
    high = min(_FURTHEST, float(np.nanmax([*ends, PUBLISHED[metric], 0.1])))
    room = 0.05 * (high - low)
    return low - room, high + room


def _mark(panel: Axes, row: _Row | None, column: str, place: int, reach: tuple[float, float]) -> None:
    if row is None or pd.isna(row[column]):
        panel.text(0.0, place, " undefined", va="center", color=GREY, fontsize=SMALL, style="italic")
        return
    low, high = reach
    ends = [row[f"{column}_low"], row[f"{column}_high"]]
    panel.plot(np.clip(ends, low, high), [place] * 2, color=BLUE, linewidth=1.1, zorder=2)
    for end, edge, marker in ((ends[0], low, "<"), (ends[1], high, ">")):
        if (end < low) if edge == low else (end > high):
            panel.plot(edge, place, marker=marker, markersize=3, color=BLUE, linestyle="none", clip_on=False)
    panel.plot(np.clip(row[column], low, high), place, zorder=3, **_look(row))


def _look(row: _Row) -> dict[str, Any]:
    remedy = row["method"] == "temperature"
    colour = ORANGE if remedy else BLUE
    sure: bool = pd.notna(row["p_holm"]) and row["p_holm"] < _SIGNIFICANT
    look = {"marker": "s" if remedy else "o", "markersize": 4, "linestyle": "none", "markeredgewidth": 1.0}
    return look | {"markeredgecolor": colour, "markerfacecolor": colour if sure else "white"}


def _legend() -> list[Line2D]:
    looks = {
        f"trained, p < {_SIGNIFICANT} after Holm": ("rlcr", 0.0),
        f"trained, p ≥ {_SIGNIFICANT}": ("rlcr", 1.0),
        "temperature scaling, untrained": ("temperature", 1.0),
    }
    marks = [Line2D([], [], label=words, **_look({"method": m, "p_holm": p})) for words, (m, p) in looks.items()]
    line = Line2D([], [], color=GREY, linewidth=1.4, linestyle=(0, (1, 1)), label="published, at most")
    return [*marks, line]
