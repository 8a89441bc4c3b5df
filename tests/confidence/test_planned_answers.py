"""Planned answers beside given ones: what is missing, what is not graded, and what was never planned."""

from __future__ import annotations

import pandas as pd
import pytest

from tests.confidence import scripted
from toolcal.confidence.plan import StudyCell
from toolcal.confidence.planned_answers import planned_answers

CELL = StudyCell("m", "world", "direct", "none", 0.0)
ASKED = scripted.questions(10)
GIVEN = scripted.answers(CELL, ASKED, scripted.shy)


def rows_of(given, *, limit=None, trials=1, cells=(CELL,)):
    return planned_answers(given, ASKED, cells, {"world": limit}, trials)[CELL]


def test_answers_stand_where_they_were_planned():
    rows = rows_of(GIVEN.sample(frac=1, random_state=1))
    assert rows["question_id"].tolist() == sorted(ASKED["question_id"])
    assert rows["correct"].tolist() == GIVEN.sort_values("question_id")["correct"].astype(float).tolist()
    assert rows["confidence"].isna().sum() == 3
    assert set(rows["confidence"].dropna()) == {0.9}


def test_what_was_not_answered_or_broke_has_no_verdict():
    broken = pd.concat([GIVEN.iloc[:4], scripted.failed(GIVEN.iloc[4:7])])
    rows = rows_of(broken)
    assert len(rows) == 10
    assert rows["correct"].notna().sum() == 4
    assert rows_of(GIVEN.iloc[:0])["correct"].isna().all()


def test_limits_take_the_first_of_the_draw_and_trials_repeat_them():
    chosen = set(ASKED.sort_values("draw")["question_id"].head(4))
    rows = rows_of(GIVEN.iloc[:0], limit=4, trials=3)
    assert set(rows["question_id"]) == chosen
    assert rows.groupby("question_id")["trial"].apply(list).tolist() == [[0, 1, 2]] * 4


def test_what_was_not_planned_is_refused():
    with pytest.raises(ValueError, match=r"m, world, direct, none, 0\.0: 6 answers to questions that were not planned"):
        rows_of(GIVEN, limit=4)
    with pytest.raises(ValueError, match="cells that were not planned"):
        planned_answers(GIVEN, ASKED, [], {"world": None}, 1)
