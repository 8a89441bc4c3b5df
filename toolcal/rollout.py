"""The turn and step loop: environment x model over the cases of one cell."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from toolcal import calls, tables
from toolcal.benchmarks.protocol import Benchmark, Case, Environment, Message
from toolcal.cells import Cell
from toolcal.models import history
from toolcal.models.protocol import Model, Reply, Request
from toolcal.perturbations import Context
from toolcal.progress import Progress

Row = dict[str, Any]


async def run_cell(
    cell: Cell,
    cases: Sequence[Case],
    contexts: Mapping[str, Context],
    model: Model,
    benchmark: Benchmark,
    *,
    trials: int = 1,
    seed: int = 0,
) -> pd.DataFrame:
    """Run every case `trials` times.

    Args:
        cell: goes into the rows' keys.
        cases: the cases; those that share tools are run one after the other.
        contexts: case id -> what the model reads.
        model: answers the requests.
        benchmark: gives the simulators.
        trials: repetitions of each case.
        seed: the run's seed; each request gets its own, made from it.

    Returns:
        The table `trajectories` of the cell, in the order of its key; a case stopped by an infrastructure error ends
        with a row of that status.
    """
    slots = asyncio.Semaphore(model.concurrency)
    planned = [(case, trial) for trial in range(trials) for case in _same_tools_together(cases)]
    progress = Progress(f"{cell.model} {cell.scenario}.{cell.perturbation}", len(planned))

    async def one(case: Case, trial: int) -> list[Row]:
        async with slots:
            rows = await run_case(case, contexts[case.case_id], model, benchmark, trial=trial, seed=seed)
        progress.case_done(rows)
        return [{**cell._asdict(), "case_id": case.case_id, "trial": trial, **row} for row in rows]

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(*run)) for run in planned]
    except ExceptionGroup as failed:  # what ended one case, a full disk or a missing key, ends the cell
        raise failed.exceptions[0] from None
    rows = [row for task in tasks for row in task.result()]
    return tables.frame("trajectories", rows).sort_values(list(tables.EMISSION), ignore_index=True)


async def run_case(
    case: Case, context: Context, model: Model, benchmark: Benchmark, *, trial: int = 0, seed: int = 0
) -> list[Row]:
    """Run one case once; the rows lack only the cell's, the case's and the trial's columns.

    A turn ends with the first emission that makes no call; the case ends with its turns, at the benchmark's step
    limit, where the context is exceeded, or at an infrastructure error.
    """
    environment = benchmark.environment(case)
    messages: list[Message] = [{"role": "system", "content": context.system}] if context.system else []
    rows: list[Row] = []
    for turn, user_messages in enumerate(context.turns):
        tools = context.tools_at(turn)
        names = {tool["function"]["name"] for tool in tools}
        turn_start = len(messages)
        messages.extend(user_messages)
        step = 0
        while True:
            request = Request(
                case, trial, turn, step, 0, tuple(messages), turn_start, tools, _seed(seed, case, trial, turn, step)
            )
            reply = await model.respond(request)
            parsed = calls.parse(reply.message, reply.finish_reason, names)
            stays = reply.failure or (parsed.leaked and not model.execute_leaked)
            results = [] if stays else _execute(parsed.calls, environment, names)
            rows.append(row(turn, step, reply, _status(reply, parsed), results))
            if reply.failure:
                return rows
            messages.extend(history.said(reply.message, parsed, results, f"call_{turn}_{step}"))
            if not results:
                break
            if step == benchmark.step_limit:
                return rows
            step += 1
    return rows


def _execute(found: Sequence[calls.Call], environment: Environment, names: set[str]) -> list[Row]:
    results = []
    for call in found:
        outcome = environment.execute(call.name, call.arguments)
        results.append(
            {
                "name": call.name,
                "arguments": call.arguments,
                "result": outcome.result,
                "error": outcome.error,
                "executed": outcome.executed,
                "state_changed": outcome.state_changed,
                "held_out": outcome.executed and call.name not in names,
            }
        )
    return results


def _status(reply: Reply, parsed: calls.Parsed) -> str:
    if reply.failure is None and parsed.status == "empty" and not reply.text_recorded:
        return "not_recorded"
    return reply.failure or parsed.status


def row(turn: int, step: int, reply: Reply, status: str, results: Sequence[Row]) -> Row:
    """An emission as a row of the table `trajectories`; it lacks only the cell's, the case's and the trial's columns.

    Args:
        turn: user turn, from 0.
        step: response within the turn, from 0.
        reply: the response.
        status: of the emission.
        results: as in the column `tool_results`.
    """
    message = reply.message
    return {
        "turn": turn,
        "step": step,
        "attempt": 0,
        "content": tables.text_or_json(calls.content_of(message) or None),
        "reasoning": tables.text_or_json(message.get("reasoning_content")),
        "tool_calls": tables.dumps(calls.native_calls(message)),
        "tool_results": tables.dumps(results),
        "executed": sum(result["executed"] for result in results),
        "state_changed": any(result["state_changed"] for result in results),
        "held_out": any(result["held_out"] for result in results),
        "text_recorded": reply.text_recorded,
        "finish_reason": reply.finish_reason,
        "status": status,
        "retracted": False,
        "origin": "model",
        "prompt_tokens": reply.prompt_tokens,
        "completion_tokens": reply.completion_tokens,
        "latency": reply.latency,
        "cost": reply.cost,
        "cached": reply.cached,
        "sent": None if reply.sent is None else tables.dumps(reply.sent),
        "served_by": tables.text_or_json(reply.served_by),
        "raw": tables.dumps(reply.raw),
    }


def _same_tools_together(cases: Sequence[Case]) -> list[Case]:
    """Cases that share tools one after the other, so that a server's prefix cache serves them."""
    return sorted(cases, key=lambda case: [tool["function"]["name"] for _, tool in case.tools])


def _seed(seed: int, case: Case, trial: int, turn: int, step: int) -> int:
    text = f"{seed} {case.case_id} {trial} {turn} {step}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4]) >> 1
