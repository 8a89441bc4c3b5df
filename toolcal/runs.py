"""One run at a time on a results folder, and jobs that do not outlive their run.

The run that Snakemake's main process makes holds the lock `<results>/.run.lock` and writes its number beside it; the
lock goes with the process, however that ends. A job that calls models looks from time to time whether its run is still
there, so that a killed run spends no more money.
"""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

from filelock import FileLock, Timeout

Result = TypeVar("Result")

_NUMBER = "TOOLCAL_RUN"
_held: list[FileLock] = []


class RunError(RuntimeError):
    """The results folder cannot be used; the message says why and what to do."""


def begin(results: str | Path) -> None:
    """Take the results folder for the run of this process, until the process ends.

    Raises:
        RunError: another run uses the folder, or it cannot be written.
    """
    folder = Path(results).absolute()
    lock = FileLock(_lock(folder))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=2)  # a job that looks whether its run is there holds it for an instant
        number = f"{os.getpid()}-{secrets.token_hex(8)}"
        _note(folder).write_text(number)
    except Timeout:
        raise RunError(f"{results}: another run uses this results folder; wait for it, or stop it") from None
    except OSError as error:
        raise RunError(f"{results}: the results folder cannot be written ({error.strerror}); nothing was run") from None
    _held.append(lock)
    os.environ[_NUMBER] = number


async def while_it_lasts(results: str | Path, work: Coroutine[Any, Any, Result], every: float = 1.0) -> Result:
    """Do the work of a job, unless its run ends before.

    Args:
        results: the results folder.
        work: what to do; cancelled when the run is over.
        every: seconds between looks.

    Raises:
        RunError: the run that started this process is over.
    """
    task = asyncio.create_task(work)
    number = os.environ.get(_NUMBER)  # none outside of a run
    while not task.done():
        await asyncio.wait({task}, timeout=every)
        if number is not None and not task.done() and not _goes_on(Path(results), number):
            task.cancel()
            await asyncio.wait({task})
            raise RunError("the run that started this job is over; what was answered is kept in the journal")
    return await task


def _goes_on(folder: Path, number: str) -> bool:
    try:
        if _note(folder).read_text() != number:
            return False
        with FileLock(_lock(folder)).acquire(timeout=0):
            return False
    except Timeout:
        return True
    except OSError:  # a folder out of reach for a moment says nothing about the run
        return True


def _lock(folder: Path) -> Path:
    return folder / ".run.lock"


def _note(folder: Path) -> Path:
    return folder / ".run"
