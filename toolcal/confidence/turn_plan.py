"""Which cells of the panel are asked for a confidence after each turn (key `turn_confidence`), and in what words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from toolcal.cells import Cell

Config = dict[str, Any]

KEY = "turn_confidence"
"""The configuration's key, and the table."""
BESIDE = "confidence"
"""What these calls are beside the conversation's own in a journal."""
_CALLED = ("embedded", "api", "vllm")
"""Sources that make calls."""


def settings(config: Config, cell: Cell) -> dict[str, Any] | None:
    """How a cell's model is asked, the arguments of `TurnQuestion`: {scale, in_json}; None where it is not."""
    wanted, entry = config.get(KEY), config["models"][cell.model]
    if wanted is None or entry["source"] not in _CALLED:
        return None
    if cell.model not in wanted.get("models", [cell.model]):
        return None
    if cell.scenario not in wanted.get("scenarios", [cell.scenario]):
        return None
    return {"scale": wanted["scale"], "in_json": entry.get("tool_mode") == "json"}


def tables(names: Sequence[str], config: Config) -> list[str]:
    """The tables that a query job writes: `turn_confidence` only where the configuration has the key.

    Args:
        names: all that it makes.
        config: the configuration, validated.
    """
    return [name for name in names if name != KEY or KEY in config]


def metadata(table: str, asked: Mapping[str, Any] | None) -> dict[str, Any]:
    """What goes into a file's metadata besides: how the model was asked, in the table's own file alone.

    So a cell's other files are the same, byte by byte, with and without the question.

    Args:
        table: the file's table.
        asked: from `settings`.
    """
    if table != KEY:
        return {}
    return {"question": None if asked is None else {"scale": asked["scale"], "version": texts()["version"]}}


@lru_cache(maxsize=1)
def texts() -> dict[str, Any]:
    """The question's texts, and their version: confidences under two versions do not compare."""
    found: dict[str, Any] = yaml.safe_load((Path(__file__).parent / "turn.yaml").read_text(encoding="utf-8"))
    return found


def contradictions(config: Config) -> Iterator[str]:
    """What the schema cannot say of the key: names that must exist, and models that can be asked."""
    wanted = config.get(KEY)
    if wanted is None:
        return
    called = [name for name, entry in config["models"].items() if entry["source"] in _CALLED]
    if not called:
        yield f"{KEY}: no model is called here (source {', '.join(_CALLED)}), leave the key out"
        return
    if not config["scenarios"]:
        yield f"{KEY}: no scenario is run (key scenarios), so there are no turns to ask after"
    for key, allowed in (("models", called), ("scenarios", list(config["scenarios"]))):
        for found in wanted.get(key, []):
            if found not in allowed:
                yield f"{KEY}.{key}: found {found!r}, allowed: {', '.join(allowed)}"
