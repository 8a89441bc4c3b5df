"""Invented conversations in few words, and what the rule says of their last call."""

from __future__ import annotations

import json
from typing import Any

from toolcal.writes.consent import Decision, decide

Message = dict[str, Any]
Call = tuple[str, dict[str, Any]]


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def agent(text: str | None, *calls: Call) -> Message:
    made = [
        {"id": f"c{place}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for place, (name, arguments) in enumerate(calls)
    ]
    return {"role": "assistant", "content": text, **({"tool_calls": made} if made else {})}


def result(content: Any, place: int = 0, failed: bool = False) -> Message:
    text = content if isinstance(content, str) else json.dumps(content)
    return {"role": "tool", "tool_call_id": f"c{place}", "content": text, "failed": failed}


def judge(*messages: Message, call: int = 0) -> Decision:
    """The decision on a call of the last message."""
    return decide(messages, len(messages) - 1, call)


def verdict(*messages: Message, call: int = 0) -> tuple[bool, bool, int | None]:
    """Proposed, agreed, and the message that decided, on a call of the last message."""
    decision = judge(*messages, call=call)
    return decision.proposed, decision.agreed, decision.message
