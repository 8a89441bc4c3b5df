"""The run's tables as a data set folder that Hugging Face's library `datasets` loads: Parquet files and a card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from toolcal import __version__
from toolcal.tables import TABLES

CONFIGS = (
    *("cells", "effects", "family_effects", "outcomes", "cases", "contexts", "trajectories", "user_messages"),
    *("probe_events", "actions", "corrections", "correction_agreement", "grades", "writes", "write_rates"),
)
"""The tables that are exported, each a configuration of the data set; the first is its default."""

LEFT_OUT: Mapping[str, frozenset[str]] = {"trajectories": frozenset({"sent", "served_by", "raw", "latency", "cost"})}
"""Columns that tell of the endpoint and not of the conversation."""

FOLDER = "data"
_ROWS = 10_000
"""Rows of a Parquet row group: what a reader holds at once."""


@dataclass
class Config:
    """An exported table: its schema, and how many files and rows it has."""

    name: str
    schema: pa.Schema
    files: int = field(default=0)
    rows: int = field(default=0)


def schema(name: str) -> pa.Schema:
    """The schema of an exported table, its columns described as in `toolcal.tables`."""
    left = LEFT_OUT.get(name, frozenset())
    return pa.schema(
        [column for column in TABLES[name].schema if column.name not in left], metadata={"toolcal": __version__}
    )


def export(tables: Mapping[str, Sequence[Path]], root: Path, folder: Path) -> list[Config]:
    """Write the tables that have rows, a file for each of theirs.

    Args:
        tables: of each of `CONFIGS` that the run has, its files.
        root: the results folder: a file is named by its path in it.
        folder: the data set's, not there yet or empty.

    Returns:
        What was written, in the order of `CONFIGS`. Metadata of the files, which names paths and settings of this
        machine, stays behind.
    """
    found = []
    for name in CONFIGS:
        config = Config(name, schema(name))
        for path in sorted(tables.get(name, ())):
            rows = pq.read_table(path, columns=config.schema.names, partitioning=None)
            if not rows.num_rows:
                continue
            target = folder / FOLDER / name / Path(*path.relative_to(root).parts[1:])
            target.parent.mkdir(parents=True, exist_ok=True)
            pq.write_table(rows.cast(config.schema), target, compression="zstd", row_group_size=_ROWS)
            config.files, config.rows = config.files + 1, config.rows + rows.num_rows
        if config.rows:
            found.append(config)
    return found
