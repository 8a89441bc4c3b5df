"""`limits.max_usd`: what the calls of a results folder may cost together, over all its jobs and runs.

A call is made only if its highest possible cost fits into what is left; that much is held until its real cost is known.
What was spent is what the journals say; the ledger beside them saves reading them all for every call.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from toolcal import journal
from toolcal.models.prices import Prices

Entry = dict[str, float]
"""Of a journal: `spent` and `held` (US dollars), and its size in `bytes` when it was read."""


class BudgetReached(RuntimeError):
    """The next call might cost more than is left."""


class Bill:
    """One call's place in the ledger: the cost that is held for it, and then the real one (null: not answered)."""

    def __init__(self, held: float) -> None:
        self.held = held
        self.cost: float | None = None


def worst_cost(body: Mapping[str, Any], prices: Prices) -> float | None:
    """The most that a call can cost (US dollars): a token for every byte sent, and the longest answer allowed.

    Args:
        body: messages, tools and parameters as sent.
        prices: per token.

    Returns:
        The bound, or None where nothing limits the answer.
    """
    limits = [body[name] for name in ("max_tokens", "max_completion_tokens") if isinstance(body.get(name), int)]
    longest = min(limits, default=prices.longest_answer)
    if longest is None:
        return None
    size = len(json.dumps(body, ensure_ascii=False).encode()) + 16 * len(body["messages"])
    return (size * prices.input + longest * prices.output) * prices.dearer


class Budget:
    """The money left for a results folder.

    Args:
        journals: the folder of journals; the ledger `spent.json` lies in it.
        limit: US dollars in all.
    """

    def __init__(self, journals: Path, limit: float) -> None:
        self._journals = journals
        self._limit = limit
        self._file = journals / "spent.json"

    @asynccontextmanager
    async def hold(self, own: Path, worst: float) -> AsyncIterator[Bill]:
        """Hold the highest cost of a call while it is made; waits while calls under way hold what it needs.

        Args:
            own: the journal of the calling cell, which holds its lock.
            worst: US dollars.

        Raises:
            BudgetReached: it does not fit into what is left.
        """
        bill = Bill(worst)
        while not self._book(own, worst):
            await asyncio.sleep(0.2)
        try:
            yield bill
        finally:
            with self._ledger() as cells:
                entry = cells[self._name(own)]
                entry["held"] = max(0.0, entry["held"] - worst)
                entry["spent"] += bill.cost or 0.0

    def enter(self, own: Path) -> None:
        """Start a cell, whose journal this job holds; other journals that changed without the ledger are read too."""
        with self._ledger() as cells:
            cells[self._name(own)] = self._of(own)
            self._catch_up(cells, own)

    def leave(self, own: Path) -> None:
        """End a cell: from here on its journal does not change."""
        with self._ledger() as cells:
            cells[self._name(own)] = self._of(own)

    def _book(self, own: Path, worst: float) -> bool:
        with self._ledger() as cells:
            spent = sum(entry["spent"] for entry in cells.values())
            held = sum(entry["held"] for entry in cells.values())
            if spent + held + worst <= self._limit:
                cells[self._name(own)]["held"] += worst
                return True
            if spent + worst > self._limit:
                raise BudgetReached(
                    f"limits.max_usd of {self._limit:g} is reached: {spent:.4f} are spent, the next call might cost "
                    f"{worst:.4f}; raise it (or lower max_tokens) and run again"
                )
            self._catch_up(cells, own)
        return False

    def _catch_up(self, cells: dict[str, Entry], own: Path) -> None:
        """Read the journals that no job holds and that are not as the ledger knows them: of killed jobs, and others."""
        for path in self._journals.rglob("*.jsonl"):
            entry = cells.get(self._name(path))
            if path != own and (entry is None or entry["held"] or entry["bytes"] != path.stat().st_size):
                try:
                    with FileLock(f"{path}.lock").acquire(timeout=0):
                        cells[self._name(path)] = self._of(path)
                except Timeout:
                    continue  # at work; it keeps its entry itself

    def _of(self, path: Path) -> Entry:
        return {"spent": journal.spent(path), "held": 0.0, "bytes": path.stat().st_size}

    @contextmanager
    def _ledger(self) -> Iterator[dict[str, Entry]]:
        with FileLock(f"{self._file}.lock"):
            cells = self._read()
            yield cells
            temporary = self._file.with_suffix(".tmp")
            temporary.write_text(json.dumps(cells))
            temporary.replace(self._file)

    def _read(self) -> dict[str, Entry]:
        try:
            found: dict[str, Entry] = json.loads(self._file.read_text())
        except (OSError, ValueError):  # none yet, or a broken one: the journals know
            return {}
        return found

    def _name(self, own: Path) -> str:
        return str(own.relative_to(self._journals))
