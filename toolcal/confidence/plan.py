"""The cells of the confidence study: which model answers which set, with which tool, at which noise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
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

DECIMALS = 4
"""Of a noise level: what is finer would have long or other forms in file names and on figures."""


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


def files_of(entry: Mapping[str, Any]) -> list[str]:
    """The local files that a set is loaded from, as far as they are there; what is missing its stage says itself."""
    named = [Path(entry["path"])] if "path" in entry else []
    found = [*named, *(Path(entry["passages"]).glob("*.jsonl") if "passages" in entry else ())]
    return sorted(str(path) for path in found if path.is_file())


def level(noise: float) -> str:
    """A noise level as it stands in file names and on figures: 0, 0.5, 1."""
    return repr(float(noise)).removesuffix(".0")


def cell_of(names: Mapping[str, str]) -> StudyCell:
    """The cell of a file's wildcards."""
    *first, noise = (names[field] for field in StudyCell._fields)
    return StudyCell(first[0], first[1], first[2], first[3], float(noise))


def contradictions(config: Config) -> Iterator[str]:
    """What the schema cannot say of the key: names that must exist, and keys that are not for a set's source."""
    study = config.get("confidence", {})
    allowed = [name for name, entry in config["models"].items() if entry["source"] in ("api", "vllm", "embedded")]
    for name in study.get("models", []):
        if name not in allowed:
            yield f"confidence.models: found {name!r}, allowed are models that can be asked: {', '.join(allowed)}"
    asked = config.get("judge", {}).get("questions", ["right_answer"]) if "judge" in config else []
    if study.get("graded_by") == "judge" and "right_answer" not in asked:
        yield "confidence.graded_by: the judge grades only where there is one (judge) with its question right_answer"
    for name in config["models"]:
        if name in _line(name, config["models"]):
            yield f"models.{name}.base_model: the model would be trained from itself"
    service = study.get("search", {}).get("service", "passages")
    for name, entry in study.get("sets", {}).items():
        yield from contradictions_of_set(f"confidence.sets.{name}", entry, entry.get("service", service))


def contradictions_of_set(where: str, entry: Mapping[str, Any], service: str) -> Iterator[str]:
    """What the schema cannot say of a question set; one line each.

    Args:
        where: its place in the configuration.
        entry: the set.
        service: where search looks for it.
    """
    made, on_the_web = entry["source"] == "world", service != "passages"
    for key in sorted(
        {"path", "revision", "passages"} & entry.keys() if made else {"questions", "seed", "noise"} & entry.keys()
    ):
        yield f"{where}.{key}: is not for source {entry['source']}"
    for noise in entry.get("noise", []):
        if noise != round(noise, DECIMALS):
            yield f"{where}.noise: found {noise}, allowed: 0 to 1 with at most {DECIMALS} decimals"
    searched = "search" in tools_of(entry)
    if "service" in entry and not searched:
        yield f"{where}.service: is for the tool search, and the set is answered without it"
    if "passages" in entry and not made and not searched:
        yield f"{where}.passages: is for the tool search, and the set is answered without it"
    if searched and not (made or on_the_web or "passages" in entry or entry["source"] == "hotpotqa"):
        yield f"{where}.passages: is missing; name a folder for search, or the web in confidence.search.service"
    if made and on_the_web and searched:
        yield f"{where}: the web does not know this world; search it with confidence.search.service: passages"


def _line(model: str, models: Mapping[str, Config]) -> list[str]:
    """The models from which one was trained, from the last one back, as far as they are here."""
    line: list[str] = []
    while (base := models.get(model, {}).get("base_model")) and base not in line:
        line.append(base)
        model = base
    return line
