"""Tool calling in plain text, as BFCL's prompting mode does it: the tools in the prompt, a Python list of calls back.

A list is read with the same reader that finds leaked calls (`calls`), and is never evaluated. Everything here is pure.
"""

from __future__ import annotations

import json
import keyword
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from toolcal import calls
from toolcal.benchmarks.protocol import Message, Tool
from toolcal.callshapes import JSON, Malformed, arguments_of, call_of
from toolcal.models.protocol import Request

OWN_DIALECTS = ("python list", "python call")
"""The dialects of `calls.parse` that are the mode's own. The second lacks the brackets; BFCL's decoder adds them."""

_INSTRUCTIONS = """\
You carry out the user's requests with the tools listed below. An answer is either calls or text.

Calls: the whole answer is one Python list of calls, and nothing else stands before or after it:
[first_tool(name="value", count=2), second_tool()]
- Name every argument. Values are Python literals: "text", 3, 0.5, True, None, [1, 2], {"key": "value"}.
- Several calls go into one list. They are carried out in its order.
- The results come back in the next message, one entry for each call, in the same order. Then go on: with further \
calls, or with text.

Text: plain words without any call. Answer with text
- to ask the user, when a value that a tool requires is missing. Do not make values up;
- to say so, when no tool fits the request;
- to report, when everything that was requested is done. Text ends your turn."""

_EMPTY_FENCE = re.compile(r"(`{1,3})\w*\s*\1")


def prompt(request: Request) -> list[Message]:
    """What to send for a request: chat messages of text alone, without tools.

    First comes one system message: how to answer, this turn's tools as JSON, and the conversation's own opening system
    text. The whole conversation follows. Calls are shown as the list they were made with; the results of one emission
    become one user message. For endpoints that want roles to alternate, neighbours of one role become one message with
    a blank line between them, and an assistant message that says nothing is left out. A system message further down
    stays where it is.

    Args:
        request: the request, its messages in OpenAI form.
    """
    opening = 0
    while opening < len(request.messages) and request.messages[opening].get("role") == "system":
        opening += 1
    tools = ",\n".join(_dumps(tool["function"]) for tool in request.tools)
    texts = [_INSTRUCTIONS, f"Tools:\n[\n{tools}\n]", *map(calls.content_of, request.messages[:opening])]
    system: Message = {"role": "system", "content": "\n\n".join(text for text in texts if text)}
    return [system, *_alternating(_shown(request.messages[opening:]))]


def decode(content: Any, tools: Sequence[Tool], call_id_prefix: str = "call") -> Message:
    """An answer in OpenAI form. Never raises.

    Where the visible text (thinking removed) holds calls in the mode's own form, they become tool calls, and the prose
    beside them the content (None without any). All else stays as it came: calls in another dialect, which count as
    leaked, and lists that are cut off or malformed, for `calls.parse` to say so.

    Args:
        content: the answer's text.
        tools: the tools that the prompt offered; a call of another name is a call too.
        call_id_prefix: the ids are `{call_id_prefix}_{index}`.
    """
    message: Message = {"role": "assistant", "content": content}
    parsed = calls.parse(message, None, {tool["function"]["name"] for tool in tools})
    if not parsed.calls or parsed.dialect not in OWN_DIALECTS:
        return message
    made = [
        {
            "id": f"{call_id_prefix}_{index}",
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
        }
        for index, call in enumerate(parsed.calls)
    ]
    return {**message, "content": _prose(parsed.prose), "tool_calls": made}


def call_list(made: Iterable[tuple[str, Mapping[str, Any]]]) -> str:
    """Calls as the list that `decode` reads back: `[f(a=1), g(b='x')]`.

    Args:
        made: names with arguments, which hold JSON values.
    """
    return f"[{', '.join(f'{name}({_arguments(arguments)})' for name, arguments in made)}]"


def _arguments(arguments: Mapping[str, Any]) -> str:
    # Python takes no other names as keywords, and folds some non-ASCII ones; the reader knows the dict form too.
    if all(name.isascii() and name.isidentifier() and not keyword.iskeyword(name) for name in arguments):
        return ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    return repr(dict(arguments))


def _prose(text: str) -> str | None:
    """What stands beside the calls, without the fence and the punctuation that held them."""
    text = _EMPTY_FENCE.sub("", text).strip()
    return text if any(character.isalnum() for character in text) else None


def _shown(messages: Sequence[Message]) -> Iterator[Message]:
    """The conversation as text: calls as lists, tool messages as the user's, the rest as it is."""
    names: dict[Any, str] = {}
    results: list[str] = []
    for message in messages:
        if message.get("role") == "tool":
            results.append(_result(names.get(message.get("tool_call_id")), calls.content_of(message)))
            continue
        if results:
            yield _results(results)
            results = []
        made = [_made(call) for call in calls.native_calls(message)]
        names |= {id: name for id, name, _ in made}
        listed = call_list((name, arguments) for _, name, arguments in made) if made else ""
        texts = [text for text in (calls.content_of(message), listed) if text.strip()]
        if texts or message.get("role") != "assistant":
            yield {"role": message.get("role"), "content": "\n".join(texts)}
    if results:
        yield _results(results)


def _made(call: Any) -> tuple[Any, str, dict[str, Any]]:
    """A past call: id, name, and arguments (none where they cannot be read)."""
    try:
        read = call_of(call)
    except Malformed:
        function = call.get("function") if isinstance(call, Mapping) else None
        name = function.get("name") if isinstance(function, Mapping) else None
        return (call.get("id") if isinstance(call, Mapping) else None), str(name or "unknown"), {}
    return read.id, read.name, arguments_of(read.arguments)


def _results(results: Sequence[str]) -> Message:
    return {"role": "user", "content": "[" + ",\n".join(results) + "]"}


def _result(name: str | None, text: str) -> str:
    """One result. A text that is JSON goes in as it is, not once more as a string full of escapes."""
    try:
        JSON.decode(text)
    except (ValueError, RecursionError):
        text = _dumps(text)
    return f'{{"call": {_dumps(name)}, "result": {text.strip()}}}'


def _alternating(messages: Iterable[Message]) -> Iterator[Message]:
    last: Message | None = None
    for message in messages:
        if last is not None and message["role"] == last["role"] != "system":
            last = {**last, "content": f"{last['content']}\n\n{message['content']}"}
            continue
        if last is not None:
            yield last
        last = message
    if last is not None:
        yield last


def _dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
