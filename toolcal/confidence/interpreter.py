"""The tool `python`: runs a snippet in the sandbox (`docs/sandbox.md`), beside the files it is given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolcal.benchmarks.protocol import Tool as Schema
from toolcal.confidence.sandbox.protection import protection
from toolcal.confidence.sandbox.run import Limits, layers, run
from toolcal.confidence.tools import PYTHON, ToolError, function, text_argument


class SandboxError(RuntimeError):
    """This machine cannot keep a snippet off something; the message says what, and what to do."""


class Interpreter:
    """Runs snippets of Python, each in a process and an empty folder of its own.

    A call's result is what the snippet printed, and the value of its last line where that is an expression. The
    standard library and the installed packages (numpy, pandas) can be imported; nothing is imported beforehand.

    Args:
        files: name -> content of the files in each snippet's folder, e.g. `{"table.csv": b"..."}`.
        about: what the model should know of the files, e.g. `columns firm, year, revenue`; goes into the description.
        limits: what a snippet may use.
        accept_weak: run snippets even where `protection` finds a guard that does not hold.

    Raises:
        SandboxError: a guard does not hold, and `accept_weak` is off.
    """

    name = PYTHON

    def __init__(
        self,
        files: Mapping[str, bytes] | None = None,
        *,
        about: str = "",
        limits: Limits | None = None,
        accept_weak: bool = False,
    ) -> None:
        self._files = dict(files or {})
        self._about = about
        self._limits = limits or Limits()
        open_ways = [guard for guard in protection() if not guard.holds]
        if open_ways and not accept_weak:
            ways = "; ".join(f"{guard.keeps_off} ({guard.by})" for guard in open_ways)
            raise SandboxError(
                f"snippets would not be kept off {ways}. Run on Linux 5.13 or later with Landlock and seccomp, "
                "or accept that with `accept_weak: true` on a machine that holds nothing of value"
            )

    @property
    def schema(self) -> Schema:
        """The function in OpenAI form; its description, one sentence, names the files."""
        files = f" in a folder with {', '.join(sorted(self._files))}" if self._files else ""
        about = f" ({self._about})" if self._about else ""
        description = f"Runs Python code{files}{about} and returns what it prints"
        return function(PYTHON, description, "code", "a complete program; print what you want to see")

    def run(self, arguments: Mapping[str, Any]) -> str:
        """Run one snippet.

        Args:
            arguments: `{"code": ...}`.

        Raises:
            ToolError: no code; the snippet raised (fault `snippet`; its output and traceback are the message), met a
                limit (`limit`), or could not be started (`sandbox`, retryable).
        """
        code = text_argument(arguments, "code")
        try:
            ended = run(code, self._files, self._limits, layers())
        except OSError as error:
            raise ToolError(
                f"the interpreter could not be started: {error.strerror}", "sandbox", retryable=True
            ) from error
        if ended.how == "done":
            return ended.output or "(the code printed nothing)"
        if ended.how == "raised":
            raise ToolError(ended.output.rstrip() or "the code ended with an error", "snippet")
        if ended.how == "setup":
            raise ToolError(ended.output.rstrip(), "sandbox", retryable=True)
        raise ToolError(f"{ended.output}\n[stopped: {ended.detail}]".lstrip(), "limit")
