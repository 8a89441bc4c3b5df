"""What a column and a table are; `toolcal.tables` has all of them, and says what each column means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

_TYPES = {
    "str": pa.string(),
    "int": pa.int64(),
    "float": pa.float64(),
    "bool": pa.bool_(),
    "json": pa.string(),
}


@dataclass(frozen=True)
class Column:
    """One column: its type (`json` is a JSON string), what it means, and whether it may be null."""

    type: str
    doc: str
    null: bool = False
    values: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Table:
    """A table's name, its key and its columns (the key's first)."""

    name: str
    key: tuple[str, ...]
    columns: dict[str, Column]

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema, with each column's description as field metadata."""
        return pa.schema(
            [
                pa.field(name, _TYPES[column.type], nullable=column.null, metadata={"doc": column.doc})
                for name, column in self.columns.items()
            ]
        )


def column(type: str, doc: str, *, null: bool = False, values: Sequence[str] | None = None) -> Column:
    """A column, in short."""
    return Column(type, doc, null, tuple(values) if values else None)
