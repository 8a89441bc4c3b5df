"""The turn and step loop: environment x model x probe over the cases of one cell."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from toolcal import calls, tables
from toolcal.benchmarks.protocol import Benchmark, Case, Message, ToolResult
from toolcal.cells import Cell
from toolcal.confidence.turn import WHO, TurnQuestion
from toolcal.models import history
from toolcal.models.protocol import Model, Reply, Request
from toolcal.perturbations import Context, probes
from toolcal.perturbations.names import with_new_names
from toolcal.perturbations.probes.seams import Seams, weightiest
from toolcal.progress import Progress

Row = dict[str, Any]


class CellRun(NamedTuple):
    """The tables of one cell."""

    trajectories: pd.DataFrame
    probe_events: pd.DataFrame
    turn_confidence: pd.DataFrame


class CaseRun(NamedTuple):
    """The rows of one case in each table; they lack the cell's, the case's and the trial's columns."""

    trajectories: list[Row]
    probe_events: list[Row]
    turn_confidence: list[Row]


async def run_cell(
    cell: Cell,
    cases: Sequence[Case],
    contexts: Mapping[str, Context],
    model: Model,
    benchmark: Benchmark,
    *,
    trials: int = 1,
    seed: int = 0,
    question: TurnQuestion | None = None,
) -> CellRun:
    """Run every case `trials` times.

    Args:
        cell: goes into the rows' keys.
        cases: the cases; those that share tools are run one after the other.
        contexts: case id -> what the model reads; a case that its perturbation leaves out is not run.
        model: answers the requests.
        benchmark: gives the simulators.
        trials: repetitions of each case.
        seed: the run's seed; each request gets its own, made from it.
        question: asks for a confidence after each turn, beside the conversation; None asks for none.

    Returns:
        The tables `trajectories`, `probe_events` and `turn_confidence` of the cell, in the order of their keys; a case
        stopped by an infrastructure error ends with a row of that status.
    """
    slots = asyncio.Semaphore(model.concurrency)
    there = [case for case in cases if contexts[case.case_id].left_out is None]
    planned = [(case, trial) for trial in range(trials) for case in _same_tools_together(there)]
    progress = Progress(f"{cell.model} {cell.scenario}.{cell.perturbation}", len(planned))

    async def one(case: Case, trial: int) -> CaseRun:
        async with slots:
            found = await run_case(
                case, contexts[case.case_id], model, benchmark, trial=trial, seed=seed, question=question
            )
        progress.case_done([*found.trajectories, *found.turn_confidence])
        key = {**cell._asdict(), "case_id": case.case_id, "trial": trial}
        return CaseRun(*([key | row for row in rows] for rows in found))

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(*run)) for run in planned]
    except ExceptionGroup as failed:  # what ended one case, a full disk or a missing key, ends the cell
        raise failed.exceptions[0] from None
    done = [task.result() for task in tasks]
    return CellRun(*(_table(name, (row for case in done for row in getattr(case, name))) for name in CellRun._fields))


async def run_case(
    case: Case,
    context: Context,
    model: Model,
    benchmark: Benchmark,
    *,
    trial: int = 0,
    seed: int = 0,
    question: TurnQuestion | None = None,
) -> CaseRun:
    """Run one case once.

    A turn ends with the first emission that makes no call, unless a probe has the model asked again; the case ends with
    its turns, at the benchmark's step limit, where the context is exceeded, or at an infrastructure error.
    """
    run = _Run(case, context, model, benchmark, trial, seed)
    for turn, user_messages in enumerate(context.turns):
        if not await run.turn(turn, user_messages):
            break
        if question:
            await run.ask_confidence(turn, question)
    return CaseRun(run.rows, run.events, run.confidences)


class _Run:
    """One run of one case: its conversation so far, and its rows."""

    def __init__(self, case: Case, context: Context, model: Model, benchmark: Benchmark, trial: int, seed: int) -> None:
        self._case = case
        self._context = context
        self._model = model
        self._environment = benchmark.environment(case)
        self._step_limit = benchmark.step_limit
        self._seams = Seams(case, context)
        self._trial = trial
        self._seed = seed
        self._shown = {name: shown for shown, name in context.renamed.items()}
        self._messages: list[Message] = [{"role": "system", "content": context.system}] if context.system else []
        self._turn_start = 0
        self.rows: list[Row] = []
        self.confidences: list[Row] = []

    @property
    def events(self) -> list[Row]:
        """What the probe decided."""
        return self._seams.events

    async def turn(self, turn: int, user_messages: Sequence[Message]) -> bool:
        """Run one turn; whether the case goes on."""
        tools = self._context.tools_at(turn)
        names = {tool["function"]["name"] for tool in tools}
        self._turn_start = len(self._messages)
        self._messages.extend(user_messages)
        step = attempt = 0
        while True:
            request = Request(
                case=self._case,
                trial=self._trial,
                turn=turn,
                step=step,
                attempt=attempt,
                messages=tuple(self._messages),
                turn_start=self._turn_start,
                tools=tools,
                seed=seed_of(self._seed, self._case, self._trial, turn, step, attempt),
                shown=self._shown,
            )
            reply = await self._model.respond(request)
            parsed = calls.parse(reply.message, reply.finish_reason, names)
            stays = reply.failure or (parsed.leaked and not self._model.execute_leaked)
            status = status_of(reply, parsed)
            results, decision = self._execute(() if stays else parsed.calls, request, parsed.text, status)
            if not results and decision is None and not reply.failure:
                decision = self._decide(request, parsed.text, status, None)
            self.rows.append(row(turn, step, reply, status, results, attempt=attempt))
            if reply.failure:
                return False
            acted = self._seams.note(decision, turn, step, attempt)
            if acted and acted.emission == "retract":
                self.rows[-1]["retracted"] = not results
            if not acted or acted.emission == "keep" or results:
                made = first_calls(reply.message, len(results)) if acted and results else reply.message
                # The model reads its calls again by the names that it gave, which a rename makes others than the row's.
                told = [result | {"name": call.name} for call, result in zip(parsed.calls, results, strict=False)]
                self._messages.extend(history.said(made, parsed, told, request.call_ids))
            if results and step == self._step_limit:
                return False
            if acted:
                attempt += 1
                if acted.replacement is not None:
                    self._replace(acted.replacement, turn, step, attempt)
                    return True
                self._messages.append({"role": "system", "content": acted.appended})
            elif not results:
                return True
            else:
                step, attempt = step + 1, 0

    async def ask_confidence(self, turn: int, question: TurnQuestion) -> None:
        """Ask how sure the model is of the turn that has ended; the conversation stays as it is."""
        asked = question.first(
            Request(
                case=self._case,
                trial=self._trial,
                turn=turn,
                step=0,
                attempt=0,
                messages=tuple(self._messages),
                turn_start=self._turn_start,
                tools=self._context.tools_at(turn),
                seed=seed_of(self._seed, self._case, self._trial, turn, 0, 0, who=WHO),
                shown=self._shown,
            )
        )
        replies = [await self._model.respond(asked)]
        if again := question.again(asked, replies[0]):
            replies.append(await self._model.respond(again))
        self.confidences.append(question.row(turn, replies))

    def _execute(
        self, found: Sequence[calls.Call], request: Request, text: str, status: str
    ) -> tuple[list[Row], probes.Decision | None]:
        """Run calls up to one that the probe takes back.

        Returns:
            What they did, and what the probe decided: to act, or else what it found first.
        """
        names = {tool["function"]["name"] for tool in request.tools}
        results: list[Row] = []
        decided: list[probes.Decision] = []
        for call in found:
            decision = self._decide(request, text, status, call)
            if decision:
                decided.append(decision)
                if decision.triggered:
                    break
            name = self._context.renamed.get(call.name, call.name)
            # Under a rename only shown names exist: a call that a model knows by heart must not run.
            unknown = self._context.renamed and call.name not in self._context.renamed
            outcome = undefined(name) if unknown else self._environment.execute(name, call.arguments)
            results.append(result_of(name, call, outcome, self._shown, held_out=call.name not in names))
            self._seams.observed = self._seams.observed.after(call.name, results[-1])
        return results, weightiest(decided)

    def _decide(self, request: Request, text: str, status: str, call: calls.Call | None) -> probes.Decision | None:
        turns = self._context.turns[: request.turn + 1]
        requests = ["\n".join(map(calls.content_of, messages)) for messages in turns]
        return self._seams.decide(request.turn, requests, request.tools, text, status, call)

    def _replace(self, text: str, turn: int, step: int, attempt: int) -> None:
        message = {"role": "assistant", "content": text}
        self.rows.append(row(turn, step, Reply(message), "ok", [], attempt=attempt) | {"origin": "probe"})
        self._messages.append(message)


def result_of(
    name: str, call: calls.Call, outcome: ToolResult, shown: Mapping[str, str], *, held_out: bool = False
) -> Row:
    """What a call did, as in the column `tool_results`.

    Args:
        name: the benchmark's name of the tool.
        call: the call, as the model made it.
        outcome: what the environment says.
        shown: the benchmark's name of a tool -> the one that the model is shown, where they differ.
        held_out: whether the model was not given the tool.
    """
    return {
        "name": name,
        "arguments": call.arguments,
        "result": with_new_names(outcome.result, shown) if outcome.error else outcome.result,
        "error": outcome.error,
        "executed": outcome.executed,
        "state_changed": outcome.state_changed,
        "held_out": outcome.executed and held_out,
    }


def undefined(name: str) -> ToolResult:
    """What the simulators say of a name that they do not have."""
    words = f"name {name!r} is not defined"
    return ToolResult(f"Error during execution: {words}", executed=False, error=words)


def first_calls(message: Mapping[str, Any], number: int) -> Mapping[str, Any]:
    """A message with its first calls alone, where it is of calls."""
    native = calls.native_calls(message)
    return {**message, "tool_calls": native[:number]} if native else message


def _table(name: str, rows: Iterable[Row]) -> pd.DataFrame:
    return tables.frame(name, rows).sort_values(list(tables.TABLES[name].key), ignore_index=True)


def status_of(reply: Reply, parsed: calls.Parsed) -> str:
    """The status of an emission: a failure, or what it says."""
    if reply.failure is None and parsed.status == "empty" and not reply.text_recorded:
        return "not_recorded"
    return reply.failure or parsed.status


def row(turn: int, step: int, reply: Reply, status: str, results: Sequence[Row], *, attempt: int = 0) -> Row:
    """An emission as a row of the table `trajectories`; it lacks only the cell's, the case's and the trial's columns.

    Args:
        turn: user turn, from 0.
        step: response within the turn, from 0.
        reply: the response.
        status: of the emission.
        results: as in the column `tool_results`.
        attempt: the n-th asking again at this step, or 0.
    """
    message = reply.message
    return {
        "turn": turn,
        "step": step,
        "attempt": attempt,
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
        "replayed": reply.replayed,
        "sent": None if reply.sent is None else tables.dumps(reply.sent),
        "served_by": tables.text_or_json(reply.served_by),
        "raw": tables.dumps(reply.raw),
    }


def _same_tools_together(cases: Sequence[Case]) -> list[Case]:
    """Cases that share tools one after the other, so that a server's prefix cache serves them."""
    return sorted(cases, key=lambda case: [tool["function"]["name"] for _, tool in case.tools])


def seed_of(seed: int, case: Case, trial: int, turn: int, step: int, attempt: int, who: str = "") -> int:
    """The seed of one request, made from the run's; another for each party (`who`) of a conversation."""
    text = f"{who}{seed} {case.case_id} {trial} {turn} {step}" + (f" {attempt}" if attempt else "")
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4]) >> 1
