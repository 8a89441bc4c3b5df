"""The edit `tool_rename`: tools are shown under other names, and called by these."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from toolcal.benchmarks.protocol import Case, Tool
from toolcal.perturbations.context import Context
from toolcal.perturbations.names import with_new_names


def tool_rename(case: Case, context: Context, parameters: Mapping[str, Any], rng: random.Random) -> Context:
    """All tools under new names, by `style`; `renamed` leads back to the benchmark's.

    - neutral: tool_1, tool_2, ... in the order of the list.
    - misleading: each has the name of another tool of the case, none its own.

    Texts that name a tool are changed with it, so that they still mean the same tool (see `with_new_names`): the
    system message, the user's messages, the descriptions of tools and parameters, and in the run the errors of calls.
    """
    names = [tool["function"]["name"] for _, tool in context.tools]
    if parameters["style"] == "misleading":
        if len(names) < 2:
            return replace(context, left_out="there is no other tool whose name could be taken")
        new_names = _swapped(names, rng)
    else:
        new_names = [f"tool_{number}" for number in range(1, len(names) + 1)]
        taken = sorted(set(names) & set(new_names))
        if taken:
            return replace(context, left_out=f"a tool of the benchmark is called {taken[0]}")
    shown = dict(zip(names, new_names, strict=True))
    return replace(
        context,
        system=with_new_names(context.system, shown) if context.system else context.system,
        turns=tuple(
            tuple({**message, "content": with_new_names(message["content"], shown)} for message in messages)
            for messages in context.turns
        ),
        tools=tuple((turn, _renamed(tool, shown)) for turn, tool in context.tools),
        renamed={new: name for name, new in shown.items()},
    )


def _renamed(tool: Tool, shown: Mapping[str, str]) -> Tool:
    function = tool["function"]
    changed = {
        "name": shown[function["name"]],
        "description": with_new_names(function["description"], shown),
        "parameters": _described(function["parameters"], shown),
    }
    return {**tool, "function": {**function, **changed}}


def _described(schema: Any, shown: Mapping[str, str]) -> Any:
    """A JSON Schema with new names in its descriptions, and all else as it was."""
    if isinstance(schema, Mapping):
        return {
            key: with_new_names(value, shown)
            if key == "description" and isinstance(value, str)
            else _described(value, shown)
            for key, value in schema.items()
        }
    return [_described(item, shown) for item in schema] if isinstance(schema, list) else schema


def _swapped(names: Sequence[str], rng: random.Random) -> list[str]:
    """The names in an order in which none stands at its old place: each takes the next one's in a shuffled ring."""
    ring = list(names)
    rng.shuffle(ring)
    after = dict(zip(ring, [*ring[1:], ring[0]], strict=True))
    return [after[name] for name in names]
