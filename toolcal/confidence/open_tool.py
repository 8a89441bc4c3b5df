"""A tool of the study by its name and settings, over the passages or rows of a question set."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from toolcal import tables
from toolcal.confidence.firms import COLUMNS
from toolcal.confidence.interpreter import Interpreter
from toolcal.confidence.sandbox.run import Limits
from toolcal.confidence.search import Search
from toolcal.confidence.sets import passages_of
from toolcal.confidence.tools import PYTHON, SEARCH
from toolcal.confidence.web import WebSearch


def open_tool(
    tool: str, settings: Mapping[str, Any], passages: str | Path, rows: str | Path
) -> Search | WebSearch | Interpreter | None:
    """Open a tool.

    Args:
        tool: `search`, `python`, or `none`, which gives None.
        settings: the study's `search` and `python`, with defaults filled in.
        passages: the set's table `passages`, for search in it.
        rows: the set's CSV, for python; may be empty.

    Raises:
        SandboxError: this machine cannot keep snippets off everything that it should.
    """
    if tool == SEARCH:
        asked = settings["search"]
        if asked["service"] == "passages":
            return Search(passages_of(tables.read("passages", passages)), k=asked["k"], length=asked["length"])
        return WebSearch(asked["service"], k=asked["k"], length=asked["length"], key_variable=asked.get("key_env"))
    if tool == PYTHON:
        asked = settings["python"]
        limits = Limits(seconds=asked["seconds"], memory_mb=asked["memory_mb"])
        table = Path(rows).read_bytes()
        about = "columns " + ", ".join(COLUMNS) if table else ""
        files = {"table.csv": table} if table else {}
        return Interpreter(files, about=about, limits=limits, accept_weak=asked["accept_weak"])
    return None
