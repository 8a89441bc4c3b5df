"""Folders that are there whole or not at all."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def made_whole(folder: str | Path) -> Iterator[Path]:
    """Make a folder anew: what is written into the one that is given takes its place at the end.

    Args:
        folder: its place; what is there stays until then, and stays where writing fails.
    """
    folder = Path(folder)
    temporary = folder.with_name(f".{folder.name}.tmp")
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    yield temporary
    shutil.rmtree(folder, ignore_errors=True)
    temporary.replace(folder)
