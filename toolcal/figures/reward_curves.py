"""What each confidence earns in the mean, by reward design and chance of a right answer."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from toolcal.figures import panels
from toolcal.figures.per_design import per_design
from toolcal.figures.style import DASHES, SERIES, styled

SHOWN = (0.1, 0.3, 0.5, 0.7, 0.9)
"""The chances that are drawn."""


@styled
def draw(reward_curves: pd.DataFrame) -> Figure:
    """A panel per design, a line per chance p, a mark at the confidence that pays best.

    Args:
        reward_curves: rows of table reward_curves.
    """
    lacking = panels.missing("reward_curves", reward_curves, ["expected_reward"])
    if lacking:
        return panels.notice(lacking)
    figure, parts = per_design(
        reward_curves,
        "Mean reward of an answer in form by its stated confidence q, where it is right with probability p; "
        "marks: the confidence that pays best",
        height=1.75,
        room=0.75,
        xlabel="stated confidence q",
        ylabel="mean reward",
    )
    for panel, rows in parts:
        _panel(panel, rows)
    handles = [
        Line2D([], [], label=f"p = {p:g}", color=SERIES[place], linestyle=DASHES[place], marker="o", markersize=3.5)
        for place, p in enumerate(SHOWN)
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), handlelength=3.2)
    return panels.settle(figure)


def _panel(panel: Axes, rows: pd.DataFrame) -> None:
    panel.set(xlim=(-0.02, 1.02))
    panel.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
    panel.grid(axis="y")
    for place, p in enumerate(SHOWN):
        own = rows[np.isclose(rows["p"], p)].sort_values("q")
        if own.empty:
            continue
        look = {"color": SERIES[place], "linestyle": DASHES[place]}
        q, paid = panels.numbers(own, "q"), panels.numbers(own, "expected_reward")
        panel.plot(q, paid, **look)
        if np.ptp(paid) > 0:
            best = int(paid.argmax())
            panel.plot(q[best], paid[best], color=look["color"], marker="o", markersize=3.5, clip_on=False)
