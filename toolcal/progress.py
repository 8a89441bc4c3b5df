"""How far a long stage has come: a line in its log for every case, and now and then one on the terminal."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

_log = logging.getLogger(__name__)

_EVERY = 30.0
"""Seconds between lines on the terminal, which many jobs share."""

_WIDTH = 20
"""Characters of the bar."""


class Progress:
    """The progress of one cell.

    Args:
        name: of the cell.
        planned: cases in all, repetitions included.
        unit: what these are called.
    """

    def __init__(self, name: str, planned: int, unit: str = "cases") -> None:
        self._name = name
        self._unit = unit
        self._planned = planned
        self._done = self._broken = self._calls = self._cached = 0
        self._cost: float | None = None
        self._told = time.monotonic()

    def case_done(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Count a case that ended.

        Args:
            rows: its rows of the table `trajectories`.
        """
        self._done += 1
        self._broken += any(row["status"] == "infra_error" for row in rows)
        self._calls += sum(row["status"] != "infra_error" for row in rows)
        self._cached += sum(row["cached"] for row in rows)
        costs = [row["cost"] for row in rows if row["cost"] is not None and not row.get("replayed")]
        if costs:
            self._cost = (self._cost or 0.0) + sum(costs)
        _log.info(self.line())
        if time.monotonic() - self._told > _EVERY:
            self._told = time.monotonic()
            print(f"toolcal: {self.line()}", file=sys.stderr, flush=True)

    def line(self) -> str:
        """Bar, cases, calls and cost so far."""
        filled = _WIDTH * self._done // self._planned
        cost = "" if self._cost is None else f", ${self._cost:.4f}"
        broken = f" ({self._broken} without an answer)" if self._broken else ""
        return (
            f"{self._name} [{'#' * filled}{'.' * (_WIDTH - filled)}] {self._done} of {self._planned} {self._unit}"
            f"{broken}, "
            f"{self._calls} answers ({self._cached} from the journal){cost}"
        )
