"""Models that say what a test has them say, and conversations with them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from toolcal.benchmarks.protocol import Case
from toolcal.live.conversation import Held, Limits, hold
from toolcal.models.protocol import Reply, Request
from toolcal.perturbations.context import Context, baseline


def text(words: str | None) -> Reply:
    return Reply({"role": "assistant", "content": words}, "stop")


def called(*made: tuple[str, dict[str, Any]], words: str | None = None) -> Reply:
    native = [
        {"id": f"c{at}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for at, (name, arguments) in enumerate(made)
    ]
    return Reply({"role": "assistant", "content": words, "tool_calls": native}, "tool_calls")


class Script:
    """Gives its replies one after the other, the last one again and again; keeps what it was asked."""

    def __init__(self, *replies: Reply) -> None:
        self._replies = replies
        self.asked: list[Request] = []

    def __call__(self, request: Request) -> Reply:
        self.asked.append(request)
        return self._replies[min(len(self.asked), len(self._replies)) - 1]


def talk(
    case: Case,
    agent: Callable[[Request], Reply],
    user: Callable[[Request], Reply] | None = None,
    context: Context | None = None,
    **settings: Any,
) -> Held:
    return hold(case, context or baseline(case), agent, user, **{"trial": 0, "seed": 0, "limits": Limits()} | settings)


def seen(held: Held, *columns: str) -> list[tuple[Any, ...]]:
    return [tuple(row[column] for column in columns) for row in held.rows]


def results(row: dict[str, Any]) -> list[dict[str, Any]]:
    return json.loads(row["tool_results"])


def roles(messages: Sequence[dict[str, Any]]) -> str:
    """The first letters of the messages' roles."""
    return "".join(message["role"][0] for message in messages)
