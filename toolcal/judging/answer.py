"""The judge's answer, read strictly: what does not have the form asked for is no verdict."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_WRITE = ("proposed", "agreed", "message", "reason")
_ASSERTION = ("number", "met", "reason")
_FENCES = ("```json", "```JSON", "```")


class Unreadable(ValueError):
    """An answer that is no verdict; the message says why, in words of our own, for it goes into the next prompt."""


@dataclass(frozen=True)
class Verdict:
    """What the judge decided about a write: as asked for, and why in its words."""

    proposed: bool
    agreed: bool
    message: int | None
    reason: str


def read_write(text: str, shown: Mapping[int, str]) -> Verdict:
    """Read an answer about a write: one JSON object, in a code fence or without.

    Args:
        text: the answer.
        shown: place -> role of the messages that the judge has read.

    Raises:
        Unreadable: it is no such object, it contradicts itself, or its message cannot have decided this.
    """
    found = _object(_unfenced(text.strip()))
    _has_keys("its keys", found, _WRITE)
    proposed, agreed, message, reason = (found[key] for key in _WRITE)
    if not isinstance(proposed, bool) or not isinstance(agreed, bool):
        raise Unreadable("proposed and agreed are not both true or false")
    if not isinstance(reason, str):
        raise Unreadable("reason is no text")
    if agreed and not proposed:
        raise Unreadable("agreed is true where proposed is false")
    if not proposed:
        if message is not None:
            raise Unreadable("message is not null where nothing was proposed")
        return Verdict(False, False, None, reason)
    role = "user" if agreed else "agent"
    if isinstance(message, bool) or not isinstance(message, int) or shown.get(message) != role:
        whose = "a message of the user, who agreed" if agreed else "a message of the agent, who proposed"
        raise Unreadable(f"message is not the number of {whose}, before the call")
    return Verdict(True, agreed, message, reason)


def read_assertions(text: str, count: int) -> list[tuple[bool, str]]:
    """Read an answer about assertions: one JSON object with each of them once, in any order.

    Args:
        text: the answer.
        count: how many there are; their numbers run from 0.

    Returns:
        Of each assertion, by number, whether it is met, and why in the judge's words.

    Raises:
        Unreadable: it is no such object.
    """
    found = _object(_unfenced(text.strip()))
    _has_keys("its keys", found, ("assertions",))
    if not isinstance(found["assertions"], list):
        raise Unreadable("assertions is not a list")
    read: dict[int, tuple[bool, str]] = {}
    for entry in found["assertions"]:
        if not isinstance(entry, dict):
            raise Unreadable("an entry of assertions is no object")
        _has_keys("the keys of an entry of assertions", entry, _ASSERTION)
        number, met, reason = (entry[key] for key in _ASSERTION)
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < count:
            raise Unreadable("a number is not that of an assertion")
        if number in read:
            raise Unreadable(f"assertion {number} is there twice")
        if not isinstance(met, bool):
            raise Unreadable(f"met is not true or false for assertion {number}")
        if not isinstance(reason, str):
            raise Unreadable(f"reason is no text for assertion {number}")
        read[number] = met, reason
    if absent := [str(number) for number in range(count) if number not in read]:
        raise Unreadable(f"not there: assertion {', '.join(absent)}")
    return [read[number] for number in range(count)]


def read_right(text: str) -> tuple[bool, str]:
    """Read an answer about an answer: whether it is right, and why in the judge's words.

    Raises:
        Unreadable: it is no object of the form asked for.
    """
    found = _object(_unfenced(text.strip()))
    _has_keys("its keys", found, ("reason", "right"))
    if not isinstance(found["right"], bool):
        raise Unreadable("right is not true or false")
    if not isinstance(found["reason"], str):
        raise Unreadable("reason is no text")
    return found["right"], found["reason"]


def _has_keys(what: str, found: Mapping[str, Any], keys: Sequence[str]) -> None:
    if set(found) != set(keys):
        raise Unreadable(f"{what} are not exactly {', '.join(keys)}")


def _unfenced(text: str) -> str:
    for fence in _FENCES:
        if text.startswith(fence) and text.endswith("```") and len(text) >= len(fence) + 3:
            return text[len(fence) : -3]
    return text


def _object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        if isinstance(error, Unreadable):
            raise
        raise Unreadable("it is not one JSON object and nothing else") from None
    if not isinstance(found, dict):
        raise Unreadable("it is not one JSON object and nothing else")
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise Unreadable("it has a key twice")
    return dict(pairs)
