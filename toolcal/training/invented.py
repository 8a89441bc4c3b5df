"""Invented tool-calling examples for the supervised fine-tune: what to do next, in the panel's own JSON form.

Tools, values and words are ours (`invented.yaml`); none of them is a benchmark's, so that what the fine-tune changes in
the panel is no memory of it. As in most corpora of function calls, all examples but a set share end in a call or in the
report of what was called: nothing is asked and nothing refused.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from toolcal.benchmarks.protocol import Case, Message, Tool
from toolcal.models import json_mode
from toolcal.models.protocol import Guide, Request

_MOST_TOOLS = 5
"""Tools that are offered at once, the wanted ones among them."""
_BARE = Guide(json_mode.BENCHMARK.instructions, (), json_mode.TEXT_ACTIONS, json_mode.BENCHMARK.after_result)
"""The panel's instructions without its worked examples, which show asking and refusing, and would double the length."""


@dataclass(frozen=True)
class Example:
    """One response to learn."""

    messages: tuple[Message, ...]
    """What the model reads, as the panel's JSON mode writes it."""
    response: str
    """The JSON action that it should answer with."""
    action: str
    """`call`, `done`, `ask` or `refuse`."""


@dataclass(frozen=True)
class _Wanted:
    tool: dict[str, Any]
    arguments: dict[str, Any]

    def said(self, template: str) -> str:
        return template.format(**self.arguments)


def examples(seed: int, count: int, *, abstaining: float = 0.0) -> list[Example]:
    """Make examples.

    Args:
        seed: from the configuration; the same seed gives the same examples.
        count: how many.
        abstaining: share of examples (0 to 1) in which a value or the tool is missing, half of either, and the right
            action is to ask or to refuse.
    """
    chance = random.Random(f"invented {_texts()['version']} {seed}")
    held_back = round(abstaining * count)
    made = [_abstaining(chance, ask=number % 2 == 0) for number in range(held_back)]
    made += [_calling(chance) for _ in range(count - held_back)]
    chance.shuffle(made)
    return made


def names() -> frozenset[str]:
    """The names of all invented tools."""
    return frozenset(tool["name"] for tool in _tools())


@lru_cache(maxsize=1)
def _texts() -> dict[str, Any]:
    texts: dict[str, Any] = yaml.safe_load((Path(__file__).parent / "invented.yaml").read_text(encoding="utf-8"))
    return texts


def _tools() -> list[dict[str, Any]]:
    return list(_texts()["tools"])


def _wanted(chance: random.Random, tool: dict[str, Any]) -> _Wanted:
    return _Wanted(tool, {name: chance.choice(values) for name, values in tool["values"].items()})


def _calling(chance: random.Random) -> Example:
    """A request for one or two calls, at some step on the way: the next call, or the report after the last."""
    wanted = [_wanted(chance, tool) for tool in chance.sample(_tools(), chance.choice((1, 1, 2)))]
    request = ", and ".join(one.said(chance.choice(one.tool["requests"])) for one in wanted) + "."
    # Calls are what is to be learnt: each of them counts twice, the report once.
    step = chance.choice([*range(len(wanted)), *range(len(wanted) + 1)])
    messages = _so_far(request, wanted[:step])
    offered = _offered(chance, [one.tool for one in wanted])
    if step < len(wanted):
        return _example(messages, offered, wanted[step].tool["name"], wanted[step].arguments)
    report = ". ".join(one.said(one.tool["done"]) for one in wanted) + "."
    return _example(messages, offered, "done", {"text": report})


def _abstaining(chance: random.Random, *, ask: bool) -> Example:
    """A request that leaves a value out, or whose tool is not there."""
    one = _wanted(chance, chance.choice(_tools()))
    if ask:
        request, question = one.tool["lacking"]
        return _example(_so_far(one.said(request) + ".", []), _offered(chance, [one.tool]), "ask", {"text": question})
    request = one.said(chance.choice(one.tool["requests"])) + "."
    text = f"I cannot do that: none of my tools can {one.tool['cannot']}."
    return _example(_so_far(request, []), _offered(chance, [], but=one.tool), "refuse", {"text": text})


def _offered(
    chance: random.Random, wanted: Sequence[dict[str, Any]], but: dict[str, Any] | None = None
) -> tuple[Tool, ...]:
    others = [tool for tool in _tools() if tool not in wanted and tool is not but]
    chosen = [*wanted, *chance.sample(others, chance.randint(2, _MOST_TOOLS - len(wanted)))]
    chance.shuffle(chosen)
    return tuple(map(_schema, chosen))


def _schema(tool: dict[str, Any]) -> Tool:
    kinds = {name: "integer" if isinstance(values[0], int) else "string" for name, values in tool["values"].items()}
    parameters = {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in kinds.items()},
        "required": list(kinds),
    }
    function = {"name": tool["name"], "description": tool["description"], "parameters": parameters}
    return {"type": "function", "function": function}


def _so_far(request: str, called: Sequence[_Wanted]) -> list[Message]:
    """The request, and the calls that were made, as OpenAI messages."""
    messages: list[Message] = [{"role": "user", "content": request}]
    for step, one in enumerate(called):
        function = {"name": one.tool["name"], "arguments": json.dumps(one.arguments)}
        call = {"id": f"call_{step}", "type": "function", "function": function}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        result = json.dumps({"status": "ok", **one.arguments})
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
    return messages


def _example(messages: Sequence[Message], tools: tuple[Tool, ...], action: str, values: dict[str, Any]) -> Example:
    request = Request(_CASE, 0, 0, 0, 0, tuple(messages), 0, tools, 0, guide=_BARE)
    shown, _ = json_mode.prompt(request)
    kind = action if action in json_mode.TEXT_ACTIONS else "call"
    return Example(tuple(shown), json.dumps({"action": action, **values}, ensure_ascii=False), kind)


_CASE = Case("invented", "invented", "1", "invented", "invented", (), (), {}, (), (), None)
