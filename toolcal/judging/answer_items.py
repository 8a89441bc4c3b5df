"""The answers of the confidence study as a judge reads them: question, accepted answers, and the one that was given."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from toolcal import tables
from toolcal.confidence.plan import level
from toolcal.confidence.tables import STUDY
from toolcal.judging.answer import read_right
from toolcal.judging.question import RIGHT_ANSWER, Question
from toolcal.judging.record import line

KEY = (*STUDY, "question_id", "trial")
LONGEST = 4000
"""Characters of an answer that are shown, from its beginning."""


@dataclass(frozen=True)
class AnswerItem:
    """One answer: its values of the columns `KEY`, the question, what is accepted, and what was given."""

    key: Mapping[str, Any]
    text: str
    accepted: Sequence[str]
    given: str

    @property
    def question(self) -> Question:
        """Is it right?"""
        return RIGHT_ANSWER

    @property
    def keys(self) -> Sequence[Mapping[str, Any]]:
        """One row."""
        return [self.key]

    @property
    def call(self) -> tuple[str, int, int, int]:
        """Its place in the journal."""
        key = self.key
        cell = f"{key['question_set']}.{key['configuration']}.{key['tool']}.{level(key['noise'])}"
        return f"{cell} {key['question_id']} {RIGHT_ANSWER.name}", key["trial"], 0, 0

    def sections(self) -> dict[str, str]:
        """Question, accepted answers and the given one."""
        return {
            "question": line(self.text),
            "accepted": line(list(self.accepted)),
            "given": line(self.given[:LONGEST]),
        }

    def read(self, text: str) -> list[dict[str, Any]]:
        """The judge's answer."""
        right, reason = read_right(text)
        return [{"verdict": right, "reason": reason}]


def answer_items(answers: pd.DataFrame, questions: pd.DataFrame) -> list[AnswerItem]:
    """The answers there are, in the order of their key; where none was given there is nothing to judge.

    Args:
        answers: rows of table `answers`.
        questions: rows of table `questions`, of their sets and noise levels.
    """
    asked = {(row["question_set"], row["noise"], row["question_id"]): row for row in tables.records(questions)}
    items = []
    for row in tables.records(answers[answers["answer"].notna()].sort_values(list(KEY))):
        question = asked[row["question_set"], row["noise"], row["question_id"]]
        key = {name: row[name] for name in KEY}
        items.append(AnswerItem(key, question["text"], json.loads(question["answers"]), row["answer"]))
    return items
