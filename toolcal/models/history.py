"""What a model reads of its own emissions later: a history that every endpoint takes back.

The record keeps what came; here ids, names and arguments are put right where an endpoint would refuse them. Fields that
a provider wants back (thinking blocks, signatures) go along.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from toolcal import calls
from toolcal.benchmarks.protocol import Message
from toolcal.callshapes import JSON

_RETURNED = ("thinking_blocks", "extra_content")
"""Fields of a message, and of a tool call, that go back as they came: signatures lie in them."""

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


def said(
    message: Mapping[str, Any], parsed: calls.Parsed, results: Sequence[Mapping[str, Any]], ids: str
) -> list[Message]:
    """An emission and what its calls gave, as OpenAI messages.

    Args:
        message: the emission as it came, in OpenAI form.
        parsed: the same, read.
        results: `{name, arguments, result}` of each executed call; none where nothing was executed.
        ids: begins the ids of calls that have none of their own.

    Returns:
        The assistant's message, and one tool message a call: its result, or why it was not executed.
    """
    native = calls.native_calls(message) if parsed.status != "truncated" else []
    given = list(native) if isinstance(native, list | tuple) else [native]
    text, read = parsed.text, results
    if results and parsed.leaked:  # they stood in the text; from here on they are calls like any other
        text, given = parsed.prose.strip(), [{}] * len(results)
    elif not results:
        error = f"Error: the call could not be read ({parsed.error}) and was not executed."
        read = [_readable(call) | {"result": error} for call in given]
    kept = _returned(message, "reasoning_content")
    if not read:
        return [{"role": "assistant", "content": text, **kept}]
    made = [_call(*pair, f"{ids}_{index}") for index, pair in enumerate(zip(given, read, strict=True))]
    _distinct(made, ids)
    answers = [
        {"role": "tool", "tool_call_id": call["id"], "content": result["result"]}
        for call, result in zip(made, read, strict=True)
    ]
    return [{"role": "assistant", "content": text or None, **kept, "tool_calls": made}, *answers]


def _call(given: Any, read: Mapping[str, Any], id: str) -> dict[str, Any]:
    given = given if isinstance(given, Mapping) else {}
    own = given.get("id")
    return {
        "id": own if isinstance(own, str) and own else id,
        "type": "function",
        "function": {
            "name": _name(read["name"]),
            "arguments": json.dumps(read["arguments"], ensure_ascii=False, separators=(",", ":")),
        },
        **_returned(given),
    }


def _returned(given: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """The fields that go back. Of litellm's own box only signatures do: OpenAI-like endpoints may refuse the rest."""
    kept = {name: given[name] for name in (*_RETURNED, *names) if given.get(name)}
    box = given.get("provider_specific_fields")
    signed = {name: value for name, value in box.items() if "signature" in name} if isinstance(box, dict) else {}
    return kept | ({"provider_specific_fields": signed} if signed else {})


def _readable(call: Any) -> dict[str, Any]:
    """Name and arguments of a call that could not be read: an object at any rate, for endpoints insist on one."""
    function = call.get("function") if isinstance(call, Mapping) else None
    function = function if isinstance(function, Mapping) else {}
    arguments = function.get("arguments")
    try:
        value = JSON.decode(arguments) if isinstance(arguments, str) else arguments
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        value = {"unreadable": arguments if isinstance(arguments, str) else json.dumps(arguments)}
    return {"name": function.get("name"), "arguments": value}


def _name(name: Any) -> str:
    text = name if isinstance(name, str) else ""
    return text if _NAME.fullmatch(text) else re.sub(r"[^A-Za-z0-9_-]", "_", text)[:64] or "unnamed"


def _distinct(made: Sequence[dict[str, Any]], ids: str) -> None:
    """Give a second call of the same id one of its own."""
    seen: set[str] = set()
    for index, call in enumerate(made):
        if call["id"] in seen:
            call["id"] = f"{ids}_{index}"
        seen.add(call["id"])
