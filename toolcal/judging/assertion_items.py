"""The runs whose tasks have natural-language assertions, each with its whole conversation as the judge reads it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from toolcal import tables
from toolcal.benchmarks.protocol import Message
from toolcal.benchmarks.tau2.nl_assertions import of_state
from toolcal.judging.answer import read_assertions
from toolcal.judging.question import NL_ASSERTIONS, Question
from toolcal.judging.record import LENGTH, ROLES, line, view
from toolcal.writes.conversation import by_run, conversation, run_of

WHOLE = 60_000
"""Characters of a record (some 15,000 tokens) beyond which it is shortened."""

SHORT = 300
"""Characters that are then shown of what a tool returned."""


@dataclass(frozen=True)
class AssertionsItem:
    """A run: its values of the columns `tables.CASE`, its messages, and its task's assertions, asked together."""

    key: Mapping[str, Any]
    assertions: Sequence[str]
    messages: Sequence[Message]

    @property
    def question(self) -> Question:
        """Does each assertion hold?"""
        return NL_ASSERTIONS

    @property
    def keys(self) -> Sequence[Mapping[str, Any]]:
        """A row an assertion."""
        return [{**self.key, "assertion": number} for number in range(len(self.assertions))]

    @property
    def call(self) -> tuple[str, int, int, int]:
        """Its place in the journal."""
        key = self.key
        return f"{key['scenario']}.{key['perturbation']} {key['case_id']} {NL_ASSERTIONS.name}", key["trial"], 0, 0

    def sections(self) -> dict[str, str]:
        """The record, and the assertions with their numbers."""
        asked = [line({"number": number, "assertion": text}) for number, text in enumerate(self.assertions)]
        return {"record": self.record(), "assertions": "\n".join(asked)}

    def record(self) -> str:
        """All messages but the system's.

        A record of more than `WHOLE` characters has what tools returned cut to `SHORT`. Where that does not do, it has
        messages of its middle left out, and a line in their place that says which: a third of `WHOLE` is kept of the
        beginning, two thirds of the end.
        """
        places = [at for at, message in enumerate(self.messages) if message["role"] in ROLES]
        lines = [line(view(self.messages, at)) for at in places]
        if _length(lines) > WHOLE:
            lines = [line(view(self.messages, at, self._short(at))) for at in places]
        if _length(lines) > WHOLE:
            head, tail = _fitting(lines, WHOLE // 3), _fitting(lines[::-1], WHOLE * 2 // 3)
            gap = line({"left_out": f"messages {places[head]} to {places[len(lines) - tail - 1]}"})
            lines = [*lines[:head], gap, *lines[len(lines) - tail :]]
        return "\n".join(lines)

    def read(self, text: str) -> list[dict[str, Any]]:
        """The judge's answer."""
        return [{"verdict": met, "reason": reason} for met, reason in read_assertions(text, len(self.assertions))]

    def _short(self, at: int) -> int:
        return SHORT if self.messages[at]["role"] == "tool" else LENGTH


def assertion_items(
    cases: pd.DataFrame, trajectories: pd.DataFrame, user_messages: pd.DataFrame, grades: pd.DataFrame
) -> list[AssertionsItem]:
    """The runs whose tasks have assertions, in the order of their key; none that an infrastructure error ended.

    Args:
        cases: table `cases` of a model, of one revision a scenario; of its columns only scenario, case_id, benchmark
            and initial_state.
        trajectories: its table `trajectories`, in the order of its key.
        user_messages: its table `user_messages`, in the order of its key.
        grades: its table `grades`; of its columns only the key and status.
    """
    asserted = {
        (row["scenario"], row["case_id"]): of_state(json.loads(row["initial_state"]))
        for row in tables.records(cases[cases["benchmark"] == "tau2"])
    }
    ended = set(map(run_of, tables.records(grades[grades["status"] != "infra_error"])))
    heard = by_run(user_messages)
    found = (
        (dict(zip(tables.CASE, run, strict=True)), conversation(emissions, heard.get(run, []))[0])
        for run, emissions in sorted(by_run(trajectories).items())
        if run in ended
    )
    return [
        AssertionsItem(key, assertions, messages)
        for key, messages in found
        if (assertions := asserted.get((key["scenario"], key["case_id"])))
    ]


def _length(lines: Sequence[str]) -> int:
    return sum(len(text) + 1 for text in lines)


def _fitting(lines: Sequence[str], length: int) -> int:
    """How many lines, from the first on, fit into a length."""
    used = 0
    for count, text in enumerate(lines):
        used += len(text) + 1
        if used > length:
            return count
    return len(lines)
