"""The estimate of the confidence study: which questions its journals have no answer to, and what one takes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from toolcal import tables
from toolcal.confidence.plan import StudyCell
from toolcal.confidence.sets import questions_of
from toolcal.estimate.remaining import Remaining, asked, remaining
from toolcal.estimate.sizes import CALL_TOKENS, CHARACTERS_PER_TOKEN
from toolcal.estimate.work import Work

CALLS = 2
"""Of the tool, for a question."""
OPENING_TOKENS = 300
"""Of the system message and the tool."""
RESULT_TOKENS = 400
"""Of a result: five passages of 300 characters, or what a snippet prints."""
ANSWER_TOKENS = 60


def left_of(questions: str | Path, journal: str | Path, *, limit: int | None, trials: int) -> Remaining:
    """What is left of a cell, by its journal; a question that was begun counts as answered.

    Args:
        questions: file of its table `questions`.
        journal: its journal.
        limit: how many questions are taken.
        trials: repetitions of each.
    """
    ids = [question.question_id for question in questions_of(tables.read("questions", questions), limit)]
    planned = [(question, trial) for question in ids for trial in range(trials)]
    return remaining(planned, dict.fromkeys(ids, 1), asked(journal), {})


def sizes(cell: StudyCell, questions: str | Path) -> dict[str, Work]:
    """Question id -> the work of one answer, by sizes alone."""
    calls = 0 if cell.tool == "none" else CALLS
    return {
        question.question_id: _work(len(question.text) / CHARACTERS_PER_TOKEN + OPENING_TOKENS, calls)
        for question in questions_of(tables.read("questions", questions))
    }


def _work(opening: float, calls: int) -> Work:
    growth = RESULT_TOKENS + CALL_TOKENS
    read: Sequence[float] = [opening + growth * number for number in range(calls + 1)]
    return Work(calls + 1, sum(read), calls * CALL_TOKENS + ANSWER_TOKENS)
