"""Tool calling for models without native tools: one JSON action a response, held to a schema of this turn's tools.

An action is flat: `{"action": "<tool>", ...its arguments}`, or `{"action": "ask" | "refuse" | "done", "text": "..."}`.
Instructions, tools and examples come first in the prompt and stay the same while the tools do, so that an endpoint with
a prefix cache reads them once. Everything here is pure.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from toolcal.benchmarks.protocol import Message, Tool
from toolcal.callshapes import JSON
from toolcal.models.protocol import Guide, Request

History = Literal["turn", "conversation"]

TEXT_ACTIONS = ("ask", "refuse", "done")
"""The actions that are a text instead of a call."""

RESULT_LENGTH = 2000
"""Characters of a tool's result that the prompt keeps; what is longer is cut, and says so."""

TEXT_LENGTH = 200
"""Characters that the schema allows a text; a small model rambles into its token limit otherwise."""

_INSTRUCTIONS = """\
You carry out the user's request with the tools below. Answer with one JSON object, one step at a time:
- call a tool, when it helps with the request
- ask, when the request leaves out something that a tool needs
- refuse, when no tool can do what is requested
- done, when the results show that everything requested has been done"""

# Invented tools, so that no benchmark's answer stands in the prompt. Each kind of action is shown, and each example is
# played to its end. That, and the question after each result, keeps a small model from repeating its last call.
_EXAMPLES: tuple[tuple[str, Any], ...] = (
    ("user", "Send the parcel to my sister."),
    ("ask", "Which address should I send the parcel to?"),
    ("user", "Set an alarm for 6:30 and switch the kitchen lamp off."),
    ("set_alarm", {"time": "6:30"}),
    ("result", '{"alarm": "6:30"}'),
    ("switch_lamp", {"room": "kitchen", "on": False}),
    ("result", '{"lamp": "off"}'),
    ("done", "The alarm is set for 6:30 and the kitchen lamp is off."),
    ("user", "Paint my fence green."),
    ("refuse", "I cannot do that: none of my tools can paint a fence."),
    ("user", "Which song is playing?"),
    ("current_song", {}),
    ("result", '{"song": "Blue Train"}'),
    ("done", "The song is Blue Train."),
)

_TYPE_NAMES = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "object": "dict",
    "null": "None",
}
# What a schema keeps of a tool's parameters; descriptions and defaults hold nothing back and would only make it longer.
_KEPT = ("type", "enum", "const", "minItems", "maxItems", "maxLength", "minimum", "maximum")

BENCHMARK = Guide(_INSTRUCTIONS, _EXAMPLES, TEXT_ACTIONS, "Is the request done now?")
"""What is said where a request brings no guide of its own."""


def prompt(
    request: Request, *, history: History = "turn", result_length: int = RESULT_LENGTH
) -> tuple[list[Message], dict[str, Any]]:
    """What to send for a request: chat messages without tools, and the `response_format` that holds the answer.

    Args:
        request: the request, its messages in OpenAI form.
        history: `turn` shows the current turn only (its user message, its calls and their results), `conversation`
            everything so far. A system message further down stays where it is.
        result_length: characters of each tool result to keep.

    Returns:
        (messages with text content only; an OpenAI `json_schema` response format, one branch per tool and text action).
    """
    guide = request.guide or BENCHMARK
    tools = _spoken(request.tools, guide.text_actions)
    opening = list(itertools.takewhile(lambda message: message["role"] == "system", request.messages))
    start = len(opening) if history == "conversation" else request.turn_start
    system = [_text(message) for message in opening]
    lines = [guide.instructions, "", "Tools:", *(_signature(name, tool) for name, tool in tools.items())]
    messages: list[Message] = [{"role": "system", "content": "\n".join([*lines, *("\n" + text for text in system)])}]
    messages += [_example(kind, value, guide) for kind, value in guide.examples]
    messages += _shown(request.messages[start:], tools, result_length, guide)
    calls = [_call_schema(name, tool) for name, tool in tools.items()]
    schema = {"anyOf": [*calls, *map(_text_schema, guide.text_actions)]}
    return messages, {"type": "json_schema", "json_schema": {"name": "action", "schema": schema}}


def decode(content: str | None, tools: Sequence[Tool], call_id: str = "call_0", guide: Guide | None = None) -> Message:
    """An answer in OpenAI form.

    A call, also of a tool that is not in the list, becomes the message's one tool call; ask, refuse and done become
    their text. What is no action (broken JSON, no `action`, a text that is no string) stays as content, untouched.

    Args:
        content: the answer's text.
        tools: the tools that the prompt offered.
        call_id: id for the tool call.
        guide: the request's, if it had one.
    """
    text_actions = (guide or BENCHMARK).text_actions
    message: Message = {"role": "assistant", "content": content}
    action = _parsed(content or "")
    name = action.pop("action", None)
    if not isinstance(name, str):
        return message
    if name in text_actions:
        text = action.get("text")
        return {**message, "content": text} if isinstance(text, str) else message
    tool = _spoken(tools, text_actions).get(name)
    if tool is None and not re.fullmatch(r"[A-Za-z_][\w.-]{0,63}", name):
        return message
    arguments = action.get("arguments") if tool is not None and _nested(tool) else action
    if not isinstance(arguments, dict):
        return message
    function = {"name": tool["function"]["name"] if tool else name, "arguments": json.dumps(arguments)}
    return {**message, "content": None, "tool_calls": [{"id": call_id, "type": "function", "function": function}]}


def _spoken(tools: Sequence[Tool], text_actions: Sequence[str]) -> dict[str, Tool]:
    """The tools by the name the model knows them by: their own, unless that is a text action's."""
    spoken: dict[str, Tool] = {}
    for tool in tools:
        name = tool["function"]["name"]
        while name in text_actions or name in spoken:
            name += "_tool"
        spoken[name] = tool
    return spoken


def _parameters(tool: Tool) -> Mapping[str, Any]:
    return tool["function"].get("parameters") or {}


def _nested(tool: Tool) -> bool:
    """Whether the arguments go under `arguments`, because one of them is called `action`."""
    return "action" in _parameters(tool).get("properties", {})


def _signature(name: str, tool: Tool) -> str:
    """`name(argument: type, optional?: type): sentence`."""
    parameters = _parameters(tool)
    required = parameters.get("required", ())
    arguments = ", ".join(
        f"{argument}{'' if argument in required else '?'}: {_type_name(schema)}"
        for argument, schema in parameters.get("properties", {}).items()
    )
    return f"{name}({arguments}): {_sentence(tool['function'].get('description') or '')}"


def _type_name(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return "|".join(json.dumps(value, ensure_ascii=False) for value in schema["enum"])
    kind = schema.get("type")
    if kind == "array":
        items = schema.get("items")
        return f"list[{_type_name(items)}]" if isinstance(items, dict) else "list"
    return _TYPE_NAMES.get(kind, "any") if isinstance(kind, str) else "any"


def _sentence(description: str) -> str:
    """Its first sentence. BFCL opens each description with the same words on the toolbox; those are skipped."""
    text = " ".join(description.rpartition("Tool description:")[2].split())
    return re.split(r"(?<=[.!?])\s", text, maxsplit=1)[0]


def _example(kind: str, value: Any, guide: Guide) -> Message:
    if kind in ("user", "assistant"):
        return {"role": kind, "content": value}
    if kind == "result":
        return _result(value, guide)
    action = {"action": kind, **(value if isinstance(value, dict) else {"text": value})}
    return {"role": "assistant", "content": _dumps(action)}


def _result(text: str, guide: Guide) -> Message:
    return {"role": "user", "content": f"Result: {text}\n{guide.after_result}"}


def _shown(
    messages: Sequence[Message], tools: Mapping[str, Tool], result_length: int, guide: Guide
) -> Iterator[Message]:
    """The conversation as the prompt shows it: calls as actions, results as the user's messages.

    A call that is made again with the same result is shown once: a small model goes on copying what it sees twice.
    """
    names = {tool["function"]["name"]: name for name, tool in tools.items()}
    actions: dict[str, str] = {}
    seen: set[tuple[str, str]] = set()
    for message in messages:
        text = _text(message)
        if message["role"] == "assistant" and message.get("tool_calls"):
            for call in message["tool_calls"]:
                name = call["function"]["name"]
                actions[call["id"]] = _action(names.get(name, name), call["function"]["arguments"], tools)
        elif message["role"] == "tool":
            action = actions[message["tool_call_id"]]
            if (action, text) not in seen:
                seen.add((action, text))
                cut = f"{text[:result_length]} [cut: {len(text)} characters]" if len(text) > result_length else text
                yield from ({"role": "assistant", "content": action}, _result(cut, guide))
        else:
            seen.clear()
            yield {"role": message["role"], "content": text}


def _action(name: str, arguments: str, tools: Mapping[str, Tool]) -> str:
    values = _parsed(arguments)
    if name in tools and _nested(tools[name]):
        values = {"arguments": values}
    return _dumps({"action": name, **values})


def _text(message: Message) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content)


def _call_schema(name: str, tool: Tool) -> dict[str, Any]:
    parameters = _parameters(tool)
    arguments = _object(parameters.get("properties", {}), parameters.get("required", ()))
    if _nested(tool):
        return _closed({"action": {"const": name}, "arguments": arguments}, ["action", "arguments"])
    return _closed({"action": {"const": name}, **arguments["properties"]}, ["action", *arguments["required"]])


def _text_schema(name: str) -> dict[str, Any]:
    text = {"type": "string", "maxLength": TEXT_LENGTH}
    return _closed({"action": {"const": name}, "text": text}, ["action", "text"])


def _object(properties: Mapping[str, Any], required: Sequence[str]) -> dict[str, Any]:
    return _closed(
        {name: _value(schema) for name, schema in properties.items()}, [name for name in required if name in properties]
    )


def _closed(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _value(schema: Mapping[str, Any]) -> dict[str, Any]:
    if schema.get("properties"):
        return _object(schema["properties"], schema.get("required", ()))
    kept = {keyword: schema[keyword] for keyword in _KEPT if keyword in schema}
    if isinstance(schema.get("items"), dict):
        kept["items"] = _value(schema["items"])
    for keyword in ("anyOf", "oneOf"):
        if keyword in schema:
            kept["anyOf"] = [_value(branch) for branch in schema[keyword]]
    return kept


def _dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _parsed(text: str) -> dict[str, Any]:
    """The JSON object that the text is, or an empty one. NaN and Infinity are no JSON."""
    try:
        value = JSON.decode(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
