"""What a model's entry in the configuration says, without opening the model."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from toolcal import logs
from toolcal.models.serve import ServeError, Weights, find_weights

_HOW = (
    "attempts",
    "concurrency",
    "deterministic",
    "endpoint",
    "executable",
    "prices",
    "start_timeout",
    "tensor_parallel",
    "timeout",
)
_ELSEWHERE = ("base_model", "family", "limit", "published_as", "scenarios", "scores")
NO_CALLS = ("policy", "recorded", "audit")
"""Sources that make no model call."""


class EntryError(ValueError):
    """An entry that cannot work here; the message names its key and says what to do."""


def check(models: Mapping[str, Mapping[str, Any]], endpoints: Mapping[str, Mapping[str, Any]]) -> None:
    """See before a run whether what entries point at is there: recorded files, and (only told) keys.

    A key that is not set is no error yet: a model whose answers are all in the journal needs none.

    Args:
        models: the configuration's models.
        endpoints: its endpoints.

    Raises:
        EntryError: where a recorded model has no files.
    """
    for name, entry in models.items():
        where = recording(entry)
        if where and not recordings(entry):
            raise EntryError(
                f"models.{name}.results: no result files at {where['results']}; put them there, or change it or "
                "recorded_folder"
            )
    for name, endpoint in endpoints.items():
        variable = endpoint.get("api_key_env")
        users = [m for m, entry in models.items() if entry["source"] == "api" and endpoint_name(entry) == name]
        if variable and users and not os.environ.get(variable, "").strip():
            logs.warn(f"the environment variable {variable} is not set, and {', '.join(users)} may need it")


def answering(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The part of an entry that bears on what the model answers, and not on how it is reached or what it costs."""
    return {key: value for key, value in entry.items() if key not in (*_HOW, *_ELSEWHERE)}


def identity_of(entry: Mapping[str, Any]) -> dict[str, Any]:
    """What tells an `api` model from others in a journal."""
    return {"name": entry["model"]} | ({"revision": entry["revision"]} if "revision" in entry else {})


def endpoint_name(entry: Mapping[str, Any]) -> str:
    """The endpoint of an `api` model's entry: the one it names, else the provider in the model's name."""
    return str(entry.get("endpoint") or entry["model"].partition("/")[0])


def weights_of(name: str, entry: Mapping[str, Any]) -> Weights:
    """The weights file of an embedded model.

    Raises:
        ServeError: it is not what the entry says; the message begins with the entry's key.
    """
    try:
        return find_weights(entry["weights"])
    except ServeError as error:
        raise ServeError(f"models.{name}.weights: {error}") from error


def is_conversation(entry: Mapping[str, Any]) -> bool:
    """Whether a model's runs are recorded conversations with a user who speaks freely, which no rollout can replay."""
    return bool(entry["source"] == "recorded" and entry["format"] != "bfcl")


def recording(entry: Mapping[str, Any]) -> dict[str, Any] | None:
    """Of a recorded model the keys that say where its files are; None for others."""
    if entry["source"] != "recorded":
        return None
    return {key: entry[key] for key in ("format", "results", "scores") if key in entry}


def recordings(entry: Mapping[str, Any]) -> list[str]:
    """The files that a recorded model is read from; none for others."""
    where = recording(entry) or {}
    suffix = ".jsonl" if where.get("format") == "openai" else ".json"
    places = [Path(where[key]) for key in ("results", "scores") if key in where]
    found = [path for place in places for path in ([place] if place.is_file() else place.rglob(f"*{suffix}"))]
    return sorted(str(path) for path in found if path.is_file())


def files(models: Mapping[str, Mapping[str, Any]]) -> dict[str, Path]:
    """`models/<id>/<file>` -> weights or recorded run, for every model of the configuration that has such files."""
    found: dict[str, Path] = {}
    for name, entry in models.items():
        paths = [weights_of(name, entry).path] if "weights" in entry else map(Path, recordings(entry))
        found |= {f"models/{name}/{path.name}": path for path in paths}
    return found
