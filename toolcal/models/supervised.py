"""A server that dies with its parent, together with every process it started.

Between the two stands a small supervisor, a child that reads its standard input: the end of that pipe is the one sign
that a parent cannot fail to give, SIGKILL included. The supervisor also passes the server's output on to the log, line
by line, with every secret of the environment masked: servers print their settings. This file is the supervisor's
program too; it imports nothing of toolcal, so the supervisor starts wherever the parent's interpreter does.
"""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import IO

_SECRET = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD)$")
_ERROR = re.compile(r"\b(\w*Error|\w*Exception|error)\b: ")


@contextmanager
def server_log(path: Path | None) -> Iterator[ServerLog]:
    """Open the file that a server's output is appended to; without a path, one that is gone afterwards."""
    if path is None:
        with tempfile.TemporaryFile("a+b") as file:
            yield ServerLog(file, None)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab+") as file:
        yield ServerLog(file, path)


class ServerLog:
    """What one start of a server wrote, in a file that may hold earlier starts."""

    def __init__(self, file: IO[bytes], path: Path | None):
        self.file = file
        self.path = path
        self._start = self._size()

    def head(self, command: Sequence[str]) -> None:
        """Note what is about to be started."""
        self.file.write(f"$ {shlex.join(command)}\n".encode())
        self.file.flush()
        self._start = self._size()

    def words(self) -> str:
        """The server's last words, in one line; empty if it said nothing."""
        size = self._size()
        start = max(self._start, size - 65536)
        # Not by seeking: the child writes by the same open file.
        return last_words(os.pread(self.file.fileno(), size - start, start).decode(errors="replace"))

    def _size(self) -> int:
        return os.fstat(self.file.fileno()).st_size


def last_words(text: str, lines: int = 4) -> str:
    """What a log has to say on an end: its last lines that name an error, else its last lines; joined by ` | `."""
    said = [line.strip() for line in text.splitlines() if line.strip()]
    telling = [line for line in said if _ERROR.search(line)] or said
    return " | ".join(line if len(line) <= 400 else f"{line[:397]}..." for line in telling[-lines:])


class Supervised:
    """A server under supervision."""

    def __init__(self, log: ServerLog):
        self.log = log
        self.ended = asyncio.Event()
        """Set when the server is no more."""
        self._group: int | None = None
        self._end: str | None = None

    def died(self) -> str | None:
        """How the server ended, e.g. `ended with exit code 1`; None while it runs."""
        return self._end

    async def watch(self, reports: asyncio.StreamReader) -> None:
        """Follow the supervisor's reports to their end."""
        async for line in reports:
            report, _, rest = line.decode().strip().partition(" ")
            if report == "group":
                self._group = int(rest)
            else:
                self._over(_exit(int(rest)) if report == "exit" else f"could not be run ({rest})")
        if self._end is None:
            # The supervisor itself was killed, so its work is done here.
            if self._group is not None:
                with suppress(OSError):
                    os.killpg(self._group, signal.SIGKILL)
            self._over("lost its supervisor, and was killed")

    def _over(self, end: str) -> None:
        self._end = end
        self.ended.set()


def _exit(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    name = signal.Signals(-code).name if -code in {s.value for s in signal.Signals} else str(-code)
    return f"was ended by {name}" + (" (out of memory?)" if name == "SIGKILL" else "")


@asynccontextmanager
async def supervised(
    command: Sequence[str], *, env: Mapping[str, str], log: ServerLog, grace: float = 5.0
) -> AsyncIterator[Supervised]:
    """Run a server for the length of an `async with` block, in a process group of its own.

    Args:
        command: its command line; no secrets in it, all users of the machine can read it.
        env: its environment.
        log: where its output goes, with secrets of the environment masked.
        grace: seconds between SIGTERM and SIGKILL, for the server and all it started.

    Yields:
        The server, which may not be ready yet, or have ended already.
    """
    log.head(command)
    # Its own session, so that Ctrl-C at the terminal reaches the parent alone, which then ends in order.
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-I",
        __file__,
        str(grace),
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=log.file,
        env=env,
        start_new_session=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    server = Supervised(log)
    watching = asyncio.create_task(server.watch(process.stdout))
    try:
        yield server
    finally:
        process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), grace + 5)
        except TimeoutError:
            process.kill()
        await watching


def _supervise(grace: float, command: Sequence[str]) -> None:
    """The supervisor: run the command, until it ends or the parent does, then end all that it started."""
    over = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: over.set())  # not SIG_IGN, which the server would inherit
    try:
        server = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, process_group=0
        )
    except OSError as error:
        _report(f"failed {error.strerror}")
        return
    _report(f"group {server.pid}")

    def wait_for_parent() -> None:
        sys.stdin.buffer.read()
        over.set()

    def wait_for_server() -> None:
        code = server.wait()
        copying.join(0.1)  # its last words first; a child may hold the pipe open
        _report(f"exit {code}")
        over.set()

    assert server.stdout is not None
    copying = threading.Thread(target=_copy, args=(server.stdout, _secrets(os.environ)), daemon=True)
    waiting = threading.Thread(target=wait_for_server, daemon=True)
    copying.start()
    waiting.start()
    threading.Thread(target=wait_for_parent, daemon=True).start()
    over.wait()
    _end_group(server.pid, grace)
    waiting.join(5)
    copying.join(1)
    os._exit(0)  # past the thread that still reads standard input


def _report(line: str) -> None:
    with suppress(OSError):
        print(line, flush=True)


def _secrets(env: Mapping[str, str]) -> list[bytes]:
    found = {value for name, value in env.items() if _SECRET.search(name) and len(value) >= 8}
    return [value.encode(errors="surrogateescape") for value in sorted(found, key=len, reverse=True)]


def _copy(output: IO[bytes], secrets: Sequence[bytes]) -> None:
    for line in output:
        for secret in secrets:
            line = line.replace(secret, b"***")
        with suppress(OSError):  # a full disk must not stop the server, which it would if nobody read on
            sys.stderr.buffer.write(line)
            sys.stderr.buffer.flush()


def _end_group(group: int, grace: float) -> None:
    with suppress(ProcessLookupError, PermissionError):  # nobody left; macOS says the second
        os.killpg(group, signal.SIGTERM)
        end = time.monotonic() + grace
        while time.monotonic() < end:
            time.sleep(0.02)
            os.killpg(group, 0)
        os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    _supervise(float(sys.argv[1]), sys.argv[2:])
