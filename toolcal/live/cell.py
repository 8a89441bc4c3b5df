"""The conversations of one cell: threads hold them, as tau2's orchestrator waits, and one loop asks the models."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import NamedTuple

import pandas as pd

from toolcal.benchmarks.protocol import Case
from toolcal.cells import Cell
from toolcal.confidence.turn import TurnQuestion
from toolcal.live.agent import Ask
from toolcal.live.conversation import Held, Limits, hold
from toolcal.models.protocol import Model, Reply, Request
from toolcal.perturbations import Context
from toolcal.progress import Progress
from toolcal.recordings import grades, rows


class LiveCell(NamedTuple):
    """The tables of one cell."""

    trajectories: pd.DataFrame
    probe_events: pd.DataFrame
    user_messages: pd.DataFrame
    grades: pd.DataFrame
    turn_confidence: pd.DataFrame


async def hold_cell(
    cell: Cell,
    cases: Sequence[Case],
    contexts: Mapping[str, Context],
    agent: Model,
    user: Model | None,
    *,
    trials: int = 1,
    seed: int = 0,
    limits: Limits | None = None,
    question: TurnQuestion | None = None,
) -> LiveCell:
    """Hold every conversation `trials` times.

    Args:
        cell: goes into the rows' keys.
        cases: the tasks.
        contexts: case id -> what the agent reads; a case that its perturbation leaves out is not run.
        agent: answers the agent's requests.
        user: answers the user's; None for the scripted user.
        trials: repetitions of each case.
        seed: the run's seed.
        limits: when a conversation is broken off.
        question: asks the agent for a confidence after each turn, beside the conversation; None asks for none.

    Returns:
        The cell's tables, in the order of their keys.
    """
    by_id = {case.case_id: case for case in cases}
    planned = [(case, trial) for trial in range(trials) for case in cases if contexts[case.case_id].left_out is None]
    progress = Progress(f"{cell.model} {cell.scenario}.{cell.perturbation}", len(planned))
    bridge = _Bridge(asyncio.get_running_loop())

    async def one(case: Case, trial: int) -> Held:
        held = await bridge.in_thread(
            lambda: hold(
                case,
                contexts[case.case_id],
                bridge.asks(agent),
                None if user is None else bridge.asks(user),
                trial=trial,
                seed=seed,
                limits=limits or Limits(),
                execute_leaked=agent.execute_leaked,
                question=question,
            )
        )
        progress.case_done([*held.rows, *held.confidences])
        return held

    with bridge.open(agent.concurrency):
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(one(*run)) for run in planned]
        except ExceptionGroup as failed:  # what ended one case, a full disk or a missing key, ends the cell
            raise failed.exceptions[0] from None
    held = {(one.run.case_id, one.run.trial): one for one in (task.result() for task in tasks)}
    runs = [one.run for one in held.values()]
    return LiveCell(
        rows.of_runs("trajectories", cell, runs, lambda run: held[run.case_id, run.trial].rows),
        rows.of_runs("probe_events", cell, runs, lambda run: held[run.case_id, run.trial].events),
        rows.user_messages(cell, runs),
        grades.to_frame(cell, runs, by_id),
        rows.of_runs("turn_confidence", cell, runs, lambda run: held[run.case_id, run.trial].confidences),
    )


class _Bridge:
    """Between the threads and the loop. What fails anywhere ends all: no thread waits for an answer any more."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._asked: set[Future[Reply]] = set()
        self._closed = False
        self._pool: ThreadPoolExecutor | None = None

    @contextmanager
    def open(self, threads: int) -> Iterator[None]:
        """So many threads, until this is left."""
        with ThreadPoolExecutor(threads) as self._pool:
            try:
                yield
            finally:
                self._closed = True
                for future in list(self._asked):
                    future.cancel()
                self._pool.shutdown(wait=False, cancel_futures=True)

    async def in_thread(self, work: Callable[[], Held]) -> Held:
        """The result of this work, done in a thread."""
        return await self._loop.run_in_executor(self._pool, work)

    def asks(self, model: Model) -> Ask:
        """How a thread asks a model."""

        def ask(request: Request) -> Reply:
            if self._closed:
                raise CancelledError
            future = asyncio.run_coroutine_threadsafe(model.respond(request), self._loop)
            self._asked.add(future)
            try:
                return future.result()
            finally:
                self._asked.discard(future)

        return ask
