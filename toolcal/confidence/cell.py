"""The answers of one cell of the study, as rows of the table `answers`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from toolcal import tables
from toolcal.calls import Call
from toolcal.confidence.answering import Answered, Way, answer
from toolcal.confidence.causes import cause
from toolcal.confidence.grading import grade
from toolcal.confidence.plan import StudyCell
from toolcal.confidence.questions import Question
from toolcal.confidence.tables import STUDY
from toolcal.confidence.using import ServiceDown, Used, Using
from toolcal.models.protocol import Model
from toolcal.progress import Progress

Row = dict[str, Any]


async def answer_cell(
    cell: StudyCell,
    questions: Sequence[Question],
    done: Mapping[str, str],
    way: Way,
    using: Using | None,
    schema: dict[str, Any] | None,
    model: Model,
    *,
    trials: int = 1,
    seed: int = 0,
) -> pd.DataFrame:
    """Ask every question of a cell.

    Args:
        cell: goes into the rows' keys.
        questions: the questions.
        done: question id -> what noise did to the support that the tool reaches.
        way: how they are answered.
        using: runs the tool's calls; None for direct answers.
        schema: the tool as the model is offered it; None for direct answers.
        model: answers.
        trials: repetitions of each question.
        seed: the run's seed.

    Returns:
        The table `answers` of the cell, in the order of its key.
    """
    slots = asyncio.Semaphore(model.concurrency)
    planned = [(question, trial) for trial in range(trials) for question in questions]
    progress = Progress(
        f"{cell.model} {cell.question_set}.{cell.configuration}.{cell.tool}.{cell.noise:g}",
        len(planned),
        unit="questions",
    )

    async def one(question: Question, trial: int) -> Row:
        async def use(call: Call, number: int) -> Used:
            if using is None:
                return Used("Error: there is no tool", failed=True)
            return await using.use(question.question_id, trial, call, number)

        async with slots:
            try:
                found = await answer(question, way, schema, use, model, trial=trial, seed=seed)
            except ServiceDown as error:
                found = Answered(status="infra_error", messages=[{"role": "tool", "content": str(error)}])
        row = _row(cell, question, trial, found, done.get(question.question_id, "none"))
        progress.case_done([row])
        return row

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(*asked)) for asked in planned]
    except ExceptionGroup as failed:  # what ended one question, a full disk or a missing key, ends the cell
        raise failed.exceptions[0] from None
    rows = tables.frame("answers", (task.result() for task in tasks))
    return rows.sort_values([*STUDY, "question_id", "trial"], ignore_index=True)


def _row(cell: StudyCell, question: Question, trial: int, found: Answered, done: str) -> Row:
    broke_off = found.status == "infra_error"
    graded = None if broke_off else grade(question, found.answer)
    row: Row = {
        **cell._asdict(),
        "question_id": question.question_id,
        "trial": trial,
        "difficulty": question.difficulty,
        "done": done,
        "status": found.status,
        "answer": tables.text_or_json(found.answer),
        "correct": graded and graded.correct,
        "score": graded and graded.score,
        "grade_reason": graded and graded.reason,
        "confidence_raw": tables.text_or_json(found.confidence.raw),
        "confidence": found.confidence.value,
        "confidence_reason": found.confidence.reason,
        "reasked": found.reasked,
        "calls": len(found.used),
        "calls_failed": sum(one.failed for one in found.used),
        "gold_seen": _gold_seen(question, found, cell.tool),
        "messages": tables.dumps(found.messages),
        "prompt_tokens": _sum(found, "prompt_tokens"),
        "completion_tokens": _sum(found, "completion_tokens"),
        "latency": _sum(found, "latency"),
        "cost": _sum(found, "cost"),
        "cached": all(reply.cached for reply in found.replies),
    }
    return row | {"cause": cause(row)}


def _gold_seen(question: Question, found: Answered, tool: str) -> bool | None:
    if tool != "search" or not question.gold_passages:
        return None
    seen = {source for one in found.used for source in one.found}
    return set(question.gold_passages) <= seen


def _sum(found: Answered, name: str) -> Any:
    """The sum over the model's calls; None where that of one is unknown."""
    values = [getattr(reply, name) for reply in found.replies if reply.failure != "infra_error"]
    return None if not values or any(value is None for value in values) else sum(values)
