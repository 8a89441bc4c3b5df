"""Which endpoint an `api` model is called at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def endpoint_name(entry: Mapping[str, Any]) -> str:
    """The endpoint of an `api` model's entry: the one it names, else the provider in the model's name."""
    return str(entry.get("endpoint") or entry["model"].partition("/")[0])
