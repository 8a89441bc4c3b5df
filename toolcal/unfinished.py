"""How often a cell's job ended with infrastructure errors.

The count goes into the rule's params: an ending adds one, so the next run finds the params changed and takes the cell
up again, once; a clean ending leaves the count, and the cell rests. Each ending is a line, its time, in a file beside
the cell's journal: a file that only grows has no moment in which it cannot be read.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from toolcal import logs
from toolcal.cells import Cell

if TYPE_CHECKING:  # every start of Snakemake reads this module, and takes a quarter of a second less without
    import pandas as pd


def count(journal: str | Path) -> int:
    """Endings with infrastructure errors so far, from the file beside a cell's journal."""
    try:
        return _file(journal).read_bytes().count(b"\n")
    except FileNotFoundError:
        return 0


def note(journal: str | Path) -> None:
    """Add one ending.

    Raises:
        OSError: it cannot be written; the job must then fail, or the cell would rest with its errors.
    """
    file = _file(journal)
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("ab") as lines:
        lines.write(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}\n".encode())


def tell(
    cell: Cell,
    trajectories: pd.DataFrame,
    journal: str | Path,
    *,
    turn_confidence: pd.DataFrame | None = None,
    again: bool = True,
) -> None:
    """Tell how many cases of a cell have no answer, or turns no confidence for want of one, and note that ending.

    Args:
        cell: the cell.
        trajectories: its table.
        turn_confidence: its table, where models are asked after a turn.
        journal: its journal.
        again: whether another run would ask again; else nothing is noted.

    Raises:
        OSError: as `note`.
    """
    broken = trajectories[trajectories["status"] == "infra_error"]
    unasked = 0 if turn_confidence is None else int((turn_confidence["status"] == "infra_error").sum())
    if broken.empty and not unasked:
        return
    if again:
        note(journal)
    where, then = f"{cell.model} in {cell.scenario}.{cell.perturbation}", "; run again to go on" if again else ""
    if len(broken):
        logs.warn(
            f"{len(broken)} cases of {where} have no answer, which is no failure of the model; the first: "
            f"{json.loads(broken['raw'].iloc[0])}{then}"
        )
    if unasked:
        logs.warn(f"{unasked} turns of {where} have no confidence, for the endpoint gave no answer{then}")


def _file(journal: str | Path) -> Path:
    return Path(journal).with_suffix(".unfinished")
