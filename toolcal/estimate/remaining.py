"""What a cell has still to ask, and what its journal tells of its calls.

A case-trial (one case, once) is done where the trajectories table has it without an infrastructure error. Another that
the journal has is done to the share of its turns that its calls reached; so a call that is missing in the turn reached
last is not seen. Where the table was made with other settings of the model, all is asked anew, and the journal is not
looked at.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from toolcal import journal, tables
from toolcal.models.entries import answering

Run = tuple[str, int]
"""A case-trial: (case id, trial)."""
MEASURES = ("prompt_tokens", "completion_tokens", "latency", "cost")


@dataclass
class Asked:
    """A case-trial's calls in a journal: (turn, step, attempt) -> `MEASURES`, of the last asking if there were more."""

    calls: dict[tuple[int, int, int], tuple[float | None, ...]] = field(default_factory=dict)
    turns: int = 0
    """Turns reached."""
    over: bool = False
    """The context was exceeded, which ends the conversation."""


@dataclass(frozen=True)
class Measured:
    """What journals tell of whole case-trials: how many, their calls, and sums and counts of the calls' `MEASURES`."""

    runs: int = 0
    calls: int = 0
    sums: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)

    def __add__(self, other: Measured) -> Measured:
        return Measured(
            self.runs + other.runs, self.calls + other.calls, self.sums + other.sums, self.counts + other.counts
        )

    def mean(self, measure: str) -> float | None:
        """Mean of a measure a call (tokens, seconds, US dollars); None where no call has it."""
        return self.sums[measure] / self.counts[measure] if self.counts[measure] else None


@dataclass(frozen=True)
class Remaining:
    """A cell: case-trials planned; case-trial -> share of it that is left, if any is; and what its journal tells."""

    planned: int
    left: Mapping[Run, float]
    measured: Measured


def asked(path: str | Path, beside: str = "") -> dict[Run, Asked]:
    """The case-trials of a journal, read line by line and without its lock.

    A last line that is cut, and lines of an older version, which do not say what was called, are left out.

    Args:
        path: the journal.
        beside: only calls beside the conversation of this name (see `Request.beside`); empty for its own calls.
    """
    found: dict[Run, Asked] = {}
    for call, record in journal.records(path):
        if not call or (call[5] if len(call) > 5 else "") != beside:
            continue
        case_id, trial, turn, step, attempt = call[:5]
        run = found.setdefault((case_id, trial), Asked())
        run.calls[turn, step, attempt] = tuple(_number(record.get(measure)) for measure in MEASURES)
        run.turns = max(run.turns, turn + 1)
        run.over |= not beside and record.get("failure") == "context_exceeded"
    return found


def ended(trajectories: str | Path, entry: Mapping[str, Any], seed: int) -> dict[Run, bool] | None:
    """The case-trials of a cell's table, and whether each is done: it did not end in an infrastructure error.

    Args:
        trajectories: the table's file.
        entry: the model's entry in the configuration.
        seed: the configuration's seed.

    Returns:
        None where the table was made with other settings; nothing where there is no table, or one of another version.
    """
    if not Path(trajectories).is_file():
        return {}
    try:
        rows = tables.read("trajectories", trajectories, columns=["case_id", "trial", "status"])
    except tables.TableError:
        return {}
    about = tables.metadata(trajectories)
    same_seed = "seed" in entry.get("parameters", {}) or about.get("run", {}).get("seed") == seed
    if not same_seed or answering(about.get("model", {})) != answering(entry):
        return None
    broken = rows["status"] == "infra_error"
    return dict.fromkeys(_runs(rows), True) | dict.fromkeys(_runs(rows[broken]), False)


def answered(
    confidences: str | Path, question: Mapping[str, Any], table: Mapping[Run, bool] | None
) -> dict[Run, bool] | None:
    """The case-trials whose questions after the turns were put, and whether each is done: none is without an answer.

    Args:
        confidences: file of the table `turn_confidence`.
        question: what its metadata must say of the question.
        table: what has `ended` in the cell's table `trajectories`.

    Returns:
        None where other questions were put, or `table` is None; nothing where there is no table.
    """
    if table is None or not Path(confidences).is_file():
        return None if table is None else {}
    about = tables.metadata(confidences)
    if any(about.get(name) != value for name, value in question.items()):
        return None
    rows = tables.read("turn_confidence", confidences, columns=["case_id", "trial", "status"])
    broken = _runs(rows[rows["status"] == "infra_error"])
    return {run: done and run not in broken for run, done in table.items()}


def remaining(
    planned: Sequence[Run], turns: Mapping[str, int], made: Mapping[Run, Asked], table: Mapping[Run, bool]
) -> Remaining:
    """What is left of a cell.

    Args:
        planned: its case-trials.
        turns: case id -> turns of its conversation.
        made: what is `asked` in its journal.
        table: what has `ended` in its table.
    """
    shares = {run: _share(found, turns[run[0]], table.get(run)) for run, found in made.items() if run[0] in turns}
    whole = [_measured(made[run].calls.values()) for run, share in shares.items() if share == 1]
    left = {run: 1.0 - shares.get(run, 0.0) for run in planned if not table.get(run)}
    return Remaining(len(planned), {run: share for run, share in left.items() if share > 0}, sum(whole, Measured()))


def _share(found: Asked, turns: int, done: bool | None) -> float:
    """The share of a case-trial that is done; `done` is what the table says of it, None where it does not have it."""
    if done or found.over:
        return 1.0
    # An infrastructure error broke it off in the turn reached last, if not in the one after.
    return min(found.turns, turns if done is None else turns - 1) / turns


def _measured(calls: Iterable[tuple[float | None, ...]]) -> Measured:
    columns = list(zip(*calls, strict=True))
    known = {measure: [v for v in values if v is not None] for measure, values in zip(MEASURES, columns, strict=True)}
    sums = Counter({measure: math.fsum(values) for measure, values in known.items()})
    return Measured(1, len(columns[0]), sums, Counter({measure: len(values) for measure, values in known.items()}))


def _runs(rows: pd.DataFrame) -> set[Run]:
    return set(zip(rows["case_id"], map(int, rows["trial"]), strict=True))


def _number(value: Any) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
