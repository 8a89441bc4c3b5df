"""What is trained on: questions with a tool each, none of which the study asks, spread over levels of difficulty.

Questions of one difficulty would draw all confidences to one value, so each step takes its tasks in turn from all
strata: question set, tool, noise and difficulty.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import pandas as pd

from toolcal.confidence.grading import normalised
from toolcal.confidence.questions import Question
from toolcal.confidence.sets import questions_of

_Item = TypeVar("_Item")


class NoQuestionError(ValueError):
    """There is nothing to train on; one line, with what to do."""


@dataclass(frozen=True)
class Place:
    """Where a task is asked: what its tool sees depends on these alone."""

    question_set: str
    noise: float
    tool: str


@dataclass(frozen=True)
class Task:
    """A question, answered with one tool at one noise."""

    place: Place
    question: Question
    done: str
    """What noise did to the support that the tool reaches; `none` where nothing."""

    @property
    def stratum(self) -> tuple[Place, str]:
        """Tasks of one stratum are alike in all that the configuration sets."""
        return self.place, self.question.difficulty


def tasks_of(
    sets: Mapping[Place, pd.DataFrame],
    limits: Mapping[str, int | None],
    held_out: Sequence[pd.DataFrame] = (),
) -> list[Task]:
    """The tasks of a training.

    Args:
        sets: the table `questions` of each place.
        limits: of each question set, how many questions of its draw are taken; None for all.
        held_out: tables `questions` of the study, as far as it asks them: no question with the words of one of these
            is trained on.

    Raises:
        NoQuestionError: none is left.
    """
    asked = {normalised(text) for table in held_out for text in table["text"]}
    found: list[Task] = []
    left_out = 0
    for place, table in sets.items():
        done = dict(zip(table["question_id"], table[f"done_{place.tool}"], strict=True))
        for question in questions_of(table, limits[place.question_set]):
            if normalised(question.text) in asked:
                left_out += 1
                continue
            found.append(Task(place, question, str(done[question.question_id])))
    if not found:
        raise NoQuestionError(
            f"training.sets: no question is left to train on: the study (confidence.sets) asks all {left_out}; give "
            "the set another seed or file, or the study's a smaller limit"
        )
    return found


def spread(tasks: Sequence[Task], seed: int) -> Iterator[Task]:
    """The tasks in the order of the training, without end: a stratum after the other, each in an order of its own.

    The beginning of the order does not depend on how much of it is used, so that a training can be made longer.

    Args:
        tasks: at least one.
        seed: of the order.
    """
    strata: dict[tuple[Place, str], list[Task]] = {}
    for task in tasks:
        strata.setdefault(task.stratum, []).append(task)
    turns = [_turns(members, f"{seed} {number}") for number, members in enumerate(strata.values())]
    for numbers in _turns(range(len(turns)), f"{seed} strata"):
        yield next(turns[numbers])


def _turns(items: Iterable[_Item], seed: str) -> Iterator[_Item]:
    """Items without end: all of them in a drawn order, then all in another."""
    chance = random.Random(f"training {seed}")
    items = list(items)
    while True:
        yield from chance.sample(items, len(items))
