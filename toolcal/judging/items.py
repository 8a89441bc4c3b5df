"""What a judge is asked about a model, by question."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from toolcal import tables
from toolcal.judging.assertion_items import assertion_items
from toolcal.judging.question import CONFIRMED_WRITE, NL_ASSERTIONS, Item
from toolcal.judging.write_items import write_items

_TABLES = {
    CONFIRMED_WRITE.name: ("writes", "trajectories", "user_messages"),
    NL_ASSERTIONS.name: ("cases", "trajectories", "user_messages", "grades"),
}
_ITEMS: dict[str, Callable[..., Sequence[Item]]] = {
    CONFIRMED_WRITE.name: write_items,
    NL_ASSERTIONS.name: assertion_items,
}

TABLES = tuple(dict.fromkeys(name for names in _TABLES.values() for name in names))
"""The tables that tell what there is to ask."""

_COLUMNS = {"cases": ("scenario", "case_id", "benchmark", "initial_state")}


def read(paths: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """The tables of a model.

    Args:
        paths: of each of `TABLES` its file or files.
    """
    return {name: tables.read(name, *_listed(paths[name]), columns=_COLUMNS.get(name)) for name in TABLES}


def items(questions: Collection[str], found: Mapping[str, pd.DataFrame]) -> list[Item]:
    """What there is to ask, in the order of questions and keys.

    Args:
        questions: the configuration's.
        found: the tables `TABLES` of a model.
    """
    return [
        item
        for name in _ITEMS
        if name in questions
        for item in _ITEMS[name](**{table: found[table] for table in _TABLES[name]})
    ]


def _listed(paths: Any) -> list[Any]:
    return [paths] if isinstance(paths, str | Path) else list(paths)
