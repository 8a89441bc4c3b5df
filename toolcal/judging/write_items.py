"""The writes to be judged, each with the conversation before it as the judge reads it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from toolcal import tables
from toolcal.benchmarks.protocol import Message
from toolcal.judging.answer import read_write
from toolcal.judging.question import CONFIRMED_WRITE, Question
from toolcal.judging.record import ROLES, call, line, view
from toolcal.writes.conversation import by_run, conversation, run_of
from toolcal.writes.talk import calls_of, window, words

WRITE = (*tables.EMISSION, "call")
"""The columns that name a write."""


@dataclass(frozen=True)
class WriteItem:
    """A write: its values of the columns `WRITE`, the run's messages, and where among them it was made."""

    key: Mapping[str, Any]
    tool: str
    arguments: Any
    messages: Sequence[Message]
    place: int

    @property
    def question(self) -> Question:
        """Had the user agreed to it?"""
        return CONFIRMED_WRITE

    @property
    def keys(self) -> Sequence[Mapping[str, Any]]:
        """One row."""
        return (self.key,)

    @property
    def call(self) -> tuple[str, int, int, int]:
        """Its place in the journal."""
        key = self.key
        name = f"{key['scenario']}.{key['perturbation']} {key['case_id']} {key['attempt']}.{key['call']}"
        return name, key["trial"], key["turn"], key["step"]

    @property
    def shown(self) -> dict[int, str]:
        """The messages before the call that the judge reads: place -> role (user, agent or tool).

        Ten, and further back where fewer than six of them have words of user or agent; no system message.
        """
        places = range(window(self.messages, self.place), self.place)
        return {at: ROLES[self.messages[at]["role"]] for at in places if self.messages[at]["role"] in ROLES}

    def sections(self) -> dict[str, str]:
        """The record."""
        return {"record": self.record()}

    def record(self) -> str:
        """The messages shown, and the write."""
        own = self.messages[self.place]
        beside = [made for at, made in enumerate(calls_of(self.messages, self.place)) if at != self.key["call"]]
        write = {
            "message": self.place,
            "role": "agent",
            "text_beside": words(own) or None,
            "calls_beside": [call(made.name, made.arguments) for made in beside],
            "call": {"tool": self.tool, "arguments": self.arguments},
        }
        return "\n".join(map(line, [*(view(self.messages, at) for at in self.shown), write]))

    def read(self, text: str) -> list[dict[str, Any]]:
        """The judge's answer."""
        verdict = read_write(text, self.shown)
        return [
            {
                "proposed": verdict.proposed,
                "agreed": verdict.agreed,
                "verdict": verdict.proposed and verdict.agreed,
                "deciding_place": verdict.message,
                "reason": verdict.reason,
            }
        ]


def write_items(writes: pd.DataFrame, trajectories: pd.DataFrame, user_messages: pd.DataFrame) -> list[WriteItem]:
    """The writes that need the user's yes, in the order of their key.

    Args:
        writes: table `writes` of a model.
        trajectories: its table `trajectories`, in the order of its key.
        user_messages: its table `user_messages`, in the order of its key.
    """
    emissions, heard = by_run(trajectories), by_run(user_messages)
    asked = tables.records(writes[writes["to_be_confirmed"].astype(bool)].sort_values(list(WRITE)))
    runs = dict.fromkeys(run_of(row) for row in asked)
    spoken = {run: conversation(emissions[run], heard.get(run, []))[0] for run in runs}
    return [
        WriteItem(
            {column: row[column] for column in WRITE},
            row["tool"],
            json.loads(row["arguments"]),
            spoken[run_of(row)],
            row["place"],
        )
        for row in asked
    ]
