"""The figures: each is a function from a table's rows to a matplotlib Figure, and `save.save` writes what it returns.

Light to import, for the workflow reads names and tables while it plans: matplotlib comes with the first figure drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

TABLES = {
    "gar_acc": "cells",
    "shares": "cells",
    "ranks": "families",
    "confusion": "confusion",
    "recall_by_turn": "turns",
    "slack_reasons": "slack_reasons",
}
"""The table of each figure. A figure's name is also the name of its module, its files and its caption."""


def draw(name: str, data: pd.DataFrame, **options: Any) -> Figure:
    """Draw a figure from rows of its table, of one labeller and one perturbation.

    Raises:
        KeyError: for a name that is not in `TABLES`.
        ValueError: where the rows are of several labellers or perturbations.
    """
    return _drawings()[name](data, **options)


def _drawings() -> dict[str, Callable[..., Figure]]:
    from toolcal.figures import confusion, gar_acc, ranks, recall_by_turn, shares, slack_reasons

    modules = (confusion, gar_acc, ranks, recall_by_turn, shares, slack_reasons)
    return {module.__name__.rpartition(".")[2]: module.draw for module in modules}
