"""The figures: each is a function from a table's rows to a matplotlib Figure, and `save.save` writes what it returns.

Light to import, for the workflow reads names and tables while it plans: matplotlib comes with the first figure drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from toolcal.cells import BASELINE

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


class Source(NamedTuple):
    """The table that a figure shows, and of what there is a page each: the rows that a page shows are of one value."""

    table: str
    by: tuple[str, ...] = ("labeller",)


_EFFECT = ("perturbation", "labeller")
_STUDY = ("question_set",)

FIGURES = {
    "gar_acc": Source("cells"),
    "shares": Source("cells"),
    "ranks": Source("families"),
    "confusion": Source("confusion"),
    "recall_by_turn": Source("turns"),
    "slack_reasons": Source("slack_reasons"),
    "confidence_by_outcome": Source("turn_calibration"),
    "confirmed_writes": Source("write_rates", by=()),
    "validity": Source("validity", by=()),
    "dumbbells": Source("family_effects", _EFFECT),
    "forest": Source("effects", _EFFECT),
    "movement": Source("effects", _EFFECT),
    "reliability": Source("reliability", _STUDY),
    "calibration": Source("calibration", _STUDY),
    "confidence_by_noise": Source("calibration", _STUDY),
    "risk_coverage": Source("risk_coverage", _STUDY),
    "answer_causes": Source("answer_causes", _STUDY),
    "comparison": Source("comparison", by=()),
    "reward_curves": Source("reward_curves", by=()),
    "reward_optima": Source("reward_optima", by=()),
    "tabular_calibration": Source("tabular_kinds", by=()),
    "tabular_outcomes": Source("tabular_summary", by=()),
    "tabular_collapse": Source("tabular_confidences", by=()),
}
"""All figures. A figure's name is also the name of its module, its files and its caption."""


def pages(name: str, values: Mapping[str, Sequence[str]]) -> list[str]:
    """What follows a figure's name in the names of its files, for each of its pages: the values, each behind a dot.

    Args:
        name: the figure.
        values: the values that a page may be of, by column; without any of some column there is no page.
    """
    return ["".join(f".{value}" for value in chosen) for chosen in product(*(values[key] for key in FIGURES[name].by))]


def page(name: str, of: str) -> dict[str, str]:
    """What a page is of: one of `pages` as column -> value."""
    return dict(zip(FIGURES[name].by, of.split(".")[1:], strict=True))


def rows(name: str, data: pd.DataFrame, of: str) -> pd.DataFrame:
    """The rows of the table that a page shows; those of the baseline where it is not of a perturbation."""
    wanted = ({"perturbation": BASELINE} if "perturbation" in data else {}) | page(name, of)
    for column, value in wanted.items():
        data = data[data[column] == value]
    return data


def draw(name: str, data: pd.DataFrame, **options: Any) -> Figure:
    """Draw a figure from rows of its table, of one perturbation, and of one labeller where there is a page for each.

    Raises:
        KeyError: for a name that is not in `FIGURES`.
        ValueError: where the rows are of several labellers or perturbations.
    """
    return _drawings()[name](data, **options)


def _drawings() -> dict[str, Callable[..., Figure]]:
    from toolcal.figures import (
        answer_causes,
        calibration,
        comparison,
        confidence_by_noise,
        confidence_by_outcome,
        confirmed_writes,
        confusion,
        dumbbells,
        forest,
        gar_acc,
        movement,
        ranks,
        recall_by_turn,
        reliability,
        reward_curves,
        reward_optima,
        risk_coverage,
        shares,
        slack_reasons,
        tabular_calibration,
        tabular_collapse,
        tabular_outcomes,
        validity,
    )

    study = (answer_causes, calibration, confidence_by_noise, reliability, risk_coverage)
    of_cases = (confidence_by_outcome, confirmed_writes, gar_acc, ranks, shares, slack_reasons)
    of_rewards = (reward_curves, reward_optima, tabular_calibration, tabular_collapse, tabular_outcomes)
    of_effects = (dumbbells, forest, movement)
    modules = (*of_cases, confusion, recall_by_turn, validity, *of_effects, *study, comparison, *of_rewards)
    return {module.__name__.rpartition(".")[2]: module.draw for module in modules}
