"""What a model reads of a case: the case's own context, or a perturbed one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from toolcal import tables
from toolcal.benchmarks.case_table import tools_from_json, tools_to_json, turns_from_json
from toolcal.benchmarks.protocol import Case, Message, Tool


@dataclass(frozen=True)
class Context:
    """System message, user messages by turn, and (turn of arrival, tool) as the model is given them."""

    system: str | None
    turns: tuple[tuple[Message, ...], ...]
    tools: tuple[tuple[int, Tool], ...]
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Name of a tool as shown -> the benchmark's; empty where all have their own."""
    left_out: str | None = None
    """Why the perturbation cannot be applied to this case, which is then not run."""
    probe: Mapping[str, Any] | None = None
    """The probe that acts on the run: its name (`probe`), its `parameters`, and the `version` of its wording."""

    def tools_at(self, turn: int) -> tuple[Tool, ...]:
        """The tools that the model is given in this turn."""
        return tuple(tool for arrives, tool in self.tools if arrives <= turn)


def baseline(case: Case) -> Context:
    """The benchmark's own context."""
    return Context(case.system, case.turns, case.tools)


def to_frame(cases: Sequence[Case], perturbation: str, contexts: Sequence[Context] | None = None) -> pd.DataFrame:
    """The table `contexts` of these cases under a perturbation.

    Args:
        cases: the cases.
        perturbation: its name.
        contexts: one a case, in their order; without them, the benchmark's own.
    """
    if contexts is None:
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
                "tools": tools_to_json(context.tools),
                "renamed": tables.dumps(context.renamed),
                "probe": None if context.probe is None else tables.dumps(context.probe),
                "left_out": context.left_out,
            }
            for case, context in zip(cases, contexts, strict=True)
        ),
    )


def from_frame(data: pd.DataFrame) -> dict[str, Context]:
    """Case id -> its context."""
    return {
        row["case_id"]: Context(
            system=row["system"],
            turns=turns_from_json(row["turns"]),
            tools=tools_from_json(row["tools"]),
            renamed=json.loads(row["renamed"]),
            left_out=row["left_out"],
            probe=None if row["probe"] is None else json.loads(row["probe"]),
        )
        for row in tables.records(data)
    }
