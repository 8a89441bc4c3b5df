"""How far a cell of the study is from what was trained on."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

SETTINGS: Mapping[str, str] = {
    "in_distribution": "a source, a tool and a level of noise as in training, other questions",
    "lower_noise": "the same with less noise than any that was trained on",
    "higher_noise": "the same with more noise than any that was trained on",
    "other_tool": "a source that was trained on, with a tool that was not",
    "maths": "mathematics with code (MATH-500, AIME), not trained on",
    "web": "searched through a web service, which no training is",
    "other_set": "another source that was not trained on",
}
"""The settings, and what each is."""
WANTED = ("in_distribution", "higher_noise", "other_tool", "maths", "web")
"""Settings that have rows also where no question is in them, so that what was not measured is seen."""
_MATHS = ("math_500", "aime_2024", "aime_2025")


class Place(NamedTuple):
    """Something that was trained on: the source of its questions (world, or a published set's name), tool and noise."""

    source: str
    tool: str
    noise: float


def setting_of(asked: Place, service: str, trained: Collection[Place]) -> str:
    """The setting of a cell.

    Args:
        asked: the cell's.
        service: where search looks for its set: passages, or a web service.
        trained: all that was trained on.
    """
    if asked.tool == "search" and service != "passages":
        return "web"
    alike = [place for place in trained if place.source == asked.source]
    if not alike:
        return "maths" if asked.source in _MATHS else "other_set"
    levels = [place.noise for place in alike if place.tool == asked.tool]
    if not levels:
        return "other_tool"
    if asked.noise > max(levels):
        return "higher_noise"
    return "lower_noise" if asked.noise < min(levels) else "in_distribution"
