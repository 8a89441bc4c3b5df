"""Table `turn_calibration`: does a model know, after a turn, that its action was the wrong one? (Part C of the method.)

Two questions are put to the stated confidences, each with a truth of its own:

- `turn_gold`: the turn had the gold class. One row a turn that counts in the turn view, reached or not, with the
  confidence stated after it. Where the user speaks freely no turn has a gold class, and the question has no rows.
- `case_passed`: the case passed. One row a case with a verdict, with the confidence stated after the last turn that the
  model ended, and the class of that turn.

A turn that was never ended has no confidence: it counts in `n` and lowers the coverage, as an answer that could not be
read does. Where the endpoint gave no answer to the question, the row is in no rate, and counted in `n_missing`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from toolcal.confidence.metrics import score
from toolcal.diagnosis.gar import CLASSES, NONE
from toolcal.diagnosis.statistics import RESAMPLES
from toolcal.tables import CASE, CELL, OUTCOMES, TABLES, TURN_METRICS, TURN_QUANTILES, frame

ALL = "all"
_GROUP = [*CELL, "gold_action", "labeller", "question"]
_ROW = [*_GROUP, "action", "outcome", "cluster_id", "confidence", "asked", "correct"]
_FIXED = ("n", "n_confident", "n_wrong", "n_clusters")


def turn_calibration(
    turn_confidence: pd.DataFrame,
    runs: pd.DataFrame,
    outcomes: pd.DataFrame,
    turns: pd.DataFrame,
    classes: pd.DataFrame,
    *,
    seed: int,
) -> pd.DataFrame:
    """Table `turn_calibration`, of the cells that have confidences.

    Args:
        turn_confidence: table `turn_confidence`; of its columns only the key, confidence and status.
        runs: from `plan.graded_runs`.
        outcomes: table `outcomes`.
        turns: from `gar.scored_turns`.
        classes: from `gar.turn_classes`.
        seed: of the bootstrap, from the configuration; whole scenario numbers are resampled.

    Returns:
        One row per cell x gold action x labeller x question x class of the turn x outcome of the case (case_any view),
        as far as they occur, and `all` of either; sorted by the table's key.
    """
    stated = _stated(turn_confidence, runs)
    rows = pd.concat([_turns(stated, runs, outcomes, turns), _cases(stated, runs, outcomes, classes)])
    known: dict[Any, dict[str, Any]] = {}
    found = [
        dict(zip(_GROUP, key, strict=True)) | parts | scored(part, known, seed)
        for key, group in rows.groupby(_GROUP)
        for parts, part in _parts(group)
    ]
    return frame("turn_calibration", found).sort_values(list(TABLES["turn_calibration"].key), ignore_index=True)


def _stated(turn_confidence: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """The stated confidences by run and turn: `run`, `turn`, `confidence`, `asked` (the endpoint gave an answer)."""
    types = {key: runs[key].dtype for key in CASE} | {"turn": "int64", "confidence": "float64"}
    given = turn_confidence[[*CASE, "turn", "confidence", "status"]].astype(types)
    given = given.merge(runs[list(CASE)].rename_axis("run").reset_index(), on=list(CASE))
    return given.assign(asked=given["status"] != "infra_error")[["run", "turn", "confidence", "asked"]]


def _of_asked(rows: pd.DataFrame, stated: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """The rows of cells in which somebody was asked."""
    cells = pd.MultiIndex.from_frame(runs.loc[stated["run"].unique(), list(CELL)].drop_duplicates())
    return rows[pd.MultiIndex.from_frame(rows[list(CELL)]).isin(cells)]


def _with_run(outcomes: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    columns = [*CASE, "gold_action", "labeller", "cluster_id", "passed", "outcome_case_any"]
    found = outcomes[columns].merge(runs[list(CASE)].rename_axis("run").reset_index(), on=list(CASE))
    return found.rename(columns={"outcome_case_any": "outcome"})


def _turns(stated: pd.DataFrame, runs: pd.DataFrame, outcomes: pd.DataFrame, turns: pd.DataFrame) -> pd.DataFrame:
    rows = _of_asked(turns, stated, runs).merge(stated, on=["run", "turn"], how="left")
    ends = _with_run(outcomes, runs)[["run", "gold_action", "labeller", "outcome"]]
    rows = rows.merge(ends, on=["run", "gold_action", "labeller"], validate="many_to_one")
    return rows.assign(question="turn_gold", correct=rows["hit"])[_ROW]


def _cases(stated: pd.DataFrame, runs: pd.DataFrame, outcomes: pd.DataFrame, classes: pd.DataFrame) -> pd.DataFrame:
    rows = _of_asked(_with_run(outcomes, runs), stated, runs)
    last = stated.sort_values("turn").drop_duplicates("run", keep="last")
    rows = rows[rows["passed"].notna()].merge(last, on="run", how="left")
    rows = rows.merge(classes[["run", "labeller", "turn", "rank"]], on=["run", "labeller", "turn"], how="left")
    names = np.array(CLASSES)
    action = names[rows["rank"].fillna(CLASSES.index(NONE)).astype("int64")]
    return rows.assign(question="case_passed", action=action, correct=rows["passed"])[_ROW]


def _parts(group: pd.DataFrame) -> Iterator[tuple[dict[str, str], pd.DataFrame]]:
    """A group whole, and by class and outcome."""
    for action in (ALL, *(name for name in CLASSES if (group["action"] == name).any())):
        of_action = group if action == ALL else group[group["action"] == action]
        for outcome in (ALL, *OUTCOMES):
            part = of_action if outcome == ALL else of_action[of_action["outcome"] == outcome]
            if len(part):
                yield {"action": action, "outcome": outcome}, part


def scored(
    part: pd.DataFrame, known: dict[Any, dict[str, Any]], seed: int, resamples: int = RESAMPLES
) -> dict[str, Any]:
    """The table's columns beside the key, of some turns or cases.

    Args:
        part: their `confidence`, `asked` (null: never), `correct` and `cluster_id`.
        known: what was scored before, which is filled: the same rows come again, by another labeller for instance.
        seed: of the bootstrap.
        resamples: number of bootstrap samples; 0 leaves the intervals out.
    """
    answered = part["asked"].astype("boolean").fillna(True)
    correct = part["correct"].astype("boolean").where(answered).astype("Float64").to_numpy(np.float64, na_value=np.nan)
    stated = part["confidence"].to_numpy(np.float64)
    key = (stated.tobytes(), correct.tobytes(), tuple(part["cluster_id"]))
    if key not in known:
        found = score(stated, correct, seed=seed, cluster=part["cluster_id"].to_numpy(), resamples=resamples)
        values = {name: found[name] for name in _FIXED} | {"n_missing": found["n_ungraded"]}
        for name, (of, _) in TURN_METRICS.items():
            values |= {f"{name}{end}": found[f"{of}{end}"] for end in ("", "_low", "_high", "_reason")}
        spread = stated[~np.isnan(stated) & ~np.isnan(correct)]
        for name, (at, _) in TURN_QUANTILES.items():
            values[name] = float(np.quantile(spread, at)) if len(spread) else None
        known[key] = values
    return known[key] | {"n_asked": int(answered[part["asked"].notna()].sum())}
