"""How far a cell of the study is from what was trained on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

SETTINGS: Mapping[str, str] = {
    "in_distribution": "the generated world, with a tool and at a noise level that were trained on, other questions",
    "lower_noise": "the same with less noise than any that was trained on",
    "higher_noise": "the same with more noise than any that was trained on",
    "other_tool": "the generated world, with a tool that was not trained on",
    "maths": "mathematics with code (MATH-500, AIME)",
    "web": "a published set, searched through a web service",
    "other_set": "a published set, searched in passages",
}
"""The settings, and what each is."""
WANTED = ("in_distribution", "higher_noise", "other_tool", "maths", "web")
"""Settings that have rows also where no question is in them, so that what was not measured is seen."""
_MATHS = ("math_500", "aime_2024", "aime_2025")


class Training(NamedTuple):
    """What was trained on, of the generated world."""

    tools: tuple[str, ...]
    noise: tuple[float, ...]


def setting_of(source: str, service: str, tool: str, noise: float, training: Training) -> str:
    """The setting of a cell.

    Args:
        source: of its question set: world, or a published set's name.
        service: where search looks: passages, or a web service.
        tool: search or python.
        noise: the cell's level.
        training: what was trained on.
    """
    if source in _MATHS:
        return "maths"
    if source != "world":
        return "web" if tool == "search" and service != "passages" else "other_set"
    if tool not in training.tools:
        return "other_tool"
    if noise > max(training.noise):
        return "higher_noise"
    return "lower_noise" if noise < min(training.noise) else "in_distribution"
