"""Confirmed writes: the share that the user had agreed to / the share whose run passed, and the gap (method A7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import pandas as pd

from toolcal import tables
from toolcal.cells import BASELINE
from toolcal.typeset.grid import (
    DASH,
    MINUS,
    Grid,
    Line,
    Nulls,
    as_published,
    compares,
    ends,
    lines_of,
    percent,
)

_RULE = "rule"


def confirmed_writes(
    name: str, write_rates: pd.DataFrame, reproduced: pd.DataFrame, *, models: Sequence[str], scenarios: Sequence[str]
) -> Grid:
    """The table of all scenarios with writes, without perturbation: all calls and executed ones, by rule and judges.

    Scenarios stand below each other: side by side, three are wider than a page.

    Args:
        name: of its files.
        write_rates: table `write_rates`.
        reproduced: table `reproduce`.
        models: in the order of the lines.
        scenarios: in the order of the lines, each with its models.
    """
    own = write_rates[write_rates["perturbation"] == BASELINE]
    of = {(row["scenario"], row["model"], row["writes"], row["reader"]): row for row in tables.records(own)}
    readers = sorted(own["reader"].unique(), key=lambda reader: (reader != _RULE, reader))
    published = as_published(reproduced)
    nulls = Nulls()
    lines: list[Line] = []
    for scenario, model, writes, reader in product(scenarios, models, ("all", "executed"), readers):
        row = of.get((scenario, model, writes, reader))
        if row is None:
            continue
        parts = [model, *(["executed"] * (writes == "executed")), *([reader] * (reader != _RULE))]
        label = f"{scenario}: {', '.join(parts)}"
        compared = (writes, reader) == ("all", _RULE)
        before = _before(model, scenario, published) if compared else ()
        lines += lines_of(label, *_entry(row, label, nulls), before)
    heading = (("n",), ("confirmed / Acc",), (f"Acc {MINUS} confirmed",))
    notes = (
        "Write calls that need the user's yes: the share that the user had agreed to (%), and the share of the same "
        "calls whose run passed; below each its 95 % interval, to whole points. Executed: without calls that the tool "
        "rejected. Read by the rule where no judge is named. A model without such a write has no line.",
        *([f"Published: arXiv 2609.00949, over all calls. {DASH} there: not stated."] * compares(lines)),
    )
    return Grid(name, "Confirmed writes (%), by scenario and model.", heading, tuple(lines), (*notes, *nulls.notes()))


def _entry(row: Mapping[str, Any], where: str, nulls: Nulls) -> tuple[tuple[str, ...], tuple[str, ...]]:
    confirmed, acc, gap = (
        nulls.dash("no such write has a verdict", where)
        if pd.isna(row[measure])
        else percent(row[measure], signed=measure == "gap")
        for measure in ("confirmed", "acc", "gap")
    )
    spans = f"{ends(row, 'confirmed')} / {ends(row, 'acc')}"
    return (str(row["n"]), f"{confirmed} / {acc}", gap), ("", spans, ends(row, "gap"))


def _before(model: str, scenario: str, published: Mapping[tuple[str, ...], float]) -> tuple[str, str, str]:
    found = [published.get((model, scenario, BASELINE, "", f"writes_{name}")) for name in ("confirmed", "acc", "gap")]
    confirmed, acc, gap = (
        None if value is None else percent(value, signed=place == 2) for place, value in enumerate(found)
    )
    pair = f"{confirmed or DASH} / {acc or DASH}" if confirmed or acc else ""
    return "", pair, gap or ""
