"""What a reward design asks for: the confidence that pays best, the cost of overconfidence, the pull of the reward."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from toolcal.figures import panels
from toolcal.figures.style import DASHES, GREY, MARKERS, PAGE, SERIES, plain, styled

_PANELS = {
    "optimum": ("confidence that pays best, q*(p)", "q*"),
    "cost_at_1": ("cost of always stating 1", "mean reward lost"),
    "signal": ("pull of the confidence\nin a scaled group", "sd of the advantage"),
}
_APART = 5
"""Designs on one line have their marks at other places; every so many points one."""


@styled
def draw(reward_optima: pd.DataFrame) -> Figure:
    """A panel per measure, a line per design.

    Args:
        reward_optima: rows of table reward_optima.
    """
    lacking = panels.missing("reward_optima", reward_optima, ["cost_at_1"])
    if lacking:
        return panels.notice(lacking)
    designs = list(dict.fromkeys(reward_optima["design"]))
    rows_of_legend = -(-len(designs) // 4)
    figure = panels.blank(2.75 + 0.16 * rows_of_legend)
    panels.heading(
        figure,
        "Reward designs by the chance p that the answer is right; a design without a line in the first panel pays all "
        "confidences alike; lines that lie on one another have their marks apart",
    )
    axes = panels.grid(
        figure,
        [title for title, _ in _PANELS.values()],
        len(_PANELS),
        width=PAGE / 3 - 0.5,
        sharey=False,
        xlabel="chance of a right answer p",
    )
    for panel, (column, (_, words)) in zip(axes, _PANELS.items(), strict=True):
        panel.set(xlim=(0, 1), ylabel=words)
        panel.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
        panel.grid(axis="y")
        if column == "optimum":
            panel.plot([0, 1], [0, 1], color=GREY, linewidth=0.6)
        for place, design in enumerate(designs):
            own = reward_optima[reward_optima["design"] == design].sort_values("p")
            look = _look(place) | {"markevery": (place % _APART, _APART)}
            panel.plot(panels.numbers(own, "p"), panels.numbers(own, column), **look)
    axes[0].set(ylim=(0, 1))
    handles = [Line2D([], [], label=plain(design), **_look(place)) for place, design in enumerate(designs)]
    figure.legend(handles=handles, loc="outside lower center", ncols=min(4, len(handles)), handlelength=3.6)
    return panels.settle(figure)


def _look(place: int) -> dict[str, Any]:
    at = place % len(SERIES)
    return {"color": SERIES[at], "linestyle": DASHES[at], "marker": MARKERS[at], "markersize": 3.6}
