"""Run one snippet in a child process that is shut in (`child`), watch its limits, and leave nothing of it behind."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from toolcal.confidence.sandbox import landlock, seccomp
from toolcal.confidence.sandbox.child import ENDS

End = Literal["done", "raised", "time", "cpu", "memory", "output", "threads", "files", "signal", "setup"]
"""How a snippet ended: by itself, with an exception, at one of the limits, by a signal, or it was never started."""

_CHILD = Path(__file__).parent / "child.py"
_TOOLCAL = Path(__file__).parents[3]
"""Where the package lies; the child imports from it what shuts it in, and forgets it."""
_LOOK = 0.02
"""Seconds between two looks at the child's threads and folder."""

_LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib")
_SYSTEM = ("/etc/ld.so.cache", "/etc/localtime", "/usr/share/zoneinfo", "/dev/null", "/dev/urandom")


@dataclass(frozen=True)
class Limits:
    """What a snippet may use."""

    seconds: float = 10.0
    """From its start to its end."""
    cpu_seconds: int = 8
    memory_mb: int = 768
    """Addresses (MB of 2^20 bytes), those of the interpreter and its libraries among them; pandas takes 300."""
    threads: int = 16
    files: int = 100
    file_mb: int = 16
    """Size of any one file."""
    folder_mb: int = 64
    """Size of all its files together."""
    output_bytes: int = 20_000


@dataclass(frozen=True)
class Ended:
    """A snippet that is over."""

    output: str
    """What it printed on standard output and standard error, in the order of writing, cut at the limit."""
    how: End
    detail: str
    """A few words on `how`, for a message; empty for `done` and `raised`."""
    seconds: float


def layers() -> frozenset[str]:
    """Which means of shutting in this kernel offers: `landlock`, `seccomp`."""
    offered = {"landlock": landlock.version() > 0, "seccomp": seccomp.available()}
    return frozenset(name for name, there in offered.items() if there)


def run(code: str, files: Mapping[str, bytes], limits: Limits, within: Collection[str]) -> Ended:
    """Run a snippet to its end or its limit. Blocks meanwhile; safe in a thread.

    Args:
        code: the snippet.
        files: name (no folder in it) -> content of the files that lie in its folder, read-only.
        limits: what it may use.
        within: the means of `layers` to shut it in with. One that fails to work ends the snippet before its start.

    Raises:
        OSError: the process or its folder could not be made.
        ValueError: a file's name is no plain name.
    """
    started = time.monotonic()
    with (
        tempfile.TemporaryDirectory(prefix="snippet-", ignore_cleanup_errors=True) as folder,
        tempfile.TemporaryFile() as settings,
    ):
        for name, content in files.items():
            if Path(name).name != name:
                raise ValueError(f"{name!r} is no plain file name")
            Path(folder, name).write_bytes(content)
            Path(folder, name).chmod(0o444)
        settings.write(json.dumps(_settings(code, limits, within)).encode())
        settings.seek(0)
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-X", "utf8", str(_CHILD)],
            stdin=settings,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={},
            cwd=folder,
            start_new_session=True,
        )
        try:
            output, stopped = _watch(process, Path(folder), limits)
        finally:
            # Before the leader is waited for: until then its group's number is nobody else's.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.kill()
            process.wait()
            assert process.stdout is not None
            process.stdout.close()
    how, detail = stopped or _meaning(process.returncode, limits)
    text = output[: limits.output_bytes].decode(errors="replace")
    return Ended(text, how, detail, time.monotonic() - started)


def _settings(code: str, limits: Limits, within: Collection[str]) -> dict[str, Any]:
    megabyte = 2**20
    return {
        "code": code,
        "layers": sorted(within),
        "parent": os.getpid(),
        "toolcal": str(_TOOLCAL),
        "packages": [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")],
        "readable": [f"{sys.base_prefix}/lib", *_LIBRARIES, *_SYSTEM],
        "limits": {
            "RLIMIT_CPU": limits.cpu_seconds,
            "RLIMIT_AS": limits.memory_mb * megabyte,
            "RLIMIT_FSIZE": limits.file_mb * megabyte,
            "RLIMIT_NOFILE": 64,
            "RLIMIT_CORE": 0,
            # Counts all of a user's processes and binds no root, so it only stands in where there is nothing better.
            **({} if "seccomp" in within else {"RLIMIT_NPROC": 1}),
        },
    }


def _watch(process: subprocess.Popen[bytes], folder: Path, limits: Limits) -> tuple[bytes, tuple[End, str] | None]:
    """Its output, and the limit at which it has to be stopped, if it is not over by itself."""
    assert process.stdout is not None
    end = time.monotonic() + limits.seconds
    output = bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while time.monotonic() < end:
            over = _over(process.pid)
            for _ in selector.select(0 if over else _LOOK):
                read = os.read(process.stdout.fileno(), 65536)
                output += read
                if not read:
                    selector.unregister(process.stdout)
            if len(output) > limits.output_bytes:
                return bytes(output), ("output", f"more than {limits.output_bytes:,} bytes of output")
            if over and not (selector.get_map() and selector.select(0)):  # all read, also if others hold it open
                return bytes(output), None
            if excess := _excess(process.pid, folder, limits):
                return bytes(output), excess
            if not selector.get_map() and not over:
                time.sleep(_LOOK / 20)
    return bytes(output), ("time", f"not done within {limits.seconds:g} s")


def _over(process: int) -> bool:
    """Whether it has ended, without taking notice of it for good: its number stays its own."""
    return os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _excess(process: int, folder: Path, limits: Limits) -> tuple[End, str] | None:
    with suppress(OSError, IndexError, ValueError):
        # Field 20 of proc_pid_stat(5), counted after the name, which may hold anything.
        threads = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[17])
        if threads > limits.threads:
            return "threads", f"more than {limits.threads} threads"
    with suppress(OSError), os.scandir(folder) as entries:
        size = 0
        for count, entry in enumerate(entries, start=1):
            if count > limits.files:
                return "files", f"more than {limits.files} files"
            with suppress(OSError):
                size += entry.stat(follow_symlinks=False).st_blocks * 512
        if size > limits.folder_mb * 2**20:
            return "files", f"more than {limits.folder_mb} MB of files"
    return None


def _meaning(status: int, limits: Limits) -> tuple[End, str]:
    if status == -signal.SIGXCPU:
        return "cpu", f"more than {limits.cpu_seconds} s of processor time"
    if status < 0:
        return "signal", f"ended by signal {signal.Signals(-status).name}"
    how: End = ENDS.get(status, "raised")  # type: ignore[assignment]
    return how, f"more than {limits.memory_mb} MB of memory" if how == "memory" else ""
