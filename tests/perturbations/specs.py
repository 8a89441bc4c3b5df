"""A perturbation of every static edit, as `configuration.perturbation` states them."""

from __future__ import annotations

from typing import Any


def static(edit: str, **parameters: Any) -> dict[str, Any]:
    return {"name": edit, "kind": "static", "edit": edit, "parameters": parameters}


SPECS = {
    "hint": static("system_hint", preset="ask_when_missing"),
    "own hint": static("system_hint", text="Answer in English."),
    "order": static("tool_order"),
    "distractors": static("distractor_tools", n=20),
    "neutral": static("tool_rename", style="neutral"),
    "misleading": static("tool_rename", style="misleading"),
    "shorten": static("description_edit", mode="shorten"),
    "drop": static("description_edit", mode="drop"),
    "assertive": static("description_edit", mode="assertive"),
    "hurry": static("message_edit", template="{text}\n\nPlease hurry."),
}
