"""A run's conversation, put together again from the tables: what the model said and called, and what it was told."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from toolcal import tables
from toolcal.benchmarks.protocol import NO_RESULT, Message

Run = tuple[Any, ...]
"""The values of the columns `tables.CASE`."""
Place = tuple[int, int, int]
"""(turn, step, attempt) of an emission."""


def conversation(
    emissions: Iterable[Mapping[str, Any]], user_messages: Iterable[Mapping[str, Any]]
) -> tuple[list[Message], dict[Place, int]]:
    """The messages of one run, in the order and at the places in which the model met them.

    Args:
        emissions: the run's rows of table `trajectories`, in the order of its key. What a probe took back or had
            said again, and an error in place of an answer, was not part of the conversation.
        user_messages: its rows of table `user_messages`, in the order of its key.

    Returns:
        OpenAI messages (a tool's has besides `failed`), and where each emission stands among them.
    """
    others, rows = list(user_messages), list(emissions)
    messages: list[Message] = []
    places: dict[Place, int] = {}
    last = {(row["turn"], row["step"]): row["attempt"] for row in rows if row["status"] != "infra_error"}
    for row in rows:
        if row["retracted"] or row["status"] == "infra_error" or row["attempt"] < last[row["turn"], row["step"]]:
            continue
        _take(others, messages)
        places[place_of(row)] = len(messages)
        calls = json.loads(row["tool_calls"])
        said = {"role": "assistant", "content": row["content"]}
        messages.append(said | ({"tool_calls": calls} if calls else {}))
        # Calls that leaked into the text have results too, but no ids.
        for call, result in itertools.zip_longest(calls, json.loads(row["tool_results"])):
            if result and result["error"] != NO_RESULT:
                messages.append(
                    {
                        "role": "tool",
                        "tool_call_id": call and call.get("id"),
                        "content": result["result"],
                        "failed": not result["executed"],
                    }
                )
    _take(others, messages)
    return messages, places


def by_run(data: pd.DataFrame) -> dict[Run, list[dict[str, Any]]]:
    """The rows of each run, as dicts, in their order."""
    found: dict[Run, list[dict[str, Any]]] = {}
    for row in tables.records(data):
        found.setdefault(run_of(row), []).append(row)
    return found


def run_of(row: Mapping[str, Any]) -> Run:
    """The run that a row belongs to."""
    return tuple(row[column] for column in tables.CASE)


def place_of(row: Mapping[str, Any]) -> Place:
    """The emission that a row belongs to, within its run."""
    return row["turn"], row["step"], row["attempt"]


def shortened(text: str, length: int) -> str:
    """The beginning and the end of a long text: what is asked mostly stands at the end."""
    if len(text) <= length:
        return text
    tail = length // 3
    return f"{text[: length - tail]} [... {len(text) - length} characters left out ...] {text[-tail:]}"


def _take(others: list[Mapping[str, Any]], messages: list[Message]) -> None:
    """Move to the messages what stands at the next place."""
    while others and others[0]["place"] <= len(messages):
        row = others.pop(0)
        calls = json.loads(row["tool_calls"])
        message = {"role": row["role"], "content": row["content"]}
        if row["role"] == "tool":
            message["tool_call_id"] = row["tool_call_id"]
        messages.append(message | ({"tool_calls": calls} if calls else {}))
