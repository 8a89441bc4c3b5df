"""What made answers wrong: what noise did to their support, or what went wrong with the tool and the reading."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from toolcal.confidence.tables import CAUSES
from toolcal.figures import arms, panels
from toolcal.figures.bars import Bar, Part, stacked
from toolcal.figures.style import BLUE, GREEN, GREY, INK, ORANGE, PALE, PURPLE, SKY, VERMILLION, YELLOW, plain, styled

_PARTS = {
    "irrelevant": Part("noise: irrelevant", SKY, "", INK),
    "outdated": Part("noise: outdated", BLUE, "....", "white"),
    "contradictory": Part("noise: contradictory", ORANGE, "////", INK),
    "missing": Part("noise: missing", YELLOW, "", INK),
    "wrong": Part("noise: wrong", VERMILLION, "\\\\\\\\", "white"),
    "no_call": Part("no call", PALE, "", INK),
    "tool_failed": Part("tool failed", PURPLE, "xxxx", "white"),
    "not_found": Part("not found", GREEN, "----", "white"),
    "misread": Part("misread", GREY, "||||", "white"),
    "no_answer": Part("no answer", "white", "....", INK),
    "unknown": Part("unknown", INK, "", "white"),
}
assert set(_PARTS) == set(CAUSES)


@styled
def draw(answer_causes: pd.DataFrame) -> Figure:
    """The causes' shares as stacked bars, a panel per model, a bar per cell.

    Args:
        answer_causes: rows of table answer_causes, of one question set.
    """
    lacking = arms.nothing("answer_causes", answer_causes, "share", none="wrong answer")
    if lacking:
        return panels.notice(lacking)
    selected = panels.selection(answer_causes)
    causes = [cause for cause in CAUSES if (answer_causes["n"][answer_causes["cause"] == cause] > 0).any()]
    if not causes:
        return panels.notice(f"Nothing to show: no wrong answer with a cause of these rows; {selected}.")
    bars = {
        f"{plain(model)}{words}": {
            str(name): _bar(cell, causes)
            for name, cell in rows.groupby([arms.name(*key) for key in zip(rows["tool"], rows["noise"], strict=True)])
        }
        for model, words, rows in arms.by_model(answer_causes)
    }
    cells = [
        arms.name(tool, noise)
        for tool in arms.TOOLS
        for noise in sorted(answer_causes["noise"][answer_causes["tool"] == tool].unique())
    ]
    return stacked(
        bars,
        cells,
        [_PARTS[cause] for cause in causes],
        heading=f"Wrong answers by cause; {selected}; on the right: wrong answers, of all with a verdict",
        xlabel="share of wrong answers",
        absent="not run",
    )


def _bar(cell: pd.DataFrame, causes: list[str]) -> Bar:
    wrong, answers = int(cell["n_wrong"].iloc[0]), int(cell["n_answers"].iloc[0])
    if not wrong:
        return Bar((), f"none wrong of {answers}" if answers else "no answers")
    shares = dict(zip(cell["cause"], panels.numbers(cell, "share"), strict=True))
    return Bar([float(shares.get(cause, 0.0)) for cause in causes], f"{wrong} of {answers}")
