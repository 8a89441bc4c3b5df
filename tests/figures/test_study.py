"""Figures of the confidence study: which marks stand where, what is counted, and what is said of gaps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tests.figures import made
from tests.figures.frames import ODD
from tests.figures.seen import clipped, hollow, marks, overlapping, words
from toolcal import figures, tables
from toolcal.figures import draw
from toolcal.figures.arms import WHOLE

STUDY = [name for name, source in figures.FIGURES.items() if source.by == ("question_set",)]
TOOL = {"none": "o", "search": "s", "python": "^"}


def whole(panel: str) -> pd.DataFrame:
    rows = made.rows(panel, "calibration")
    return rows[np.logical_and.reduce([rows[column] == value for column, value in WHOLE.items()])]


def points(figure: Figure, marker: str) -> list[tuple[float, float]]:
    """The places of all marks of a kind, where one line may have several; the legend's are not among them."""
    lines: list[Any] = [line for axes in figure.axes for line in axes.lines if line.get_marker() == marker]
    return [(float(x), float(y)) for line in lines for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)]


def panel_of(figure: Figure, *said: str) -> Axes:
    (panel,) = [axes for axes in figure.axes if all(word in axes.get_title("left") for word in said)]
    return panel


def test_there_are_five() -> None:
    assert STUDY == ["reliability", "calibration", "confidence_by_noise", "risk_coverage", "answer_causes"]


@pytest.mark.parametrize("panel", ["small", "odd", "large"])
def test_a_point_per_filled_bin_and_its_count_below(panel: str) -> None:
    rows, figure = made.rows(panel, "reliability"), made.drawn(panel, "reliability")
    for tool, marker in TOOL.items():
        own = rows[(rows["tool"] == tool) & (rows["n"] > 0)]
        expected = sorted(zip(own["confidence"], own["accuracy"], strict=True))
        np.testing.assert_allclose(sorted(points(figure, marker)), expected)
    counts = [text.get_text() for axes in figure.axes for text in axes.texts if text.get_text()[0].isdigit()]
    assert len(counts) == (rows["n"] > 0).sum()
    if panel == "small":
        assert sum(map(int, counts)) == rows["n"].sum()


def test_titles_tell_how_many_answers_have_a_confidence() -> None:
    figure = made.drawn("large", "reliability")
    assert "n = 900 of 1200" in panel_of(figure, "Qwen3-32B", "search, noise 0.5").get_title("left").replace("\n", " ")
    assert panel_of(figure, "gpt-5", "direct").get_title("left").endswith("n = 1200")
    assert "Qwen3-8B-search-r1 (trained)" in words(figure).replace("\n", " ")
    odd = panel_of(made.drawn("odd", "reliability"), ODD[1], "search")
    assert "no answers" in [text.get_text() for text in odd.texts]


@pytest.mark.parametrize("panel", ["small", "odd"])
def test_mcip_and_ece_stand_in_their_panels_with_their_counts(panel: str) -> None:
    rows, figure = whole(panel), made.drawn(panel, "calibration")
    for axes, metric in zip(figure.axes, ("mcip", "mcip_common", "ece10", "ece_debiased"), strict=True):
        found = [float(line.get_xdata()[0]) for line in axes.lines if line.get_marker() in TOOL.values()]
        assert sorted(found) == sorted(rows[metric].dropna())
    beside = [text.get_text() for text in figure.axes[0].texts]
    assert [word for word in beside if word.isdigit()].count("0") == (rows["n_wrong"] == 0).sum()
    if panel == "odd":
        assert "no answers" in beside


def test_long_names_of_models_go_on_over_empty_lines() -> None:
    figure = made.drawn("odd", "calibration")
    names = [text for text in figure.axes[0].texts if text.get_fontweight() == "bold"]
    assert len(names) == len(ODD)
    beside = [label for label in figure.axes[0].get_yticklabels() if label.get_text()]
    others = [text for axes in figure.axes for text in axes.texts if text not in names and text.get_text()]
    for name in names:
        assert overlapping(figure, [name, *beside]) == []
        pairs = overlapping(figure, [name, *others])
        assert [pair for pair in pairs if str(name) in pair] == []


def test_accuracy_is_filled_and_confidence_hollow_at_every_noise() -> None:
    rows, figure = whole("small"), made.drawn("small", "confidence_by_noise")
    (axes,) = figure.axes
    for measure, is_hollow in (("accuracy", False), ("mean_confidence", True)):
        lines: list[Any] = [
            line for line in axes.lines if line.get_marker() in TOOL.values() and hollow(line) == is_hollow
        ]
        found = {line.get_marker(): list(line.get_ydata()) for line in lines}
        for tool, marker in TOOL.items():
            own = rows[rows["tool"] == tool].sort_values("noise")
            assert found[marker] == pytest.approx(own[measure].tolist())
    assert [label.get_text() for label in axes.get_xticklabels()] == ["direct", "0", "0.5"]
    assert "n = 24; read: 100 %" in words(figure).replace("\N{NO-BREAK SPACE}", " ")
    places = sorted(x for line in axes.lines if line.get_marker() in TOOL.values() for x in line.get_xdata())
    assert len(set(np.round(places, 3))) == len(places)


def test_coverage_stands_above_each_panel_of_noise() -> None:
    said = words(made.drawn("large", "confidence_by_noise")).replace("\N{NO-BREAK SPACE}", " ")
    assert "Qwen3-32B n = 1200; read: 75 %" in said
    odd = words(made.drawn("odd", "confidence_by_noise")).replace("\N{NO-BREAK SPACE}", " ")
    assert "n = 0 to 24" in odd


def test_curves_of_risk_end_at_the_error_rate_and_count_what_is_ranked() -> None:
    rows, figure = made.rows("large", "risk_coverage"), made.drawn("large", "risk_coverage")
    axes = panel_of(figure, "Qwen3-32B", "noise 0.5")
    assert "direct 900 of 1200; search 900 of 1200" in axes.get_xlabel().replace("\n", " ").replace(
        "\N{NO-BREAK SPACE}", " "
    )
    own = rows[(rows["model"] == "Qwen3-32B") & (rows["coverage"] == 1)]
    expected = own[(own["tool"] == "none") | (own["noise"] == 0.5)]["risk"]
    lines: list[Any] = [line for line in axes.lines if len(line.get_xdata()) and line.get_linestyle() != "None"]
    assert sorted(line.get_ydata()[-1] for line in lines) == pytest.approx(sorted(expected))
    assert len(figure.axes) == 4 * 3


def test_bars_of_causes_tell_the_wrong_answers_of_all() -> None:
    rows, figure = made.rows("small", "answer_causes"), made.drawn("small", "answer_causes")
    notes = [text.get_text() for text in figure.axes[0].texts]
    cells = rows.drop_duplicates(["tool", "noise"])
    assert sorted(notes) == sorted(f"{row.n_wrong} of {row.n_answers}" for row in cells.itertuples())
    assert sum(patch.get_width() for patch in figure.axes[0].patches) == pytest.approx(len(cells))
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "misread" in legend
    assert "no call" not in legend
    assert "no answers" in words(made.drawn("odd", "answer_causes"))


@pytest.mark.parametrize(
    ("name", "null", "said"),
    [
        ("answer_causes", {"n": 0, "n_wrong": 0, "share": np.nan}, "no wrong answer; set world"),
        ("reliability", {"n": 0, "accuracy": np.nan}, "no confidence that could be read; set world"),
        ("risk_coverage", {"n": 0, "risk": np.nan}, "no confidence that could be read; set world"),
        ("calibration", {"ece10": np.nan}, "no confidence that could be read; set world"),
        ("calibration", {"n": 0, "ece10": np.nan}, "no answer with a verdict; set world"),
        ("confidence_by_noise", {"n": 0, "accuracy": np.nan}, "no answer with a verdict; set world"),
        ("risk_coverage", {"n": 0, "n_answers": 0, "risk": np.nan}, "no answer with a verdict; set world"),
    ],
)
def test_where_there_is_nothing_to_show_it_says_of_what(name: str, null: dict[str, Any], said: str) -> None:
    assert said in words(draw(name, made.rows("small", name).assign(**null)))


def test_no_line_runs_through_what_an_empty_panel_says() -> None:
    panel = panel_of(made.drawn("odd", "reliability"), ODD[1], "search")
    assert [text.get_text() for text in panel.texts] == ["no answers"]
    assert [line.get_ydata() for line in panel.lines if line.get_ydata()[0] != line.get_ydata()[1]] == []


@pytest.mark.parametrize("name", STUDY)
@pytest.mark.parametrize("panel", ["small", "large", "odd"])
def test_headings_titles_and_legends_stand_apart(name: str, panel: str) -> None:
    figure = made.drawn(panel, name)
    parts: list[Any] = [figure._suptitle, *figure.legends]
    parts += [axes._left_title for axes in figure.axes]  # type: ignore[attr-defined]
    parts += [axes.xaxis.label for axes in figure.axes if axes.get_xlabel()]
    assert overlapping(figure, parts) == []
    assert clipped(figure) == []


@pytest.mark.parametrize("name", STUDY)
def test_of_two_sets_each_page_shows_its_own(name: str) -> None:
    rows = made.rows("small", name)
    both = pd.concat([rows, rows.assign(question_set="nq")], ignore_index=True)
    own = figures.rows(name, both, ".nq")
    assert len(own) == len(rows)
    assert "set nq" in words(draw(name, own))


def test_one_tool_and_no_noise_are_enough() -> None:
    for name in STUDY:
        rows = made.rows("small", name)
        rows = rows[rows["tool"].isin(["none", "search"]) & (rows["noise"] == 0)]
        figure = draw(name, rows)
        assert clipped(figure) == []
        assert marks(figure, "^") == []
        assert "python" not in words(figure)
        assert tables.frame(figures.FIGURES[name].table, []).columns.tolist() == rows.columns.tolist()
