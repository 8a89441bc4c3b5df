"""The judge's answer, read strictly: what does not have the form asked for is no verdict."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_KEYS = ("proposed", "agreed", "message", "reason")
_FENCES = ("```json", "```JSON", "```")


class Unreadable(ValueError):
    """An answer that is no verdict; the message says why, in words of our own, for it goes into the next prompt."""


@dataclass(frozen=True)
class Verdict:
    """What the judge decided: as asked for, and why in its words."""

    proposed: bool
    agreed: bool
    message: int | None
    reason: str


def read(text: str, shown: Mapping[int, str]) -> Verdict:
    """Read an answer: one JSON object, in a code fence or without.

    Args:
        text: the answer.
        shown: place -> role of the messages that the judge has read.

    Raises:
        Unreadable: it is no such object, it contradicts itself, or its message cannot have decided this.
    """
    found = _object(_unfenced(text.strip()))
    if set(found) != set(_KEYS):
        raise Unreadable(f"its keys are not exactly {', '.join(_KEYS)}")
    proposed, agreed, message, reason = (found[key] for key in _KEYS)
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
