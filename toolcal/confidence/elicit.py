"""What an agent of the study is told: its task, its final form, and how it is asked for its confidence.

All wording is in `wordings.yaml`, with a version and each wording's source.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import yaml

from toolcal.benchmarks.protocol import Tool as Schema
from toolcal.confidence.final_form import PARTS
from toolcal.confidence.tools import PYTHON, SEARCH
from toolcal.models.protocol import Guide

Agent = Literal["direct", "prompted", "trained"]
Scale = Literal["unit", "percent"]

ANSWER = "answer"
"""The name of the tool with which an agent in JSON mode answers."""


# Invented, and each played to its end: with a tool always by way of the tool, since a small model does as it is shown.
# One ends sure and one unsure, so that no one confidence is the one to copy.
_EXAMPLES: dict[str, tuple[tuple[str, Any], ...]] = {
    "": (
        ("user", "What is the capital of France?"),
        (ANSWER, ("Paris", 95)),
        ("user", "Who baked the first bread in Oldham?"),
        (ANSWER, ("Tom Hale", 20)),
    ),
    SEARCH: (
        ("user", "Who wrote the play The Glass Orchard?"),
        (SEARCH, {"query": "The Glass Orchard play author"}),
        ("result", "[1] The Glass Orchard\nThe Glass Orchard is a play by Mara Lindt."),
        (ANSWER, ("Mara Lindt", 95)),
        ("user", "Who baked the first bread in Oldham?"),
        (SEARCH, {"query": "first bread Oldham baker"}),
        ("result", "[1] Bread\nTom Hale sells bread in Oldham."),
        (ANSWER, ("Tom Hale", 30)),
    ),
    PYTHON: (
        ("user", "How much is 17 times 23?"),
        (PYTHON, {"code": "print(17 * 23)"}),
        ("result", "391"),
        (ANSWER, ("391", 95)),
        ("user", "Which boat is the longest?"),
        (PYTHON, {"code": "import pandas as pd\nboats = pd.read_csv('table.csv')\nprint(boats.nlargest(2, 'length'))"}),
        ("result", "   boat  length\n4  Tern    18.0\n1  Swan    18.0"),
        (ANSWER, ("Tern", 50)),
    ),
}


@dataclass(frozen=True)
class Wording:
    """One way of asking for a confidence."""

    name: str
    source: str
    ask: str
    """Added to the system message; may be empty."""
    later: str | None
    """What is asked once the answer is there; None where the confidence comes with the answer."""
    fresh: bool
    """Whether that is asked in a new conversation."""

    @property
    def parts(self) -> tuple[str, ...]:
        """What the first final form holds."""
        return PARTS if self.later is None else PARTS[:1]


@lru_cache(maxsize=1)
def _texts() -> dict[str, Any]:
    texts: dict[str, Any] = yaml.safe_load((Path(__file__).parent / "wordings.yaml").read_text())
    return texts


def version() -> int:
    """The version of all wording; answers under two versions do not compare."""
    return int(_texts()["version"])


def wordings() -> dict[str, Wording]:
    """All wordings by name."""
    return {
        name: Wording(name, entry["source"], entry["ask"], entry.get("later"), entry.get("fresh", False))
        for name, entry in _texts()["wordings"].items()
    }


def range_of(scale: Scale) -> str:
    """The range of a scale in words: from 0 to 1, or from 0 to 100."""
    return str(_texts()["scales"][scale]["range"])


def form(scale: Scale, parts: Sequence[str] = PARTS) -> str:
    """The final form as the agent is shown it, a line a part.

    Args:
        scale: `unit` (0 to 1) or `percent` (0 to 100).
        parts: `answer`, `confidence` or both.
    """
    slots = {"answer": _texts()["answer"], "confidence": _texts()["scales"][scale]["confidence"]}
    return "\n".join(f"{part.capitalize()}: {slots[part]}" for part in parts)


def system(agent: Agent, wording: Wording, scale: Scale) -> str:
    """The system message of an agent that ends with text.

    Args:
        agent: `direct` is told of no tools, `prompted` and `trained` are.
        wording: from `wordings`.
        scale: `unit` or `percent`.
    """
    meaning = [_meaning(scale)] if wording.later is None else []
    end = _texts()["end"].format(form=form(scale, wording.parts))
    return "\n\n".join(text for text in (_task(agent), *meaning, wording.ask, end) if text)


def later(wording: Wording, scale: Scale, question: str, answer: str) -> str | None:
    """The message that asks for the confidence in a given answer; None where it came with the answer.

    Args:
        wording: from `wordings`; `fresh` says whether the message opens a conversation of its own.
        scale: `unit` or `percent`.
        question: what was asked.
        answer: what was answered.
    """
    if wording.later is None:
        return None
    # Not str.format: questions and answers may hold braces.
    asked = wording.later.replace("{question}", question).replace("{answer}", answer)
    return "\n\n".join((asked, _meaning(scale), _texts()["end"].format(form=form(scale, PARTS[1:]))))


def again(missing: Sequence[str], scale: Scale, parts: Sequence[str] = PARTS) -> str:
    """The one message that follows a broken form.

    Args:
        missing: the parts that are not there (`Final.missing`).
        scale: `unit` or `percent`.
        parts: the parts that were asked for.
    """
    said = " and ".join(f"the line `{part.capitalize()}:`" for part in missing)
    verb = "is" if len(missing) == 1 else "are"
    return str(_texts()["again"].format(missing=f"{said} {verb} missing", form=form(scale, parts)))


def again_in_json() -> str:
    """What follows a broken form of an agent in JSON mode, which is then offered nothing but the answer."""
    return str(_texts()["again_in_json"])


def answer_tool(scale: Scale, parts: Sequence[str] = PARTS) -> Schema:
    """The tool with which an agent in JSON mode ends, in OpenAI form; `final_form.read_emission` reads its call.

    Args:
        scale: `unit` or `percent`; the confidence is a number or an integer of it.
        parts: what it has to state.
    """
    top = {"unit": ("number", 1), "percent": ("integer", 100)}[scale]
    values = {
        "answer": {"type": "string", "maxLength": 120, "description": "the answer alone, as short as possible"},
        "confidence": {
            "type": top[0],
            "minimum": 0,
            "maximum": top[1],
            "description": f"how likely it is that the answer is right, {_texts()['scales'][scale]['range']}",
        },
    }
    states = f"how sure you are, {_texts()['scales'][scale]['range']}"
    description = {
        PARTS: f"Gives the final answer, and {states}",
        PARTS[:1]: "Gives the final answer",
        PARTS[1:]: f"States {states}",
    }[tuple(parts)]
    properties = {part: values[part] for part in parts}
    parameters = {"type": "object", "properties": properties, "required": list(parts), "additionalProperties": False}
    return {"type": "function", "function": {"name": ANSWER, "description": description, "parameters": parameters}}


def offered(
    tools: Sequence[Schema], scale: Scale, parts: Sequence[str] = PARTS, *, called: bool, last: bool
) -> tuple[Schema, ...]:
    """What an agent in JSON mode may do in one step.

    The answer is held back until a tool was called: the embedded model would answer at once, whatever it is told.

    Args:
        tools: the agent's own; an agent without any answers at once.
        scale: `unit` or `percent`.
        parts: what the answer has to state.
        called: whether a tool was called before.
        last: whether this is the last step, or the second request after a broken form: nothing but the answer then.
    """
    answer = answer_tool(scale, parts)
    if last or not tools:
        return (answer,)
    return (*tools, answer) if called else tuple(tools)


def guide(agent: Agent, wording: Wording, scale: Scale, tools: Sequence[str]) -> Guide:
    """What a model in JSON mode reads before its tools: the task, and invented examples of each step.

    Args:
        agent: as in `system`.
        wording: from `wordings`; in JSON mode there is no room for reasons or several guesses, so `ask` is left out.
        scale: `unit` or `percent`.
        tools: names of the agent's tools, `search` and `python`; `answer` is not among them.
    """
    meaning = _meaning(scale) if wording.later is None else ""
    steps = f"Answer with one JSON object, one step at a time: {'call a tool, or ' if tools else ''}give the answer."
    examples = [example for kind in tools or ("",) for example in _EXAMPLES[kind]]
    shown = [_as_asked(kind, value, wording, scale) for kind, value in examples]
    instructions = "\n".join(text for text in (_task(agent), meaning, steps) if text)
    return Guide(instructions, tuple(shown), text_actions=(), after_result="Can you answer now?")


def _as_asked(kind: str, value: Any, wording: Wording, scale: Scale) -> tuple[str, Any]:
    """An example's answer with the parts and on the scale that are asked for; other steps as they are."""
    if kind != ANSWER:
        return kind, value
    answer, percent = value
    given = {"answer": answer, "confidence": percent if scale == "percent" else percent / 100}
    return kind, {part: given[part] for part in wording.parts}


def _task(agent: Agent) -> str:
    return str(_texts()["agents"]["direct" if agent == "direct" else "prompted"])


def _meaning(scale: Scale) -> str:
    return str(_texts()["meaning"].format(range=_texts()["scales"][scale]["range"]))
