"""A conversation up to a call: what was spoken, which calls were made, and what the tools told of things."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from toolcal.writes.words import fold

Message = Mapping[str, Any]

_ERROR = re.compile(r"\W*(error|failed|exception|traceback)\b", re.IGNORECASE)

SHOWN, SPOKEN = 10, 6
"""A decision looks at the ten messages before the call, and further back where fewer than six of them are spoken."""


@dataclass(frozen=True)
class Made:
    """A call, where it stands, and whether its result is there and is none of a failure.

    `unreadable`: its arguments are no JSON object.
    """

    at: int
    name: str
    arguments: Mapping[str, Any]
    done: bool
    failed: bool
    unreadable: bool


@dataclass(frozen=True)
class Exchange:
    """What the agent said in one go, and the user's reply.

    Attributes:
        at: the index of the agent's last message with words; None where it said nothing.
        agent: its words, folded.
        reply_at: the index of the reply; None where there is none.
        reply: the user's words, folded.
    """

    at: int | None
    agent: str
    reply_at: int | None
    reply: str


def words(message: Message) -> str:
    """The text of a message; "" where it has none."""
    content = message.get("content")
    if isinstance(content, list):
        content = " ".join(str(part.get("text") or "") for part in content if isinstance(part, Mapping))
    return content.strip() if isinstance(content, str) else ""


def exchanges(messages: Sequence[Message], start: int, end: int) -> list[Exchange]:
    """The exchanges between two indices; what the agent says after the last reply is one without reply."""
    found: list[Exchange] = []
    said: list[str] = []
    at: int | None = None
    for index in range(start, end):
        message = messages[index]
        role, text = message.get("role"), words(message)
        if role == "assistant" and text:
            said.append(fold(text))
            at = index
        elif role == "user" and text:
            found.append(Exchange(at, "\n".join(said), index, fold(text)))
            said, at = [], None
    if said:
        found.append(Exchange(at, "\n".join(said), None, ""))
    return found


def window(messages: Sequence[Message], at: int) -> int:
    """The index from which on a call at `at` is judged."""
    spoken = 0
    for index in range(at - 1, -1, -1):
        if messages[index].get("role") in ("user", "assistant") and words(messages[index]):
            spoken += 1
        if at - index >= SHOWN and spoken >= SPOKEN:
            return index
    return 0


def calls(messages: Sequence[Message], start: int, end: int) -> list[Made]:
    """The assistant's calls between two indices, in order."""
    return [made for index in range(start, end) for made in calls_of(messages, index)]


def calls_of(messages: Sequence[Message], at: int) -> list[Made]:
    """The calls of one message."""
    given = messages[at].get("tool_calls") or () if messages[at].get("role") == "assistant" else ()
    return [_made(messages, at, call) for call in given if isinstance(call, Mapping)]


def _made(messages: Sequence[Message], at: int, call: Mapping[str, Any]) -> Made:
    function = call.get("function")
    function = function if isinstance(function, Mapping) else call
    failed = done = False
    for answer in messages[at + 1 :]:
        if answer.get("role") != "tool":
            break
        if answer.get("tool_call_id") == call.get("id"):
            failed = bool(answer.get("failed")) or _ERROR.match(words(answer)) is not None
            done = not failed
            break
    arguments = arguments_of(function.get("arguments"))
    return Made(at, str(function.get("name") or ""), arguments or {}, done, failed, arguments is None)


def arguments_of(given: Any) -> Mapping[str, Any] | None:
    """A call's arguments; None where they are no JSON object."""
    if isinstance(given, str):
        given = _json(given)
    return given if isinstance(given, Mapping) else None


class Known:
    """What tool results before a call tell, asked for by a value or a key that stands in them."""

    def __init__(self, messages: Sequence[Message], end: int) -> None:
        self._texts = [words(m) for m in messages[:end] if m.get("role") == "tool"]

    def record(self, value: str) -> str:
        """The results that tell of a thing by its id, in lower case; lists of ids are none."""
        field = re.compile(rf'":\s*"{re.escape(value)}"')
        return "\n".join(text.lower() for text in self._texts if value in text and field.search(text))

    def siblings(self, value: str) -> list[tuple[Mapping[str, str], list[Mapping[str, str]]]]:
        """The objects that hold a value, each with those listed beside it; plain fields, folded, the newest first."""
        return [found for text in reversed(self._texts) if value in text for found in _beside(text, value)]

    def values(self, key: str) -> set[str]:
        """All texts that stand under a key, alone or in a list, in any result."""
        field = re.compile(rf'"{re.escape(key)}":\s*(?:"([^"]*)"|\[([^]{{}}]*)\])')
        found = [match for text in self._texts if f'"{key}"' in text for match in field.findall(text)]
        return {value for one, listed in found for value in (one, *re.findall(r'"([^"]*)"', listed)) if value}


@lru_cache(maxsize=2048)
def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


@lru_cache(maxsize=4096)
def _beside(text: str, value: str) -> tuple[tuple[Mapping[str, str], list[Mapping[str, str]]], ...]:
    found: list[tuple[Mapping[str, str], list[Mapping[str, str]]]] = []
    for listed in _lists(_json(text)):
        mine = [key for key, item in listed.items() if key == value or value in item.values()]
        if mine and isinstance(listed[mine[0]], Mapping):
            found.append((_plain(listed[mine[0]]), [_plain(item) for key, item in listed.items() if key != mine[0]]))
    return tuple(found)


def _lists(value: Any, depth: int = 0) -> Iterator[Mapping[Any, Mapping[str, Any]]]:
    """Every list or mapping of objects in a JSON value, by place or key."""
    if depth > 12 or not isinstance(value, Mapping | list):
        return
    inner = value if isinstance(value, Mapping) else dict(enumerate(value[:500]))
    things = {key: item for key, item in inner.items() if isinstance(item, Mapping)}
    if things:
        yield things
    for item in inner.values():
        yield from _lists(item, depth + 1)


def _plain(item: Mapping[str, Any]) -> dict[str, str]:
    """An object's plain fields, those of an object in it among them, folded."""
    fields = [(k, v) for k, v in item.items() if not isinstance(v, Mapping)]
    fields += [
        (f"{k}.{name}", v) for k, inner in item.items() if isinstance(inner, Mapping) for name, v in inner.items()
    ]
    return {str(k): fold(str(v)) for k, v in fields if isinstance(v, str | int | float) and not isinstance(v, bool)}
