"""Checkpoints of a run's training as entries of its panel: which there are, and where their files will be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from toolcal.confidence.plan import StudyCell
from toolcal.training import training_plan
from toolcal.training.settings import Place

Config = dict[str, Any]

KEY = "checkpoint"
UNTREATED, SUPERVISED, BASE = "untreated", "supervised", "base"
"""The model before training, written as the trained ones are; the supervised fine-tune; the folder of the former."""
_OWN = (UNTREATED, SUPERVISED, BASE)


def checkpoints(config: Config) -> list[str]:
    """What the configuration's training gives, the untreated model first; nothing without its key `training`."""
    training = config.get("training")
    if not training:
        return []
    return [UNTREATED, *([SUPERVISED] if SUPERVISED in training else []), *training.get("rewards", [])]


def gguf(results: str | Path, checkpoint: str) -> Path:
    """The GGUF file of a checkpoint, for models of source embedded."""
    return Path(results, "training", checkpoint, "model.gguf")


def folder(results: str | Path, checkpoint: str) -> Path:
    """The folder of a checkpoint's weights, for models of source vllm."""
    return Path(results, "training", checkpoint, "model")


def locate(config: Config) -> None:
    """Fill into entries with a checkpoint the file or folder that it will be in, as if it had been named."""
    for entry in config["models"].values():
        if KEY in entry and entry["source"] == "embedded":
            entry["weights"] = {"path": str(gguf(config["results"], entry[KEY]))}
        elif KEY in entry:
            entry["model"] = str(folder(config["results"], entry[KEY]))


def files(entry: Mapping[str, Any]) -> list[str]:
    """What has to be trained before a model of a located entry can be asked."""
    if KEY not in entry:
        return []
    return [entry["model"] if entry["source"] == "vllm" else entry["weights"]["path"]]


def in_study(config: Config, cells: Iterable[StudyCell]) -> dict[str, str]:
    """Models of the confidence study that are checkpoints -> which."""
    entries = {cell.model: config["models"][cell.model] for cell in cells}
    return {model: entry[KEY] for model, entry in entries.items() if KEY in entry}


def trained_on(config: Config) -> list[Place]:
    """All that the rewards are trained on."""
    sets = training_plan.sets(config)
    return [Place(sets[name]["source"], tool, noise) for name, noise, tool in training_plan.places(config)]


def fine_tune_settings(config: Config) -> dict[str, Any]:
    """What the supervised fine-tune is made with, by the arguments of `supervised.fine_tune`."""
    training = config["training"]
    kept = {key: training[key] for key in ("lora", "precision")}
    return {"settings": training[SUPERVISED], **kept, "seed": config["seed"]}


def contradictions(config: Config) -> Iterator[str]:
    """What is wrong with the checkpoints that entries name; one line each."""
    for name in config.get("training", {}).get("rewards", []):
        if name in _OWN:
            yield f"rewards.{name}: is the name of a checkpoint that is there anyway; rename it"
    allowed = checkpoints(config)
    for model, entry in config["models"].items():
        found = entry.get(KEY)
        if found is None:
            continue
        where = f"models.{model}"
        if found not in allowed:
            known = f"allowed: {', '.join(allowed)}" if allowed else "and the configuration has no key training"
            yield f"{where}.{KEY}: found {found!r}, {known}"
        elif found == UNTREATED and "base_model" in entry:
            yield f"{where}.base_model: the untreated checkpoint was not trained from another model; leave it out"
        elif found != UNTREATED and "base_model" not in entry:
            yield f"{where}.base_model: is missing; name the model whose checkpoint is {UNTREATED}"
