"""How the judge reads a conversation: a JSON object a line, which nothing in it can end."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from toolcal.benchmarks.protocol import Message
from toolcal.writes.conversation import shortened
from toolcal.writes.talk import words

LENGTH = 1500
"""Characters that are shown of a message, and of the arguments of a call in it."""

ROLES = {"assistant": "agent", "user": "user", "tool": "tool"}
"""Role of a message -> what the judge is told; other messages, the system's, are not shown."""


def view(messages: Sequence[Message], at: int, length: int = LENGTH) -> dict[str, Any]:
    """A message as the judge reads it, with its place as its number.

    Args:
        messages: of the run.
        at: the message's place.
        length: characters that are shown of its text.
    """
    message = messages[at]
    seen: dict[str, Any] = {"message": at, "role": ROLES[message["role"]], "text": shortened(words(message), length)}
    if message.get("tool_calls"):
        seen["calls"] = [call(*_named(made)) for made in message["tool_calls"]]
    return seen | ({"failed": True} if message.get("failed") else {})


def call(name: str, arguments: Any) -> str:
    """A call as one text."""
    given = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return f"{name}({shortened(given, LENGTH)})"


def line(seen: Any) -> str:
    """JSON in one line, without a < or > that could end what it is put between."""
    text = json.dumps(seen, ensure_ascii=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e")


def _named(made: Any) -> tuple[str, Any]:
    """Name and arguments of a tool call, of the user's too, whatever its form."""
    function = made.get("function", made) if isinstance(made, Mapping) else {}
    function = function if isinstance(function, Mapping) else {}
    return str(function.get("name")), function.get("arguments")
