"""One run at a time on a results folder, and jobs that do not outlive their run.

A run, that is Snakemake's main process, holds the lock `<results>/.run.lock` and writes its number to `<results>/.run`;
the lock goes with the process, however that ends. Its jobs get the number by the environment, and look from time to
time whether their run is still there, so that a killed run spends no more money. It is over when the folder bears the
number of another run, or when nobody holds its lock; all else, such as a folder that is out of reach for a moment, says
nothing about it.

A job on another machine, as under Slurm, goes by the number, and by the time at which the run last touched the note
(`heartbeat`), since many file systems keep locks to one machine: there it is over, too, when it was silent for minutes.
On such a file system runs are kept apart on one machine only. An executor that passes no environment on leaves its jobs
outside of any run.
"""

from __future__ import annotations

import asyncio
import os
import platform
import secrets
import signal
import threading
import time
from collections.abc import Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from filelock import FileLock, Timeout

from toolcal import heartbeat

Result = TypeVar("Result")

_NUMBER = "TOOLCAL_RUN"
_BOOT = Path("/proc/sys/kernel/random/boot_id")
_held: list[FileLock] = []
_beating: list[threading.Event] = []


class RunError(RuntimeError):
    """The results folder cannot be used, or the run is over; the message says why and what to do."""


def begin(results: str | Path) -> None:
    """Take the results folder for the run of this process, until the process ends or begins another run.

    Args:
        results: the folder, made if it is not there.

    Raises:
        RunError: another run uses the folder, or it cannot be written.
    """
    while _held:
        _held.pop().release()
    while _beating:
        _beating.pop().set()
    folder = Path(results).absolute()
    lock = FileLock(_lock(folder))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=2)  # a job that looks whether its run is there holds it for an instant
        number = f"{_identity(_lock(folder))} {secrets.token_hex(8)} {os.getpid()} {platform.node()}"
        temporary = _note(folder).with_suffix(".tmp")
        temporary.write_text(number)
        temporary.replace(_note(folder))  # whole at any moment, for jobs that look
    except Timeout:
        raise RunError(
            f"{results}: another run uses this results folder{_user(folder)}; wait for it, or stop it"
        ) from None
    except (OSError, NotImplementedError) as error:
        lock.release()
        words = error.strerror if isinstance(error, OSError) else None
        raise RunError(f"{results}: the results folder cannot be written ({words or error}); nothing was run") from None
    _stop_jobs_when_told(folder)
    _held.append(lock)
    _beating.append(heartbeat.beat(_note(folder)))
    os.environ[_NUMBER] = number


def arrive(results: str | Path, patience: float = 60.0) -> None:
    """See at the start of a job whether its run goes on in this results folder.

    Args:
        results: the folder, as seen from here.
        patience: seconds that a file may need from one machine to another.

    Raises:
        RunError: the run is over, or the folder is not the one that it took, so that what this job writes would reach
            nobody.
    """
    number, here = os.environ.get(_NUMBER), platform.node()
    if number is None:
        return
    folder, host = Path(results).absolute(), number.split()[-1]
    end = time.monotonic() + (0 if host == here else patience)
    while (found := _noted(folder)) != number:
        if time.monotonic() < end:
            with suppress(OSError):
                os.scandir(folder).close()  # has NFS look again
            time.sleep(min(1.0, patience / 10))
        elif found:
            raise RunError("the run that started this job is over; nothing was done")
        elif host != here:
            raise RunError(
                f"{results}: is not shared: what {host} wrote there cannot be seen on {here}, where this job runs; "
                "name a results folder that is on a file system of all nodes"
            )
        else:
            return


def locks_reach(results: str | Path) -> bool:
    """Whether a lock that another machine holds is seen here, by trying that of the run; True where none can tell."""
    number = os.environ.get(_NUMBER)
    if number is None:
        return True
    folder = Path(results).absolute()
    try:
        alive = _note(folder).read_text() == number and heartbeat.age(_note(folder)) < 3 * heartbeat.EVERY
        if not alive or _identity(_lock(folder)) == number.split()[0]:
            return True
        with FileLock(_lock(folder)).acquire(timeout=0):
            return False
    except (OSError, RuntimeError, ValueError):  # most of the time Timeout, as it is held
        return True


async def while_it_lasts(results: str | Path, work: Coroutine[Any, Any, Result], every: float = 1.0) -> Result:
    """Do the work of a job, unless its run ends before.

    Args:
        results: the results folder.
        work: what to do; cancelled when the run is over, and not begun if it is over already.
        every: seconds between looks.

    Raises:
        RunError: the run that started this process is over.
    """
    number = os.environ.get(_NUMBER)
    if number is None:  # outside of a run
        return await work
    folder = Path(results).absolute()
    heard = heartbeat.Listener(_note(folder))
    if _over(folder, number, heard):  # a job that waited in a queue meanwhile
        work.close()
        raise RunError("the run that started this job is over; nothing was asked")
    task = asyncio.create_task(work)
    try:
        while True:
            done, _ = await asyncio.wait({task}, timeout=every)
            if done:
                return task.result()
            if _over(folder, number, heard):
                raise RunError("the run that started this job is over; what was answered is kept in the journal")
    finally:
        if not task.done():
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)  # its servers stop, its journals close


def over(results: str | Path) -> bool:
    """Whether the run that started this process has ended; for work that cannot be cancelled but looks by itself.

    Args:
        results: the results folder.
    """
    number = os.environ.get(_NUMBER)
    return number is not None and _over(Path(results).absolute(), number)


def _stop_jobs_when_told(folder: Path) -> None:
    """Have the jobs end when this process is asked to; Snakemake alone would wait for them, and they would go on."""
    if threading.current_thread() is not threading.main_thread():
        return
    for number in (signal.SIGTERM, signal.SIGINT):
        before = signal.getsignal(number)

        def stop(number: int, frame: Any, before: Any = before) -> None:
            with suppress(OSError):
                _note(folder).write_text("stopped")
            if callable(before):
                before(number, frame)
            elif before == signal.SIG_DFL:
                signal.signal(number, signal.SIG_DFL)
                os.kill(os.getpid(), number)

        signal.signal(number, stop)


def _over(folder: Path, number: str, heard: heartbeat.Listener | None = None) -> bool:
    """Whether the run of this number has ended for sure."""
    try:
        found = _note(folder).read_text()
        if found != number:
            return bool(found)
        lock = _lock(folder)
        if _identity(lock) != number.split()[0]:
            return heard is not None and number.split()[-1] != platform.node() and heard.silence()
        with FileLock(lock).acquire(timeout=0):
            return True
    except (OSError, RuntimeError, ValueError):  # most of the time Timeout, as it is held
        return False


def _identity(lock: Path) -> str:
    """The lock as this machine's kernel knows it, whatever the path: only here does it say whether it is held."""
    about = lock.stat()
    try:
        machine = _BOOT.read_text().strip()
    except OSError:
        machine = platform.node()
    return f"{machine}:{about.st_dev}:{about.st_ino}"


def _user(folder: Path) -> str:
    try:
        *_, process, machine = _noted(folder).split()
    except ValueError:
        return ""
    return f" (process {process} on {machine})"


def _noted(folder: Path) -> str:
    try:
        return _note(folder).read_text()
    except (OSError, ValueError):
        return ""


def _lock(folder: Path) -> Path:
    return folder / ".run.lock"


def _note(folder: Path) -> Path:
    return folder / ".run"
