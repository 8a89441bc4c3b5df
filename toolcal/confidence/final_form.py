"""The form in which an agent ends, `Answer: ...` and `Confidence: ...` on lines of their own, read out of a message.

The last complete form counts. Bold type, headings, lists, quotes, code fences, tags (`<answer>`) and full-width colons
are read as what they dress; both labels on one line, and a JSON object with both as its keys, are the form too.
Reasoning in `<think>` tags is no part of the message. What the two parts say is left as it stands.
"""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import dataclass
from typing import Any

from toolcal.calls import Parsed
from toolcal.callshapes import JSON

PARTS = ("answer", "confidence")
LONGEST = 20_000
"""Characters at the end of a message that are looked at."""
_BRACES = 200
"""Opening braces, from the end of a message, at which an object is looked for."""


@dataclass(frozen=True)
class Final:
    """What an agent ended with, as written; None for what is not there."""

    answer: str | None
    confidence: str | None

    def missing(self, parts: tuple[str, ...] = PARTS) -> list[str]:
        """Which parts of the form are not there.

        Args:
            parts: those that were asked for.
        """
        return [part for part in parts if getattr(self, part) is None]


_THINKING = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_THOUGHT = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_TAG = re.compile(r"<(answer|confidence)>([^<]*)</\1>", re.IGNORECASE)
_FENCE = re.compile(r"^[ \t>]*(?:```|~~~)[^\n`]*$", re.MULTILINE)
_DRESS = r"(?:[*_`]{0,3})"
_LABEL = re.compile(
    rf"(?:^[ \t>#•*+-]*(?:\d+[.)][ \t]+)?|(?<=[,;|.)])[ \t]*){_DRESS}(?:(?:my|the)[ ])?(?:final[ ])?"
    rf"(?P<label>answer|confidence)(?:[ ](?:level|score))?(?P<scale>[ ]*\([^()\n]{{0,40}}\))?{_DRESS}[ \t]*[:：]"
    r"(?:[*_`]{1,3}(?=\s|$))?[ \t]*",
    re.IGNORECASE | re.MULTILINE,
)
_SLOT = re.compile(r"<[^<>]*>|\[[^\[\]]*(?:answer|number)[^\[\]]*\]|\.\.\.|…")


def read(message: str | None) -> Final:
    """Read the final form out of a message.

    Where no form is complete, its parts are the last answer and the last confidence that stand alone.

    Args:
        message: the text of an agent's last message; None where it has none.
    """
    lines = "\n".join((message or "")[-LONGEST:].splitlines())  # whatever ends a line, Unicode's separators too
    text = _TAG.sub(r"\n\1: \2\n", _without_thoughts(lines))
    text = _FENCE.sub("", text)
    whole = _object(text)
    if whole is not None:
        return whole
    labels = list(_LABEL.finditer(text))
    ends = [label.start() for label in labels[1:]] + [len(text)]
    found = [
        (label["label"].lower(), _part(label, text[label.end() : end]))
        for label, end in zip(labels, ends, strict=False)
    ]
    given = [(part, value) for part, value in found if value is not None]
    for first, second in list(itertools.pairwise(given))[::-1]:
        if (first[0], second[0]) == PARTS:
            return Final(first[1], second[1])
    last = dict(given)
    return Final(last.get("answer"), last.get("confidence"))


def read_emission(said: Parsed, tool: str) -> Final:
    """Read the final form out of an emission, be it text or a call of the answering tool.

    Args:
        said: the emission, read by `calls.parse`; a call of the tool that cannot be read is no form.
        tool: the name of the tool with which agents in JSON mode answer (see `elicit.answer_tool`).
    """
    for call in said.calls:
        if call.name == tool:
            return _of(call.arguments)
    return read(said.text)


def _without_thoughts(text: str) -> str:
    return _THOUGHT.split(_THINKING.sub("", text))[-1]


def _part(label: re.Match[str], rest: str) -> str | None:
    """What a label is followed by: up to the next label for an answer, one line for a confidence."""
    rest = rest.strip()
    if label["label"].lower() == "confidence":
        rest = rest.partition("\n")[0]
    rest = _bare(rest.rstrip(" \t,;|"))
    if not rest or _SLOT.fullmatch(rest):
        return None
    return rest


def _bare(text: str) -> str:
    """Without bold, italic and code marks: those around it, and those left open by a label inside of them."""
    text = text.strip()
    for mark in ("***", "**", "__", "*", "_", "`"):
        if len(text) > 2 * len(mark) and text.startswith(mark) and text.endswith(mark):
            text = text[len(mark) : -len(mark)].strip()
        elif text.endswith(mark) and text.count(mark) == 1 and len(mark) > 1:
            text = text[: -len(mark)].strip()
    return text


def _object(text: str) -> Final | None:
    """The form as a JSON object, where the message is one, or ends with one."""
    text = text.rstrip()
    if not text.endswith("}"):
        return None
    # From the last brace back, for an answer may hold some: LaTeX's, or an object.
    start = len(text)
    for _ in range(_BRACES):
        start = text.rfind("{", 0, start)
        if start < 0:
            return None
        try:
            value, end = JSON.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        found = _of(value)
        if end == len(text) and not found.missing():
            return found
    return None


def _of(value: dict[str, Any]) -> Final:
    parts = []
    for part in PARTS:
        given = value.get(part)
        text = given if isinstance(given, str) else None if given is None else json.dumps(given, ensure_ascii=False)
        parts.append(text.strip() or None if text is not None else None)
    return Final(*parts)
