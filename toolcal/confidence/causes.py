"""Why an answer is wrong, as far as its row of the table `answers` tells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def cause(row: Mapping[str, Any]) -> str | None:
    """What noise did to the support, else what the agent did with its tool.

    Args:
        row: of the table `answers`; the column `cause` itself is not looked at.

    Returns:
        One of `tables.CAUSES`; None where the answer is right or has no verdict.
    """
    tool, done = row["tool"], row["done"]
    if row["correct"] is None or row["correct"]:
        return None
    if done != "none" and tool != "none":
        return str(done)
    if row["answer"] is None:
        return "no_answer"
    if tool == "none":
        return "unknown"
    if not row["calls"]:
        return "no_call"
    if row["calls_failed"] == row["calls"]:
        return "tool_failed"
    if tool == "search" and row["gold_seen"] is None:
        return "unknown"
    return "not_found" if tool == "search" and not row["gold_seen"] else "misread"
