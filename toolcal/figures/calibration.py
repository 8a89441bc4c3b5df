"""How confident wrong answers are (MCIP), and how far confidence and accuracy lie apart (ECE), by tool and noise."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from toolcal.figures import arms, panels
from toolcal.figures.style import GREY, PAGE, PALE, SMALL, plain, styled

_ROW = 0.155
"""Inches of height of a cell."""
_PANELS = {
    "mcip": ("MCIP,\nown errors\n", (("wrong", "n_wrong"),)),
    "mcip_common": ("MCIP,\ncommon errors\n", (("wrong", "n_common"),)),
    "ece10": ("ECE,\n10 bins\n", ()),
    "ece_debiased": ("ECE,\ndebiased\n", (("conf.", "n_confident"), ("n", "n"))),
}
"""Metric -> its panel's title, and the counts beside it: head and column."""
_WHY = {
    "no_answers": "no answers",
    "no_confidence": "no confidence",
    "no_errors": "no wrong answer",
    "no_right_answers": "no right answer",
    "no_common_errors": "no common error",
}

_Row = Mapping[Hashable, Any]


@styled
def draw(calibration: pd.DataFrame) -> Figure:
    """A panel per metric, a row per cell under its model's name.

    Args:
        calibration: rows of table calibration, of one question set.
    """
    data = calibration if calibration.empty else arms.whole(calibration)
    lacking = arms.nothing("calibration", data, "ece10", answers="n", none="confidence that could be read")
    if lacking:
        return panels.notice(lacking)
    lines: list[tuple[str, _Row | None]] = []
    for model, words, rows in arms.by_model(data):
        lines.append((f"{plain(model)}{words}", None))
        lines += [(arms.name(row["tool"], row["noise"]), row) for row in rows.to_dict("records")]
    figure = panels.blank(_ROW * len(lines) + 1.35)
    panels.heading(
        figure,
        "Mean confidence of wrong answers (MCIP) and expected calibration error (ECE), 95 % intervals; "
        f"{panels.selection(data)}; common errors: questions that all configurations get wrong; wrong: wrong answers "
        "with a confidence; conf.: answers with a confidence; n: answers with a verdict",
    )
    axes = panels.grid(
        figure, [title for title, _ in _PANELS.values()], len(_PANELS), width=PAGE / 5, sharex=False, xlabel=""
    )
    for panel, (metric, (_, counts)) in zip(axes, _PANELS.items(), strict=True):
        lowest, most = (0.0, 1.0) if metric.startswith("mcip") else _reach(data)
        panel.set(xlim=(lowest - 0.03 * (most - lowest), most * 1.03), ylim=(len(lines) - 0.4, -0.6))
        panel.set_yticks(range(len(lines)), ["" if row is None else words for words, row in lines])
        panel.tick_params(axis="y", length=0)
        panel.spines["left"].set_visible(False)
        panel.locator_params(axis="x", nbins=3)
        panel.xaxis.set_major_formatter("{x:g}")
        panel.grid(axis="x")
        panel.axvline(0, color=GREY, linewidth=0.6, zorder=1)
        for place, (_, row) in enumerate(lines):
            if row is None:
                panel.axhspan(place - 0.5, place + 0.5, color=PALE, alpha=0.4, linewidth=0, zorder=0)
            else:
                _mark(panel, row, metric, place, at=max(0.0, lowest))
        beside = [(head, ["" if row is None else f"{int(row[name])}" for _, row in lines]) for head, name in counts]
        panels.columns_beside(panel, beside, head_at=-0.6, gap=5, lift=1)
    names = {place: words for place, (words, row) in enumerate(lines) if row is None}
    panels.group_names(axes[0], names, [words for words, row in lines if row is not None])
    return panels.settle(figure)


def _reach(data: pd.DataFrame) -> tuple[float, float]:
    """Where the axes of both calibration errors begin and end."""
    ends = [
        panels.numbers(data, f"{metric}{end}") for metric in ("ece10", "ece_debiased") for end in ("", "_low", "_high")
    ]
    found = np.concatenate(ends)
    return float(np.nanmin(found, initial=0.0)), float(np.nanmax(found, initial=0.1))


def _mark(panel: Axes, row: _Row, metric: str, place: int, at: float) -> None:
    if pd.isna(row[metric]):
        words = _WHY.get(str(row[f"{metric}_reason"]), "undefined")
        panel.text(at + 0.01, place, words, va="center", color=GREY, fontsize=SMALL, style="italic")
        return
    look = {key: value for key, value in arms.LOOKS[row["tool"]].items() if key != "linestyle"}
    panel.plot([row[f"{metric}_low"], row[f"{metric}_high"]], [place] * 2, color=look["color"], linewidth=1.2)
    panel.plot(row[metric], place, linestyle="none", markersize=4.5, zorder=3, clip_on=False, **look)
