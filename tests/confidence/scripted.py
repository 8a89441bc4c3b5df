"""Answers of scripted agents: who is right how often is set, and what they say of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from toolcal import tables
from toolcal.confidence.plan import StudyCell

LEVELS = ("one_fact", "several_facts", "aggregate", "comparison")
CAUSES = ("irrelevant", "outdated", "contradictory", "missing")

Said = Callable[[np.ndarray, np.random.Generator], np.ndarray]
"""The chance of each answer to be right -> the confidence that is stated with it; NaN where none could be read."""


def frank(chance, rng):
    """Says the chance itself, to the percent."""
    return np.round(chance, 2)


def sure(chance, rng):
    return np.full(len(chance), 1.0)


def shy(chance, rng):
    """Leaves out every fourth confidence, and says 0.9 else."""
    return np.where(np.arange(len(chance)) % 4 == 0, np.nan, 0.9)


def boastful(chance, rng):
    """Far too sure, in steps of 5 percent."""
    return np.round(np.clip(0.6 + 0.4 * chance + rng.normal(0, 0.05, len(chance)), 0, 1) * 20) / 20


def questions(n: int, noises: Iterable[float] = (0.0,), name: str = "world") -> pd.DataFrame:
    """The table `questions` of one set."""
    rows = [
        {
            "question_set": name,
            "noise": noise,
            "question_id": f"{name}-{i:04d}",
            "draw": (7 * i) % n if n % 7 else i,
            "source": "world",
            "revision": "1",
            "licence": "CC0-1.0",
            "text": f"Question {i}?",
            "answers": '["yes"]',
            "kind": "text",
            "difficulty": LEVELS[i % 4],
            "gold_passages": "[]",
            "done_search": "none",
            "done_python": "none",
        }
        for noise in noises
        for i in range(n)
    ]
    return tables.frame("questions", rows)


def answers(
    cell: StudyCell, asked: pd.DataFrame, said: Said = frank, *, seed: int = 0, trials: int = 1, best: float = 1.0
) -> pd.DataFrame:
    """The table `answers` of one cell: each question has its own chance, up to `best`, to be answered rightly.

    A question keeps its luck in every cell, so that the cells are paired. Noise lowers the chance.
    """
    own = asked[(asked["question_set"] == cell.question_set) & (asked["noise"] == cell.noise)]
    own = own.loc[own.index.repeat(trials)]
    # Other seeds than those of the bootstrap, whose draws would follow the luck.
    luck = np.random.default_rng([seed, len(own), 1])
    rng = np.random.default_rng([seed, len(own), *cell.tool.encode(), round(100 * cell.noise)])
    ease = luck.random(len(own))
    chance = best * ease * (1 - 0.7 * cell.noise)
    right = rng.random(len(own)) < chance
    confidence = said(chance, rng)
    causes = [CAUSES[i % 4] if luck.random() < cell.noise else "misread" for i in range(len(own))]
    rows: list[dict[str, Any]] = [
        {
            **cell._asdict(),
            "question_id": question,
            "trial": i % trials,
            "difficulty": level,
            "done": "none",
            "status": "ok",
            "answer": "yes",
            "correct": bool(right[i]),
            "score": float(right[i]),
            "grade_reason": "equal",
            "confidence_raw": None if np.isnan(confidence[i]) else str(confidence[i]),
            "confidence": None if np.isnan(confidence[i]) else confidence[i],
            "confidence_reason": "absent" if np.isnan(confidence[i]) else None,
            "reasked": False,
            "calls": 1,
            "calls_failed": 0,
            "gold_seen": None,
            "cause": None if right[i] else ("unknown" if cell.tool == "none" else causes[i]),
            "messages": "[]",
            "prompt_tokens": 1,
            "completion_tokens": 1,
            "latency": 0.1,
            "cost": None,
            "cached": False,
        }
        for i, (question, level) in enumerate(zip(own["question_id"], own["difficulty"], strict=True))
    ]
    return tables.frame("answers", rows)


def failed(given: pd.DataFrame) -> pd.DataFrame:
    """The same answers, had the endpoint given none."""
    nothing = dict.fromkeys(
        ("answer", "correct", "score", "grade_reason", "confidence_raw", "confidence", "confidence_reason", "cause")
    )
    return given.assign(status="infra_error", **nothing)


def cells(models: Mapping[str, str], noises: Iterable[float] = (0.0,), name: str = "world") -> list[StudyCell]:
    """The cells of models (-> prompted or trained) with both tools."""
    return [
        cell
        for model, configuration in models.items()
        for cell in (
            StudyCell(model, name, "direct", "none", 0.0),
            *(StudyCell(model, name, configuration, tool, noise) for tool in ("search", "python") for noise in noises),
        )
    ]
