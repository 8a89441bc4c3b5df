"""A question set at a noise level, as the tables `questions` and `passages` and the rows that code reads."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from toolcal import tables
from toolcal.benchmarks.case_table import draw_order
from toolcal.confidence import datasets, noise, search, world
from toolcal.confidence.questions import Passage, Question


class QuestionSet(NamedTuple):
    """A set as its stage writes it; `rows` is CSV, empty where a set has no table."""

    questions: pd.DataFrame
    passages: pd.DataFrame
    rows: str


def question_set(name: str, entry: Mapping[str, Any], level: float, seed: int) -> QuestionSet:
    """Make or load a set.

    Args:
        name: its name in the configuration.
        entry: its entry there, with defaults filled in.
        level: of the noise, 0 to 1.
        seed: the configuration's seed.

    Raises:
        ValueError: in one line, for a file, row or passage that is unfit.
        ModuleNotFoundError: a published set is to be fetched, and the extra `datasets` is not installed.
    """
    if entry["source"] == "world":
        return _made(name, entry, level, seed)
    path = entry.get("path")
    loaded = datasets.load(entry["source"], path=Path(path) if path else None, revision=entry["revision"])
    passages = search.read_passages(Path(entry["passages"])) if "passages" in entry else list(loaded.passages)
    about = {"source": entry["source"], "revision": loaded.revision, "licence": loaded.licence}
    return QuestionSet(_questions(name, 0.0, loaded.questions, about, {}, seed), _passages(name, 0.0, passages), "")


def _made(name: str, entry: Mapping[str, Any], level: float, seed: int) -> QuestionSet:
    made = world.world(entry.get("seed", seed), entry["questions"])
    arm = noise.arm(made, level, entry.get("seed", seed))
    about = {"source": "world", "revision": f"world-{world.VERSION}", "licence": "Apache-2.0"}
    return QuestionSet(
        _questions(name, level, made.questions, about, arm.done, seed),
        _passages(name, level, arm.passages),
        arm.rows.to_csv(index=False, lineterminator="\n"),
    )


def _questions(
    name: str,
    level: float,
    questions: Sequence[Question],
    about: Mapping[str, str],
    done: Mapping[str, Mapping[str, str]],
    seed: int,
) -> pd.DataFrame:
    draw = draw_order((question.question_id for question in questions), seed)
    untouched = {"search": "none", "python": "none"}
    return tables.frame(
        "questions",
        (
            {
                "question_set": name,
                "noise": level,
                "question_id": question.question_id,
                "draw": draw[question.question_id],
                **about,
                "text": question.text,
                "answers": tables.dumps(question.answers),
                "kind": question.kind,
                "difficulty": question.difficulty,
                "gold_passages": tables.dumps(question.gold_passages),
                "done_search": done.get(question.question_id, untouched)["search"],
                "done_python": done.get(question.question_id, untouched)["python"],
            }
            for question in questions
        ),
    )


def _passages(name: str, level: float, passages: Sequence[Passage]) -> pd.DataFrame:
    return tables.frame(
        "passages",
        (
            {
                "question_set": name,
                "noise": level,
                "passage_id": passage.passage_id,
                "title": passage.title,
                "text": passage.text,
            }
            for passage in passages
        ),
    )


def questions_of(data: pd.DataFrame, limit: int | None = None) -> list[Question]:
    """The questions of a table `questions`, of these the first `limit` in the draw, in the table's order."""
    if limit is not None:
        data = data[data["draw"] < limit]
    return [
        Question(
            row["question_id"],
            row["text"],
            tuple(json.loads(row["answers"])),
            row["kind"],
            row["difficulty"],
            tuple(json.loads(row["gold_passages"])),
        )
        for row in tables.records(data)
    ]


def passages_of(data: pd.DataFrame) -> list[Passage]:
    """The passages of a table `passages`."""
    return [Passage(row["passage_id"], row["title"], row["text"]) for row in tables.records(data)]
