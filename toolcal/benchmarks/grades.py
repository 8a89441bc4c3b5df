"""The table `grades`: every recorded run, judged by its benchmark."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from operator import itemgetter
from typing import Any

import pandas as pd

from toolcal import tables
from toolcal.benchmarks.case_table import from_frame
from toolcal.benchmarks.protocol import Emission
from toolcal.benchmarks.registry import of_scenario

Verdicts = Mapping[tuple[str, str], bool]
"""(scenario, case_id) -> whether the run passed, as its publisher recorded it."""


def grade_trajectories(
    trajectories: pd.DataFrame, cases: pd.DataFrame, recorded: Verdicts | None = None
) -> pd.DataFrame:
    """Grade the runs of a table `trajectories`.

    Args:
        trajectories: rows of any number of cells.
        cases: the cases of their scenarios.
        recorded: verdicts that the publisher of a recorded run gives, for its only trial.

    Returns:
        The table `grades`. What a probe took back is not graded.
    """
    return tables.frame("grades", _rows(trajectories, cases, recorded or {}))


def _rows(trajectories: pd.DataFrame, cases: pd.DataFrame, recorded: Verdicts) -> Iterator[dict[str, Any]]:
    known = {(case.scenario, case.case_id): case for case in from_frame(cases)}
    kept = trajectories.loc[~trajectories["retracted"], [*tables.EMISSION, "status", "tool_results"]]
    emissions = tables.records(kept.sort_values(list(tables.EMISSION)))
    for _, run in itertools.groupby(emissions, key=itemgetter(*tables.CASE)):
        rows = list(run)
        case = known[rows[0]["scenario"], rows[0]["case_id"]]
        grade = of_scenario(case.scenario).grade(case, [_emission(row) for row in rows])
        key = {name: rows[0][name] for name in tables.CASE}
        published = None if key["trial"] else recorded.get((case.scenario, case.case_id))
        yield {
            **key,
            **vars(grade),
            "turn_checks": tables.dumps(grade.turn_checks),
            "differences": tables.dumps(grade.differences),
            "gold_met": None,
            "reward": None,
            "db_match": None,
            "recorded_passed": published,
            "user_faults": None,
            "regrade_differs": None if published is None or grade.passed is None else published != grade.passed,
        }


def _emission(row: dict[str, Any]) -> Emission:
    results = json.loads(row["tool_results"])
    return Emission(row["turn"], row["status"], tuple((result["name"], result["arguments"]) for result in results))
