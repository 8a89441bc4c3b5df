"""Why an answer is wrong, as far as its row of the table `answers` tells."""

from __future__ import annotations


def cause(*, tool: str, done: str, answered: bool, calls: int, calls_failed: int, gold_seen: bool | None) -> str:
    """What noise did to the support, else what the agent did with its tool.

    Args:
        tool: none, search or python.
        done: what noise did to the support that the tool reaches.
        answered: whether there is an answer.
        calls: of the tool.
        calls_failed: those that came to nothing.
        gold_seen: whether all gold passages were found; None where that cannot be told.

    Returns:
        One of `tables.CAUSES`.
    """
    if done != "none" and tool != "none":
        return done
    if not answered:
        return "no_answer"
    if tool == "none":
        return "unknown"
    if not calls:
        return "no_call"
    if calls_failed == calls:
        return "tool_failed"
    if tool == "search" and gold_seen is None:
        return "unknown"
    return "not_found" if tool == "search" and not gold_seen else "misread"
