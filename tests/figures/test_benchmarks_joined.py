"""Figures of two benchmarks in one, in which different models took part, and gold actions have different rules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.figures import frames, talks
from tests.figures.seen import words
from toolcal.figures import FIGURES, draw

OWN_RULES = "tau panels: by the benchmark's own rules"


@pytest.fixture(scope="module")
def joint(tmp_path_factory: pytest.TempPathFactory) -> dict[str, pd.DataFrame]:
    return frames.all_tables(talks.joint_cells(), tmp_path_factory.mktemp("joint"))


@pytest.mark.parametrize("name", ["gar_acc", "shares", "ranks", "slack_reasons"])
def test_the_heading_says_whose_rules_tell_the_gold_action(name: str, joint: dict[str, pd.DataFrame]) -> None:
    rows = joint[FIGURES[name].table]
    tau = rows["scenario"].str.startswith("tau")
    assert OWN_RULES in words(draw(name, rows))
    assert "(by the benchmark's own rules)" in words(draw(name, rows[tau]))
    assert "(case_any view)" in words(draw(name, rows[~tau]))


def test_a_model_is_missed_only_in_benchmarks_in_which_it_took_part(joint: dict[str, pd.DataFrame]) -> None:
    cells = joint["cells"]
    assert "not drawn" not in words(draw("gar_acc", cells))
    lost = (cells["model"] == "gpt-5") & (cells["scenario"] == "tau2-retail") & (cells["gold_action"] == "ASK")
    assert "not drawn: tau2-retail gold ASK: gpt-5; tau1" in words(draw("gar_acc", cells[~lost]))


def test_panels_without_points_are_named_in_the_heading(joint: dict[str, pd.DataFrame]) -> None:
    figure = draw("gar_acc", joint["cells"])
    assert "tau1-airline gold TOOL_CALL: GAR not recorded" in words(figure)
    assert "tau1-airline gold TOOL_CALL: no ranks" in words(draw("ranks", joint["families"]))


def test_bars_have_rows_for_those_who_took_part(joint: dict[str, pd.DataFrame]) -> None:
    figure = draw("shares", joint["cells"])
    rows = {axes.get_title("left"): [label.get_text() for label in axes.get_yticklabels()] for axes in figure.axes}
    assert rows["tau1-airline\ngold REFUSE"] == list(talks.RECORDED)
    assert "oracle" in rows["bfcl-base\ngold TOOL_CALL"]
    assert "not run" not in words(figure)


def test_a_page_has_room_for_all_of_them(joint: dict[str, pd.DataFrame]) -> None:
    heights: dict[str, Any] = {
        name: draw(name, joint[FIGURES[name].table]).get_figheight() for name in ("gar_acc", "shares")
    }
    assert max(heights.values()) < 9


def test_scripted_policies_are_marked_among_families(joint: dict[str, pd.DataFrame], tmp_path: Path) -> None:
    said = words(draw("ranks", joint["families"]))
    assert "*: scripted policy" in said
    assert "always_refuse*" in said
    assert "Claude*" not in said
