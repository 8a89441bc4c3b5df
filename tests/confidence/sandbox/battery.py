"""Snippets that a sandbox has to withstand; run as a program, it tries them all and tells what became of them.

As a program it needs nothing but the standard library, so that another user's Python can run it.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

from toolcal.confidence.interpreter import Interpreter
from toolcal.confidence.sandbox.run import Limits
from toolcal.confidence.tools import ToolError

LIMITS = Limits(seconds=8.0, cpu_seconds=1)
SHORT = Limits(seconds=1.0)
SLEEPERS = ("endless sleep", "deaf to signals")

HOSTILE = {
    # name: (snippet, fault, a word of the message)
    "fork bomb": ("import os\nwhile True:\n    os.fork()", "snippet", "not permitted"),
    "fork in secret": (
        "import os, time\nfor _ in range(50):\n    try:\n        if os.fork() == 0:\n            os.setsid()\n"
        "            if os.fork() == 0:\n                time.sleep(60)\n"
        "    except OSError:\n        pass\nraise SystemExit('tried')",
        "snippet",
        "tried",
    ),
    "program": ("import os\nos.execv('/bin/sh', ['sh', '-c', 'sleep 60'])", "snippet", "not permitted"),
    "subprocess": ("import subprocess\nsubprocess.run(['sleep', '60'])", "snippet", "not permitted"),
    "thread bomb": (
        "import threading, time\nthreading.stack_size(65536)\n"
        "while True:\n    threading.Thread(target=time.sleep, args=(9,)).start()",
        "limit",
        "threads",
    ),
    "endless loop": ("while True:\n    pass", "limit", "processor time"),
    "endless sleep": ("import time\ntime.sleep(60)", "limit", "not done within 1 s"),
    "deaf to signals": (
        "import signal, time\nfor n in range(1, 32):\n    try:\n        signal.signal(n, signal.SIG_IGN)\n"
        "    except OSError:\n        pass\ntime.sleep(60)",
        "limit",
        "not done within 1 s",
    ),
    "1 GB list": ("x = [0] * (10**9 // 8)", "limit", "768 MB of memory"),
    "1 GB in pieces": ("x = []\nwhile True:\n    x.append(bytes(10**6))", "limit", "768 MB of memory"),
    "raised limits": (
        "import resource as r\nr.setrlimit(r.RLIMIT_AS, (r.RLIM_INFINITY, r.RLIM_INFINITY))",
        "snippet",
        "ValueError",
    ),
    "endless output": ("while True:\n    print('x' * 99)", "limit", "20,000 bytes of output"),
    "environment": ("import os\nprint(sorted(os.environ))\nraise SystemExit('seen')", "snippet", "seen"),
    "parent's environment": ("import os\nopen(f'/proc/{os.getppid()}/environ').read()", "snippet", "PermissionError"),
    "own environment": ("open('/proc/self/environ').read()", "snippet", "PermissionError"),
    "files outside": ("open('/etc/passwd').read()", "snippet", "PermissionError"),
    "folders outside": ("import os\nos.listdir('/tmp')", "snippet", "PermissionError"),
    "write outside": ("open('OUTSIDE/new', 'w')", "snippet", "PermissionError"),
    "change outside": ("open('OUTSIDE/kept', 'a')", "snippet", "PermissionError"),
    "cut outside": ("import os\nos.truncate('OUTSIDE/kept', 0)", "snippet", "PermissionError"),
    "cut by opening": ("import os\nos.open('OUTSIDE/kept', os.O_RDONLY | os.O_TRUNC)", "snippet", "PermissionError"),
    "remove outside": ("import os\nos.remove('OUTSIDE/kept')", "snippet", "PermissionError"),
    "link outside": ("import os\nos.symlink('OUTSIDE/kept', 'link')", "snippet", "PermissionError"),
    "rights outside": ("import os\nos.chmod('OUTSIDE/kept', 0)", "snippet", "PermissionError"),
    "times outside": ("import os\nos.utime('OUTSIDE/kept', (0, 0))", "snippet", "PermissionError"),
    "its own files": ("open('table.csv', 'w')", "snippet", "PermissionError"),
    "folders inside": ("import os\nos.mkdir('deep')", "snippet", "PermissionError"),
    "many files": ("i = 0\nwhile True:\n    open(str(i), 'w')\n    i += 1", "limit", "100 files"),
    "large file": ("f = open('x', 'wb')\nwhile True:\n    f.write(bytes(10**6))", "snippet", "File too large"),
    "large files": ("for i in range(99):\n    open(str(i), 'wb').write(bytes(2**24))", "limit", "64 MB of files"),
    "socket": ("import socket\nsocket.create_connection(('127.0.0.1', 9))", "snippet", "PermissionError"),
    "local socket": ("import socket\nsocket.socketpair()", "snippet", "PermissionError"),
    "web": ("import urllib.request as u\nu.urlopen('http://127.0.0.1:9')", "snippet", "not permitted"),
    "kill parent": ("import os\nos.kill(os.getppid(), 9)", "snippet", "PermissionError"),
    "kill everybody": ("import os\nos.kill(-1, 9)", "snippet", "PermissionError"),
    "kill its group": ("import os\nos.killpg(0, 9)", "snippet", "PermissionError"),
    "signal by way of a pipe": (
        "import fcntl, os\nfcntl.fcntl(os.pipe()[0], fcntl.F_SETOWN, os.getppid())",
        "snippet",
        "PermissionError",
    ),
    "kill itself": ("import os\nos.kill(os.getpid(), 9)", "limit", "SIGKILL"),
    "crash": ("import ctypes\nctypes.string_at(0)", "limit", "SIGSEGV"),
    "quiet exit": ("import os\nos._exit(7)", "snippet", "ended with an error"),
}


def tried(outside: Path) -> dict[str, tuple[str, str, float]]:
    """Name -> (fault or `none`, message, seconds) of each snippet; OUTSIDE stands for a folder with the file `kept`."""
    files = {"table.csv": b"a,b\nx,1\n"}
    tools = {limits: Interpreter(files, limits=limits) for limits in (LIMITS, SHORT)}
    found = {}
    for name, (code, _, _) in HOSTILE.items():
        started = time.monotonic()
        tool = tools[SHORT if name in SLEEPERS else LIMITS]
        try:
            fault, message = "none", tool.run({"code": code.replace("OUTSIDE", str(outside))})
        except ToolError as error:
            fault, message = error.fault, str(error)
        found[name] = (fault, message, time.monotonic() - started)
    return found


if __name__ == "__main__":
    print(json.dumps([os.getuid(), tried(Path(sys.argv[1]))]))
