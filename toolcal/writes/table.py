"""The table `writes`: every call that changes the database, and whether the user had agreed to it (method A7)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from toolcal import tables
from toolcal.benchmarks import write_tools
from toolcal.benchmarks.protocol import Case, Message
from toolcal.writes.consent import decide
from toolcal.writes.conversation import by_run, conversation, run_of


def to_frame(
    trajectories: pd.DataFrame, user_messages: pd.DataFrame, cases: Mapping[str, Case], grades: pd.DataFrame
) -> pd.DataFrame:
    """The table `writes` of a cell.

    Args:
        trajectories: the cell's rows of table `trajectories`.
        user_messages: its rows of table `user_messages`.
        cases: its cases by id.
        grades: its rows of table `grades`.

    Returns:
        One row a call of a tool that writes, sorted by the table's key.
    """
    passed = {run_of(row): row["passed"] for row in tables.records(grades[[*tables.CASE, "passed"]])}
    heard = by_run(user_messages)
    rows = (
        {**dict(zip(tables.CASE, run, strict=True)), **row, "passed": passed.get(run)}
        for run, emissions in by_run(trajectories).items()
        for row in _rows(emissions, heard.get(run, []), cases[run[tables.CASE.index("case_id")]])
    )
    return tables.frame("writes", rows).sort_values([*tables.EMISSION, "call"], ignore_index=True)


def _rows(emissions: list[dict[str, Any]], heard: list[dict[str, Any]], case: Case) -> Iterator[dict[str, Any]]:
    writing, to_be_confirmed = write_tools.of_case(case)
    messages, places = conversation(emissions, heard)
    for row in emissions:
        where = row["turn"], row["step"], row["attempt"]
        if where not in places:
            continue
        for index, result in enumerate(json.loads(row["tool_results"])):
            if result["name"] in writing:
                yield {
                    "turn": row["turn"],
                    "step": row["step"],
                    "attempt": row["attempt"],
                    "call": index,
                    "cluster_id": case.cluster_id,
                    "place": places[where],
                    "tool": result["name"],
                    "arguments": tables.dumps(result["arguments"]),
                    "to_be_confirmed": result["name"] in to_be_confirmed,
                    "executed": result["executed"],
                    **_decided(messages, places[where], index),
                }


def _decided(messages: list[Message], place: int, index: int) -> dict[str, Any]:
    decision = decide(messages, place, index)
    text = None if decision.message is None else messages[decision.message]["content"]
    return {
        "proposed": decision.proposed,
        "agreed": decision.agreed,
        "confirmed": decision.confirmed,
        "deciding_place": decision.message,
        "deciding_text": text,
        "why": decision.why,
    }
