"""What stood before each emission, from the tables: the user's words by turn, and the calls made since."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from toolcal import tables
from toolcal.actions.before import Before

Run = tuple[Any, ...]
"""The values of the columns `tables.CASE`."""
Requests = Callable[[Run], Mapping[int, str]]
"""The user's words of a run by turn."""


def from_tables(contexts: pd.DataFrame, user_messages: pd.DataFrame) -> Requests:
    """The user's words of every run.

    Args:
        contexts: rows of table `contexts`: of a benchmark with fixed turns, the words are there.
        user_messages: rows of table `user_messages`: of a user who speaks freely, they are here; may be empty.
    """
    spoken: dict[Run, dict[int, str]] = defaultdict(lambda: defaultdict(str))
    columns = [*tables.CASE, "turn", "role", "content"]
    for *run, turn, role, content in user_messages[columns].itertuples(index=False, name=None):
        if role == "user" and isinstance(content, str):
            spoken[tuple(run)][turn] += f"{content}\n"
    fixed = {
        (row["scenario"], row["perturbation"], row["case_id"]): {
            turn: "\n".join(str(message["content"] or "") for message in messages if message["role"] == "user")
            for turn, messages in enumerate(json.loads(row["turns"]))
        }
        for row in tables.records(contexts[["scenario", "perturbation", "case_id", "turns"]])
    }

    def requests_of(run: Run) -> Mapping[int, str]:
        _, scenario, perturbation, case_id, _ = run
        return spoken[run] if run in spoken else fixed.get((scenario, perturbation, case_id), {})

    return requests_of


def before_each(trajectories: pd.DataFrame, requests_of: Requests) -> list[Before]:
    """What stood before each row of table `trajectories`, given each run's rows in the order of the table's key.

    A call that failed, or that a probe took back, is not counted: the request waits on.
    """
    found: list[Before] = []
    states: dict[Run, tuple[int, Before]] = {}
    columns = [*tables.CASE, "turn", "tool_results", "retracted"]
    for *key, turn, results, retracted in trajectories[columns].itertuples(index=False, name=None):
        run = tuple(key)
        words = requests_of(run)
        last, before = states.get(run, (-1, Before()))
        for new in range(last + 1, turn + 1):
            before = before.asked(words.get(new, ""))
        found.append(before)
        if results != "[]" and not retracted:
            before = before.called(result["name"] for result in json.loads(results) if result["error"] is None)
        states[run] = max(last, turn), before
    return found
