"""Whether two formulas are equal, by math-verify (extra `maths`), in a child process that ends itself when it is late.

A child, because a power tower is computed inside C, where no exception gets through; only the kernel's timer does. It
is started at the first use and kept. This file is also the child's program; it imports nothing of toolcal.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import threading
from contextlib import suppress
from typing import Any, Literal

Comparison = Literal["equal", "different", "unreadable", "late", "broken"]
"""What came of it; `unreadable`: no formula in the answer, `broken`: the child died of it, of memory for one."""

LONGEST = 2_000
"""Characters of a formula; longer ones are unreadable."""


class MathsMissing(RuntimeError):
    """The package math-verify is not installed; the message says how to install it."""


class Maths:
    """Compares formulas, one after the other; safe in threads.

    Args:
        timeout: seconds of a comparison.
        memory_mb: addresses that the child may use (MB of 2^20 bytes).
    """

    def __init__(self, timeout: float = 5.0, memory_mb: int = 2048) -> None:
        self._timeout, self._memory = timeout, memory_mb
        self._lock = threading.Lock()
        self._child: subprocess.Popen[str] | None = None

    def compare(self, wanted: str, stated: str) -> Comparison:
        """Whether the stated formula is the wanted one.

        Args:
            wanted: the right one, as LaTeX with or without dollars.
            stated: the answer, as LaTeX or plain.

        Raises:
            MathsMissing: math-verify is not installed.
        """
        if max(len(wanted), len(stated)) > LONGEST:
            return "unreadable"
        with self._lock:
            child = self._started()
            assert child.stdin is not None
            assert child.stdout is not None
            try:
                child.stdin.write(json.dumps([wanted, stated]) + "\n")
                child.stdin.flush()
                answer = child.stdout.readline()
            except BrokenPipeError:
                answer = ""
            if answer:
                result: Comparison = json.loads(answer)
                return result
            status = child.wait()
            self._close()
            return "late" if status == -14 else "broken"  # SIGALRM

    def close(self) -> None:
        """End the child, if there is one; the next comparison starts another."""
        with self._lock:
            self._close()

    def _started(self) -> subprocess.Popen[str]:
        if self._child is not None and self._child.poll() is None:
            return self._child
        self._close()
        if importlib.util.find_spec("math_verify") is None:
            raise MathsMissing("answers in mathematics need math-verify: install toolcal[maths]")
        self._child = subprocess.Popen(
            [sys.executable, "-P", __file__, str(self._timeout), str(self._memory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="ascii",
        )
        return self._child

    def _close(self) -> None:
        if self._child is not None:
            self._child.kill()
            self._child.wait()
            for pipe in (self._child.stdin, self._child.stdout):
                with suppress(OSError):
                    if pipe is not None:
                        pipe.close()
            self._child = None


def _serve(timeout: float, memory_mb: int) -> None:
    """The child: a pair of formulas a line comes in, a `Comparison` a line goes out, until there is no more."""
    import resource
    import signal

    from math_verify import parse, verify

    def read(text: str) -> Any:
        return parse(text, parsing_timeout=None)

    resource.setrlimit(resource.RLIMIT_AS, (memory_mb * 2**20, memory_mb * 2**20))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    for line in sys.stdin:
        signal.setitimer(signal.ITIMER_REAL, timeout)
        wanted, stated = json.loads(line)
        try:
            result = _compare(wanted, stated, read, verify)
        except (Exception, RecursionError):
            result = "unreadable"
        signal.setitimer(signal.ITIMER_REAL, 0)
        print(json.dumps(result), flush=True)


def _compare(wanted: str, stated: str, read: Any, verify: Any) -> Comparison:
    """First as a formula; where the answer is a sentence or no formula, as what math-verify finds in it."""
    right = read(_formula(wanted)) or read(wanted)
    as_formula = read(_formula(stated))
    if as_formula and verify(right, as_formula, timeout_seconds=None):
        return "equal"
    sentence = any(len(word) > 2 and word.isalpha() and "\\" not in stated for word in stated.split())
    if as_formula and not sentence:
        return "different"
    inside = read(stated)
    if not inside:
        return "different" if as_formula else "unreadable"
    return "equal" if verify(right, inside, timeout_seconds=None) else "different"


def _formula(text: str) -> str:
    return text if "$" in text or "\\boxed" in text or "\\(" in text or "\\[" in text else f"${text}$"


if __name__ == "__main__":
    _serve(float(sys.argv[1]), int(sys.argv[2]))
