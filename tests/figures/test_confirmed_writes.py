"""Confirmed writes against passed runs: what is drawn, joined, named and left out."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from tests.figures import made, seen, talks
from tests.figures.seen import clipped, crowded, words
from toolcal import tables
from toolcal.figures import draw
from toolcal.figures.style import ALERT, BLUE


def frame(**options: Any) -> pd.DataFrame:
    return tables.frame("write_rates", talks.write_rates(**options))


def marks(figure: Figure, *, hollow: bool) -> dict[tuple[float, float], str]:
    """Where marks stand, and their colour."""
    found = [mark for mark in seen.marks(figure, "o", "D") if seen.hollow(mark) == hollow]
    return {seen.place(mark): to_hex(mark.get_markeredgecolor()).upper() for mark in found}


def test_all_calls_are_filled_marks_and_executed_ones_hollow() -> None:
    rows = frame()
    figure = made.drawn("small", "confirmed_writes")
    drawn = rows[rows["confirmed"].notna()]
    keys = ["model", "scenario"]
    every, executed = (drawn[drawn["writes"] == which] for which in ("all", "executed"))
    fewer = executed.merge(every[[*keys, "n"]], on=keys, suffixes=("", "_all")).query("n < n_all")
    for some, hollow in ((every, False), (fewer, True)):
        colours = [
            ALERT if acc > confirmed else BLUE for confirmed, acc in zip(some["confirmed"], some["acc"], strict=True)
        ]
        places = zip(some["confirmed"], some["acc"], strict=True)
        assert marks(figure, hollow=hollow) == dict(zip(places, colours, strict=True))


def test_labels_name_both_counts_and_do_not_overlap() -> None:
    figure = made.drawn("small", "confirmed_writes")
    assert crowded(figure) == []
    rows = frame().query("model == 'gpt-5.4' and scenario == 'tau2-airline'").set_index("writes")
    assert f"gpt-5.4 ({rows['n']['all']} / {rows['n']['executed']})" in words(figure)


def test_a_model_without_a_verdict_is_named() -> None:
    said = words(made.drawn("small", "confirmed_writes"))
    assert "no write in a run with a verdict: o4-mini" in said
    alone = frame(models=("o4-mini",))
    assert "tau1-airline: no write in a run with a verdict" in words(draw("confirmed_writes", alone))


def test_several_readers_have_panels_of_their_own_side_by_side() -> None:
    figure = draw("confirmed_writes", frame(scenarios=("tau2-airline", "tau2-retail"), readers=("judge", "rule")))
    titles = [axes.get_title("left").replace("\N{NO-BREAK SPACE}", " ") for axes in figure.axes]
    assert [title.split(",")[0] + title.split("\n")[1] for title in titles] == [
        "tau2-airlineread by judge",
        "tau2-airlineread by rule",
        "tau2-retailread by judge",
        "tau2-retailread by rule",
    ]
    one = words(draw("confirmed_writes", frame(scenarios=("tau2-airline",))))
    assert "read by rule" in one


@pytest.mark.parametrize("models", [talks.RECORDED, [f"model-{number}-instruct" for number in range(22)]])
def test_one_panel_clips_nothing(models: list[str]) -> None:
    assert clipped(draw("confirmed_writes", frame(models=models, scenarios=("tau2-airline",)))) == []
