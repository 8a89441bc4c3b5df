"""What was sent for a call, as it is recorded: the provider's own form of it, and the parameters that it left out."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

_LONG = 300
"""Characters of JSON above which a value of the sent body is recorded as a checksum."""

_SPELLINGS = {
    "max_tokens": ("maxcompletiontokens", "maxoutputtokens", "maxnewtokens"),
    "max_completion_tokens": ("maxtokens", "maxoutputtokens", "maxnewtokens"),
    "stop": ("stopsequences",),
    "response_format": ("responseschema", "responsejsonschema", "outputformat", "outputconfig"),
    "reasoning_effort": ("reasoning", "thinking", "thinkingconfig", "thinkinglevel", "outputconfig"),
}
"""What providers call a parameter, besides its own name; upper case and underscores aside."""


def described(body: Mapping[str, Any], sent: Mapping[str, Any]) -> dict[str, Any]:
    """The record of what was sent.

    Args:
        body: what was asked for: messages, tools, parameters, as for OpenAI's API.
        sent: what litellm made of it for the provider; empty where that is not known.

    Returns:
        `body` (as sent, long values as checksums) and `dropped` (names of parameters that did not go out).
    """
    return {"body": _shortened(sent), "dropped": _dropped(body, sent)}


def _shortened(sent: Mapping[str, Any]) -> dict[str, Any]:
    """The body as sent, with long values as checksums: the conversation is in the tables already."""
    short = {}
    for name, value in sent.items():
        text = json.dumps(value, sort_keys=True, default=str)
        long = len(text) > _LONG or name in ("messages", "tools")
        short[name] = f"sha256:{hashlib.sha256(text.encode()).hexdigest()} ({len(text)} characters)" if long else value
    return short


def _dropped(body: Mapping[str, Any], sent: Mapping[str, Any]) -> list[str]:
    """Parameters that were asked for and did not go out, under any provider's spelling."""
    if not sent:
        return []
    there = set(_names({name: value for name, value in sent.items() if name not in ("messages", "tools", "contents")}))
    asked = [name for name in body if name not in ("messages", "tools")]
    return [name for name in asked if not there & {_plain(name), *_SPELLINGS.get(name, ())}]


def _names(value: Any) -> list[str]:
    if not isinstance(value, Mapping):
        return []
    return [found for name, item in value.items() for found in (_plain(str(name)), *_names(item))]


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
