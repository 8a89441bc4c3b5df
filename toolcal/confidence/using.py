"""What became of a tool's call: its text for the model, and what it found. Faults of a service are tried again."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolcal.calls import Call
from toolcal.confidence.hits import shown
from toolcal.confidence.interpreter import Interpreter
from toolcal.confidence.search import Search
from toolcal.confidence.tools import ToolError, text_argument
from toolcal.confidence.web import WebSearch
from toolcal.journal import Journal, call_key

TRIES = 4
"""Of a call whose fault may pass; the waits between them double from a second."""


class ServiceDown(Exception):
    """A tool's service or sandbox did not work: no failure of the model, and tried again on the next run."""


@dataclass(frozen=True)
class Used:
    """A call of the tool: what the model reads, whether it came to nothing, and the ids of what search found."""

    text: str
    failed: bool = False
    found: tuple[str, ...] = ()


class Using:
    """Runs the calls of one cell's tool.

    Args:
        tool: the tool.
        kept: the journal in which the answers of a web service are kept; None where the tool answers alike each time.
        wait: seconds before the second try.
    """

    def __init__(self, tool: Search | WebSearch | Interpreter, kept: Journal | None = None, wait: float = 1.0) -> None:
        self._tool = tool
        self._kept = kept
        self._wait = wait

    async def use(self, question_id: str, trial: int, call: Call, number: int) -> Used:
        """Run a call, from the journal where that has it.

        Args:
            question_id: of the question.
            trial: which repetition.
            call: the call.
            number: its place among the question's calls.

        Raises:
            ServiceDown: after all tries.
        """
        if call.name != self._tool.name:
            return Used(f"Error: there is no tool {call.name!r}", failed=True)
        if self._kept is None:
            return await self._tried(call.arguments)
        place = (question_id, trial, 0, number, 0)
        key = call_key(model={"tool": self._tool.name}, body=dict(call.arguments), call=place)
        record = self._kept.get(key)
        if record is None:
            made = await self._tried(call.arguments)
            record = {"text": made.text, "failed": made.failed, "found": list(made.found)}
            self._kept.put(key, place, record)
        return Used(record["text"], record["failed"], tuple(record["found"]))

    async def _tried(self, arguments: Mapping[str, Any]) -> Used:
        for attempt in range(TRIES):
            try:
                return await asyncio.to_thread(self._run, arguments)
            except ToolError as error:
                if not error.retryable:
                    return Used(f"Error: {error}", failed=True)
                if attempt == TRIES - 1:
                    raise ServiceDown(str(error)) from error
                await asyncio.sleep(self._wait * 2**attempt)
        raise AssertionError("unreachable")

    def _run(self, arguments: Mapping[str, Any]) -> Used:
        if isinstance(self._tool, Interpreter):
            return Used(self._tool.run(arguments))
        hits = self._tool.find(text_argument(arguments, "query"))
        return Used(shown(hits, sources=isinstance(self._tool, WebSearch)), found=tuple(hit.source for hit in hits))
