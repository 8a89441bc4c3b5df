"""The cells of the confidence study: which model answers which set, with which tool, at which noise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

Config = dict[str, Any]

TOOLS_OF = {
    "world": ("search", "python"),
    "nq": ("search",),
    "hotpotqa": ("search",),
    "simpleqa_verified": ("search",),
    "aime_2024": ("python",),
    "aime_2025": ("python",),
    "math_500": ("python",),
}
"""Source of a set -> the tools with which it is answered, where the configuration names none."""


class StudyCell(NamedTuple):
    """One cell; the fields are the columns `STUDY` of the table `answers`."""

    model: str
    question_set: str
    configuration: str
    tool: str
    noise: float


def cells(config: Config) -> list[StudyCell]:
    """The cells of a configuration; none without its key `confidence`.

    Without a tool noise is not met, so `direct` has one cell a set.
    """
    study = config.get("confidence")
    if not study:
        return []
    return [
        cell
        for model in study["models"]
        for name, entry in study["sets"].items()
        for cell in (
            StudyCell(model, name, "direct", "none", 0.0),
            *(
                StudyCell(model, name, configuration_of(config["models"][model]), tool, float(noise))
                for tool in tools_of(entry)
                for noise in noises(entry)
            ),
        )
    ]


def configuration_of(entry: Mapping[str, Any]) -> str:
    """How a model with tools counts: `trained` where its entry says from what it was trained."""
    return "trained" if "base_model" in entry else "prompted"


def tools_of(entry: Mapping[str, Any]) -> tuple[str, ...]:
    """The tools with which a set is answered."""
    return tuple(entry.get("tools", TOOLS_OF[entry["source"]]))


def noises(entry: Mapping[str, Any]) -> tuple[float, ...]:
    """The noise levels of a set, 0 among them (`direct` answers are given there); published sets have no other."""
    levels = entry["noise"] if entry["source"] == "world" else [0]
    return tuple(sorted({0.0, *map(float, levels)}))


def service_of(study: Mapping[str, Any], question_set: str) -> str:
    """Where search looks for a set: the service of its own entry, else the study's; `study` has its defaults."""
    return str(study["sets"][question_set].get("service", study["search"]["service"]))


def made_of(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Of a set's entry what it is made or loaded from, without what says how it is used."""
    keys = ("source", "questions", "seed", "path", "revision", "passages")
    return {key: entry[key] for key in keys if key in entry}


def level(noise: float) -> str:
    """A noise level as it stands in file names and on figures: 0, 0.5, 1."""
    return repr(float(noise)).removesuffix(".0")


def cell_of(names: Mapping[str, str]) -> StudyCell:
    """The cell of a file's wildcards."""
    *first, noise = (names[field] for field in StudyCell._fields)
    return StudyCell(first[0], first[1], first[2], first[3], float(noise))
