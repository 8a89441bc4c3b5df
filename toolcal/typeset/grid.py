"""A table as it is printed, before it is LaTeX or Markdown, and how its numbers are written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

DASH, MINUS, DELTA = "–", "−", "Δ"
"""What stands for null, before negative numbers, and for a change; LaTeX has commands for the three."""

PUBLISHED, INTERVAL = "published", "95 %"
"""Labels of the lines below a model's own."""


@dataclass(frozen=True)
class Line:
    """One printed line: its label, a text per column, and the columns in bold. `below` belongs to the line above."""

    label: str
    texts: tuple[str, ...]
    bold: frozenset[int] = frozenset()
    below: bool = False


@dataclass(frozen=True)
class Grid:
    """A printed table: its caption, its heading (per column the same number of levels), its lines, its notes."""

    name: str
    caption: str
    heading: tuple[tuple[str, ...], ...]
    lines: tuple[Line, ...]
    notes: tuple[str, ...]


def lines_of(
    label: str,
    values: Sequence[str],
    intervals: Sequence[str],
    published: Sequence[str],
    bold: Iterable[int] = (),
) -> list[Line]:
    """The lines of one model: its values, below them their intervals, and what was published where something was."""
    found = [Line(label, tuple(values), frozenset(bold)), Line(INTERVAL, tuple(intervals), below=True)]
    return [*found, *([Line(PUBLISHED, tuple(published), below=True)] if any(published) else [])]


def compares(lines: Iterable[Line]) -> bool:
    """Whether something published stands among the lines."""
    return any(line.below and line.label == PUBLISHED for line in lines)


class Nulls:
    """Why there are dashes: reason -> the places where it holds, for the notes."""

    def __init__(self) -> None:
        self._places: dict[str, list[str]] = {}

    def dash(self, why: str, where: str) -> str:
        """A dash whose reason the notes tell."""
        self._places.setdefault(why, []).append(where)
        return DASH

    def notes(self) -> list[str]:
        """A note per reason."""
        return [f"{DASH}: {why} ({', '.join(dict.fromkeys(places))})." for why, places in self._places.items()]


def percent(rate: float, *, signed: bool = False) -> str:
    """A rate in percent, or a change in points, with one decimal."""
    text = f"{100 * rate:+.1f}" if signed else f"{100 * rate:.1f}"
    return text.replace("-", MINUS)


def interval(low: float, high: float) -> str:
    """Its interval, to whole points."""
    return f"[{100 * low:.0f}, {100 * high:.0f}]".replace("-0,", "0,").replace("-0]", "0]").replace("-", MINUS)


def ends(row: Mapping[str, Any], measure: str) -> str:
    """The interval of a measure of a table's row; a dash where the measure is null."""
    return DASH if pd.isna(row[measure]) else interval(row[f"{measure}_low"], row[f"{measure}_high"])


def usual(counts: Iterable[int]) -> int:
    """The n that most cells of a column have; of several the largest."""
    found = Counter(counts)
    return max(found, key=lambda n: (found[n], n))


def title(scenario: str) -> str:
    """A scenario's name in a heading: the benchmark is named in the caption."""
    return scenario.partition("-")[2]


def as_published(reproduced: pd.DataFrame, column: str = "published") -> dict[tuple[str, ...], float]:
    """Published figures of this run's models: (model, scenario, perturbation, gold action or "", measure) -> value.

    Args:
        reproduced: rows of table `reproduce`.
        column: which of its figures.
    """
    known = reproduced[reproduced["panel_model"].notna() & reproduced[column].notna()]
    keys = known[["panel_model", "scenario", "perturbation", "gold_action", "measure"]].fillna("").astype(str)
    return dict(zip(keys.itertuples(index=False, name=None), known[column].astype(float), strict=True))


def of_columns(rows: pd.DataFrame, order: Sequence[str]) -> list[tuple[str, str]]:
    """The columns (scenario, gold action) of a table of cells, scenarios in the configuration's order."""
    pairs = rows[["scenario", "gold_action"]].drop_duplicates().itertuples(index=False, name=None)
    return sorted(pairs, key=lambda pair: (order.index(pair[0]), pair[1] != "TOOL_CALL", pair[1]))
