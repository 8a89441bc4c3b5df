"""What a model reads of a case: the case's own context, or a perturbed one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from toolcal import tables
from toolcal.benchmarks.protocol import Case, Message, Tool


@dataclass(frozen=True)
class Context:
    """System message, user messages by turn, and (turn of arrival, tool) as the model is given them."""

    system: str | None
    turns: tuple[tuple[Message, ...], ...]
    tools: tuple[tuple[int, Tool], ...]

    def tools_at(self, turn: int) -> tuple[Tool, ...]:
        """The tools that the model is given in this turn."""
        return tuple(tool for arrives, tool in self.tools if arrives <= turn)


def baseline(case: Case) -> Context:
    """The benchmark's own context."""
    return Context(None, case.turns, case.tools)


def to_frame(cases: Sequence[Case], perturbation: str) -> pd.DataFrame:
    """The table `contexts` of these cases under a perturbation."""
    contexts = [baseline(case) for case in cases]
    return tables.frame(
        "contexts",
        (
            {
                "scenario": case.scenario,
                "perturbation": perturbation,
                "case_id": case.case_id,
                "system": context.system,
                "turns": tables.dumps(context.turns),
                "tools": tables.dumps([{"from_turn": turn, "tool": tool} for turn, tool in context.tools]),
                "left_out": None,
            }
            for case, context in zip(cases, contexts, strict=True)
        ),
    )


def from_frame(data: pd.DataFrame) -> dict[str, Context]:
    """Case id -> its context."""
    return {
        row["case_id"]: Context(
            system=row["system"],
            turns=tuple(tuple(messages) for messages in json.loads(row["turns"])),
            tools=tuple((item["from_turn"], item["tool"]) for item in json.loads(row["tools"])),
        )
        for row in tables.records(data)
    }
