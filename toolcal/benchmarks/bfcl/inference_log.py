"""The text beside calls, which BFCL's result files drop, out of the conversation that some of them log.

The log holds the `repr` of Python objects. It is parsed, never evaluated: constants, lists, dicts, and calls with
keywords, which become dicts of these.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolcal.benchmarks.bfcl.result_files import Step
from toolcal.callshapes import Malformed, arguments_of

MAX_LENGTH = 5_000_000
"""Characters of a logged conversation that are parsed (about 1.5 µs each)."""

_MADE_BY = "class "
"""Key under which an object's class stands; no keyword has a space."""


@dataclass(frozen=True)
class _Said:
    calls: list[tuple[str, Any]]
    text: str


def texts(history: Any, steps: Sequence[Step]) -> dict[int, str]:
    """The text of steps, as the logged conversation has it.

    Args:
        history: what the model read before its last step: messages, or their `repr`.
        steps: all steps of the conversation, in order.

    Returns:
        Place among the steps -> its text, "" where it had none. A step whose logged message has other calls, or
        whose message the log may have shortened, is not there, nor is any where the number of messages is another.
    """
    try:
        messages = _parsed(history)
        said = [m for m in messages if m.get("role") == "assistant" or m.get(_MADE_BY) == "ChatCompletionMessage"]
        if len(said) != len(steps) - 1:
            return {}
        pairs = [(step, _read(message)) for step, message in zip(steps, said, strict=False)]
        return {place: found.text for place, (step, found) in enumerate(pairs) if found and _agree(step, found)}
    except (Malformed, AttributeError, TypeError, KeyError, RecursionError):
        return {}


def _agree(step: Step, said: _Said) -> bool:
    try:
        calls = [(name, arguments_of(arguments)) for name, arguments in step.calls]
        return calls == [(name, arguments_of(arguments)) for name, arguments in said.calls]
    except Malformed:
        return False


def _read(message: Mapping[str, Any]) -> _Said | None:
    """A message's calls and text; None where the text may have been left out."""
    content = message.get("content")
    functions = [call["function"] for call in message.get("tool_calls") or []]
    calls = [(function["name"], function["arguments"]) for function in functions]
    if isinstance(content, list):
        kinds = {block.get("type") for block in content}
        if not kinds <= {"text", "tool_use", "thinking", "redacted_thinking"}:
            return None
        calls += [(block["name"], block["input"]) for block in content if block["type"] == "tool_use"]
        return _Said(calls, "\n".join(block["text"] for block in content if block["type"] == "text"))
    # A plain dict is of the handler's making, and some handlers put calls into it without the text.
    if content or _MADE_BY in message:
        return _Said(calls, content or "") if isinstance(content, str | None) else None
    return None


def _parsed(history: Any) -> list[dict[str, Any]]:
    if isinstance(history, str) and len(history) <= MAX_LENGTH:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # invalid escapes in a model's strings
                history = _value(ast.parse(history, mode="eval").body)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise Malformed(f"the log is no repr of messages: {str(error)[:80]}") from None
    if not isinstance(history, list):
        raise Malformed("the log is no list of messages")
    return history


def _value(node: ast.expr) -> Any:
    match node:
        case ast.Constant(value):
            return value
        case ast.List(items) | ast.Tuple(items):
            return [_value(item) for item in items]
        case ast.Dict(keys, values):
            return {_value(key) if key else None: _value(value) for key, value in zip(keys, values, strict=True)}
        case ast.Call(ast.Name(made_by), [], keywords):
            return {_MADE_BY: made_by} | {str(keyword.arg): _value(keyword.value) for keyword in keywords}
        case ast.UnaryOp(ast.USub(), ast.Constant(int() | float() as number)):
            return -number
    raise Malformed(f"a {type(node).__name__} in the log")
