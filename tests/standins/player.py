"""A player: what a stand-in model says, as a pure function of the conversation it is sent.

A turn opens with a call in most cases, else with two calls, a question, a refusal or a report; after results it mostly
reports, so that runs are varied and soon end. The same messages and tools always get the same answer.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

Message = dict[str, Any]

QUESTIONS = ("Which file do you mean?", "Could you tell me the exact amount?", "What date should I use?")
REFUSALS = (
    "I'm sorry, I can't do that: none of the available tools supports it.",
    "Unfortunately I am not able to do this with the functions I have.",
)
REPORTS = ("The work has been completed successfully.", "Done: everything you asked for has been carried out.")


def play(body: Mapping[str, Any]) -> dict[str, Any]:
    """The completion that answers a chat request; usage is counted from lengths, four characters a token."""
    messages = body.get("messages") or []
    tools = body.get("tools") or []
    chance = Chance(json.dumps([messages, tools, body.get("response_format")], sort_keys=True))
    schema = ((body.get("response_format") or {}).get("json_schema") or {}).get("schema")
    if schema:
        message = {"content": json.dumps(chance.value(schema, _words(messages)))}
    elif tools:
        message = _turn(messages, tools, chance)
    else:
        message = _as_python(_turn(messages, _tools_in_prompt(messages), chance))
    return completion(body, message, chance)


def completion(body: Mapping[str, Any], message: Mapping[str, Any], chance: Chance | None = None) -> dict[str, Any]:
    """A completion with this message, its identity and usage as a function of the request."""
    message = {"role": "assistant", "content": None, **message}
    chance = chance or Chance(json.dumps(body, sort_keys=True))
    prompt = len(json.dumps([body.get("messages"), body.get("tools")])) // 4
    answered = 1 + len(json.dumps(message)) // 4
    return {
        "id": f"chatcmpl-{chance.hex(12)}",
        "object": "chat.completion",
        "created": 1,
        "model": body.get("model", "standin"),
        "system_fingerprint": "fp_standin",
        "choices": [
            {"index": 0, "finish_reason": "tool_calls" if message.get("tool_calls") else "stop", "message": message}
        ],
        "usage": {"prompt_tokens": prompt, "completion_tokens": answered, "total_tokens": prompt + answered},
    }


class Chance:
    """Draws that depend on a text only: the n-th draw is a hash of the text and n."""

    def __init__(self, text: str) -> None:
        self._text = hashlib.sha256(text.encode("utf-8", "replace")).digest()
        self._drawn = 0

    def hex(self, length: int) -> str:
        """Digits that name the text; not a draw."""
        return self._text.hex()[:length]

    def below(self, limit: int) -> int:
        """A number from 0 to limit - 1."""
        self._drawn += 1
        digest = hashlib.sha256(self._text + self._drawn.to_bytes(4, "big")).digest()
        return int.from_bytes(digest[:8], "big") % limit

    def one_of(self, items: Sequence[Any]) -> Any:
        """One of the items."""
        return items[self.below(len(items))]

    def value(self, schema: Mapping[str, Any], words: Sequence[str]) -> Any:
        """A value that fits a JSON schema; strings are words of the conversation."""
        if branches := schema.get("anyOf") or schema.get("oneOf"):
            return self.value(self.one_of(branches), words)
        if "const" in schema:
            return schema["const"]
        if schema.get("enum"):
            return self.one_of(schema["enum"])
        kind = schema.get("type")
        kind = kind[0] if isinstance(kind, list) else kind
        if kind in ("integer", "number", "float"):
            return self.below(100) if kind == "integer" else self.below(1000) / 8
        if kind == "boolean":
            return self.below(2) == 0
        if kind == "array":
            count = 1 + schema.get("minItems", 0)
            return [self.value(schema.get("items") or {}, words) for _ in range(count)]
        if kind == "object" or "properties" in schema:
            required = schema.get("required", ())
            given = schema.get("properties", {}).items()
            return {name: self.value(part, words) for name, part in given if name in required or not self.below(3)}
        return None if kind == "null" else self.one_of(words)


def _turn(messages: Sequence[Message], tools: Sequence[Message], chance: Chance) -> Message:
    opened = max((at for at, message in enumerate(messages) if message.get("role") == "user"), default=-1)
    rounds = sum(message.get("role") == "assistant" for message in messages[opened + 1 :])
    if opened > 0 and str(messages[opened - 1].get("content")).startswith("["):
        rounds = 1  # without native tools, results come as the user's message
    roll = chance.below(20)
    calls = 0
    if tools and rounds == 0:
        calls = 1 if roll < 11 else 2 if roll < 14 else 0
    elif tools and rounds < 4:
        calls = 1 if roll < 5 else 0
    if calls:
        said = "Let me see to that." if chance.below(4) == 0 else None
        return {"content": said, "tool_calls": [_call(chance, tools, _words(messages), at) for at in range(calls)]}
    texts = REPORTS if rounds else QUESTIONS if roll < 17 else REFUSALS if roll < 19 else REPORTS
    return {"content": chance.one_of(texts)}


def _call(chance: Chance, tools: Sequence[Message], words: Sequence[str], at: int) -> Message:
    tool = chance.one_of(tools)
    function = tool.get("function") or tool
    arguments = chance.value({"type": "object", **(function.get("parameters") or {})}, words)
    return {
        "id": f"call_{chance.hex(8)}_{at}",
        "type": "function",
        "function": {"name": function["name"], "arguments": json.dumps(arguments)},
    }


def _words(messages: Sequence[Message]) -> list[str]:
    """Words that an argument may be made of: what the user quoted, else what they said."""
    said = [str(message.get("content") or "") for message in messages if message.get("role") == "user"]
    text = said[-1] if said else ""
    return re.findall(r"'([^']{1,40})'", text) or re.findall(r"[\w.-]{3,}", text) or ["something"]


def _tools_in_prompt(messages: Sequence[Message]) -> list[Message]:
    """Tools that a system message lists as JSON objects with a name and parameters."""
    text = "\n".join(str(message.get("content")) for message in messages if message.get("role") == "system")
    found, at = [], text.find("{")
    while at >= 0:
        try:
            value, end = json.JSONDecoder().raw_decode(text, at)
        except ValueError:
            value, end = {}, at + 1
        function = value.get("function") or value
        if isinstance(function, dict) and "name" in function and "parameters" in function:
            found.append(value)
        at = text.find("{", end)
    return found


def _as_python(message: Message) -> Message:
    """The same calls as a Python list in the text, the form of models without native tools."""
    functions = [call["function"] for call in message.get("tool_calls", ())]
    written = [
        f"{function['name']}({', '.join(f'{k}={v!r}' for k, v in json.loads(function['arguments']).items())})"
        for function in functions
    ]
    return {"content": f"[{', '.join(written)}]"} if written else {"content": message["content"]}
