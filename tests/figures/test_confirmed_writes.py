"""Confirmed writes against passed runs: what is drawn, joined, named and left out."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from tests.figures import talks
from tests.figures.seen import clipped, words
from toolcal import tables
from toolcal.figures import draw
from toolcal.figures.style import ALERT, BLUE


def frame(**options: Any) -> pd.DataFrame:
    return tables.frame("write_rates", talks.write_rates(**options))


def marks(figure: Figure, *, hollow: bool) -> dict[tuple[float, float], str]:
    """Where marks stand, and their colour."""
    found = [line for axes in figure.axes for line in axes.lines if line.get_marker() in ("o", "D")]
    return {
        (line.get_xdata()[0], line.get_ydata()[0]): to_hex(line.get_markeredgecolor()).upper()
        for line in found
        if (line.get_markerfacecolor() == "white") == hollow
    }


def test_all_calls_are_filled_marks_and_executed_ones_hollow() -> None:
    rows = frame()
    figure = draw("confirmed_writes", rows)
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
    figure = draw("confirmed_writes", frame())
    renderer = FigureCanvasAgg(figure).get_renderer()
    for axes in figure.axes:
        labels = [text for text in axes.texts if text.get_gid() == "label"]
        for one, other in combinations(labels, 2):
            a, b = (text.get_window_extent(renderer).padded(-1) for text in (one, other))
            assert not a.overlaps(b), (one.get_text(), other.get_text())
    rows = frame().query("model == 'gpt-5.4' and scenario == 'tau2-airline'").set_index("writes")
    assert f"gpt-5.4 ({rows['n']['all']} / {rows['n']['executed']})" in words(figure)


def test_a_model_without_a_verdict_is_named() -> None:
    said = words(draw("confirmed_writes", frame()))
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


def test_two_perturbations_are_refused() -> None:
    rows = frame()
    with pytest.raises(ValueError, match="one perturbation"):
        draw("confirmed_writes", pd.concat([rows, rows.assign(perturbation="other")]))


def test_without_writes_the_figure_says_so() -> None:
    assert "table write_rates has no rows" in words(draw("confirmed_writes", tables.frame("write_rates", [])))
