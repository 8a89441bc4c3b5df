"""What perturbations move: changes of GAR / Acc by perturbation, model and scenario (method A6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from toolcal import tables
from toolcal.diagnosis.reproduce import LABELLER
from toolcal.typeset.grid import (
    DASH,
    DELTA,
    Grid,
    Line,
    Nulls,
    as_published,
    compares,
    ends,
    lines_of,
    of_columns,
    percent,
    usual,
)

_MEASURES = ("gar_case_any", "acc")
_LEVEL = 0.05
_WHY = {
    "no_pairs": "no case has a verdict with and without the perturbation",
    "not_defined": "not defined",
    "not_recorded": "unknown of some pair, as recorded",
}


def shifts(
    name: str,
    effects: pd.DataFrame,
    reproduced: pd.DataFrame,
    *,
    labeller: str,
    models: Sequence[str],
    scenarios: Sequence[str],
) -> Grid:
    """The table of one labeller.

    Args:
        name: of its files.
        effects: table `effects`.
        reproduced: table `reproduce`.
        labeller: whose GAR it is.
        models: in the order of the lines of a perturbation.
        scenarios: in the order of the columns.
    """
    own = effects[(effects["labeller"] == labeller) & effects["measure"].isin(_MEASURES)]
    key = ("perturbation", "model", "scenario", "gold_action", "measure")
    of = {tuple(row[part] for part in key): row for row in tables.records(own)}
    columns = of_columns(own, scenarios)
    counts = {pair: usual(row["n"] for parts, row in of.items() if parts[2:4] == pair) for pair in columns}
    published = as_published(reproduced)
    nulls = Nulls()
    lines: list[Line] = []
    for perturbation in own["perturbation"].unique():
        for model in models:
            rows = [[of.get((perturbation, model, *pair, measure)) for measure in _MEASURES] for pair in columns]
            if not any(any(pair) for pair in rows):
                continue
            where = f"{model} {perturbation}"
            found = [_entry(pair, counts[at], where, nulls) for pair, at in zip(rows, columns, strict=True)]
            before = [_before(model, pair, perturbation, labeller, published) for pair in columns]
            values, intervals = zip(*found, strict=True)
            lines += lines_of(f"{perturbation}: {model}", values, intervals, before)
    heading = [(scenario, gold, f"n = {counts[scenario, gold]}") for scenario, gold in columns]
    notes = [
        "Changes from the baseline in points, paired by case; below each its 95 % interval, to whole points; n: pairs. "
        f"*: p < {_LEVEL} after Holm's correction over the perturbation's comparisons. An empty place: not run."
    ]
    if compares(lines):
        notes.append(f"Published: arXiv 2609.00949. {DASH} there: not stated, or GAR under other rules than its own.")
    caption = f"{DELTA} Gold Action Recall / {DELTA} accuracy under perturbations; labeller {labeller}."
    return Grid(name, caption, tuple(heading), tuple(lines), (*notes, *nulls.notes()))


def _entry(pair: Sequence[Mapping[str, Any] | None], n: int, where: str, nulls: Nulls) -> tuple[str, str]:
    if not any(pair):
        return "", ""
    there = [row for row in pair if row is not None]
    beside = "" if there[0]["n"] == n else f" (n = {there[0]['n']})"
    texts = [
        nulls.dash(_WHY.get(row["p_reason"], "not defined"), where)
        if pd.isna(row["delta"])
        else percent(row["delta"], signed=True) + _star(row["p_holm"])
        for row in there
    ]
    return " / ".join(texts), " / ".join(ends(row, "delta") for row in there) + beside


def _star(p: float | None) -> str:
    return "*" if p is not None and p < _LEVEL else ""


def _before(
    model: str,
    pair: tuple[str, str],
    perturbation: str,
    labeller: str,
    published: Mapping[tuple[str, ...], float],
) -> str:
    gar, acc = (published.get((model, pair[0], perturbation, pair[1], f"delta_{name}")) for name in _MEASURES)
    gar = gar if labeller == LABELLER else None
    if gar is None and acc is None:
        return ""
    return " / ".join(DASH if delta is None else percent(delta, signed=True) for delta in (gar, acc))
