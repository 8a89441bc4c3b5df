"""Where a perturbation moves each model in the plane of Gold Action Recall and pass rate."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from toolcal.figures import panels, scatter
from toolcal.figures.effects import STARRED, Row, of_rates, rates, why
from toolcal.figures.scatter import Panel, Point, entry
from toolcal.figures.style import styled

_NOWHERE = (np.nan,) * 4


@styled
def draw(effects: pd.DataFrame, view: str = "case_any") -> Figure:
    """An arrow per model from the baseline to the perturbed rates, a panel per scenario, with the bound's diagonal.

    Args:
        effects: rows of table effects, of one labeller and one perturbation.
        view: `case_any` or `decisive`.
    """
    data = of_rates(effects, view, "model")
    lacking = panels.missing("effects", data, ["delta"])
    if lacking:
        return panels.notice(lacking)
    return scatter.draw(
        dict(_panel(title, rows, view) for title, rows in panels.by_scenario(data)),
        list(dict.fromkeys(data["shown"])),
        heading=f"From baseline to perturbed: Gold Action Recall ({panels.view(data, view)}) and pass rate in the same "
        f"cases; {panels.selection(data)}; n = pairs of cases{STARRED if data['scripted'].any() else ''}",
        xlabel="GAR",
        ylabel="Acc",
        legend=[
            entry("baseline", hollow=True),
            entry("with the perturbation"),
            entry("baseline, violation (Acc > GAR)", violation=True, hollow=True),
            entry("with it, violation", violation=True),
            scatter.region("bound broken: passes without the gold action"),
        ],
        bound="the bound, Acc = GAR",
    )


def _panel(title: str, rows: pd.DataFrame, view: str) -> tuple[str, Panel]:
    of = {(row["shown"], row["measure"]): row for row in rows.to_dict("records")}
    both = {model: [of.get((model, rate.measure)) for rate in rates(view)] for model in dict.fromkeys(rows["shown"])}
    there = {
        model: (gar, acc)
        for model, (gar, acc) in both.items()
        if gar is not None and acc is not None and pd.notna(gar["delta"]) and pd.notna(acc["delta"])
    }
    counts = [gar["n"] for gar, _ in there.values()]
    usual = max(counts, key=counts.count, default=0)
    drawn = [_point(model, gar, acc, usual) for model, (gar, acc) in there.items()]
    lacks = [model for model in both if model not in there]
    reasons = dict.fromkeys(why(row) for model in lacks for row in both[model] if row is not None and _null(row))
    words = " or ".join(reasons) or "no row"
    return f"{title}, {panels.span(counts)}" if counts else title, Panel(drawn, words, words, lacks)


def _null(row: Row) -> bool:
    return bool(pd.isna(row["delta"]))


def _point(model: str, gar: Row, acc: Row, usual: int) -> Point:
    before, after = (
        Point(model, gar[at], acc[at], _NOWHERE, violation=acc[at] > gar[at], hollow=at == "baseline")
        for at in ("baseline", "perturbed")
    )
    note = "" if gar["n"] == usual else f"n = {gar['n']}"
    if (before.x, before.y) == (after.x, after.y):
        return Point(model, after.x, after.y, _NOWHERE, after.violation, note=note)
    return Point(model, after.x, after.y, _NOWHERE, after.violation, note=note, again=before, arrow=True)
