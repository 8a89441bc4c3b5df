"""The labels' validity: which marks stand where, and what is said of the halves."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from tests.figures import made, talks
from tests.figures.seen import words
from toolcal import tables
from toolcal.figures import draw


def frame() -> pd.DataFrame:
    return tables.frame("validity", talks.validity())


def points(panel: Axes, *, pale: bool) -> list[float]:
    lines: list[Any] = [line for line in panel.lines if line.get_marker() != "None"]
    return sorted(line.get_xdata()[0] for line in lines if (line.get_markerfacecolor() == "white") == pale)


def test_full_marks_are_of_test_and_pale_ones_of_dev() -> None:
    rows = frame()
    figure = made.drawn("small", "validity")
    shown = rows[rows["label"] != "information"]
    for panel, measure in zip(figure.axes, ("precision", "recall", "f1", "kappa"), strict=True):
        for half, pale in (("test", False), ("dev", True)):
            assert points(panel, pale=pale) == sorted(shown[shown["half"] == half][measure].dropna().astype(float))


def test_the_heading_tells_each_halfs_n_and_the_rows_how_many_have_the_label() -> None:
    figure = made.drawn("small", "validity")
    said = words(figure)
    assert "half test, n = 200 messages and 120 writes; pale: half dev, n = 200 messages and 120 writes" in said
    rows = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert rows == ["ASK (71)", "REFUSE (34)", "CONFIRM (48)", "OTHER (80)", "macro mean", "confirmed write (77)"]


def test_one_half_and_one_labeller_are_enough() -> None:
    rows = frame()
    said = words(draw("validity", rows[(rows["half"] == "dev") & (rows["labeller"] == "refined")]))
    assert "half dev, n = 200 messages; in brackets: how many in dev" in said
    assert "paper_like" not in said


def test_kappa_below_zero_is_inside() -> None:
    rows = frame()
    rows.loc[0, ["kappa", "kappa_low", "kappa_high"]] = [-0.1, -0.3, 0.1]
    assert draw("validity", rows).axes[3].get_xlim()[0] < -0.3
