"""Where execution fails: the grader's reasons for cases that had the gold action and did not pass."""

from __future__ import annotations

from itertools import cycle

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from toolcal.figures import panels
from toolcal.figures.bars import Bar, Part, stacked
from toolcal.figures.style import BLUE, GREEN, HATCHES, INK, ORANGE, PURPLE, SKY, YELLOW, plain, styled

_NOT_RECORDED = "not_recorded"
_FILLS = ((SKY, INK), (ORANGE, INK), (BLUE, "white"), (YELLOW, INK), (GREEN, "white"), (PURPLE, "white"))


@styled
def draw(slack_reasons: pd.DataFrame) -> Figure:
    """The reasons' shares as stacked bars, per model, a panel per scenario.

    Args:
        slack_reasons: rows of table slack_reasons, of one labeller and one perturbation.
    """
    if slack_reasons.empty:
        return panels.notice("No execution failures: no case of this selection had the gold action and failed.")
    lacking = panels.missing("slack_reasons", slack_reasons, ["share"])
    if lacking:
        return panels.notice(lacking)
    reasons = [reason for reason in dict.fromkeys(slack_reasons["reason"]) if reason != _NOT_RECORDED]
    parts = [
        # Six fills and seven hatches: 42 reasons before a pair comes again.
        Part(plain(reason.split(":")[-1]).replace("_", " "), fill, HATCHES[i % len(HATCHES)], line)
        for i, (reason, (fill, line)) in enumerate(zip(reasons, cycle(_FILLS), strict=False))
    ]
    scenarios = {
        title: {str(model): _bar(cell, reasons) for model, cell in rows.groupby("model", sort=False)}
        for title, rows in panels.by_scenario(slack_reasons)
    }
    return stacked(
        scenarios,
        list(dict.fromkeys(slack_reasons["model"])),
        parts,
        heading=f"Execution failures by the grader's reason ({panels.view(slack_reasons, 'case_any')}); "
        f"{panels.selection(slack_reasons)}; on the right n, execution failures; "
        "models without one in any scenario are left out",
        xlabel="share of failures",
        absent="none",
    )


def _bar(cell: pd.DataFrame, reasons: list[str]) -> Bar:
    shares = dict(zip(cell["reason"], panels.numbers(cell, "share"), strict=True))
    counts = f"{cell['n'].sum()}"
    widths = [float(shares.get(reason, 0.0)) for reason in reasons]
    if _NOT_RECORDED in shares:
        return Bar((), "not recorded")
    return Bar((), f"no share, n = {counts}") if np.isnan(widths).any() else Bar(widths, counts)
