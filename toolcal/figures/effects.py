"""What the figures of effects share: the rows of GAR and of Acc under one perturbation, and the words for them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

import pandas as pd

from toolcal.figures.panels import POLICY
from toolcal.figures.style import BLUE, GREEN

Row = Mapping[Hashable, Any]

SIGNIFICANT = 0.05
"""Below this p, after Holm, an effect is marked."""

STARRED = "; *: scripted policy"

_WHY = {"no_pairs": "no pairs", "not_defined": "not defined here", "not_recorded": "not recorded"}


class Rate(NamedTuple):
    """One of the two rates: its measure in the table, its name in the figure, and its looks."""

    measure: str
    name: str
    colour: str
    marker: str


def rates(view: str) -> tuple[Rate, Rate]:
    """Gold Action Recall in this view, and the pass rate."""
    return Rate(f"gar_{view}", "GAR", BLUE, "o"), Rate("acc", "Acc", GREEN, "s")


def of_rates(data: pd.DataFrame, view: str, unit: str) -> pd.DataFrame:
    """The rows of both rates, sorted by family, scripted policies last; `shown` is the name with a star for these.

    An empty table comes back as it is.

    Args:
        data: rows of table effects or family_effects.
        view: `case_any` or `decisive`.
        unit: `model` or `family`.
    """
    if data.empty:
        return data
    rows = data[data["measure"].isin([rate.measure for rate in rates(view)])]
    scripted = rows["family"].str.startswith(POLICY).astype(bool)
    names = [
        f"{name.removeprefix(POLICY)}*" if star else str(name) for name, star in zip(rows[unit], scripted, strict=True)
    ]
    order = ["scripted", *dict.fromkeys(["family", unit])]
    return rows.assign(shown=pd.Series(names, rows.index, dtype=object), scripted=scripted).sort_values(order)


def significant(row: Row) -> bool:
    """Whether there is a difference beyond chance, after Holm."""
    return pd.notna(row["p_holm"]) and bool(row["p_holm"] < SIGNIFICANT)


def moved(row: Row) -> bool:
    """Whether some pair differs."""
    return bool(row["p_reason"] != "no_discordant_pairs")


def points(delta: float) -> str:
    """A difference of rates in percentage points, with its sign."""
    tenths = round(1000 * delta) / 10
    return f"{tenths:+.1f}".replace("-", "\N{MINUS SIGN}") if tenths else "0.0"


def why(row: Row) -> str:
    """Why there is no delta."""
    return _WHY.get(row["p_reason"], "no delta")


def pairs(row: Row) -> str:
    """The number of pairs; in brackets, case-trials that make none."""
    apart = row["n_unpaired"] + row["n_left_out"]
    return f"{row['n']} ({apart})" if apart else f"{row['n']}"


def in_brackets(data: pd.DataFrame) -> str:
    """What `pairs` puts in brackets, for the heading; empty where it does not."""
    some = bool((data["n_unpaired"] + data["n_left_out"] > 0).any())
    return " (in brackets: case-trials that make no pair)" if some else ""
