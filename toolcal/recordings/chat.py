"""OpenAI chat messages in a record, brought into form; tau-bench v1 and the plain form share them."""

from __future__ import annotations

import json
from typing import Any

from toolcal.benchmarks.protocol import Message
from toolcal.recordings.run import Odd, calls_of, kind, measured, text_of, want


def message_of(value: Any, last: bool, place: str) -> Message:
    """One message.

    A tool result failed if its `failed` says so, else if its text begins with Error. An answer may be an empty text,
    but not null without a call.

    Args:
        value: what stands in the record.
        last: not looked at: here an answer is judged alike wherever it stands.
        place: the field's name.

    Raises:
        Odd: naming the field that is wrong.
    """
    if not isinstance(value, dict):
        raise Odd(f"{place}: {kind(value)} where a message is due")
    role, content = value.get("role"), text_of(value.get("content"), place)
    if role == "tool":
        failed = value.get("failed", (content or "").startswith("Error"))
        if not isinstance(failed, bool):
            raise Odd(f"{place}.failed: {kind(failed)} where true or false is due")
        call = want(value, "tool_call_id", str, "the id of a call", place)
        return {"role": "tool", "tool_call_id": call, "content": content or "", "failed": failed}
    if role not in ("system", "developer", "user", "assistant"):
        raise Odd(f"{place}.role: {role!r} is no role of a message")
    calls = calls_of(value.get("tool_calls"), _made, place) if role in ("assistant", "user") else []
    if content is None and not calls:
        raise Odd(f"{place}: neither content nor calls")
    message: Message = {"role": role, "content": content} | ({"tool_calls": calls} if calls else {})
    if role != "assistant":
        return message
    told = (value.get(key) for key in ("reasoning_content", "finish_reason", "usage"))
    return message | measured(*told, raw=dict(value))


def _made(call: dict[str, Any], place: str) -> tuple[str, str]:
    function = want(call, "function", dict, "an object", place)
    name = want(function, "name", str, "text", f"{place}.function")
    arguments = want(function, "arguments", (str, dict), "JSON text or an object", f"{place}.function")
    return name, arguments if isinstance(arguments, str) else json.dumps(arguments)
