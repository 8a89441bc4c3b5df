"""The journal: every model call, once.

An append-only file of JSON lines beside the results, one writer a cell, one line a call:
`{"key": ..., "call": [case_id, trial, turn, step, attempt], "record": {...}}` (beside the conversation a sixth entry of
`call` says what the call is: `confidence`). A run that was killed finds in it every
answer that was paid for, and asks only for what is missing. Only the model's own answers go in (a context overflow is
one); infrastructure errors do not, so they are tried again.

Each line is written and synced to disk (fsync) before its answer is used: what a table holds, the journal holds too,
and a power cut costs the calls under way, no more.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from filelock import FileLock, Timeout

_log = logging.getLogger(__name__)


class JournalError(RuntimeError):
    """A journal that is in use or broken; the message says which file and what to do."""


Call = tuple[str, int, int, int, int] | tuple[str, int, int, int, int, str]
"""Which call of a cell: case id, trial, turn, step, attempt; and beside the conversation, what the call is."""

WAIT = 15.0
"""Seconds to wait for a journal's lock: a job that has lost its run gives it up within that time."""


def call_key(*, model: Mapping[str, Any], body: Mapping[str, Any], call: Call) -> str:
    """The identity of a model call: SHA-256 (hex) over canonical JSON, so the order of keys does not matter.

    Step and attempt tell a prompt that is asked twice within a turn from its first asking. Concurrency, price and
    address are no part of it.

    Args:
        model: what answers: its name and the revision or checksum of its weights.
        body: what it is sent: messages, tools or response format, sampling parameters.
        call: case id, trial, turn and step (from 0), and attempt: 0, or the n-th asking at this step; beside the
            conversation also what the call is.
    """
    made = {"model": model, "body": body, "case": list(call)}
    text = json.dumps(made, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


class Journal:
    """The calls of one cell: `with Journal(path) as journal`, then `get` and `put`.

    Opening takes the lock `<path>.lock` and drops a last line that a crash cut short. Every line is synced to disk
    before `put` returns. Records stay on disk; only their places are held in memory.

    Args:
        path: the file.
        replay: another cell's journal, which is read and never written; none need be there.
        wait: seconds to wait for the lock.

    Raises:
        JournalError: on entering, when another run holds the lock or a line before the last is not a record.
    """

    def __init__(self, path: str | Path, *, replay: str | Path | None = None, wait: float = WAIT) -> None:
        self.path = Path(path)
        self._replay = None if replay is None else Path(replay)
        self._wait = wait
        self._lock = FileLock(f"{self.path}.lock")
        self._places: dict[str, int] = {}
        self._earlier: dict[str, int] = {}
        self._reader: IO[bytes] | None = None
        self._replayed: IO[bytes] | None = None
        self._writer: FileIO | None = None

    def __enter__(self) -> Self:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._lock.acquire(timeout=self._wait)
        except Timeout:
            raise JournalError(f"{self.path}: another run is writing this journal; wait for it or stop it") from None
        try:
            self._writer = self.path.open("ab", buffering=0)  # no buffer that could hold on to a failed write
            self._reader = self.path.open("rb")
            self._index(self._reader, self._writer)
            if self._replay is not None and self._replay.is_file():
                self._replayed = self._replay.open("rb")
                self._earlier = _places(self._replayed)
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def __len__(self) -> int:
        return len(self._places)

    def get(self, key: str) -> dict[str, Any] | None:
        """The record of a call that was made, or None."""
        return self._record(key, self._places, self._reader)

    def replayed(self, key: str) -> dict[str, Any] | None:
        """The record of a call in the journal that is replayed, or None."""
        return self._record(key, self._earlier, self._replayed)

    def put(self, key: str, call: Call, record: Mapping[str, Any]) -> None:
        """Append a call's record (JSON-able); it is on disk when this returns.

        Raises:
            ValueError: the key is there already, or the record is no JSON.
            OSError: the disk is full or read-only; the journal is left as it was.
        """
        if key in self._places:
            raise ValueError(f"{self.path}: call {key} is recorded already")
        entry = {"key": key, "call": call, "record": record}
        line = json.dumps(entry, separators=(",", ":"), allow_nan=False).encode() + b"\n"
        if self._writer is None:
            raise ValueError(f"{self.path}: the journal is not open")
        if os.fstat(self._writer.fileno()).st_nlink == 0:
            raise JournalError(f"{self.path}: this journal was deleted while the run went on; nothing more is asked")
        end = self._writer.seek(0, os.SEEK_END)
        try:
            rest = memoryview(line)
            while rest:
                rest = rest[self._writer.write(rest) :]
            os.fsync(self._writer.fileno())
        except BaseException:
            self._writer.truncate(end)
            raise
        self._places[key] = end

    def _record(self, key: str, places: Mapping[str, int], reader: IO[bytes] | None) -> dict[str, Any] | None:
        if key not in places:
            return None
        if reader is None:
            raise ValueError(f"{self.path}: the journal is not open")
        reader.seek(places[key])
        record: dict[str, Any] = json.loads(reader.readline())["record"]
        return record

    def _index(self, reader: IO[bytes], writer: FileIO) -> None:
        self._places.clear()
        size = writer.seek(0, os.SEEK_END)
        start = 0
        for number, line in enumerate(reader, 1):
            entry = _entry(line)
            if entry is not None:
                self._places[str(entry["key"])] = start
            elif start + len(line) == size:
                _log.warning("%s: line %d was cut short and is dropped; its call will be made again", self.path, number)
                writer.truncate(start)
            else:
                raise JournalError(f"{self.path}: line {number} is not a record; delete that line and run again")
            start += len(line)

    def _close(self) -> None:
        for file in (self._reader, self._writer, self._replayed):
            if file is not None:
                file.close()
        self._reader = self._writer = self._replayed = None
        self._lock.release()


def spent(path: str | Path) -> float:
    """US dollars that a journal's calls cost, as far as their price was known; 0 without a journal."""
    return sum(cost_of(record) for _, record in records(path))


def cost_of(record: Mapping[str, Any]) -> float:
    """US dollars that count for a call: its cost, or its bound where the endpoint did not say what it used, or 0."""
    cost = record.get("cost")
    return float(cost if cost is not None else record.get("cost_at_most") or 0.0)


def records(path: str | Path) -> Iterator[tuple[Sequence[Any], dict[str, Any]]]:
    """(call, record) of every whole line of a journal; see `whole_entries`."""
    return ((entry.get("call", ()), entry["record"]) for entry in whole_entries(path))


def whole_entries(path: str | Path) -> Iterator[dict[str, Any]]:
    """{key, call, record} of every whole line of a journal, also while it is written; none without a journal."""
    try:
        with Path(path).open("rb") as lines:
            for line in lines:
                entry = _entry(line)
                if entry is not None:
                    yield entry
    except FileNotFoundError:
        return


def _places(reader: IO[bytes]) -> dict[str, int]:
    """Key -> where its line begins, of every whole line of a journal."""
    places, start = {}, 0
    for line in reader:
        entry = _entry(line)
        if entry is not None:
            places[str(entry["key"])] = start
        start += len(line)
    return places


def _entry(line: bytes) -> dict[str, Any] | None:
    """The entry of a whole line; None where it is none."""
    if not line.endswith(b"\n"):
        return None
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    return entry if isinstance(entry, dict) and "key" in entry and isinstance(entry.get("record"), dict) else None
