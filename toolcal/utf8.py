"""Texts that UTF-8 cannot hold: JSON can escape half a character, but no client can send it and no file keep it."""

from __future__ import annotations

import json
from typing import Any


def in_utf8(value: Any) -> Any:
    """A JSON value, names in it too, in which ? stands for each half of a character; a copy."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    return json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
