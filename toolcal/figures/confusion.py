"""Which class a turn had where another was called for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from toolcal.figures import panels
from toolcal.figures.style import GREY, INK, PAGE, SMALL, plain, styled
from toolcal.tables import ACTIONS

GOLD = ACTIONS[:4]
CLASSES = (*ACTIONS, "NONE", "NOT_RECORDED")
_ACROSS = 3


@styled
def draw(confusion: pd.DataFrame, scenario: str | None = None) -> Figure:
    """Gold action against the turn's class, a panel per model, with counts and the share of each gold's turns.

    Args:
        confusion: rows of table confusion, of one labeller and one perturbation.
        scenario: only this scenario; else the counts of all are added up.
    """
    lacking = panels.missing("confusion", confusion, ["n"])
    if lacking:
        return panels.notice(lacking)
    rows = confusion if scenario is None else confusion[confusion["scenario"] == scenario]
    if rows.empty:
        return panels.notice(f"Nothing to show: table confusion has no rows of scenario {plain(scenario)}.")
    counts = rows.groupby(["model", "gold_action", "action"], sort=False)["n"].sum()
    golds = [gold for gold in GOLD if counts[counts.index.get_level_values("gold_action") == gold].sum()]
    if not golds:
        return panels.notice("Nothing to show: table confusion counts no turn for this selection.")
    recorded = not counts[counts.index.get_level_values("action") == CLASSES[-1]].sum()
    classes = CLASSES[:-1] if recorded else CLASSES
    unused = [gold for gold in GOLD if gold not in golds]
    where = "pooled over " + ", ".join(map(plain, dict.fromkeys(rows["scenario"])))
    models = list(dict.fromkeys(rows["model"]))
    columns = min(_ACROSS, len(models))
    lines = -(-len(models) // columns)
    figure = panels.blank(lines * (0.26 * len(golds) + 0.27) + 1.05)
    panels.heading(
        figure,
        f"Turns by gold action and class (turn view), count and share of the row; {panels.selection(rows)}; "
        f"{where if scenario is None else plain(scenario)}; NONE: no class or never reached"
        + ("" if recorded else "; NOT_RECORDED: not known")
        + (f"; no turn has gold {' or '.join(unused)}" if unused else ""),
    )
    axes = panels.grid(figure, [plain(model) for model in models], columns, width=(PAGE - 1) / columns)
    for panel, model in zip(axes, models, strict=True):
        table = [[int(counts.get((model, gold, action), 0)) for action in classes] for gold in golds]
        _panel(panel, np.array(table), golds, classes)
    for place, panel in enumerate(axes):
        panel.tick_params(length=0, labelbottom=False, labeltop=place < columns)
    return panels.settle(figure)


def _panel(
    panel: Axes, counts: np.ndarray[tuple[int, int], np.dtype[np.int_]], golds: list[str], classes: Sequence[str]
) -> None:
    totals = counts.sum(axis=1)
    shares = counts / np.maximum(totals, 1)[:, None]
    panel.pcolormesh(shares, cmap="Blues", vmin=0, vmax=1.6, edgecolors="white", linewidth=0.8)
    panel.set(ylim=(len(golds), 0), xlim=(0, len(classes) + 1))
    panel.spines[:].set_visible(False)
    panel.set_xticks(np.arange(len(classes) + 1) + 0.5, [*classes, "n"], rotation=90)
    panel.set_yticks(np.arange(len(golds)) + 0.5, golds)
    for row, gold in enumerate(golds):
        for column, count in enumerate(counts[row]):
            text, colour = (f"{count}\n{shares[row, column]:.0%}", INK) if count else ("0", GREY)
            style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": SMALL, "linespacing": 1.0}
            panel.text(column + 0.5, row + 0.5, text, color=colour, **style)
        panel.text(len(classes) + 0.5, row + 0.5, f"{totals[row]}", ha="center", va="center", fontsize=SMALL)
        right = Rectangle((classes.index(gold), row), 1, 1, fill=False, edgecolor=INK, linewidth=1.1, clip_on=False)
        panel.add_patch(right)
