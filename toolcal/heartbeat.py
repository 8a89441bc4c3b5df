"""Whether a run on another machine is alive, told by the age of the file that it touches.

A run touches its note `<results>/.run` every `EVERY` seconds. Whether that is long ago is measured by a file that the
asker writes beside it, so that both times are of the file server's clock, and no clock of two machines is compared.
"""

from __future__ import annotations

import os
import platform
import threading
import time
from contextlib import suppress
from pathlib import Path

EVERY = 10.0
"""Seconds between two touches."""

SILENT = 300.0
"""Seconds without a touch after which a run is taken for dead: a file server may be out of reach for minutes."""

LOOK = 30.0
"""Seconds between two measurements of a job: each creates a file, and there may be hundreds of jobs."""


def beat(note: Path, every: float = EVERY) -> threading.Event:
    """Touch a file until this process ends, or the event is set.

    Args:
        note: the file, which is never made.
        every: seconds between touches.

    Returns:
        The event that ends it.
    """
    ended = threading.Event()

    def touch() -> None:
        while not ended.wait(every):
            with suppress(OSError):  # out of reach for a moment, or removed
                os.utime(note)

    threading.Thread(target=touch, name="heartbeat", daemon=True).start()
    return ended


def age(note: Path) -> float:
    """Seconds since a file was touched, by the clock of its file system.

    Raises:
        OSError: it is not there, or nothing can be written beside it.
    """
    beside = note.with_name(f"{note.name}.{platform.node()}.{os.getpid()}")
    try:
        beside.touch()
        return beside.stat().st_mtime - note.stat().st_mtime
    finally:
        beside.unlink(missing_ok=True)


class Listener:
    """Hears from time to time whether a note is still touched.

    Args:
        note: the file.
        silent: seconds without a touch that count as silence.
        look: seconds between two measurements.
    """

    def __init__(self, note: Path, silent: float = SILENT, look: float = LOOK) -> None:
        self._note = note
        self._silent = silent
        self._look = look
        self._next = 0.0

    def silence(self) -> bool:
        """Whether a measurement that is due finds silence; False also where none is due, or none succeeds."""
        if time.monotonic() < self._next:
            return False
        self._next = time.monotonic() + self._look
        try:
            return age(self._note) > self._silent
        except OSError:
            return False
