"""Risk-coverage curves: how many answers are wrong among those that the model is surest of."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from toolcal.confidence.plan import level
from toolcal.figures import arms, panels
from toolcal.figures.style import NORMAL, PAGE, plain, styled, wrap

_MARKED = 30
"""A curve of at most so many stated values has a mark at each."""


@styled
def draw(risk_coverage: pd.DataFrame) -> Figure:
    """A panel per model and noise level, a line per tool; `direct` stands in all panels of its model.

    Args:
        risk_coverage: rows of table risk_coverage, of one question set.
    """
    lacking = arms.nothing("risk_coverage", risk_coverage, "risk", none="confidence that could be read")
    if lacking:
        return panels.notice(lacking)
    cells = [
        (f"{plain(model)}{words}\nnoise {level(noise)}", rows[(rows["noise"] == noise) | (rows["tool"] == "none")])
        for model, words, rows in arms.by_model(risk_coverage)
        for noise in sorted(rows["noise"].unique())
    ]
    columns = min(3, risk_coverage["noise"].nunique()) if risk_coverage["noise"].nunique() > 1 else min(3, len(cells))
    figure = panels.blank(2.25 * -(-len(cells) // columns) + 0.85)
    panels.heading(
        figure,
        f"Share of wrong answers among the most confident ones, 95 % intervals (Wilson); "
        f"{panels.selection(risk_coverage)}; below each panel: answers with a confidence, of all with a verdict",
    )
    width = (PAGE - 0.5) / columns - 0.1
    axes = panels.grid(figure, [title for title, _ in cells], columns, width=width, ylabel="share wrong")
    for panel, (_, rows) in zip(axes, cells, strict=True):
        _panel(panel, rows, width)
    tools = [tool for tool in arms.TOOLS if (risk_coverage["tool"] == tool).any()]
    handles = [Line2D([], [], label=arms.TOOLS[tool], **_look(tool, few=True)) for tool in tools]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), handlelength=3.2)
    return panels.settle(figure)


def _look(tool: str, *, few: bool) -> dict[str, Any]:
    return {**arms.LOOKS[tool], "markersize": 3.2, "linewidth": 1.1} | ({} if few else {"marker": ""})


def _panel(panel: Axes, rows: pd.DataFrame, width: float) -> None:
    panel.set(xlim=(0, 1.02), ylim=(-0.02, 1.02))
    panel.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
    panel.set_yticks([0, 0.5, 1], ["0", "0.5", "1"])
    panel.tick_params(axis="both", labelbottom=True)
    panel.grid(axis="y")
    counts = []
    for tool, own in rows.groupby("tool", sort=False):
        own = own.sort_values("coverage")
        ranked = arms.read(own["n_confident"].iloc[0], own["n_answers"].iloc[0])
        counts.append(f"{arms.TOOLS[str(tool)]} {ranked}".replace(" ", "\N{NO-BREAK SPACE}"))
        across, risk = panels.numbers(own, "coverage"), panels.numbers(own, "risk")
        look = _look(str(tool), few=len(own) <= _MARKED)
        ends = panels.numbers(own, "risk_low"), panels.numbers(own, "risk_high")
        panel.fill_between(across, *ends, color=look["color"], alpha=0.13, linewidth=0)
        if len(own) == 1:
            panel.vlines(across, *ends, color=look["color"], linewidth=0.9)
        panel.plot(across, risk, clip_on=False, **look)
    if rows["risk"].isna().all():
        panels.remark(panel, "no confidence could be read" if (rows["n_answers"] > 0).any() else "no answers")
    panel.set_xlabel("share of answers kept\n" + wrap("; ".join(counts), (width - 0.25) * 72, NORMAL))
