"""An endpoint's answer, read as it came where that is possible.

litellm raises at tool calls of odd form, and fills in finish reasons, ids and token counts that are not there; what a
model said must not depend on that.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolcal.tables import text_or_json

_MANY = 2**53
"""No count of tokens."""


@dataclass(frozen=True)
class Answer:
    """The assistant's message and what came with it; token counts are None where the endpoint gave none."""

    message: dict[str, Any]
    finish_reason: str | None
    usage: dict[str, Any]
    prompt_tokens: int | None
    completion_tokens: int | None
    served_by: str | None


def read(body: Any) -> Answer | None:
    """Read a chat completion.

    Args:
        body: the decoded JSON, of whatever form.

    Returns:
        The answer, or None where no choice holds a message.
    """
    choices = body.get("choices") if isinstance(body, Mapping) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, Mapping) else None
    if not isinstance(choice, Mapping) or not isinstance(message, Mapping):
        return None
    usage = body.get("usage")
    usage = dict(usage) if isinstance(usage, Mapping) else {}
    names = [str(body[name]) for name in ("model", "system_fingerprint") if body.get(name)]
    return Answer(
        message=_named(message),
        finish_reason=text_or_json(choice.get("finish_reason")),
        usage=_storable(usage),
        prompt_tokens=count(usage.get("prompt_tokens")),
        completion_tokens=count(usage.get("completion_tokens")),
        served_by=" ".join(names) or None,
    )


def count(value: Any) -> int | None:
    """A count of tokens, also from text; None for what is none."""
    value = int(value) if isinstance(value, str) and value.isdecimal() and len(value) < 10 else value
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MANY else None


def _named(message: Mapping[str, Any]) -> dict[str, Any]:
    """The message without nulls; `reasoning`, as vLLM and others call it, is reasoning_content."""
    named = {name: _storable(value) for name, value in message.items() if value is not None}
    if "reasoning" in named:
        named.setdefault("reasoning_content", named.pop("reasoning"))
    return named


def _storable(value: Any) -> Any:
    try:
        return _finite(value)
    except RecursionError:
        return "nested too deeply"


def _finite(value: Any) -> Any:
    """The value without NaN and infinities, which are no JSON: null, but in arguments of a call the text that came."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {
            name: json.dumps(item) if name == "arguments" and item != _finite(item) else _finite(item)
            for name, item in value.items()
        }
    return [_finite(item) for item in value] if isinstance(value, list) else value
