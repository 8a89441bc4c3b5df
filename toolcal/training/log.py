"""What a step of training came to: a row of the table `training_log`, and some of its answers to read."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from toolcal import tables
from toolcal.confidence.metrics import score
from toolcal.training.episodes import Episode
from toolcal.training.rewards import Design, parts, total

Floats = npt.NDArray[np.float64]
Row = dict[str, Any]


@dataclass(frozen=True)
class Paid:
    """The answers of a step and what they were paid.

    Attributes:
        episodes: a question's answers stand together.
        terms: of each answer, the reward's terms; NaN where it has no grade.
        advantages: of each answer; 0 where it has no grade.
    """

    episodes: Sequence[Episode]
    terms: Mapping[str, Floats]
    advantages: Floats

    @property
    def rewards(self) -> Floats:
        """Of each answer; NaN where it has no grade."""
        return total(self.terms)


def terms_of(design: Design, episodes: Sequence[Episode]) -> dict[str, Floats]:
    """The terms of each answer's reward.

    Args:
        design: what is paid.
        episodes: the answers.
    """
    return parts(
        design,
        [episode.correct for episode in episodes],
        [episode.confidence for episode in episodes],
        [episode.formatted for episode in episodes],
    )


def log_row(design: str, step: int, paid: Paid, members: int, before: Sequence[Sequence[float]], window: int) -> Row:
    """The columns of `training_log` that answers tell; what the update tells is added to them.

    Args:
        design: the design's name.
        step: from 1.
        paid: the step's answers.
        members: answers of a question.
        before: (correct, confidence) of the steps before, as `stated` gives it.
        window: how many answers the rolling columns take, at most.
    """
    episodes, rewards = paid.episodes, paid.rewards
    correct = np.array([episode.correct for episode in episodes])
    confidence = np.array([episode.confidence for episode in episodes])
    there = confidence[~np.isnan(confidence)]
    alike = [not np.any(group) for group in paid.advantages.reshape(-1, members)]
    last = np.array([*before, *stated(episodes)][-window:]).reshape(-1, 2)
    rolling = score(last[:, 1], last[:, 0], seed=0, resamples=0) if len(last) else {}
    return {
        "design": design,
        "step": step,
        "n": int((~np.isnan(correct)).sum()),
        "n_ungraded": int(np.isnan(correct).sum()),
        "reward": _mean(rewards),
        **{f"reward_{name}": _mean(values) for name, values in paid.terms.items()},
        "groups_alike": float(np.mean(alike)),
        "accuracy": _mean(correct),
        "formatted": float(np.mean([episode.formatted for episode in episodes])),
        "confidence_missing": float(np.isnan(confidence).mean()),
        "confidence": _mean(confidence),
        "confidence_zero": _mean(there == 0),
        "confidence_one": _mean(there == 1),
        "rolling_n": len(last),
        "rolling_ece": rolling.get("ece10"),
        "rolling_accuracy": _mean(last[:, 0]),
        "rolling_confidence": _mean(last[:, 1]),
        "calls": float(np.mean([len(episode.answered.used) for episode in episodes])),
        "tokens": float(np.mean([sum(len(e.sampled.tokens) for e in episode.emissions) for episode in episodes])),
    }


def stated(episodes: Iterable[Episode]) -> list[list[float]]:
    """(correct, confidence) of the answers that have both."""
    return [
        [episode.correct, episode.confidence]
        for episode in episodes
        if not math.isnan(episode.correct) and not math.isnan(episode.confidence)
    ]


def sample_rows(design: str, step: int, paid: Paid, kept: int) -> list[Row]:
    """Some answers of a step as rows of `training_samples`: as many, evenly spread over its questions.

    Args:
        design: the design's name.
        step: from 1.
        paid: the step's answers.
        kept: how many.
    """
    places = np.unique(np.linspace(0, len(paid.episodes) - 1, min(kept, len(paid.episodes))).round().astype(int))
    return [_sample(design, step, int(place), paid) for place in places]


def _sample(design: str, step: int, place: int, paid: Paid) -> Row:
    episode = paid.episodes[place]
    task, answered = episode.task, episode.answered
    return {
        "design": design,
        "step": step,
        "answer": place,
        **vars(task.place),
        "question_id": task.question.question_id,
        "difficulty": task.question.difficulty,
        "done": task.done,
        "status": answered.status,
        "given": tables.text_or_json(answered.answer),
        "correct": None if math.isnan(episode.correct) else bool(episode.correct),
        "confidence_raw": tables.text_or_json(answered.confidence.raw),
        "confidence": answered.confidence.value,
        "confidence_reason": answered.confidence.reason,
        "formatted": episode.formatted,
        "reward": _mean(paid.rewards[place : place + 1]),
        "advantage": float(paid.advantages[place]),
        "responses": tables.dumps([emission.text for emission in episode.emissions]),
    }


def line_of(row: Mapping[str, Any], steps: int) -> str:
    """A row of the log as a line to read.

    Args:
        row: the row.
        steps: of the whole training.
    """
    names = {"reward": "reward", "accuracy": "accuracy", "formatted": "in form", "confidence": "confidence"}
    names["rolling_ece"] = f"ECE of the last {row['rolling_n']}"
    shown = ", ".join(f"{said} {_number(row[name])}" for name, said in names.items())
    return f"{row['design']}: step {row['step']} of {steps}: {shown}, {row['seconds']:.0f} s"


class Lines:
    """A file of JSON lines that grows by one batch a step, and can be taken back to an earlier step.

    Args:
        path: the file; made at the first step.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def add(self, rows: Iterable[Row]) -> None:
        """Append rows; they are on the disk when this returns."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.writelines(f"{tables.dumps(row)}\n" for row in rows)
            file.flush()
            os.fsync(file.fileno())

    def rows(self) -> list[Row]:
        """All rows; a last line that was cut off by a kill is none."""
        if not self._path.is_file():
            return []
        text = self._path.read_text(encoding="utf-8")
        return [json.loads(line) for line in text.split("\n")[:-1]]

    def back_to(self, step: int) -> None:
        """Forget what came after a step."""
        if self._path.is_file():
            kept = [row for row in self.rows() if row["step"] <= step]
            temporary = self._path.with_suffix(".tmp")
            temporary.write_text("".join(f"{tables.dumps(row)}\n" for row in kept), encoding="utf-8")
            temporary.replace(self._path)

    def table(self, name: str, step: int) -> pd.DataFrame:
        """The rows up to a step as a table, without what is none of its columns.

        Args:
            name: the table's.
            step: the last one.
        """
        columns = tables.TABLES[name].columns
        rows = ({key: row.get(key) for key in columns} for row in self.rows() if row["step"] <= step)
        return tables.frame(name, rows)


def _mean(values: npt.ArrayLike) -> float | None:
    found = np.asarray(values, np.float64)
    found = found[~np.isnan(found)]
    return float(found.mean()) if len(found) else None


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
