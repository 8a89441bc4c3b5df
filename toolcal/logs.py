"""Where a stage's log goes."""

from __future__ import annotations

import logging
from pathlib import Path


def to_file(path: str | Path) -> None:
    """Send log records to a file, one line each with its time."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    logging.basicConfig(
        filename=path, filemode="w", level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s", force=True
    )
    for chatty in ("httpx", "LiteLLM", "matplotlib", "fontTools"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
