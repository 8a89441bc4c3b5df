"""The table `grades` of recorded runs: the recorded verdict, and the database's end state found anew."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import pandas as pd

from toolcal import tables
from toolcal.benchmarks.protocol import Case
from toolcal.benchmarks.tau2.grading import actions_made, gold_met
from toolcal.benchmarks.tau2.user_faults import scenario_of, user_faults
from toolcal.cells import Cell
from toolcal.recordings.rows import answered_calls, calls_made, of_runs, replayed
from toolcal.recordings.run import Run


def to_frame(cell: Cell, runs: Sequence[Run], cases: Mapping[str, Case]) -> pd.DataFrame:
    """The table `grades` of a recorded cell.

    A run passed if its recorded reward is 1. `regrade_differs` says that the database's check, whether some call
    failed, or the check of the reference actions comes out differently here; it is null where no check was recorded
    or nothing can be replayed.

    Args:
        cell: goes into the rows' keys.
        runs: the recorded runs.
        cases: the case of each.

    Returns:
        One row a run, sorted by the table's key.
    """
    return of_runs("grades", cell, runs, lambda run: [_row(run, cases[run.case_id])])


def _row(run: Run, case: Case) -> dict[str, Any]:
    verdict = run.verdict
    db_match, results = (None, []) if verdict.status == "infra_error" else replayed(run, case)
    made = actions_made(case, calls_made(run)) if case.benchmark == "tau2" else None
    known = db_match is not None and verdict.db_match is not None
    found = list(_differences(run, results)) if known else []
    if known and db_match != verdict.db_match:
        found.insert(0, f"the database's check: recorded {verdict.db_match}, found {db_match}")
    if known and made and run.action_checks is not None and made != list(run.action_checks):
        found.append("the check of the reference actions")
    return {
        "status": verdict.status,
        "passed": verdict.passed,
        "passed_strict": None,
        "reason": verdict.reason or ("reward" if verdict.passed is False else None),
        "reason_strict": None,
        "detail": "; ".join(found) or None,
        "turn_checks": "[]",
        "differences": "[]",
        "gold_met": _gold_met(run, case, made),
        "reward": verdict.reward,
        "db_match": db_match,
        "recorded_passed": verdict.passed,
        "regrade_differs": bool(found) if known else None,
        "user_faults": None if scenario_of(case) is None else tables.dumps([*map(asdict, user_faults(run, case))]),
    }


def _gold_met(run: Run, case: Case, made: list[bool] | None) -> str | None:
    """The column `gold_met`; tau-bench v1 checks no actions, and other conversations have no rules of their own."""
    if case.benchmark not in ("tau2", "tau1"):
        return None
    results = [(call["function"]["name"], not answer["failed"]) for call, answer in answered_calls(run)]
    return tables.dumps(gold_met(case, results, made))


def _differences(run: Run, results: Sequence[Any]) -> Iterator[str]:
    """Calls that failed here and not there, or the other way round; reads are not run here."""
    for (call, answer), here in zip(answered_calls(run), results, strict=True):
        if (here.executed or here.error is not None) and here.executed == bool(answer["failed"]):
            words = "failed, runs here" if here.executed else "executed, fails here"
            yield f"{call['function']['name']}: recorded as {words}"
