"""What the configuration's training needs and gives: designs, question sets, places, settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from toolcal.confidence.plan import contradictions_of_set, tools_of

Config = dict[str, Any]

KEY = "training"
_NOT_TRAINED_WITH = ("model", "rewards", "sets", "supervised", "gguf")
"""Keys of `training` that are no settings of a design's training: others in the rule stand for them."""


def designs(config: Config) -> list[str]:
    """The reward designs that are trained with; none without the key."""
    return list(config.get(KEY, {}).get("rewards", []))


def sets(config: Config) -> dict[str, Any]:
    """All question sets of a configuration by name: the study's, and those that are trained on."""
    return {**config.get("confidence", {}).get("sets", {}), **config.get(KEY, {}).get("sets", {})}


def places(config: Config) -> list[tuple[str, float, str]]:
    """Question set, noise and tool of all that is trained on."""
    return [
        (name, float(noise), tool)
        for name, entry in config.get(KEY, {}).get("sets", {}).items()
        for noise in (entry["noise"] if entry["source"] == "world" else [0])
        for tool in tools_of(entry)
    ]


def settings(config: Config) -> dict[str, Any]:
    """How a design is trained: the keys of `training` beside what, on what and by which rewards."""
    return {key: value for key, value in config[KEY].items() if key not in _NOT_TRAINED_WITH}


def asking(config: Config) -> dict[str, Any]:
    """How the study asks, of which nothing may change while a training is under way."""
    return {key: config["confidence"][key] for key in ("scale", "wording", "steps", "search", "python")}


def limits(config: Config, key: str) -> dict[str, int | None]:
    """How many questions are taken of each set under `training` or `confidence`; None for all."""
    return {name: entry.get("limit") for name, entry in config.get(key, {}).get("sets", {}).items()}


def contradictions(config: Config) -> Iterator[str]:
    """What the schema cannot say of the training; one line each."""
    training = config.get(KEY)
    if training is None:
        return
    study = config.get("confidence")
    if not study:
        yield "training: is asked as the confidence study asks, and the configuration has no key confidence"
        return
    allowed = [name for name, entry in config["models"].items() if entry["source"] in ("embedded", "vllm")]
    if training["model"] not in allowed:
        known = ", ".join(allowed) or "none is there"
        yield f"training.model: found {training['model']!r}, allowed are models of source embedded or vllm: {known}"
    elif config["models"][training["model"]].get("tool_mode") == "python_list":
        yield "training.model: is asked in python_list mode, allowed are native and json (models.*.tool_mode)"
    elif training.get("rollouts") == "vllm" and _in_json_mode(config["models"][training["model"]]):
        yield "training.rollouts: vllm holds nothing to a schema, as JSON mode does; take transformers"
    known = config.get("rewards", {})
    for name in training["rewards"]:
        if name not in known:
            there = ", ".join(known) or "none is there"
            yield f"training.rewards: found {name!r}, allowed are the keys of rewards: {there}"
    yield from _contradictions_of_sets(training["sets"], study, config.get("seed", 0))
    answers = training.get("prompts", 8) * training.get("completions", 8)
    if answers % training.get("micro_batches", 1):
        found = training["micro_batches"]
        yield f"training.micro_batches: found {found}, allowed: a divisor of prompts x completions, {answers}"
    if "vllm" in training and training.get("rollouts") != "vllm":
        yield "training.vllm: is for rollouts: vllm"


def _in_json_mode(entry: Mapping[str, Any]) -> bool:
    return bool(entry.get("tool_mode", "json" if entry["source"] == "embedded" else "native") == "json")


def _contradictions_of_sets(found: Mapping[str, Any], study: Mapping[str, Any], seed: int) -> Iterator[str]:
    worlds = {entry.get("seed", seed): name for name, entry in study["sets"].items() if entry["source"] == "world"}
    for name, entry in found.items():
        where, made = f"training.sets.{name}", entry["source"] == "world"
        if name in study["sets"]:
            yield f"{where}: the study has a set of this name (confidence.sets); rename one"
        if "service" in entry:
            yield f"{where}.service: training searches in passages; leave it out"
        else:
            yield from contradictions_of_set(where, entry, "passages")
        other = worlds.get(entry.get("seed", seed)) if made else None
        if other is not None:
            yield f"{where}.seed: is that of the study's {other}; another gives other questions to train on"
        if not tools_of(entry):
            yield f"{where}.tools: is empty; a training answers with tools"
