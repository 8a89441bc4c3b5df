"""How often a cell's job ended with infrastructure errors.

The count goes into the rule's params: an ending adds one, so the next run finds the params changed and takes the cell
up again, once; a clean ending leaves the count, and the cell rests.
"""

from __future__ import annotations

from pathlib import Path


def count(journal: str | Path) -> int:
    """Endings with infrastructure errors so far, from the file beside a cell's journal."""
    try:
        return int(_file(journal).read_text())
    except FileNotFoundError:
        return 0


def note(journal: str | Path) -> None:
    """Add one ending."""
    ended = count(journal) + 1
    _file(journal).parent.mkdir(parents=True, exist_ok=True)
    _file(journal).write_text(f"{ended}\n")


def _file(journal: str | Path) -> Path:
    return Path(journal).with_suffix(".unfinished")
