"""What the sandbox keeps off on this machine: tried out, not presumed."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from toolcal.confidence.sandbox.child import LIBRARIES
from toolcal.confidence.sandbox.run import Limits, layers, run


@dataclass(frozen=True)
class Guard:
    """One thing that a snippet must not be able to do."""

    name: str
    keeps_off: str
    by: str
    """What it takes: seccomp, Landlock, or limits that every Unix has."""
    holds: bool
    """Whether a snippet that tried was refused."""


_GUARDS = {
    "read_outside": ("reading files outside its folder, but for Python, its packages and system libraries", "Landlock"),
    "write_outside": ("changing or removing files outside its folder", "Landlock"),
    "environment": ("reading the environment, keys among it, its own or another process's", "Landlock"),
    "network": ("opening a socket of any kind", "seccomp"),
    "processes": ("starting a process or a program", "seccomp"),
    "signals": ("sending signals to other processes, its parent among them", "seccomp"),
    "memory": ("more memory than its limit, and raising its limits", "limits"),
}

_ATTEMPTS = """
import json, os, resource, socket

def append(path):
    with open(path, "a") as file:
        file.write("changed")

def fork():
    if os.fork() == 0:
        os._exit(0)
    os.wait()

def environment():
    assert set(os.environ) <= {ours!r}
    open("/proc/{parent}/environ").read()

def memory():
    try:
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    except (OSError, ValueError):
        bytearray({memory})

attempts = {{
    "read_outside": lambda: open({outside!r}).read(),
    "write_outside": lambda: append({outside!r}),
    "environment": environment,
    "network": socket.socket,
    "processes": fork,
    "signals": lambda: os.kill({parent}, 0),
    "memory": memory,
}}
refused = []
for name, attempt in attempts.items():
    try:
        attempt()
    except (OSError, MemoryError):
        refused.append(name)
    except AssertionError:
        pass
print(json.dumps(refused))
"""


@lru_cache(maxsize=1)
def protection() -> tuple[Guard, ...]:
    """Try each thing that a snippet must not do, in the sandbox as this machine offers it. About 0.1 s, once.

    Limits of time, processor time, output, threads and files are the parent's, and always hold for the snippet's own
    process; they hold for all its processes where `processes` does.

    Raises:
        OSError: no process can be started here at all.
    """
    limits = Limits()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        outside = Path(folder, "outside.txt")
        outside.write_text("seen")
        outside.chmod(0o666)
        code = _ATTEMPTS.format(
            outside=str(outside), parent=os.getpid(), memory=limits.memory_mb * 2**20, ours={*LIBRARIES, "LC_CTYPE"}
        )
        ended = run(code, {}, limits, layers())
    try:
        refused = json.loads(ended.output)
    except ValueError:  # it did not get as far
        refused = []
    return tuple(Guard(name, text, by, name in refused) for name, (text, by) in _GUARDS.items())
