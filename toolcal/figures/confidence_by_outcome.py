"""How sure a model says it is at the end of a case, by the outcome of the bound."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import PercentFormatter

from toolcal.figures import panels
from toolcal.figures.bars import ACROSS, LONG, grouped
from toolcal.figures.shares import PARTS
from toolcal.figures.style import ALERT, GREEN, GREY, PAGE, PALE, SKY, SMALL, extent, plain, styled

FEW = 10
"""An outcome with fewer confidences than this has a hollow mark."""

_LOOKS = {"calibrated": (GREEN, "o"), "masked": (ALERT, "D"), "slack": (SKY, "s"), "failed": (GREY, "v")}
_ROW, _STEP = 0.115, 4.6
"""Height in inches of an outcome's row, and the rows from one model to the next."""
_NEEDED = ["mean_confidence", "confidence_q25", "confidence_q75"]

Rows = Mapping[str, pd.Series]
"""Outcome -> its row of the table."""


@styled
def draw(turn_calibration: pd.DataFrame) -> Figure:
    """The spread of the confidences after the last turn, a row per outcome of each model, a panel per scenario.

    Args:
        turn_calibration: rows of table turn_calibration, of one labeller and one perturbation.
    """
    lacking = panels.missing("turn_calibration", turn_calibration, _NEEDED)
    if lacking:
        return panels.notice(lacking)
    where = panels.selection(turn_calibration)
    shown = turn_calibration[
        (turn_calibration["question"] == "case_passed")
        & (turn_calibration["action"] == "all")
        & turn_calibration["outcome"].isin(list(PARTS))
    ]
    if shown.empty:
        return panels.notice(f"Nothing to show: no case of this selection has an outcome; {where}.")
    scenarios: dict[str, dict[str, Rows]] = {
        title: {
            str(model): {str(row["outcome"]): row for _, row in cell.iterrows()}
            for model, cell in rows.groupby("model", sort=False)
        }
        for title, rows in panels.by_scenario(shown)
    }
    models = list(dict.fromkeys(shown["model"]))
    widest = max(extent(plain(model), SMALL)[0] for model in models) / 72
    across = ACROSS if widest < LONG else ACROSS // 2
    found = list(grouped(scenarios, models))
    heights = [-(-len(titles) // min(len(titles), across)) * (_ROW * _STEP * len(own) + 0.55) for titles, own in found]
    heights[-1] += 0.25  # the axis' name
    figure = panels.blank(sum(heights) + 0.75)
    panels.heading(
        figure,
        f"Confidence after the last turn by the case's outcome ({panels.view(shown, 'case_any')}); {where}; mark: "
        f"mean, hollow where n < {FEW}; thick line: middle half; thin line: all; on the right n, cases with a "
        "confidence / all with this outcome, if more",
    )
    canvases = figure.subfigures(len(found), 1, height_ratios=heights, squeeze=False)[:, 0]
    for canvas, (titles, own) in zip(canvases, found, strict=True):
        columns = min(len(titles), across)
        label = "stated confidence" if canvas is canvases[-1] else ""
        axes = panels.grid(canvas, titles, columns, width=(PAGE - widest) / columns - 0.3, xlabel=label)
        for panel, title in zip(axes, titles, strict=True):
            _panel(panel, own, scenarios[title])
    handles = [
        Line2D([], [], color=colour, marker=marker, linewidth=2.5, markersize=4, label=PARTS[name].label)
        for name, (colour, marker) in _LOOKS.items()
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=4)
    return panels.settle(figure)


def _panel(panel: Axes, models: list[str], rows: Mapping[str, Rows]) -> None:
    middle = (len(_LOOKS) - 1) / 2
    panel.set(xlim=(-0.02, 1.02), ylim=((len(models) - 1) * _STEP + len(_LOOKS) - 0.3, -0.7))
    panel.set_yticks([place * _STEP + middle for place in range(len(models))], [plain(model) for model in models])
    panel.tick_params(axis="y", length=0)
    panel.set_xticks([0, 0.5, 1])
    panel.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    panel.grid(axis="x")
    for place, model in enumerate(models):
        if place:
            panel.axhline(place * _STEP - (_STEP - len(_LOOKS) + 1) / 2, color=PALE, linewidth=0.5)
        if model not in rows:
            style: dict[str, Any] = {"va": "center", "color": GREY, "fontsize": SMALL, "style": "italic"}
            panel.text(0.02, place * _STEP + middle, "not asked", **style)
            continue
        for line, name in enumerate(_LOOKS):
            _outcome(panel, place * _STEP + line, name, rows[model].get(name))


def _outcome(panel: Axes, y: float, name: str, row: pd.Series | None) -> None:
    n, confident = (0, 0) if row is None else (int(row["n"]), int(row["n_confident"]))
    words = f"{confident}" if confident == n else f"{confident}/{n}"
    panel.text(1.05, y, words, va="center", fontsize=SMALL, color=GREY if not n else None)
    if row is None or not confident:
        return
    low, first, third, high, mean = (
        float(row[column])
        for column in ("confidence_min", "confidence_q25", "confidence_q75", "confidence_max", "mean_confidence")
    )
    colour, marker = _LOOKS[name]
    look: dict[str, Any] = {"color": colour, "solid_capstyle": "butt", "clip_on": False}
    panel.plot([low, high], [y, y], linewidth=0.8, **look)
    panel.plot([first, third], [y, y], linewidth=3.0, **look)
    few = confident < FEW
    edge: dict[str, Any] = {
        "markerfacecolor": "white" if few else colour,
        "markeredgecolor": colour if few else "white",
    }
    panel.plot([mean], [y], marker=marker, markersize=4.2, markeredgewidth=0.7, linestyle="none", clip_on=False, **edge)
