"""The file `edits.yaml`: wording and lists of the static edits that are ours, with a version each."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml


@cache
def ours(edit: str) -> dict[str, Any]:
    """An edit's own part of the file; its `version` at least."""
    found: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("edits.yaml").read_text(encoding="utf-8"))[edit]
    return found
