"""The table `calibration`: how well the stated confidences of each cell of the study fit what was right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from toolcal.confidence.metric_names import METRICS
from toolcal.confidence.metrics import common_errors, score
from toolcal.confidence.plan import StudyCell
from toolcal.confidence.planned_answers import Rows
from toolcal.confidence.post_hoc import HistogramBinning, TemperatureScaling, held_out
from toolcal.diagnosis.statistics import RESAMPLES, Floats

SHARE = 0.5
"""Of the questions, whole with all their trials: what rescalings are fitted on. The others are the evaluation half."""
ALL = "all"

_RESCALINGS: Mapping[str, type[TemperatureScaling] | type[HistogramBinning]] = {
    "temperature": TemperatureScaling,
    "histogram": HistogramBinning,
}
_UNSCALED = ("coverage", "accuracy", "accuracy_covered")
"""Metrics that no rescaling moves."""

_Row = dict[str, Any]


def calibration(
    rows: Rows, base_models: Mapping[str, str | None], *, seed: int, resamples: int = RESAMPLES
) -> Iterator[_Row]:
    """The rows of the table.

    Of each cell: all its questions, then each level of difficulty; then the evaluation half as it is and under each
    rescaling, so that these are compared on the same questions. Rescalings are fitted on the other half of the same
    cell; which questions these are is the same in every cell of a set.

    Args:
        rows: what `planned_answers` gave.
        base_models: model -> the model from which it was trained, or None.
        seed: from the configuration.
        resamples: number of bootstrap samples.
    """
    common = common_questions(rows, base_models)
    for cell, planned in rows.items():
        marked = planned.assign(common=planned["question_id"].isin(common[cell]))
        about = {**cell._asdict(), "base_model": base_models.get(cell.model)}

        def row(part: pd.DataFrame, about: _Row = about, **key: str) -> _Row:
            return about | key | _scored(part, seed, resamples)

        yield row(marked, difficulty=ALL, post_hoc="none", questions="all")
        for level in sorted(set(marked["difficulty"]) - {""}):
            yield row(marked[marked["difficulty"] == level], difficulty=level, post_hoc="none", questions="all")
        fitted_on = marked["question_id"].isin(held_out(marked["question_id"], share=SHARE, seed=seed))
        fitting, evaluation = marked[fitted_on], marked[~fitted_on]
        plain = row(evaluation, difficulty=ALL, post_hoc="none", questions="evaluation")
        yield plain
        for name in _RESCALINGS:
            rescaled = _rescaled(name, fitting, evaluation)
            if rescaled is None:
                yield plain | {"post_hoc": name} | _not_fitted()
            else:
                part = evaluation.assign(confidence=rescaled)
                yield row(part, difficulty=ALL, post_hoc=name, questions="evaluation")


def common_questions(rows: Rows, base_models: Mapping[str, str | None]) -> dict[StudyCell, pd.Index[str]]:
    """Of each cell, the questions that all cells it is compared with get wrong too.

    These are the cells of one question set, of a model and of all that was trained from it, at the cell's noise.
    `direct` answers meet no noise: they are compared at every level, and their own MCIP is on the errors in common with
    the cells at noise 0. A cell without any verdict is left aside, for else it would leave nothing to the others.
    """
    verdicts = {
        cell: planned.set_index("question_id")["correct"]
        for cell, planned in rows.items()
        if planned["correct"].notna().any()
    }
    found: dict[tuple[str, str, float], pd.Index[str]] = {}
    for cell in rows:
        group = _first_of_line(cell.model, base_models), cell.question_set, cell.noise
        if group not in found:
            compared = {
                str(other): verdict
                for other, verdict in verdicts.items()
                if (_first_of_line(other.model, base_models), other.question_set) == group[:2]
                and (other.tool == "none" or other.noise == cell.noise)
            }
            found[group] = common_errors(compared)
    return {cell: found[_first_of_line(cell.model, base_models), cell.question_set, cell.noise] for cell in rows}


def _first_of_line(model: str, base_models: Mapping[str, str | None]) -> str:
    """The model from which this one was trained, over however many trainings."""
    while base := base_models.get(model):
        model = base
    return model


def _scored(part: pd.DataFrame, seed: int, resamples: int) -> _Row:
    found = score(
        part["confidence"],
        part["correct"],
        seed=seed,
        cluster=part["question_id"],
        common=part["common"],
        resamples=resamples,
    )
    return {**found, "n_missing": found.pop("n_ungraded"), "n_questions": found.pop("n_clusters")}


def _rescaled(name: str, fitting: pd.DataFrame, evaluation: pd.DataFrame) -> Floats | None:
    """The confidences of the evaluation half, rescaled; None where there was nothing to fit on."""
    if not (fitting["correct"].notna() & fitting["confidence"].notna()).any():
        return None
    fitted = _RESCALINGS[name].fit(fitting["confidence"], fitting["correct"])
    return np.asarray(fitted.apply(evaluation["confidence"]))


def _not_fitted() -> _Row:
    moved = [metric for metric in METRICS if metric not in _UNSCALED]
    values = {f"{metric}{end}": None for metric in moved for end in ("", "_low", "_high")}
    return values | {f"{metric}_reason": "not_fitted" for metric in moved}
