"""What a labeller reads: the items' texts with what stood before them, in files that hide model and file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from toolcal.validity.conversations import Call, Conversation, Message
from toolcal.writes.conversation import shortened
from toolcal.writes.talk import window

CHUNK = {"emission": 60, "write": 30}
"""About so many items a file; writes are long."""
BEFORE = 3
"""Messages shown before an emission; before a write as many as the rule for writes looks at."""
LENGTH = {"emission": 600, "write": 1500}
"""Characters a message before the item, also of a call's arguments."""


def write(items: Iterable[Mapping[str, str]], conversations: Sequence[Conversation], folder: Path) -> None:
    """Write emissions.jsonl and writes.jsonl, and the same in chunks (emissions-1.jsonl ...).

    Args:
        items: rows of items.csv in the order of their ids.
        conversations: all that the items stand in.
        folder: made where absent.
    """
    by_record = {(c.file, c.record): c for c in conversations}
    shown: dict[str, list[str]] = {"emission": [], "write": []}
    for item in items:
        conversation = by_record[item["file"], item["record"]]
        messages = conversation.messages
        index = next(i for i, m in enumerate(messages) if m.of_model and m.position == item["message"])
        if item["kind"] == "emission":
            view = _emission(messages, index)
        else:
            view = _write(messages, window(conversation.recorded, index), index, int(item["call"]))
        shown[item["kind"]].append(json.dumps({"id": item["id"], **view}, ensure_ascii=False) + "\n")
    folder.mkdir(parents=True, exist_ok=True)
    for kind, lines in shown.items():
        (folder / f"{kind}s.jsonl").write_text("".join(lines))
        parts = max(1, round(len(lines) / CHUNK[kind]))
        for part in range(parts):
            chunk = lines[len(lines) * part // parts : len(lines) * (part + 1) // parts]
            (folder / f"{kind}s-{part + 1}.jsonl").write_text("".join(chunk))


def _emission(messages: Sequence[Message], index: int) -> dict[str, Any]:
    start = max(0, index - BEFORE)
    before = messages[start:index]
    # A row of calls pushes the request out of sight, and without it an offer cannot be told from a question.
    asked = next((m.text for m in reversed(messages[:start]) if m.role == "user"), None)
    seen = any(message.role == "user" for message in before)
    return {
        "request": None if seen or asked is None else shortened(asked, LENGTH["emission"]),
        "before": [_shown(message, LENGTH["emission"]) for message in before],
        "text": messages[index].text,
        "call_beside": bool(messages[index].calls),
    }


def _write(messages: Sequence[Message], start: int, index: int, call: int) -> dict[str, Any]:
    message = messages[index]
    return {
        "message": index,
        "before": [
            {"message": i, **_shown(messages[i], LENGTH["write"])}
            for i in range(start, index)
            if messages[i].role != "system"
        ],
        "text_beside": message.text or None,
        "calls_beside": [_call(c, LENGTH["write"]) for i, c in enumerate(message.calls) if i != call],
        "tool": message.calls[call].name,
        "arguments": message.calls[call].arguments,
    }


def _shown(message: Message, length: int) -> dict[str, Any]:
    view: dict[str, Any] = {"role": message.role, "text": shortened(message.text, length)}
    if message.calls:
        view["calls"] = [_call(call, length) for call in message.calls]
    return view


def _call(call: Call, length: int) -> str:
    return f"{call.name}({shortened(json.dumps(call.arguments, ensure_ascii=False), length)})"
