"""The list of a model's conversations: what readers choose by, a row per run and gold action."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import pandas as pd

from toolcal.diagnosis.gar import CLASSES, labelled_emissions, turn_classes
from toolcal.tables import CASE, EMISSION

Kept = Literal["all", "disagreements", "sample"]
"""Whose conversations are kept. `disagreements`: of cases where, in some cell of the model, verdict and gold action
part, two labellers give a response different classes, or two verdicts differ; `sample`: the first of the draw."""

_KEY = [*CASE, "gold_action"]
_OF_LABELLER = {"outcome_case_any": "case_any", "outcome_decisive": "decisive", "class": "class"}


def listing(
    outcomes: pd.DataFrame,
    grades: pd.DataFrame,
    actions: pd.DataFrame,
    trajectories: pd.DataFrame,
    cases: pd.DataFrame,
    events: pd.DataFrame,
    confidence: pd.DataFrame,
) -> pd.DataFrame:
    """The runs of one model, planned ones that have no rows too.

    Args:
        outcomes: rows of the model.
        grades: its rows.
        actions: its rows.
        trajectories: its rows, the columns that `labelled_emissions` reads.
        cases: of its scenarios, one row a case.
        events: its rows of `probe_events`.
        confidence: its rows of `turn_confidence`.

    Returns:
        A row per run and gold action, in the order of the key: `status`, `passed`, `passed_strict`, `reason`,
        `differs` (two labellers give some response different classes), `regrade_differs`, `triggered` (how often a
        probe acted; null without one), `confidence` (after the last turn that was asked about), `emissions`, `draw`,
        and of each labeller `{labeller}.case_any` and `.decisive` (outcomes) and `.class` (of the decisive turn).
    """
    outcomes = _integers(outcomes)
    labellers = list(dict.fromkeys(outcomes["labeller"]))
    facts = ["status", "passed", "passed_strict", "reason"]
    rows = outcomes.drop_duplicates(_KEY)[[*_KEY, *facts]]
    found = outcomes.merge(_decisive_classes(outcomes, actions, trajectories, cases, labellers), how="left")
    for labeller in labellers:
        names = {column: f"{labeller}.{name}" for column, name in _OF_LABELLER.items()}
        part = found[found["labeller"] == labeller].rename(columns=names)
        rows = rows.merge(part[[*_KEY, *names.values()]], on=_KEY, how="left")
    return (
        rows.merge(_integers(grades)[[*CASE, "regrade_differs"]], on=list(CASE), how="left")
        .merge(_of_run(_disputed(actions), "differs"), on=list(CASE), how="left")
        .merge(_of_run(_triggered(events), "triggered"), on=list(CASE), how="left")
        .merge(_last(confidence), on=list(CASE), how="left")
        .merge(_of_run(_integers(trajectories).assign(n=1), "emissions"), on=list(CASE), how="left")
        .merge(cases[["scenario", "case_id", "draw"]], on=["scenario", "case_id"], how="left")
        .sort_values(_KEY, key=_natural, ignore_index=True)
    )


def chosen(rows: pd.DataFrame, kept: Kept, sample: int) -> pd.Series[bool]:
    """Which rows of a listing have their conversations kept: a case in all of the model's cells, or in none.

    So a perturbed conversation always stands beside its baseline.
    """
    there = rows["emissions"].notna()
    if kept == "all":
        return there
    if kept == "sample":
        place = rows.groupby("scenario")["draw"].rank(method="dense")
        return there & (place <= sample)
    signs = [
        rows["differs"].fillna(0) > 0,
        rows["regrade_differs"].fillna(False).astype(bool),
        rows["passed"].ne(rows["passed_strict"]).fillna(False).astype(bool),
        *(rows[name].isin(["masked", "slack"]) for name in map(str, rows) if name.endswith((".case_any", ".decisive"))),
    ]
    parts: pd.Series[bool] = pd.concat(signs, axis=1).any(axis=1)
    return there & parts.groupby([rows["scenario"], rows["case_id"]]).transform("any")


def _decisive_classes(
    outcomes: pd.DataFrame,
    actions: pd.DataFrame,
    trajectories: pd.DataFrame,
    cases: pd.DataFrame,
    labellers: Sequence[str],
) -> pd.DataFrame:
    """The class of the decisive turn of each run with a verdict, by labeller."""
    runs = outcomes.drop_duplicates(list(CASE))[[*CASE, "passed"]].reset_index(drop=True)
    runs["verdict"] = runs["passed"].notna()
    due = runs.merge(cases[["scenario", "case_id", "decisive_turn"]], on=["scenario", "case_id"], how="left")
    runs["decisive_turn"] = due["decisive_turn"]
    classes = turn_classes(labelled_emissions(trajectories, actions, runs, labellers))
    classes = classes.merge(runs.rename_axis("run").reset_index(), on="run")
    classes = classes[classes["turn"].eq(classes["decisive_turn"]).fillna(False)]
    return classes.assign(**{"class": [CLASSES[rank] for rank in classes["rank"]]})[[*CASE, "labeller", "class"]]


def _disputed(actions: pd.DataFrame) -> pd.DataFrame:
    """Of each emission of a run whether its labellers differ, as `n`."""
    classes = _integers(actions).groupby(list(EMISSION))["action"].nunique(dropna=False)
    return (classes > 1).astype(int).rename("n").reset_index()


def _triggered(events: pd.DataFrame) -> pd.DataFrame:
    return _integers(events).assign(n=events["triggered"].astype(bool).astype(int))


def _of_run(rows: pd.DataFrame, name: str) -> pd.DataFrame:
    return rows.groupby(list(CASE))["n"].sum().rename(name).reset_index()


def _last(confidence: pd.DataFrame) -> pd.DataFrame:
    rows = _integers(confidence)[[*CASE, "turn", "confidence"]].sort_values([*CASE, "turn"])
    return rows.drop_duplicates(list(CASE), keep="last").drop(columns="turn")


def _natural(values: pd.Series[Any]) -> pd.Series[Any]:
    """Texts in an order in which case 2 comes before case 10."""
    return values if values.name == "trial" else values.str.replace(r"\d+", lambda found: found[0].zfill(9), regex=True)


def _integers(rows: pd.DataFrame) -> pd.DataFrame:
    """Keys of the types that merge: an empty table's are of none."""
    types = {name: "int64" if name in ("trial", "turn", "step", "attempt") else "str" for name in EMISSION}
    return rows.astype({name: kind for name, kind in types.items() if name in rows})
