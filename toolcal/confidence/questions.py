"""What is asked in the confidence study, and what one tool sees: shared by the generated world and real data sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

KINDS = ("text", "number", "maths", "choice")
"""How an answer is graded: as words, as a number, as a formula, as one of the things that the question names."""
DIFFICULTIES = ("one_fact", "several_facts", "aggregate", "comparison")
"""Of the generated world; real sets have their own levels."""


@dataclass(frozen=True)
class Question:
    """One question with what is accepted as its answer."""

    question_id: str
    """Unique within its set, e.g. `world-0042`."""
    text: str
    answers: tuple[str, ...]
    """Accepted forms; the first is the canonical one."""
    kind: str
    """One of `KINDS`."""
    difficulty: str
    """One of `DIFFICULTIES`, or the level that a real set gives; empty where it gives none."""
    gold_passages: tuple[str, ...] = ()
    """The passages that together state the answer, where there are any."""


@dataclass(frozen=True)
class Passage:
    """A piece of prose that search may find."""

    passage_id: str
    title: str
    text: str


@dataclass(frozen=True)
class Arm:
    """What each tool sees at one noise level: passages for search, rows for code."""

    passages: tuple[Passage, ...]
    rows: pd.DataFrame
    done: Mapping[str, Mapping[str, str]]
    """question_id -> {"search": none, irrelevant, outdated, contradictory or missing;
    "python": none, wrong, outdated or missing}: what was done to the support of that question."""
