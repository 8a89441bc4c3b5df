"""The generated world: a table, passages that state it, and questions that either of them answers.

Invented firms, people and towns over a few years, so that no model has read of them. Every question is answered by a
calculation on some cells of the table, and by the passages (one a firm and year) that state the same cells; no two
questions are about the same firm, so that what `noise.arm` does to one of them touches no other. Firms that no question
is about stand in the way of search and code from the start.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Mapping
from dataclasses import asdict, dataclass

import pandas as pd

from toolcal.confidence import prose
from toolcal.confidence.asked import MAKERS, Asked, values_of
from toolcal.confidence.firms import COLUMNS, YEARS, Firm, Firms, Value
from toolcal.confidence.names import Names
from toolcal.confidence.questions import DIFFICULTIES, Passage, Question

VERSION = 1
"""Raised whenever a seed no longer gives the same world, so that answers of two versions are not compared."""

MOST = 5000
"""Questions of a world: for more, names would run short."""


@dataclass(frozen=True)
class World:
    """A world. `asked` says how each question's answer is computed, `firms` holds the facts; both are for `noise`."""

    seed: int
    table: pd.DataFrame
    """A row per firm and year, with the columns `firms.COLUMNS`."""
    passages: tuple[Passage, ...]
    questions: tuple[Question, ...]
    asked: Mapping[str, Asked]
    firms: Mapping[str, Firm]


def world(seed: int, questions: int) -> World:
    """Make a world.

    Args:
        seed: from the configuration. The same seed and number give the same world, byte for byte, on any machine.
        questions: how many, 1 to `MOST`; they take turns in difficulty.

    Raises:
        ValueError: for another number of questions.
    """
    if not 1 <= questions <= MOST:
        raise ValueError(f"a world has 1 to {MOST:,} questions, not {questions}")
    chance = random.Random(f"world {VERSION} {seed}")
    firms = Firms(Names(chance), chance, towns=12 + questions // 8)
    asked = {}
    for number in range(questions):
        maker = MAKERS[DIFFICULTIES[number % len(DIFFICULTIES)]]
        asked[f"world-{number:04d}"] = maker(firms, chance)
    for _ in range(4 + questions // 4):
        firms.one()
    names = chance.sample(sorted(firms.made), len(firms.made))
    rows = [(name, year, *firms.made[name].facts[year].values()) for name in names for year in YEARS]
    passages = [
        Passage("", prose.title(name, year), prose.stating(name, year, firms.made[name].facts[year], chance))
        for name in names
        for year in YEARS
    ]
    chance.shuffle(passages)
    numbered = tuple(Passage(f"p{i:05d}", passage.title, passage.text) for i, passage in enumerate(passages))
    ids = {passage.title: passage.passage_id for passage in numbered}
    return World(
        seed=seed,
        table=pd.DataFrame(rows, columns=list(COLUMNS)),
        passages=numbered,
        questions=tuple(_question(name, asked[name], firms.made, ids) for name in asked),
        asked=asked,
        firms=firms.made,
    )


def fingerprint(made: World) -> str:
    """SHA-256 of all that a world says, to tell two worlds apart."""
    said = {
        "version": VERSION,
        "table": made.table.to_dict(orient="split", index=False),
        "passages": [asdict(passage) for passage in made.passages],
        "questions": [asdict(question) for question in made.questions],
    }
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def _question(question_id: str, asked: Asked, firms: Mapping[str, Firm], ids: Mapping[str, str]) -> Question:
    right = asked.answer(values_of(asked, firms))
    assert right is not None
    kind = "choice" if asked.difficulty == "comparison" else "text" if isinstance(right, str) else "number"
    cells = dict.fromkeys((*asked.also, *asked.cells))
    return Question(
        question_id=question_id,
        text=asked.text,
        answers=_forms(right, firms),
        kind=kind,
        difficulty=asked.difficulty,
        gold_passages=tuple(ids[prose.title(firm, year)] for firm, year in cells),
    )


def _forms(right: Value, firms: Mapping[str, Firm]) -> tuple[str, ...]:
    """The answer as it is written: a firm also by its own word, a person also by the surname, a number with commas."""
    if isinstance(right, int):
        forms = [str(right), f"{right:,}"]
    elif right in firms:
        forms = [right, firms[right].short]
    else:
        forms = [right, right.split()[-1]]
    return tuple(dict.fromkeys(forms))
