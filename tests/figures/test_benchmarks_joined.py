"""Figures of two benchmarks in one, in which different models took part, and gold actions have different rules."""

from __future__ import annotations

import pytest

from tests.figures import made, talks
from tests.figures.seen import words
from toolcal.figures import draw

OWN_RULES = "tau panels: by the benchmark's own rules"


@pytest.mark.parametrize("name", ["gar_acc", "shares", "ranks", "slack_reasons"])
def test_the_heading_says_whose_rules_tell_the_gold_action(name: str) -> None:
    rows = made.rows("joint", name)
    assert OWN_RULES in words(made.drawn("joint", name))
    by_scenario = dict(list(rows.groupby("scenario")))
    assert "(by the benchmark's own rules)" in words(draw(name, by_scenario["tau2-retail"]))
    assert "(case_any view)" in words(draw(name, by_scenario["bfcl-miss_func"]))


def test_a_model_is_missed_only_in_benchmarks_in_which_it_took_part() -> None:
    cells = made.rows("joint", "gar_acc")
    assert "not drawn" not in words(made.drawn("joint", "gar_acc"))
    lost = (cells["model"] == "gpt-5") & (cells["scenario"] == "tau2-retail") & (cells["gold_action"] == "ASK")
    assert "not drawn: tau2-retail gold ASK: gpt-5; tau1" in words(draw("gar_acc", cells[~lost]))


def test_panels_without_points_are_named_in_the_heading() -> None:
    figure = made.drawn("joint", "gar_acc")
    assert "tau1-airline gold TOOL_CALL: GAR not recorded" in words(figure)
    assert "tau1-airline gold TOOL_CALL: no ranks" in words(made.drawn("joint", "ranks"))


def test_bars_have_rows_for_those_who_took_part() -> None:
    figure = made.drawn("joint", "shares")
    rows = {axes.get_title("left"): [label.get_text() for label in axes.get_yticklabels()] for axes in figure.axes}
    assert rows["tau1-airline\ngold REFUSE"] == list(talks.RECORDED)
    assert "oracle" in rows["bfcl-base\ngold TOOL_CALL"]
    assert "not run" not in words(figure)


def test_a_page_has_room_for_all_of_them() -> None:
    assert max(made.drawn("joint", name).get_figheight() for name in ("gar_acc", "shares")) < 9


def test_scripted_policies_are_marked_among_families() -> None:
    said = words(made.drawn("joint", "ranks"))
    assert "*: scripted policy" in said
    assert "always_refuse*" in said
    assert "Claude*" not in said
