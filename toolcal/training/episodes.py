"""Episodes: a task answered by the model in training as the study has it answered, graded, and kept as tokens."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from toolcal.benchmarks.protocol import Tool as Schema
from toolcal.calls import Call
from toolcal.confidence.answering import Answered, Way, answer
from toolcal.confidence.grading import grade
from toolcal.confidence.using import ServiceDown, Used, Using
from toolcal.training.policy import Emission, Policy, Speaker
from toolcal.training.tasks import Place, Task


@dataclass(frozen=True)
class Desk:
    """What a place has: its tool as it is run and as it is offered."""

    using: Using
    schema: Schema


@dataclass(frozen=True)
class Row:
    """Tokens that the model reads in one go, and which of them it is trained on."""

    prompt: list[int]
    completion: list[int]
    trained: list[bool]
    """Of each token of the completion: False for what a tool returned, the template put between, or the schema gave."""
    log_probabilities: list[float] | None
    """As they were sampled (0 where not the model's); None where sampler and training are one model."""
    allowed: list[bytes | None]
    """Of each token of the completion what its schema allowed in its place (`Sampled.allowed`); None for any."""


@dataclass(frozen=True)
class Episode:
    """What came of a task once."""

    task: Task
    answered: Answered
    correct: float
    """1 or 0; NaN where it has no grade, since a tool's service was down."""
    confidence: float
    """0 to 1; NaN where none was stated that can be read."""
    emissions: Sequence[Emission]

    @property
    def formatted(self) -> bool:
        """Each response was whole, and the last has an answer and a readable confidence."""
        final = self.answered.status == "ok" and self.answered.answer is not None and not math.isnan(self.confidence)
        return final and all(emission.whole for emission in self.emissions)

    @property
    def rows(self) -> list[Row]:
        """Its responses as rows (`rows_of`)."""
        return rows_of(self.emissions)


def roll_out(
    tasks: Sequence[Task], desks: Mapping[Place, Desk], way: Way, policy: Policy, *, seed: int
) -> list[Episode]:
    """Answer tasks, all side by side.

    Args:
        tasks: a task occurs as often as it is to be answered.
        desks: of each place that occurs.
        way: how the study has questions answered.
        policy: answers.
        seed: of the run; goes into the requests.

    Returns:
        The episodes, in the order of the tasks.
    """

    async def all_of_them() -> list[Episode]:
        speakers = policy.speakers(len(tasks))
        return await asyncio.gather(
            *(
                _one(task, desks[task.place], way, policy, speaker, seed)
                for task, speaker in zip(tasks, speakers, strict=True)
            )
        )

    return asyncio.run(all_of_them())


async def _one(task: Task, desk: Desk, way: Way, policy: Policy, speaker: Speaker, seed: int) -> Episode:
    async def use(call: Call, number: int) -> Used:
        return await desk.using.use(task.question.question_id, 0, call, number)

    try:
        found = await answer(task.question, way, desk.schema, use, speaker, trial=0, seed=seed)
        correct = float(grade(task.question, found.answer).correct)
    except ServiceDown:
        found, correct = Answered(status="infra_error"), math.nan
    finally:
        policy.ended()
    stated = found.confidence.value
    return Episode(task, found, correct, math.nan if stated is None else stated, speaker.emissions)


def rows_of(emissions: Sequence[Emission]) -> list[Row]:
    """Responses as rows: one goes on where the last one ended if its prompt begins with all that was read till then.

    What stands between two responses of a row, a tool's result among it, is no part of what is trained.

    Args:
        emissions: of one conversation, in order.
    """
    rows: list[Row] = []
    for emission in emissions:
        tokens, sampled = emission.sampled.tokens, emission.sampled.log_probabilities
        allowed = emission.sampled.allowed or [None] * len(tokens)
        last = rows[-1] if rows else None
        read = last.prompt + last.completion if last else []
        if last and emission.prompt[: len(read)] == read:
            between = emission.prompt[len(read) :]
            rows[-1] = Row(
                last.prompt,
                last.completion + between + tokens,
                last.trained + [False] * len(between) + emission.sampled.chosen,
                None
                if sampled is None or last.log_probabilities is None
                else last.log_probabilities + [0.0] * len(between) + sampled,
                last.allowed + [None] * len(between) + allowed,
            )
        else:
            rows.append(Row(emission.prompt, list(tokens), emission.sampled.chosen, sampled and list(sampled), allowed))
    return rows
