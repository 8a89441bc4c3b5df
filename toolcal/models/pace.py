"""What an endpoint is asked at once and in a minute, over all jobs of a results folder.

Jobs meet in a folder: a place is a lock file, so a killed job's places are free at once, and `pace.json` says when the
next call may start. Nothing is reserved ahead, so a killed job leaves no gap.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

_LATE = 0.25
"""Seconds by which a start may be late and yet not hold up the next one; a minute is taken to be that much longer."""

_LOOK = 16
"""Places looked at in one go: a look at a taken one costs 0.1 ms, and there may be a thousand."""


class Pace:
    """The limits of one endpoint. Calls start evenly spread; a minute may hold one more than its share, never two.

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
        self._looking, self._starting = asyncio.Lock(), asyncio.Lock()
        self._slots = [] if folder is None else [FileLock(folder / f"slot{n}.lock") for n in range(concurrency)]
        self._free = list(range(len(self._slots)))
        self._rates = {kind: rate for kind, rate in (("requests", requests), ("tokens", tokens)) if rate}
        self._due: dict[str, float] = {}
        self._file = None if folder is None else folder / "pace.json"
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = FileLock(folder / "pace.lock")

    @asynccontextmanager
    async def turn(self, tokens: int) -> AsyncIterator[None]:
        """Hold one of the places for the length of a call, which starts when it may.

        Args:
            tokens: what the call is expected to use.
        """
        async with self._here:
            place = await self._place()
            try:
                while (wait := self._wait({})) > 0:  # apart, so that not all come back in one instant
                    await asyncio.sleep(wait * random.uniform(1, 1.1))
                async with self._starting:
                    while (wait := self._wait({"requests": 1, "tokens": tokens})) > 0:
                        await asyncio.sleep(wait)
                yield
            finally:
                if place is not None:
                    self._slots[place].release()
                    self._free.append(place)

    def hold(self, seconds: float) -> None:
        """Start no call for so long, in any job: the endpoint has asked for it."""
        with self._shared() as due:
            due["hold"] = max(due.get("hold", 0.0), time.time() + seconds)

    def used(self, expected: int, actual: int) -> None:
        """Correct the tokens that a call was expected to use by those that it did."""
        if "tokens" in self._rates and actual != expected:
            with self._shared() as due:
                self._book(due, {"tokens": actual - expected})

    async def _place(self) -> int | None:
        if not self._slots:
            return None
        async with self._looking:  # one looks for all that wait here
            while True:
                for place in random.sample(self._free, min(len(self._free), _LOOK)):
                    try:
                        self._slots[place].acquire(timeout=0)
                    except Timeout:
                        continue
                    self._free.remove(place)
                    return place
                await asyncio.sleep(random.uniform(0.02, 0.06))

    def _wait(self, amounts: Mapping[str, float]) -> float:
        """Seconds until a call that uses these amounts may start; where that is now, they are booked."""
        if not self._rates and not (self._due if self._file is None else self._file.exists()):
            return 0.0
        with self._shared() as due:
            wait = max(due.get(kind, 0.0) for kind in ("hold", *amounts)) - time.time()
            if wait <= 0:
                self._book(due, amounts)
        return max(wait, 0.0)

    def _book(self, due: dict[str, float], amounts: Mapping[str, float]) -> None:
        for kind, amount in amounts.items():
            if kind in self._rates:
                start = max(due.get(kind, 0.0), time.time() - _LATE)
                due[kind] = start + (60 + _LATE) * amount / self._rates[kind]

    @contextmanager
    def _shared(self) -> Iterator[dict[str, float]]:
        """When the next call may start, in seconds since the epoch, by what has to be waited for; kept if changed."""
        if self._file is None:
            yield self._due
            return
        with self._lock.acquire(poll_interval=0.002):
            before, now = _read(self._file), time.time()
            back = max(0.0, before.pop("written", now) - now)  # a clock that was set back must not stop us
            due = {kind: when - back for kind, when in before.items()}
            yield due
            if due != before:
                self._file.write_text(json.dumps(due | {"written": now}))


def _read(file: Path) -> dict[str, float]:
    try:
        return {str(kind): float(when) for kind, when in json.loads(file.read_text()).items()}
    except (OSError, ValueError, TypeError, AttributeError):  # none yet, or one that a killed job left half written
        return {}
