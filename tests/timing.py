"""How long something takes, on a machine that may have other things to do.

What is claimed of time is claimed of the code, and a machine under load only adds to it. So the best of some repeats
counts, as with `timeit`; they end with the first that is within the bound.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")

PATIENCE = 120.0
"""Seconds for what is only waited for: its time is no claim, and a test that fails may take long."""


def cpu(work: Callable[[], object]) -> float:
    """Seconds of this process's CPU time that the work takes: what others do beside it does not count."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


def wall(work: Callable[[], object]) -> float:
    """Seconds by the clock that the work takes: waiting counts."""
    begun = time.monotonic()
    work()
    return time.monotonic() - begun


def best_of(measure: Callable[[], float], bound: float, repeats: int = 5) -> float:
    """The least of some measurements, none after the first that is below the bound."""
    least = math.inf
    for _ in range(repeats):
        least = min(least, measure())
        if least < bound:
            break
    return least


def until(look: Callable[[], Found], patience: float = PATIENCE) -> Found:
    """What `look` finds, as soon as that is something; an error if it never is."""
    end = time.monotonic() + patience
    while not (found := look()):
        assert time.monotonic() < end, f"not within {patience} s"
        time.sleep(0.01)
    return found
