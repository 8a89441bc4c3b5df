"""Edits of texts: a system message, the user's messages, the tools' descriptions."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from toolcal.benchmarks.protocol import Case, Message, Tool
from toolcal.perturbations.context import Context
from toolcal.perturbations.static.ours import ours

Parameters = Mapping[str, Any]


def system_hint(case: Case, context: Context, parameters: Parameters, rng: random.Random) -> Context:
    """A system message: `text`, or the `preset` of that name; after the context's own, if it has one."""
    hint = parameters["text"] if "text" in parameters else ours("system_hint")["presets"][parameters["preset"]]
    return replace(context, system=f"{context.system}\n\n{hint}" if context.system else hint)


def message_edit(case: Case, context: Context, parameters: Parameters, rng: random.Random) -> Context:
    """Every message of the user, put into a `template` at its field `{text}`; none where the user speaks freely."""
    if not context.turns:
        return replace(context, left_out="the user speaks freely, so there are no messages to edit before the run")

    def edited(message: Message) -> Message:
        if message["role"] != "user":
            return message
        return {**message, "content": parameters["template"].replace("{text}", message["content"])}

    return replace(context, turns=tuple(tuple(map(edited, messages)) for messages in context.turns))


def description_edit(case: Case, context: Context, parameters: Parameters, rng: random.Random) -> Context:
    """The tools' descriptions, by `mode`.

    Those of their parameters stay: BFCL writes down there, and not in the schema, which values may be given.

    - shorten: the first sentence of what the tool does; what BFCL says before on the toolbox, and after, goes.
    - drop: an empty text.
    - assertive: praise in that first sentence (`cue`, or ours), where each tool mode shows it.
    """
    mode = parameters["mode"]
    cue = parameters.get("cue", ours("description_edit")["assertive"])

    def edited(tool: Tool) -> Tool:
        function = tool["function"]
        opening, first, rest = _parts(function["description"])
        text = {"shorten": first, "drop": "", "assertive": f"{opening}{_with_cue(first, cue)}{rest}"}[mode]
        return {**tool, "function": {**function, "description": text}}

    return replace(context, tools=tuple((turn, edited(tool)) for turn, tool in context.tools))


def _parts(description: str) -> tuple[str, str, str]:
    """What stands before the description proper in BFCL, the first sentence of that, and the rest."""
    before, label, after = description.rpartition("Tool description:")
    text = after.lstrip()
    opening = f"{before}{label}{after[: len(after) - len(text)]}"
    first = re.split(r"(?<=[.!?])\s", text, maxsplit=1)[0]
    return opening, first, text[len(first) :]


def _with_cue(sentence: str, cue: str) -> str:
    words = sentence.rstrip(".!?")
    return f"{words} ({cue}){sentence[len(words) :] or '.'}"
