"""The conversations of one model, and the list of them, as data files of a folder."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from toolcal import tables
from toolcal.corrections.settle import overlay
from toolcal.explorer import data_file
from toolcal.explorer.conversation import Rows, told
from toolcal.explorer.listing import Kept, chosen, listing
from toolcal.folders import made_whole

FILE_SIZE = 1_000_000
"""Characters of conversations, uncompressed, after which a further data file is begun: one is read in a blink."""

_READ = (*tables.EMISSION, "status", "state_changed", "text_recorded", "retracted", "origin")
_SHOWN = (*_READ, "content", "reasoning", "tool_calls", "tool_results")
Run = tuple[str, int]
"""(case_id, trial) of a cell."""


@dataclass(frozen=True)
class CellFiles:
    """A cell and where its tables are; None where it has no table of the kind."""

    model: str
    scenario: str
    perturbation: str
    cases: str
    contexts: str
    trajectories: str
    grades: str
    probe_events: str | None = None
    turn_confidence: str | None = None
    user_messages: str | None = None


@dataclass(frozen=True)
class ModelFiles:
    """A model's cells, and its tables that hold all of them."""

    cells: Sequence[CellFiles]
    outcomes: str
    actions: str
    writes: Sequence[str] = ()
    judgements: Sequence[str] = ()
    corrected: tuple[str, str] | None = None
    """The labeller whose labels readers corrected, and the table `actions` of what they say; None without."""


def write(folder: str | Path, files: ModelFiles, kept: Kept, sample: int) -> int:
    """Write a model's data files whole, `cases.js` and one or more for each cell; what was in the folder goes.

    Args:
        folder: of the model.
        files: its tables.
        kept: whose conversations are written; the list has all runs.
        sample: how many cases of a scenario, where it is a sample.

    Returns:
        The number of conversations written.
    """
    whole = _whole(files)
    rows = _listing(files, whole)
    there = chosen(rows, kept, sample)
    parts: dict[tuple[Any, ...], int] = {}
    with made_whole(folder) as new:
        for cell in files.cells:
            wanted = rows[there & (rows["scenario"] == cell.scenario) & (rows["perturbation"] == cell.perturbation)]
            runs = dict.fromkeys(zip(wanted["case_id"], wanted["trial"], strict=True))
            for run, part in _write_cell(new, cell, [*runs], whole):
                parts[cell.scenario, cell.perturbation, *run] = part
        keys = zip(*(rows[name] for name in ("scenario", "perturbation", "case_id", "trial")), strict=True)
        rows["part"] = pd.array([parts.get(key) for key in keys], dtype="Int64")
        data_file.write(new, "cases", data_file.by_column(rows.drop(columns=["model", "draw"])))
    return len(parts)


def _whole(files: ModelFiles) -> dict[str, pd.DataFrame]:
    """The tables that hold all of the model's cells, by name."""
    found = {
        "outcomes": tables.read("outcomes", files.outcomes),
        "actions": tables.read("actions", files.actions),
        "writes": tables.read("writes", *files.writes),
        "judgements": tables.read("judgements", *files.judgements),
    }
    if files.corrected:
        base, path = files.corrected
        found["actions"] = overlay(found["actions"], _own(tables.read("actions", path), files.cells[0]), base)
    return {name: _own(data, files.cells[0]) for name, data in found.items()}


def _listing(files: ModelFiles, whole: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    def read(table: str, attribute: str, columns: Sequence[str] | None = None) -> pd.DataFrame:
        paths = [path for cell in files.cells if (path := getattr(cell, attribute)) is not None]
        return _own(tables.read(table, *dict.fromkeys(paths), columns=columns), files.cells[0])

    cases = read("cases", "cases", ["scenario", "case_id", "decisive_turn", "draw"])
    return listing(
        whole["outcomes"],
        read("grades", "grades", [*tables.CASE, "regrade_differs"]),
        whole["actions"],
        read("trajectories", "trajectories", _READ),
        cases.drop_duplicates(["scenario", "case_id"]),
        read("probe_events", "probe_events"),
        read("turn_confidence", "turn_confidence"),
    )


def _own(rows: pd.DataFrame, cell: CellFiles) -> pd.DataFrame:
    """The rows of the cell's model: what sums all up has those of others too."""
    return rows[rows["model"] == cell.model] if "model" in rows else rows


def _of_cell(rows: pd.DataFrame, cell: CellFiles) -> pd.DataFrame:
    for name in {*tables.CELL} & {*rows}:
        rows = rows[rows[name] == getattr(cell, name)]
    return rows


def _write_cell(
    folder: Path, cell: CellFiles, runs: Sequence[Run], whole: Mapping[str, pd.DataFrame]
) -> Iterator[tuple[Run, int]]:
    """Write a cell's conversations; yields each run and the number of its data file."""
    name = f"{cell.scenario}.{cell.perturbation}"
    pages: list[dict[str, Any]] = []
    for part, told_here in enumerate(_parts(_conversations(cell, runs, whole))):
        systems: dict[str | None, int] = {}
        tools: dict[str, int] = {}
        pages = [
            conversation
            | {
                "system": systems.setdefault(system, len(systems)),
                "tools": tools.setdefault(names, len(tools)),
            }
            for conversation, system, names in told_here
        ]
        data = {"conversations": pages, "systems": [*systems], "tools": [json.loads(names) for names in tools]}
        data_file.write(folder, f"{name}.{part}", data)
        yield from (((page["case_id"], page["trial"]), part) for page in pages)


_Told = tuple[dict[str, Any], str | None, str]
"""A conversation, its system message, and the names of its tools by the turn in which they arrive (JSON)."""


def _parts(conversations: Iterator[_Told]) -> Iterator[list[_Told]]:
    """The conversations in lots of about `FILE_SIZE`."""
    lot: list[_Told] = []
    size = 0
    for one in conversations:
        length = len(tables.dumps(one[0]))
        if lot and size + length > FILE_SIZE:
            yield lot
            lot, size = [], 0
        lot.append(one)
        size += length
    if lot:
        yield lot


def _conversations(cell: CellFiles, runs: Sequence[Run], whole: Mapping[str, pd.DataFrame]) -> Iterator[_Told]:
    if not runs:
        return
    cases, contexts = (
        {row["case_id"]: row for row in tables.records(_of_cell(tables.read(name, path), cell))}
        for name, path in (("cases", cell.cases), ("contexts", cell.contexts))
    )
    own = {name: _by_run(data, cell) for name, data in whole.items()}
    for name, path, columns in (
        ("trajectories", cell.trajectories, _SHOWN),
        ("grades", cell.grades, None),
        ("probe_events", cell.probe_events, None),
        ("turn_confidence", cell.turn_confidence, None),
        ("user_messages", cell.user_messages, None),
    ):
        own[name] = _by_run(tables.read(name, *([path] if path else []), columns=columns), cell)
    for run in runs:
        context = contexts[run[0]]
        rows = Rows(
            case=cases[run[0]],
            context=context,
            grade=own["grades"][run][0],
            emissions=own["trajectories"][run],
            user_messages=own["user_messages"].get(run, ()) if cell.user_messages else None,
            **{name: own[name].get(run, ()) for name in (*whole, "probe_events", "turn_confidence")},
        )
        yield {"case_id": run[0], "trial": run[1], **told(rows)}, context["system"], _arrivals(context["tools"])


def _arrivals(text: str) -> str:
    names: dict[str, list[str]] = {}
    for item in json.loads(text):
        names.setdefault(str(item["from_turn"]), []).append(item["tool"]["function"]["name"])
    return tables.dumps(names)


def _by_run(data: pd.DataFrame, cell: CellFiles) -> Mapping[Run, list[dict[str, Any]]]:
    """A table's rows of one cell, by run, in the order of the table's key."""
    own = _of_cell(data, cell)
    rows = tables.records(own.sort_values(_order(own)))
    return {run: list(group) for run, group in itertools.groupby(rows, key=lambda row: (row["case_id"], row["trial"]))}


def _order(data: pd.DataFrame) -> list[str]:
    return [name for name in ("case_id", "trial", "turn", "step", "attempt", "place", "call") if name in data]
