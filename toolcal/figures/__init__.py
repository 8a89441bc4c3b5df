"""The figures: each is a function from a table's rows to a matplotlib Figure, and `save.save` writes what it returns.

Light to import, for the workflow reads names and tables while it plans: matplotlib comes with the first figure drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


class Source(NamedTuple):
    """The table that a figure shows, and whether there is a figure for each labeller or one for all."""

    table: str
    by_labeller: bool = True


FIGURES = {
    "gar_acc": Source("cells"),
    "shares": Source("cells"),
    "ranks": Source("families"),
    "confusion": Source("confusion"),
    "recall_by_turn": Source("turns"),
    "slack_reasons": Source("slack_reasons"),
    "confirmed_writes": Source("write_rates", by_labeller=False),
    "validity": Source("validity", by_labeller=False),
}
"""All figures. A figure's name is also the name of its module, its files and its caption."""


def draw(name: str, data: pd.DataFrame, **options: Any) -> Figure:
    """Draw a figure from rows of its table, of one perturbation, and of one labeller where there is a figure for each.

    Raises:
        KeyError: for a name that is not in `FIGURES`.
        ValueError: where the rows are of several labellers or perturbations.
    """
    return _drawings()[name](data, **options)


def _drawings() -> dict[str, Callable[..., Figure]]:
    from toolcal.figures import (
        confirmed_writes,
        confusion,
        gar_acc,
        ranks,
        recall_by_turn,
        shares,
        slack_reasons,
        validity,
    )

    modules = (confirmed_writes, confusion, gar_acc, ranks, recall_by_turn, shares, slack_reasons, validity)
    return {module.__name__.rpartition(".")[2]: module.draw for module in modules}
