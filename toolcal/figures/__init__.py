"""The figures: each is a function from a table's rows to a matplotlib Figure, and `save` writes what it returns."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from matplotlib.figure import Figure

from toolcal.figures import confusion, gar_acc, ranks, recall_by_turn, shares, slack_reasons
from toolcal.figures.save import save

__all__ = ["FIGURES", "Drawing", "save"]


class Drawing(NamedTuple):
    """How a figure is drawn, and the table whose rows it takes."""

    draw: Callable[..., Figure]
    table: str


FIGURES: dict[str, Drawing] = {
    "gar_acc": Drawing(gar_acc.draw, "cells"),
    "shares": Drawing(shares.draw, "cells"),
    "ranks": Drawing(ranks.draw, "families"),
    "confusion": Drawing(confusion.draw, "confusion"),
    "recall_by_turn": Drawing(recall_by_turn.draw, "turns"),
    "slack_reasons": Drawing(slack_reasons.draw, "slack_reasons"),
}
"""Every figure by its name, which is also the name of its files and of its caption."""
