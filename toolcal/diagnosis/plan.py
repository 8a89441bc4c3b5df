"""What was planned, and how each planned run ended: the fixed denominators of the diagnosis."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from toolcal.benchmarks.tau2 import nl_assertions
from toolcal.tables import CASE


@dataclass(frozen=True)
class PlannedCell:
    """A cell of the plan: which cases a model was to run in a scenario under a perturbation, and how often."""

    model: str
    scenario: str
    perturbation: str
    case_ids: tuple[str, ...]
    trials: int = 1
    revision: str | None = None
    """Of the cases; None where the scenario has one revision only."""


def graded_runs(cases: pd.DataFrame, grades: pd.DataFrame, plan: Sequence[PlannedCell]) -> pd.DataFrame:
    """All planned runs, whether they ran or not, with what their case says and how they were graded.

    A run is one trial of one case in one cell. Grades outside the plan are not looked at.

    Args:
        cases: table `cases`.
        grades: table `grades`.
        plan: the planned cells.

    Returns:
        One row per planned run, sorted by the columns of `tables.CASE`; beside them `benchmark`, `cluster_id`,
        `gold_actions` (list), `decisive_turn` (Int64), `counted_turns` (list: the turns that are not excluded),
        `n_assertions` (int: tau2's natural-language ones), `status` (of the case, or `missing`), `passed`,
        `passed_strict` (boolean), `reason`, `gold_met` and `user_faults` (JSON, as in `grades`), `verdict` (bool). The
        verdict's columns are null where there is none: missing runs and infrastructure errors.

    Raises:
        ValueError: where a case is planned twice or unknown, a scenario has two revisions, or a case that ended has no
            verdict.
    """
    planned = [
        (cell.model, cell.scenario, cell.perturbation, case_id, trial, cell.revision)
        for cell in plan
        for case_id in cell.case_ids
        for trial in range(cell.trials)
    ]
    runs = pd.DataFrame(planned, columns=[*CASE, "revision"]).astype(dict.fromkeys(CASE, "str") | {"trial": "int64"})
    doubled = runs[runs.duplicated(list(CASE))]
    if len(doubled):
        raise ValueError(f"planned twice: {first(doubled)}")
    facts = _facts(cases)
    runs["revision"] = runs["revision"].fillna(runs["scenario"].map(_only_revisions(facts, runs))).astype("str")
    runs = runs.merge(facts, on=["scenario", "revision", "case_id"], how="left").drop(columns="revision")
    strange = runs.loc[runs["cluster_id"].isna(), list(CASE)]
    if len(strange):
        raise ValueError(f"planned, but not in the table cases: {first(strange)}")
    return _with_verdict(runs, grades).sort_values(list(CASE), ignore_index=True)


def _facts(cases: pd.DataFrame) -> pd.DataFrame:
    """The part of `cases` that the diagnosis needs, decoded; one row per scenario x revision x case."""
    turns, excluded = cases["turns"].map(json.loads), cases["excluded_turns"].map(json.loads)
    counted = [[t for t in range(len(all_)) if t not in out] for all_, out in zip(turns, excluded, strict=True)]
    asserted = [
        len(nl_assertions.of_state(json.loads(state))) if benchmark == "tau2" else 0
        for benchmark, state in zip(cases["benchmark"], cases["initial_state"], strict=True)
    ]
    return pd.DataFrame(
        {
            "scenario": cases["scenario"].astype("str"),
            "revision": cases["revision"].astype("str"),
            "case_id": cases["case_id"].astype("str"),
            "benchmark": cases["benchmark"].astype("str"),
            "cluster_id": cases["cluster_id"].astype("str"),
            "gold_actions": cases["gold_actions"].map(json.loads).astype("object"),
            "decisive_turn": cases["decisive_turn"].astype("Int64"),
            "counted_turns": pd.Series(counted, index=cases.index, dtype="object"),
            "n_assertions": pd.Series(asserted, index=cases.index, dtype="int64"),
        }
    )


def _only_revisions(facts: pd.DataFrame, runs: pd.DataFrame) -> dict[str, str]:
    """Scenario -> its revision, where the plan takes it for granted."""
    asked = facts[facts["scenario"].isin(runs.loc[runs["revision"].isna(), "scenario"])]
    revisions = asked.groupby("scenario")["revision"].unique()
    for scenario, found in revisions.items():
        if len(found) > 1:
            raise ValueError(f"more than one revision in the table cases: {scenario}")
    return {str(scenario): str(found[0]) for scenario, found in revisions.items()}


def _with_verdict(runs: pd.DataFrame, grades: pd.DataFrame) -> pd.DataFrame:
    verdict = ["passed", "passed_strict"]
    columns = ["status", *verdict, "reason", "gold_met", "user_faults"]
    types = dict.fromkeys([*CASE, *columns], "str") | {"trial": "int64"} | dict.fromkeys(verdict, "boolean")
    runs = runs.merge(grades[[*CASE, *columns]].astype(types), on=list(CASE), how="left", validate="one_to_one")
    runs["status"] = runs["status"].fillna("missing")
    runs["verdict"] = ~runs["status"].isin(["missing", "infra_error", "not_graded"])
    unclear = runs["verdict"] & runs["passed"].isna()
    undecided = runs.loc[unclear & (runs["status"] == "done"), list(CASE)]
    if len(undecided):
        raise ValueError(f"done, but neither passed nor failed: {first(undecided)}")
    # A run that was cut short is a failure where the grader did not look at it.
    runs.loc[unclear, verdict] = False
    runs.loc[~runs["verdict"], verdict] = pd.NA
    runs.loc[~runs["verdict"], "reason"] = np.nan
    return runs


def first(rows: pd.DataFrame) -> dict[str, object]:
    """The first row by column, for the message of an error."""
    return {str(column): value for column, value in rows.head(1).to_dict("records")[0].items()}
