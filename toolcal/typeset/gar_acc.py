"""GAR / Acc by model and scenario, in the published layout (method A5, A7), intervals and published figures below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from toolcal import tables
from toolcal.cells import BASELINE
from toolcal.diagnosis.reproduce import LABELLER, OVERALL, SCENARIOS, overall
from toolcal.typeset.grid import (
    DASH,
    Grid,
    Line,
    Nulls,
    as_published,
    compares,
    ends,
    interval,
    lines_of,
    of_columns,
    percent,
    title,
    usual,
)

Cells = Mapping[tuple[str, str, str], Mapping[str, Any]]
"""(model, scenario, gold action) -> row of table `cells`."""


def gar_acc(
    name: str,
    cells: pd.DataFrame,
    outcomes: pd.DataFrame,
    reproduced: pd.DataFrame,
    *,
    benchmark: str,
    labeller: str,
    models: Sequence[str],
    scenarios: Sequence[str],
    seed: int,
) -> Grid:
    """The table of one benchmark and labeller, without perturbation.

    Args:
        name: of its files.
        cells: table `cells`.
        outcomes: table `outcomes`.
        reproduced: table `reproduce`.
        benchmark: bfcl, tau2, tau1 or openai.
        labeller: whose GAR it is.
        models: in the order of the lines.
        scenarios: in the order of the columns.
        seed: of the bootstrap, from the configuration.
    """
    own = cells[(cells["benchmark"] == benchmark) & (cells["labeller"] == labeller)]
    own = own[own["perturbation"] == BASELINE]
    of: Cells = {(row["model"], row["scenario"], row["gold_action"]): row for row in tables.records(own)}
    columns = of_columns(own, scenarios)
    counts = {pair: usual(row["n"] for key, row in of.items() if key[1:] == pair) for pair in columns}
    mean = benchmark == OVERALL and set(SCENARIOS) <= set(own["scenario"])
    published = as_published(reproduced)
    nulls = Nulls()
    lines: list[Line] = []
    for model in models:
        if not any(key[0] == model for key in of):
            continue
        found = [_entry(model, pair, of.get((model, *pair)), counts[pair], nulls) for pair in columns]
        before = [_before(model, pair, labeller, published) if (model, *pair) in of else "" for pair in columns]
        if mean:
            ran = {scenario for one, scenario, _ in of if one == model} >= set(SCENARIOS)
            found.append(_mean(model, outcomes, seed, nulls) if ran else ("", "", False))
            before.append(_one(published.get((model, OVERALL, BASELINE, "", "acc"))) if ran else "")
        values, intervals, bold = zip(*found, strict=True)
        lines += lines_of(model, values, intervals, before, [at for at, broken in enumerate(bold) if broken])
    heading = [(title(scenario), gold, f"n = {counts[scenario, gold]}") for scenario, gold in columns]
    return Grid(
        name,
        f"Gold Action Recall / accuracy (%) on {benchmark}, by scenario and gold action; labeller {labeller}.",
        (*heading, *([("overall", "Acc", "mean of four")] if mean else [])),
        tuple(lines),
        (*_notes(own, labeller, compares(lines)), *nulls.notes()),
    )


def _entry(
    model: str, pair: tuple[str, str], row: Mapping[str, Any] | None, n: int, nulls: Nulls
) -> tuple[str, str, bool]:
    """The values of a cell, their intervals, and whether Acc violates its bound."""
    if row is None:
        return "", "", False
    where = f"{model} {title(pair[0])} {pair[1]}"
    gar, acc = (
        nulls.dash(_why(row, measure), where) if pd.isna(row[measure]) else percent(row[measure])
        for measure in ("gar_case_any", "acc")
    )
    beside = "" if row["n"] == n else f" (n = {row['n']})"
    return f"{gar} / {acc}", f"{ends(row, 'gar_case_any')} / {ends(row, 'acc')}{beside}", row["violation"] is True


def _why(row: Mapping[str, Any], measure: str) -> str:
    if not row["n"]:
        return "no case-trial has a verdict"
    return (
        f"{'GAR' if measure != 'acc' else 'Acc'} is not known of {row['n_unknown']} case-trials from what was recorded"
    )


def _before(model: str, pair: tuple[str, str], labeller: str, published: Mapping[tuple[str, ...], float]) -> str:
    gar, acc = (published.get((model, pair[0], BASELINE, pair[1], name)) for name in ("gar_case_any", "acc"))
    gar = gar if labeller == LABELLER else None
    return "" if gar is None and acc is None else f"{_one(gar) or DASH} / {_one(acc) or DASH}"


def _one(rate: float | None) -> str:
    return "" if rate is None else percent(rate)


def _mean(model: str, outcomes: pd.DataFrame, seed: int, nulls: Nulls) -> tuple[str, str, bool]:
    found = overall(outcomes, model, BASELINE, seed)
    if found.value is None or found.low is None or found.high is None:
        return nulls.dash("not all four scenarios have a verdict", f"{model} overall"), "", False
    return percent(found.value), interval(found.low, found.high), False


def _notes(own: pd.DataFrame, labeller: str, compared: bool) -> list[str]:
    notes = [
        "Below each figure its 95 % interval, to whole points; n: case-trials with a verdict. Bold: Acc above its "
        "bound GAR. An empty place: not run."
    ]
    one = own.drop_duplicates(["model", "scenario"])
    if missing := int(one["n_missing"].sum()):
        notes.append(f"{missing} planned case-trials have no verdict and are in no rate.")
    if compared:
        words = "Published: arXiv 2609.00949"
        under = "" if labeller == LABELLER else f"; its GAR, under its own rules, stands in the table of {LABELLER}"
        notes.append(f"{words}{under}. {DASH} there: not stated.")
    return notes
