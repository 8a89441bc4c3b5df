"""The runs of a cell as an export tells them: the conversation, what was due, the labels and the verdict."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from toolcal import tables
from toolcal.exports.transcript import Transcript, transcript
from toolcal.tables import CELL
from toolcal.writes.conversation import Place, by_run, place_of


@dataclass(frozen=True)
class Exported:
    """One run: a trial of a case."""

    case_id: str
    trial: int
    gold_actions: list[str]
    about: Mapping[str, Any]
    """What the tables say of the case and how it ended."""
    transcript: Transcript
    labels: Mapping[Place, Mapping[str, str | None]]
    """Of the model's emissions, by (turn, step, attempt): labeller -> class."""
    grade: Mapping[str, Any]
    """Its row of table `grades`; empty where it has none."""
    outcomes: Sequence[Mapping[str, Any]]
    """Its rows of table `outcomes`."""


def of_cell(
    cases: pd.DataFrame,
    contexts: pd.DataFrame,
    trajectories: pd.DataFrame,
    user_messages: pd.DataFrame,
    actions: pd.DataFrame,
    grades: pd.DataFrame,
    outcomes: pd.DataFrame,
) -> Iterator[Exported]:
    """The runs of one cell that have emissions, in the order of their key.

    Args:
        cases: table `cases` of the scenario.
        contexts: table `contexts` of the scenario and perturbation.
        trajectories: table `trajectories` of the cell.
        user_messages: table `user_messages` of the cell; no rows where the turns are fixed.
        actions: table `actions`; of other cells too.
        grades: table `grades`; of other cells too.
        outcomes: table `outcomes`; of other cells too.
    """
    of_case = {row["case_id"]: row for row in tables.records(cases)}
    of_context = {row["case_id"]: row for row in tables.records(contexts)}
    spoken = by_run(user_messages)
    here = trajectories[list(CELL)].drop_duplicates()
    labels, verdicts, ends = (by_run(part.merge(here, on=list(CELL))) for part in (actions, grades, outcomes))
    for run, emissions in sorted(by_run(trajectories).items()):
        case_id = emissions[0]["case_id"]
        case = of_case[case_id]
        said: dict[Place, dict[str, str | None]] = defaultdict(dict)
        for row in labels.get(run, ()):
            said[place_of(row)][row["labeller"]] = row["action"]
        grade = next(iter(verdicts.get(run, ())), {})
        yield Exported(
            case_id,
            emissions[0]["trial"],
            json.loads(case["gold_actions"]),
            {
                "decisive_turn": case["decisive_turn"],
                "cluster_id": case["cluster_id"],
                "gold_calls": json.loads(case["gold"]),
                "status": grade.get("status"),
                "tools": [entry["tool"]["function"]["name"] for entry in json.loads(of_context[case_id]["tools"])],
            },
            transcript(emissions, spoken.get(run, ()), of_context[case_id]),
            said,
            grade,
            ends.get(run, ()),
        )
