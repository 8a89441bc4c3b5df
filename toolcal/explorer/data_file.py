"""Data as script files, for a page that is opened from disk: browsers let it read scripts there, and nothing else.

A file holds one call, `explorer.take(data)`; the data is JSON, compressed and in base64, so that no text of a
model is ever part of a script.
"""

from __future__ import annotations

import base64
import gzip
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from toolcal import tables


def write(folder: str | Path, name: str, value: Any) -> int:
    """Write `{name}.js` below a folder; equal values give equal bytes.

    Args:
        folder: of the data.
        name: by which the page asks for it, with / between folders.
        value: anything JSON can hold; no NaN.

    Returns:
        The size of the file in bytes.
    """
    path = Path(folder, f"{name}.js")
    path.parent.mkdir(parents=True, exist_ok=True)
    packed = base64.b64encode(gzip.compress(tables.dumps(value).encode(), 6, mtime=0)).decode()
    return path.write_text(f'explorer.take("{packed}");\n', encoding="ascii")


def read(path: str | Path) -> Any:
    """What a file of `write` holds."""
    text = Path(path).read_text(encoding="ascii")
    return json.loads(gzip.decompress(base64.b64decode(text.split('"')[1])))


def by_column(data: pd.DataFrame) -> dict[str, Any]:
    """A table as `{rows, columns}`: of each column its values, a text column's as places in a list of its words.

    Texts repeat from row to row, so this is a tenth of what a list of objects would be. Null is null, also as a place.
    """
    return {"rows": len(data), "columns": {str(name): _column(data[name]) for name in data}}


def _column(values: pd.Series[Any]) -> Mapping[str, Any] | list[Any]:
    plain = values.astype(object).where(values.notna(), None).to_list()
    if not any(isinstance(value, str) for value in plain):
        return [None if isinstance(value, float) and not math.isfinite(value) else value for value in plain]
    words = list(dict.fromkeys(value for value in plain if value is not None))
    places = {word: place for place, word in enumerate(words)}
    return {"words": words, "at": [None if value is None else places[value] for value in plain]}
