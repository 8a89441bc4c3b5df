"""Corrections: what readers of the conversations say that a message's class should have been."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

CORRECTED = "corrected"
"""The labeller whose labels are those of the configuration's first one, with the corrections in their place."""


def files(config: Mapping[str, Any]) -> list[str]:
    """The files of corrections that the configuration names; none without the key `labels`."""
    named = config.get("labels", {}).get("corrections", [])
    return [named] if isinstance(named, str) else list(named)


def contradictions(config: Mapping[str, Any]) -> Iterator[str]:
    """What the schema cannot say of the key `labels`."""
    for path in files(config):
        if not Path(path).is_file():
            yield f"labels.corrections: there is no file {path}; save one in the explorer, or take the key out"
