"""`limits.max_usd`: what the calls of a results folder may cost together, over all its jobs and runs.

A call is made only if its highest possible cost fits into what is left; that much is held until its real cost is known.
What was spent is what the journals say. The ledger beside them keeps how far each was read, so that no call needs more
than their new lines: one that is missing, broken or old is put right by reading on. What an endpoint charges for a try
that it did not answer is known to nobody here, and not in it.
"""

from __future__ import annotations

import asyncio
import json
import math
import random
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from toolcal.journal import cost_of
from toolcal.models.prices import Prices

Entry = dict[str, float]
"""Of a journal: US dollars `spent` in its first `bytes`, and `held` for calls whose records are not in these."""

_NEW: Entry = {"spent": 0.0, "bytes": 0, "held": 0.0}

_ADDED = 1024
"""Tokens that a provider may add to a prompt: its own words about tools, and the marks of a conversation."""


class BudgetReached(RuntimeError):
    """The next call might cost more than is left."""


class Bill:
    """One call's place in the ledger: US dollars held for it, and its cost once it is over (None: nothing known)."""

    def __init__(self, held: float) -> None:
        self.held = held
        self.cost: float | None = None
        self.over = False


def worst_cost(body: Mapping[str, Any], prices: Prices) -> float | None:
    """The most that a call can cost (US dollars): a token for every byte sent, and the longest answer allowed.

    Args:
        body: messages, tools and parameters as sent.
        prices: per token.

    Returns:
        The bound, or None where nothing limits the answer.
    """
    given = [body[name] for name in ("max_tokens", "max_completion_tokens") if name in body]
    limits = [limit for limit in given if isinstance(limit, int | float) and limit > 0]  # -1 is no limit to some
    longest = max(limits) if limits and len(limits) == len(given) else prices.longest_answer
    if longest is None:
        return None
    size = len(json.dumps(body, ensure_ascii=False).encode()) + 16 * len(body["messages"]) + _ADDED
    return size * prices.most_input + longest * prices.most_output


class Budget:
    """The money left for a results folder.

    Args:
        journals: the folder of journals; the ledger `.spent.json` lies in it.
        limit: US dollars in all.
    """

    def __init__(self, journals: Path, limit: float) -> None:
        self._journals = journals
        self._limit = limit
        self._file = journals / ".spent.json"
        self._lock = FileLock(f"{self._file}.lock")
        self._asking = asyncio.Lock()
        self._bills: dict[Path, list[Bill]] = defaultdict(list)

    @asynccontextmanager
    async def hold(self, own: Path, worst: float) -> AsyncIterator[Bill]:
        """Hold the highest cost of a call while it is made; waits while calls under way hold what it needs.

        Who calls writes the answer to the journal right after, before anything else in this process comes to run.

        Args:
            own: the journal of the calling cell, whose lock this process has.
            worst: US dollars.

        Raises:
            BudgetReached: it does not fit into what is left.
        """
        bill = Bill(worst)
        async with self._asking:  # one asks for all that wait here
            while not self._fits(own, bill):
                await asyncio.sleep(random.uniform(0.05, 0.15))
        try:
            yield bill
        finally:
            with self._ledger() as cells:
                self._settle(cells, own)  # before this bill is over, as its record is not in the journal yet
                bill.held, bill.over = bill.cost or 0.0, True
                self._note(cells, own)

    def leave(self, own: Path) -> None:
        """End a cell: from here on its journal does not change."""
        if own in self._bills:
            with self._ledger() as cells:
                self._settle(cells, own)
                self._note(cells, own)

    def _fits(self, own: Path, bill: Bill) -> bool:
        with self._ledger() as cells:
            if own not in self._bills:  # the cell's first call: what went on without the ledger is read too
                cells.pop(self._name(own), None)
                self._read_all(cells)
            self._settle(cells, own)
            spent = math.fsum(entry["spent"] for entry in cells.values())
            held = math.fsum(entry["held"] for entry in cells.values())
            fits = spent + held + bill.held <= self._limit
            if fits:
                self._bills[own].append(bill)
            else:
                self._free(cells)
            self._note(cells, own)
        if not fits and spent + bill.held > self._limit:
            raise BudgetReached(
                f"limits.max_usd of {self._limit:g} would be passed: {spent:.4g} US dollars are spent, and the next "
                f"call may cost up to {bill.held:.4g}; raise it, or lower max_tokens"
            )
        return fits

    def _settle(self, cells: dict[str, Entry], own: Path) -> None:
        """Read what came into the own journal; the bills that are over stand there now."""
        self._bills[own] = [bill for bill in self._bills[own] if not bill.over]
        cells[self._name(own)] = _read_on(own, cells.get(self._name(own), _NEW))

    def _note(self, cells: dict[str, Entry], own: Path) -> None:
        cells[self._name(own)]["held"] = math.fsum(bill.held for bill in self._bills[own])

    def _free(self, cells: dict[str, Entry]) -> None:
        """Free what killed jobs held: their journals are locked no more."""
        for name, entry in cells.items():
            path = self._journals / name
            if entry["held"] and path not in self._bills:
                try:
                    with FileLock(f"{path}.lock").acquire(timeout=0):
                        cells[name] = _read_on(path, entry) | {"held": 0.0}
                except Timeout:
                    continue  # at work

    def _read_all(self, cells: dict[str, Entry]) -> None:
        """Read on in every journal, also those of jobs at work; the entries of journals that are gone go too."""
        there = {self._name(path): path for path in self._journals.rglob("*.jsonl") if path.is_file()}
        found = {name: _read_on(path, cells.get(name, _NEW)) for name, path in there.items()}
        cells.clear()
        cells.update(found)

    @contextmanager
    def _ledger(self) -> Iterator[dict[str, Entry]]:
        with self._lock.acquire(poll_interval=0.002):
            cells = self._read()
            yield cells
            temporary = self._file.with_suffix(".tmp")
            temporary.write_text(json.dumps(cells))
            temporary.replace(self._file)

    def _read(self) -> dict[str, Entry]:
        try:
            found = json.loads(self._file.read_text())
            return {name: {key: max(0.0, float(entry[key])) for key in _NEW} for name, entry in found.items()}
        except (OSError, ValueError, TypeError, KeyError, AttributeError):  # none yet, or a broken one
            cells: dict[str, Entry] = {}
            self._read_all(cells)
            return cells

    def _name(self, own: Path) -> str:
        return str(own.relative_to(self._journals))


def _read_on(path: Path, known: Entry) -> Entry:
    """The entry of a journal with the lines that came since it was last read; another journal is read anew."""
    entry = dict(known)
    if not path.exists():
        return entry | {"spent": 0.0, "bytes": 0}
    if entry["bytes"] == path.stat().st_size:
        return entry
    with path.open("rb") as lines:
        lines.seek(max(0, int(entry["bytes"]) - 1))
        if entry["bytes"] and lines.read(1) != b"\n":
            lines.seek(0)
            entry |= {"spent": 0.0, "bytes": 0}
        for line in lines:
            if not line.endswith(b"\n"):
                break  # cut short, or being written
            entry["spent"] += _cost(line)
            entry["bytes"] += len(line)
    return entry


def _cost(line: bytes) -> float:
    try:
        return cost_of(json.loads(line)["record"])
    except (ValueError, TypeError, KeyError, AttributeError):  # no record; who opens the journal hears of it
        return 0.0
