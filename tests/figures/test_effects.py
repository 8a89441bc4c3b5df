"""Figures of a perturbation's effects: which marks stand where, what is marked, counted, named and left out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from tests.figures import made, moves
from tests.figures.seen import crowded, hollow, marks, overlapping, place, words
from toolcal.figures import draw
from toolcal.figures.effects import points
from toolcal.figures.style import ALERT

RATES = {"gar_case_any": "o", "acc": "s"}
PANELS = ("small", "large", "odd", "recorded")


def rates(panel: str, name: str, measure: str) -> pd.DataFrame:
    """The rows of one rate that have a delta."""
    rows = made.rows(panel, name)
    return rows[(rows["measure"] == measure) & rows["delta"].notna()]


def beside(axes: Axes) -> list[str]:
    """The words beside a panel, from the top, and from the left in each row."""
    found: list[Any] = [text for text in axes.texts if text.get_text()]
    return [text.get_text() for text in sorted(found, key=lambda text: (text.xy[1], text.get_position()[0]))]


@pytest.mark.parametrize("panel", PANELS)
@pytest.mark.parametrize("measure", RATES)
def test_dumbbells_go_from_the_hollow_baseline_to_the_filled_perturbed_rate(panel: str, measure: str) -> None:
    rows = rates(panel, "dumbbells", measure)
    found = marks(made.drawn(panel, "dumbbells"), RATES[measure])
    for column, is_hollow in (("baseline", True), ("perturbed", False)):
        across = [place(mark)[0] for mark in found if hollow(mark) == is_hollow]
        assert sorted(across) == sorted(rows[column])


def test_dumbbells_have_their_difference_beside_them_and_a_star_where_it_is_significant() -> None:
    rows = made.rows("recorded", "dumbbells")
    figure = made.drawn("recorded", "dumbbells")
    for axes in figure.axes:
        own = rows[rows["scenario"] == axes.get_title("left").split("\n")[0]].sort_values("family")
        said = [words.strip() for words in beside(axes)]
        for family, pair in own.groupby("family", sort=True):
            for row in pair.itertuples():
                assert points(row.delta) + "*" * bool(row.p_holm < 0.05) in said, family
    base = beside(figure.axes[0])
    assert base[:2] == ["Δ", "n"]
    assert "−21.0*" in base
    assert "+11.5*" in base
    assert base.count("200") == 6


def test_families_without_a_rate_say_why() -> None:
    said = words(made.drawn("odd", "dumbbells")).split("\n")
    assert said.count("not run") == 1
    assert said.count("GAR: not recorded") == 1
    assert said.count("GAR: no pairs") == said.count("Acc: no pairs") == 1
    assert said.count("197 (3)") == 2
    assert "in brackets: case-trials that make no pair" in " ".join(said)


def test_a_family_of_several_models_says_how_many() -> None:
    names = [label.get_text() for label in made.drawn("large", "dumbbells").axes[0].get_yticklabels()]
    assert "Qwen3 (5)" in names
    assert "ToolACE-2" in names


def bars(figure: Figure) -> list[tuple[float, float]]:
    """The ends of all intervals."""
    lines = [line for axes in figure.axes for line in axes.lines if line.get_color() != "#8C8C8C"]
    return [tuple(line.get_xdata()) for line in lines if len(line.get_xdata()) == 2]


@pytest.mark.parametrize("panel", PANELS)
def test_the_forest_has_deltas_in_their_intervals_filled_where_significant(panel: str) -> None:
    figure = made.drawn(panel, "forest")
    every = []
    for measure, marker in RATES.items():
        rows = rates(panel, "forest", measure)
        differs = rows[rows["p"].notna()]
        for is_hollow in (True, False):
            some = differs[(differs["p_holm"] >= 0.05) == is_hollow]
            found = [place(mark)[0] for mark in marks(figure, marker) if hollow(mark) == is_hollow]
            assert sorted(found) == sorted(some["delta"])
        every.append(rows)
    all_rows = pd.concat(every)
    assert sorted(bars(figure)) == sorted(zip(all_rows["delta_low"], all_rows["delta_high"], strict=True))
    upright = marks(figure, "|")
    assert [place(mark)[0] for mark in upright] == [0] * int(all_rows["p"].isna().sum())


def test_counts_stand_beside_their_row() -> None:
    rows = made.rows("recorded", "forest")
    figure = made.drawn("recorded", "forest")
    names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert names == [
        "Hammer-2.1-7B",
        "Llama-3.1-8B-Instruct",
        "Qwen3-8B",
        "ToolACE-2-8B",
        "Watt-Tool-8B",
        "xLAM-2-8b-fc-r",
    ]
    own = rows[(rows["scenario"] == "bfcl-base") & (rows["measure"] == "acc")].set_index("model")
    wanted = [str(own.loc[name, column]) for name in names for column in ("n", "gained", "lost")]
    assert beside(figure.axes[1]) == ["n", "gained", "lost", *wanted]
    odd = words(made.drawn("odd", "forest")).split("\n")
    assert odd.count("0 (200)") == 2
    assert odd.count("no pairs") == 2
    assert odd.count("not recorded") == 1


def test_scripted_policies_come_last_with_a_star() -> None:
    names = [label.get_text() for label in made.drawn("small", "forest").axes[0].get_yticklabels()]
    assert names == ["smollm2-135m", "halts_early*", "oracle*"]
    for name in ("dumbbells", "forest", "movement"):
        assert "*: scripted policy" in words(made.drawn("small", name))
        assert "*: scripted policy" not in words(made.drawn("recorded", name))


def test_every_scenario_has_a_pair_of_panels_on_one_scale() -> None:
    for panel, across in (("recorded", 2), ("large", 4)):
        figure = made.drawn(panel, "forest")
        assert len(figure.axes) == 8
        assert len({round(axes.get_position().x0, 3) for axes in figure.axes}) == across
        assert len({axes.get_xlim() for axes in figure.axes}) == 1
        assert figure.get_figheight() < 9.5
        assert [axes.get_title("center") for axes in figure.axes] == ["\nΔ GAR", "\nΔ Acc"] * 4
        titles = [text for axes in figure.axes for text in axes.texts if text.get_text().startswith("bfcl-")]
        assert len(titles) == 4
        assert overlapping(figure, [*titles, *(axes.title for axes in figure.axes), figure._suptitle]) == []


def arrows(figure: Figure) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    """Where arrows start and end."""
    found = [text for axes in figure.axes for text in axes.texts if getattr(text, "arrow_patch", None) is not None]
    return [(text.get_position(), text.xy) for text in found if "-|>" in str(text.arrowprops["arrowstyle"])]


def both(panel: str) -> pd.DataFrame:
    """Both rates of a model in one row, where both have a delta."""
    key = ["model", "scenario"]
    gar, acc = (rates(panel, "movement", measure).set_index(key) for measure in RATES)
    return gar.join(acc.add_suffix("_acc"), how="inner")


@pytest.mark.parametrize("panel", PANELS)
def test_arrows_go_from_baseline_to_perturbed_where_a_model_moved(panel: str) -> None:
    rows = both(panel)
    ends = [
        list(zip(rows[at].astype(float), rows[f"{at}_acc"].astype(float), strict=True))
        for at in ("baseline", "perturbed")
    ]
    moved = [(start, end) for start, end in zip(*ends, strict=True) if start != end]
    assert len(moved) >= 2
    assert sorted(arrows(made.drawn(panel, "movement"))) == sorted(moved)


@pytest.mark.parametrize("panel", PANELS)
def test_diamonds_in_the_alert_colour_are_violations_at_either_end(panel: str) -> None:
    rows, figure = both(panel), made.drawn(panel, "movement")
    moved = (rows["baseline"] != rows["perturbed"]) | (rows["baseline_acc"] != rows["perturbed_acc"])
    for at, some in (("baseline", rows[moved]), ("perturbed", rows)):
        found = [mark for mark in marks(figure, "D") if hollow(mark) == (at == "baseline")]
        broken = some[some[f"{at}_acc"] > some[at]]
        assert sorted(map(place, found)) == sorted(zip(broken[at], broken[f"{at}_acc"], strict=True))
        assert {to_hex(mark.get_markeredgecolor()) for mark in found} <= {ALERT.lower()}


@pytest.mark.parametrize("panel", PANELS)
def test_labels_of_arrows_do_not_overlap(panel: str) -> None:
    assert crowded(made.drawn(panel, "movement")) == []


def test_a_model_without_both_rates_is_named_under_its_panel() -> None:
    under = [axes.get_xlabel().replace("\n", " ") for axes in made.drawn("odd", "movement").axes]
    assert under[0] == f"GAR not recorded: {moves.ODD[3]}"
    assert under[1].startswith("GAR no pairs: WWWW")
    assert "197 to 200" in words(made.drawn("odd", "movement")).replace("\N{NO-BREAK SPACE}", " ")


@pytest.mark.parametrize("name", ["dumbbells", "forest", "movement"])
def test_the_decisive_view(name: str) -> None:
    rows = made.rows("small", name)
    decisive = rows.assign(measure=rows["measure"].replace("gar_case_any", "gar_decisive"))
    assert "decisive view" in words(draw(name, decisive, view="decisive"))


def test_points_have_their_sign() -> None:
    assert [points(delta) for delta in (0.115, -0.21, 0.0, -0.0001, np.float64(1))] == [
        "+11.5",
        "−21.0",
        "0.0",
        "0.0",
        "+100.0",
    ]
