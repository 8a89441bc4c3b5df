"""Confidence by outcome: which rows are drawn, where the marks stand, and what n says."""

from __future__ import annotations

import pandas as pd
from matplotlib.colors import to_hex

from tests.figures import made
from tests.figures.seen import clipped, hollow, marks, words
from toolcal.figures import draw
from toolcal.figures.confidence_by_outcome import FEW
from toolcal.figures.style import ALERT


def shown(panel: str) -> pd.DataFrame:
    rows = made.rows(panel, "confidence_by_outcome")
    return rows[(rows["outcome"] != "all") & (rows["n_confident"] > 0)]


def test_a_mark_stands_at_each_mean_hollow_where_there_are_few() -> None:
    rows, figure = shown("large"), made.drawn("large", "confidence_by_outcome")
    drawn = [mark for mark in marks(figure, "o", "D", "s", "v") if len(mark.get_xdata()) == 1]
    assert sorted(mark.get_xdata()[0] for mark in drawn) == sorted(rows["mean_confidence"])
    assert sum(map(hollow, drawn)) == (rows["n_confident"] < FEW).sum() > 0


def test_only_masked_cases_have_the_alert_colour() -> None:
    rows, figure = shown("large"), made.drawn("large", "confidence_by_outcome")
    means = [
        mark.get_xdata()[0]
        for mark in marks(figure, "o", "D", "s", "v")
        if len(mark.get_xdata()) == 1
        and ALERT.lower() in (to_hex(mark.get_markeredgecolor()), to_hex(mark.get_markerfacecolor()))
    ]
    assert sorted(means) == sorted(rows.loc[rows["outcome"] == "masked", "mean_confidence"])


def test_n_stands_for_every_outcome_and_says_what_could_not_be_read() -> None:
    found = words(made.drawn("small", "confidence_by_outcome")).split("\n")
    rows = shown("small")
    for n, confident in zip(rows["n"], rows["n_confident"], strict=True):
        assert (f"{confident}" if n == confident else f"{confident}/{n}") in found
    absent = 4 * rows.groupby(["model", "scenario"]).ngroups - len(rows)
    assert found.count("0") == absent


def test_rows_of_the_other_question_and_of_single_classes_are_not_drawn() -> None:
    rows = made.rows("small", "confidence_by_outcome")
    more = [rows, rows.assign(question="turn_gold"), rows.assign(action="ASK")]
    both = draw("confidence_by_outcome", pd.concat(more))
    assert len(marks(both, "o", "D", "s", "v")) == len(
        marks(made.drawn("small", "confidence_by_outcome"), "o", "D", "s", "v")
    )


def test_a_selection_without_an_outcome_says_so() -> None:
    rows = made.rows("small", "confidence_by_outcome")
    none = draw("confidence_by_outcome", rows[rows["outcome"] == "all"])
    assert "no case of this selection has an outcome" in words(none).replace("\n", " ")


def test_both_benchmarks_and_one_model_alone_fit() -> None:
    assert clipped(made.drawn("joint", "confidence_by_outcome")) == []
    rows = made.rows("small", "confidence_by_outcome")
    assert clipped(draw("confidence_by_outcome", rows[rows["model"] == "smollm2-135m"])) == []
