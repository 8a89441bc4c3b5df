"""Confirmed writes: how many changes of a database the user had agreed to, against how many of their runs passed."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from toolcal.figures import panels, scatter
from toolcal.figures.scatter import Panel, Point, entry
from toolcal.figures.style import plain, styled

_NO_VERDICT = "no write in a run with a verdict"


@styled
def draw(write_rates: pd.DataFrame) -> Figure:
    """Confirmed share against passed share of the same writes, a panel per scenario (and reader, where several are).

    Args:
        write_rates: rows of table write_rates, of one perturbation.
    """
    lacking = panels.missing("write_rates", write_rates, ["confirmed", "acc"])
    if lacking:
        return panels.notice(lacking)
    readers = list(dict.fromkeys(write_rates["reader"]))
    by = "; read by " + plain(readers[0]) if len(readers) == 1 else ""
    return scatter.draw(
        dict(_panels(write_rates, several=len(readers) > 1)),
        list(dict.fromkeys(write_rates["model"])),
        heading="Writes that the user had agreed to, and passed runs of the same writes, 95 % intervals; "
        f"{panels.selection(write_rates)}{by}; "
        "in brackets n: write calls that need the user's yes / those executed, if fewer",
        xlabel="writes that were confirmed (GAR)",
        ylabel="writes in passed runs (Acc)",
        columns=len(readers) if 1 < len(readers) <= 3 else None,
        legend=[
            entry("all write calls"),
            entry("executed ones", hollow=True),
            entry("all, passed > confirmed", violation=True),
            entry("executed, passed > confirmed", violation=True, hollow=True),
            scatter.region("passed without the user's yes"),
        ],
        bound="the bound, passed = confirmed",
    )


def _panels(rates: pd.DataFrame, *, several: bool) -> Iterator[tuple[str, Panel]]:
    for (scenario, reader), rows in rates.groupby(["scenario", "reader"], sort=True):
        every = rows[rows["writes"] == "all"]
        known = every["n"][every["n"] > 0].to_list()
        title = plain(scenario) + (f", {panels.span(known)}" if known else "")
        points = [_point(rows[rows["model"] == model]) for model in every["model"]]
        lacks = [str(model) for model, point in zip(every["model"], points, strict=True) if point is None]
        drawn = [point for point in points if point is not None]
        yield title + (f"\nread by {plain(reader)}" if several else ""), Panel(drawn, _NO_VERDICT, _NO_VERDICT, lacks)


def _point(rows: pd.DataFrame) -> Point | None:
    """One model's mark over all its calls, joined to the one over the executed calls where that stands elsewhere."""
    of = {row["writes"]: row for row in rows.to_dict("records")}
    every, executed = of["all"], of.get("executed")
    if pd.isna(every["confirmed"]) or pd.isna(every["acc"]):
        return None
    ran = 0 if executed is None else executed["n"]
    again = None
    if executed is not None and pd.notna(executed["confirmed"]) and ran != every["n"]:
        again = _mark(executed, hollow=True)
    return _mark(every, note=f"{every['n']}" if ran == every["n"] else f"{every['n']} / {ran}", again=again)


def _mark(row: Mapping[Hashable, Any], *, hollow: bool = False, note: str = "", again: Point | None = None) -> Point:
    x, y, left, right, low, high = (
        np.nan if pd.isna(row[name]) else float(row[name])
        for name in ("confirmed", "acc", "confirmed_low", "confirmed_high", "acc_low", "acc_high")
    )
    return Point(str(row["model"]), x, y, (left, right, low, high), y > x, hollow, note, again)
