"""Tool calls out of an assistant message, in any dialect; the rollout and the labels read messages with it alike.

Only finds and reads calls: whether a tool exists and what it does is the environment's business.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from toolcal.callshapes import Call, Malformed, call_of
from toolcal.dialects import leaked

__all__ = ["Call", "Parsed", "content_of", "native_calls", "parse"]

_CUT_OFF = ("length", "max_tokens", "model_length")
_THINK = re.compile(r"(<think(?:ing)?>|\[THINK\]|<seed:think>)|</think(?:ing)?>|\[/THINK\]|</seed:think>")


@dataclass(frozen=True)
class Parsed:
    """What one emission says.

    `status` is one of `tables.EMISSION_STATUSES` (here ok, empty, truncated or malformed_call); only an ok emission
    has `calls`. `text` is the visible text, thinking removed; `prose` is the same without leaked calls. `leaked` says
    that the calls stood in the text, `dialect` how they were written, `error` what was malformed.
    """

    status: str
    calls: tuple[Call, ...]
    leaked: bool
    text: str
    error: str | None
    dialect: str | None = None
    prose: str = ""


def parse(message: Any, finish_reason: Any, tool_names: Collection[str] = ()) -> Parsed:
    """Read one assistant message in OpenAI form. Never raises, whatever an endpoint returned.

    Args:
        message: the message; anything that is no object is an empty emission.
        finish_reason: as the endpoint gave it; a cut-off emission is truncated and has no calls.
        tool_names: this turn's tools, by which calls without any mark (`ls()`, `{"ls": {}}`) are told from prose.

    Returns:
        Status, calls and text. A call that cannot be read makes the emission malformed_call, without any call.
    """
    message = message if isinstance(message, Mapping) else {}
    text = _without_thinking(content_of(message))
    if str(finish_reason).lower() in _CUT_OFF:
        return Parsed("truncated", (), False, text, None, prose=text)
    try:
        if calls := _native(message):
            return Parsed("ok", calls, False, text, None, "native tool call", text)
        if not _visible(text):
            return Parsed("empty", (), False, text, None, prose=text)
        if leak := leaked(text, tool_names):
            return Parsed("ok", leak.calls, True, text, None, leak.dialect, leak.prose)
    except Malformed as error:
        return Parsed("malformed_call", (), False, text, str(error), prose=text)
    return Parsed("ok", (), False, text, None, prose=text)


def content_of(message: Any) -> str:
    """The message's text as one string: content (text, or a list of parts) and a `refusal` field; "" without any."""
    if not isinstance(message, Mapping):
        return ""
    content = message.get("content")
    parts = content if isinstance(content, list | tuple) else [content, {"refusal": message.get("refusal")}]
    return "".join(_part_text(part) for part in parts)


def _part_text(part: Any) -> str:
    if isinstance(part, Mapping):
        if part.get("type", "text") not in ("text", "output_text", "refusal"):
            return ""  # thinking, images, citations
        part = next((part[key] for key in ("text", "refusal") if isinstance(part.get(key), str)), None)
    return part if isinstance(part, str) else ""


def native_calls(message: Any) -> Any:
    """The message's tool calls as they came, a legacy `function_call` among them; an empty list without any."""
    if not isinstance(message, Mapping):
        return []
    return message.get("tool_calls") or ([message["function_call"]] if message.get("function_call") else [])


def _native(message: Mapping[str, Any]) -> tuple[Call, ...]:
    given = native_calls(message)
    if not isinstance(given, list | tuple):
        raise Malformed(f"tool_calls is a {type(given).__name__}, not a list")
    return tuple(call_of(call) for call in given)


def _without_thinking(text: str) -> str:
    """The text outside of thinking blocks.

    A block that is not closed runs to the end. What precedes a closing tag without an opening one is thinking too:
    chat templates put the opening tag into the prompt.
    """
    kept: list[str] = []
    inside, position = False, 0
    for mark in _THINK.finditer(text):
        if mark[1] is None and not inside:
            kept.clear()
        elif not inside:
            kept.append(text[position : mark.start()])
        inside, position = mark[1] is not None, mark.end()
    return text if position == 0 else "".join([*kept, "" if inside else text[position:]]).strip()


def _visible(text: str) -> bool:
    return any(character.isprintable() and not character.isspace() for character in text)
