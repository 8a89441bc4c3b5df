"""The child's program: shut itself in, then run the snippet that comes on standard input.

Started by `run` as `python -I -S -X utf8 child.py`, with an empty environment, in its own folder. Once shut in, nothing
of what follows can be trusted to be as it was written here: limits of time, output, threads and folder are the
parent's to watch. Exit status: see `ENDS`.
"""

from __future__ import annotations

import ast
import builtins
import ctypes
import json
import linecache
import os
import resource
import signal
import sys
import traceback
from collections.abc import Mapping
from typing import Any

ENDS = {0: "done", 1: "raised", 2: "memory", 3: "setup"}
"""What the exit statuses say of the snippet: it came to its end, raised, ran out of memory, was not started."""

_NAME = "<snippet>"
_PR_SET_PDEATHSIG = 1
_CAPABILITY_VERSION_3 = 0x20080522

LIBRARIES = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}
"""The snippet's environment: without it pandas' libraries start a thread a core and reserve 1 GB of addresses."""


def main() -> int:
    """Read the settings (see `run._settings`), shut in, run the snippet; the exit status."""
    settings = json.loads(sys.stdin.buffer.read())
    standard = list(sys.path)
    try:
        _shut_in(settings)
    except (OSError, ValueError, ImportError) as error:
        print(f"the sandbox could not be set up: {error}", file=sys.stderr)
        return 3
    sys.path[:] = ["", *standard, *settings["packages"]]
    sys.argv = [_NAME]
    sys.dont_write_bytecode = True
    os.environ.update(LIBRARIES)
    vars(builtins).update(exit=sys.exit, quit=sys.exit)  # as in an interactive session
    status = _run(settings["code"])
    sys.stdout.flush()
    return status


def _shut_in(settings: Mapping[str, Any]) -> None:
    """Give up what the snippet has no need of. The order matters: each step needs what the next ones take away."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.stdout.reconfigure(line_buffering=True, errors="replace")  # type: ignore[union-attr]
    for name, value in settings["limits"].items():
        limit = getattr(resource, name, None)
        if limit is not None:
            resource.setrlimit(limit, (value, value + (name == "RLIMIT_CPU")))  # a signal, then the end
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != settings["parent"]:  # gone before the line above
        os._exit(3)
    sys.path.append(settings["toolcal"])
    from toolcal.confidence.sandbox import landlock, seccomp

    sys.path.pop()
    filtered = seccomp.program(os.uname().machine, os.getpid()) if "seccomp" in settings["layers"] else None
    seccomp.no_new_privileges()
    if "landlock" in settings["layers"]:
        readable = [*sys.path, *settings["packages"], *settings["readable"]]
        landlock.restrict({landlock.READ: readable, landlock.OWN: ["."]})
    _drop_capabilities()
    if filtered is not None:
        seccomp.restrict(filtered)
    for name in [name for name in sys.modules if name.partition(".")[0] == "toolcal"]:
        del sys.modules[name]


def _drop_capabilities() -> None:
    """Root without its rights: it may not raise limits again, nor pass over file modes."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    if ctypes.CDLL(None).capset(header, (ctypes.c_uint32 * 6)()) != 0:
        raise OSError("its capabilities could not be given up")


def _run(code: str) -> int:
    """Run it as a session would: the value of a last line that is an expression is shown."""
    linecache.cache[_NAME] = (len(code), None, code.splitlines(keepends=True), _NAME)
    names: dict[str, Any] = {"__name__": "__main__", "__builtins__": builtins}
    try:
        tree = ast.parse(code, _NAME)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, _NAME, "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), _NAME, "eval"), names)
            if value is not None:
                print(repr(value))
    except SystemExit as end:
        if end.code in (None, 0):
            return 0
        print(f"SystemExit: {end.code}", file=sys.stderr)
        return 1
    except MemoryError:
        names.clear()
        return 2
    except BaseException as error:
        _show(error)
        return 1
    return 0


def _show(error: BaseException) -> None:
    """The traceback, from the snippet's own frames on."""
    frames = error.__traceback__
    while frames is not None and frames.tb_frame.f_code.co_filename != _NAME:
        frames = frames.tb_next
    sys.stdout.flush()
    traceback.print_exception(type(error), error, frames)
    if isinstance(error, PermissionError):
        print("(No network, no other processes, no files outside the working folder.)", file=sys.stderr)


if __name__ == "__main__":
    ended = main()
    sys.stderr.flush()
    os._exit(ended)
