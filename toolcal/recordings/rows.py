"""Recorded runs as rows of the table `trajectories`: a user who speaks freely has no place in the turn-wise rollout."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from toolcal import calls, rollout, tables
from toolcal.benchmarks.protocol import NO_RESULT, Case, Message, ToolResult
from toolcal.benchmarks.tau2.engine import Call
from toolcal.benchmarks.tau2.grading import database_check
from toolcal.cells import Cell
from toolcal.models.protocol import Reply
from toolcal.recordings.run import Run


def to_frame(cell: Cell, runs: Sequence[Run], cases: Mapping[str, Case]) -> pd.DataFrame:
    """The table `trajectories` of a recorded cell.

    A turn is a user message and what follows it; what stands before the first one belongs to turn 0, and what the
    benchmark's engine wrote in the agent's name has the origin `benchmark`. What a
    call changed is found by replaying it, where the benchmark has an engine here; whether it was executed is what the
    recording says.

    Args:
        cell: goes into the rows' keys.
        runs: the recorded runs.
        cases: the case of each.

    Returns:
        One row an emission, sorted by the table's key.
    """
    return of_runs("trajectories", cell, runs, lambda run: rows_of(run, cases[run.case_id]))


def user_messages(cell: Cell, runs: Sequence[Run]) -> pd.DataFrame:
    """The table `user_messages` of a recorded cell: what reached the model besides the results of its calls.

    Args:
        cell: goes into the rows' keys.
        runs: the recorded runs.

    Returns:
        One row a message, sorted by the table's key.
    """
    return of_runs("user_messages", cell, runs, _heard)


def of_runs(
    table: str, cell: Cell, runs: Iterable[Run], rows: Callable[[Run], Iterable[dict[str, Any]]]
) -> pd.DataFrame:
    """A table of a recorded cell, sorted by its key, from the rows of each run; they lack the run's key."""
    found = ({**cell._asdict(), "case_id": run.case_id, "trial": run.trial, **row} for run in runs for row in rows(run))
    return tables.frame(table, found).sort_values(list(tables.TABLES[table].key), ignore_index=True)


def _heard(run: Run) -> Iterator[dict[str, Any]]:
    """The rows of `user_messages` of one run."""
    for place, turn, _, message in _spoken(run):
        if message["role"] != "assistant":
            yield {
                "place": place,
                "turn": turn,
                "role": message["role"],
                "content": tables.text_or_json(message["content"]),
                "tool_calls": tables.dumps(message.get("tool_calls", [])),
                "tool_call_id": message.get("tool_call_id"),
            }


def rows_of(run: Run, case: Case) -> Iterator[dict[str, Any]]:
    """The rows of one run; they lack the cell's, the case's and the trial's columns."""
    names = {tool["function"]["name"] for _, tool in case.tools}
    here = iter(replayed(run, case)[1])
    turn = step = 0
    for place, turn, step, message in _spoken(run):
        if message["role"] == "assistant":
            results = [
                _result(call, answer, next(here, None) if answer else None) for call, answer in _answered(run, place)
            ]
            yield _emission(turn, step, message, results, names)
            step += 1
    if run.verdict.status == "infra_error":
        failed = Reply({"role": "assistant", "content": None}, raw=run.verdict.reason, failure="infra_error")
        yield rollout.row(turn, step, failed, "infra_error", [])


def _spoken(run: Run) -> Iterator[tuple[int, int, int, Message]]:
    """Place, turn, step and message of all but the results of the model's calls; others have the next answer's step."""
    users = step = turn = 0
    asked_by = ""
    for place, message in enumerate(run.messages):
        if message["role"] == "tool" and asked_by == "assistant":
            continue
        if message["role"] != "tool":
            asked_by = message["role"]
        if message["role"] == "user" and not message.get("tool_calls"):
            users, step = users + 1, step if users == 0 else 0
            turn = users - 1
        yield place, turn, step, message
        step += message["role"] == "assistant"


def replayed(run: Run, case: Case) -> tuple[bool | None, list[ToolResult]]:
    """A run's calls on the benchmark's own engine.

    Returns:
        Whether the database ends as gold leaves it (None without an engine), and what each of the assistant's answered
        calls did.
    """
    if case.benchmark != "tau2":
        return None, []
    return database_check(case, [_call(call) for call, _ in answered_calls(run)])


def calls_made(run: Run) -> list[Call]:
    """All calls of the assistant, in order, whether they were answered or not."""
    answers = [message for message in run.messages if message["role"] == "assistant"]
    return [_call(call) for message in answers for call in message.get("tool_calls", ())]


def answered_calls(run: Run) -> list[tuple[dict[str, Any], Message]]:
    """The assistant's calls that have a result, in order, each with it."""
    places = [at for at, message in enumerate(run.messages) if message["role"] == "assistant"]
    return [(call, answer) for at in places for call, answer in _answered(run, at) if answer]


def _answered(run: Run, at: int) -> list[tuple[dict[str, Any], Message | None]]:
    """The calls of one message, each with the result that follows it."""
    after = itertools.takewhile(lambda message: message["role"] == "tool", run.messages[at + 1 :])
    results = {message["tool_call_id"]: message for message in after}
    return [(call, results.get(call["id"])) for call in run.messages[at].get("tool_calls", ())]


def _emission(turn: int, step: int, message: Message, results: list[dict[str, Any]], names: set[str]) -> dict[str, Any]:
    measured = dict(message.get("measured", {}))
    said = {key: value for key, value in message.items() if key not in ("measured", "canned")}
    parsed = calls.parse(said, measured.get("finish_reason"), names)
    made = rollout.row(turn, step, Reply(said, **measured), parsed.status, results)
    return made | {"origin": "benchmark"} if message.get("canned") else made


def _result(call: Mapping[str, Any], answer: Message | None, here: ToolResult | None) -> dict[str, Any]:
    text = answer["content"] if answer else ""
    failed = answer is None or bool(answer["failed"])
    why = text.removeprefix("Error: ") if answer else NO_RESULT
    return {
        "name": call["function"]["name"],
        "arguments": _call(call).arguments,
        "result": text,
        "error": why if failed else None,
        "executed": not failed,
        "state_changed": here.state_changed if here else bool(answer and answer.get("state_changed")),
        "held_out": False,
    }


def _call(call: Mapping[str, Any]) -> Call:
    """A call for the engine; arguments that are no JSON object are none."""
    function = call["function"]
    try:
        arguments = json.loads(function["arguments"])
    except (ValueError, RecursionError):
        arguments = {}
    return Call(function["name"], arguments if isinstance(arguments, dict) else {})
