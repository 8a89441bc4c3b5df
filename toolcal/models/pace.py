"""What an endpoint is asked at once and in a minute, over all jobs of a results folder.

Jobs meet in a folder of lock files, so that a limit holds whatever runs beside; a killed job's locks go with it.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from filelock import FileLock, Timeout


class Pace:
    """The limits of one endpoint.

    Args:
        folder: where the jobs that share the limits meet; None where nobody else asks this endpoint.
        concurrency: calls under way at once.
        requests: calls that may start in a minute; None without a limit.
        tokens: tokens that may be used in a minute; None without a limit.
    """

    def __init__(
        self, folder: Path | None, *, concurrency: int, requests: float | None = None, tokens: float | None = None
    ) -> None:
        self.concurrency = concurrency
        self._here = asyncio.Semaphore(concurrency)
        self._slots = [] if folder is None else [FileLock(folder / f"slot{n}.lock") for n in range(concurrency)]
        self._free = list(range(len(self._slots)))
        self._rates = {"requests": requests, "tokens": tokens}
        self._file = folder / "pace.json" if folder is not None and (requests or tokens) else None
        self._not_before = 0.0
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)

    @asynccontextmanager
    async def turn(self, tokens: int) -> AsyncIterator[None]:
        """Hold one of the places for the length of a call, which starts when it may.

        Args:
            tokens: what the call is expected to use.
        """
        async with self._here:
            place = await self._place()
            try:
                while (wait := self._not_before - time.monotonic()) > 0:
                    await asyncio.sleep(wait * random.uniform(1, 1.1))
                await asyncio.sleep(self._take({"requests": 1, "tokens": tokens}))
                yield
            finally:
                if place is not None:
                    self._slots[place].release()
                    self._free.append(place)

    def hold(self, seconds: float) -> None:
        """Start no call for so long: the endpoint has asked for it."""
        self._not_before = max(self._not_before, time.monotonic() + seconds)

    def used(self, expected: int, actual: int) -> None:
        """Correct the tokens that a call was expected to use by those that it did."""
        if self._rates["tokens"]:
            self._take({"tokens": actual - expected})

    async def _place(self) -> int | None:
        while self._slots:
            for place in random.sample(self._free, len(self._free)):
                try:
                    self._slots[place].acquire(timeout=0)
                except Timeout:
                    continue
                self._free.remove(place)
                return place
            await asyncio.sleep(random.uniform(0.02, 0.06))
        return None

    def _take(self, amounts: dict[str, float]) -> float:
        """Book amounts; returns the seconds until they may be used (a generic cell rate: no bursts)."""
        if self._file is None:
            return 0.0
        with FileLock(f"{self._file}.lock"):
            try:
                due: dict[str, float] = json.loads(self._file.read_text())
            except (OSError, ValueError):
                due = {}
            now, wait = time.time(), 0.0
            for kind, amount in amounts.items():
                if rate := self._rates[kind]:
                    start = min(max(now, due.get(kind, 0.0)), now + 3600)  # a clock that was set back must not stop us
                    wait = max(wait, start - now)
                    due[kind] = start + 60.0 * amount / rate
            self._file.write_text(json.dumps(due))
        return wait
