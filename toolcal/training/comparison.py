"""What training changed: every checkpoint beside the untreated model, on the same questions, setting by setting.

Beside the checkpoints stands temperature scaling of the untreated model's confidences, the cheapest remedy. It is
fitted on one half of a cell's questions and judged on the other, so that its row is of half as many answers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from toolcal import tables
from toolcal.confidence.calibration import SHARE
from toolcal.confidence.compare import COMPARED, compare
from toolcal.confidence.metrics import score
from toolcal.confidence.plan import StudyCell
from toolcal.confidence.planned_answers import planned_answers
from toolcal.confidence.post_hoc import TemperatureScaling, held_out
from toolcal.diagnosis.paired_tests import PERMUTATIONS, holm
from toolcal.diagnosis.statistics import RESAMPLES
from toolcal.training import answer_means
from toolcal.training.checkpoints import UNTREATED
from toolcal.training.designs import Design
from toolcal.training.settings import SETTINGS, WANTED, Place, setting_of

TEMPERATURE = "temperature"
METRICS = (*COMPARED, *answer_means.MEANS)
"""What is compared; `comparison_tables` says what each is."""
_KEY = ["question_id", "trial"]

_Row = dict[str, Any]


@dataclass(frozen=True)
class Study:
    """The confidence study as far as the comparison reads it: arguments of `planned_answers`, and how it was seeded."""

    answers: pd.DataFrame
    questions: pd.DataFrame
    cells: Sequence[StudyCell]
    limits: Mapping[str, int | None]
    trials: int
    services: Mapping[str, str]
    """Question set -> where search looks: passages, or a web service."""
    seed: int


def comparison(
    study: Study,
    checkpoints: Mapping[str, str],
    designs: Mapping[str, Design],
    trained: Collection[Place],
    *,
    resamples: int = RESAMPLES,
    swaps: int = PERMUTATIONS,
) -> pd.DataFrame:
    """The table `comparison`: a row per method, cell of the study and metric.

    Differences are paired by question and trial. Holm's correction is over all differences of one metric; where all
    pairs agree nothing is tested, and the comparison counts with a p of 1, as in `calibration_tests`.

    Args:
        study: its answers, to questions that were not trained on.
        checkpoints: model -> its checkpoint, the untreated model's among them.
        designs: checkpoint -> the reward design that it was trained with; without the untreated and supervised ones.
        trained: all that was trained on.
        resamples: number of bootstrap samples.
        swaps: number of random swaps of labels.
    """
    rows: list[_Row] = []
    sources = dict(study.questions.drop_duplicates("question_set").set_index("question_set")["source"])
    for (name, tool, noise), arms in _arms(study, checkpoints).items():
        setting = setting_of(Place(sources.get(name, ""), tool, noise), study.services[name], trained)
        place = {"setting": setting, "question_set": name, "tool": tool, "noise": noise}
        for method, (model, answers) in arms.items():
            about = {"method": method, "model": model, **place}
            design = designs.get(method)
            values = _values(answers, design, study.seed, resamples)
            changes = {}
            if method != UNTREATED and UNTREATED in arms:
                changes = _changes(arms[UNTREATED][1], answers, design, study.seed, resamples, swaps)
            rows += [
                about | {"metric": metric} | values[metric] | changes.get(metric, _NO_CHANGE) for metric in METRICS
            ]
    rows += _not_asked(rows, checkpoints)
    return _tested(pd.DataFrame(rows))


def _arms(
    study: Study, checkpoints: Mapping[str, str]
) -> dict[tuple[str, str, float], dict[str, tuple[str, pd.DataFrame]]]:
    """Cell (question set, tool, noise) -> method -> its model and planned answers, the untreated model's first."""
    planned = planned_answers(study.answers, study.questions, study.cells, study.limits, study.trials)
    form = study.answers.assign(in_form=(study.answers["status"] == "ok") & ~study.answers["reasked"].astype(bool))
    given = dict(tuple(form.groupby(list(StudyCell._fields), sort=False)))
    found: dict[tuple[str, str, float], dict[str, tuple[str, pd.DataFrame]]] = {}
    order = sorted(planned, key=lambda cell: checkpoints.get(cell.model) != UNTREATED)
    for cell in order:
        if cell.model not in checkpoints or cell.tool == "none":
            continue
        own = given.get(tuple(cell), form.iloc[:0])[[*_KEY, "in_form"]]
        rows = planned[cell].merge(own, on=_KEY, how="left")
        # A confidence that cannot be read breaks the form, also where it was not asked for again.
        rows["in_form"] = rows["in_form"].eq(True).fillna(False) & rows["confidence"].notna()
        arms = found.setdefault((cell.question_set, cell.tool, cell.noise), {})
        arms[checkpoints[cell.model]] = (cell.model, rows)
        if checkpoints[cell.model] == UNTREATED:
            arms[TEMPERATURE] = (cell.model, rescaled(rows, study.seed))
    return found


def rescaled(answers: pd.DataFrame, seed: int) -> pd.DataFrame:
    """The answers to one half of the questions under the temperature that was fitted on the other half.

    One half, and not both in turns: two temperatures would put the halves against each other, and change AUROC, though
    no temperature but an infinite one (0.5 of everything) does.

    Args:
        answers: `question_id`, `correct` and `confidence` of a cell, among other columns.
        seed: from the configuration; which questions are fitted on is the same as in the table `calibration`.

    Returns:
        The rows that were not fitted on; their confidences are missing where there was nothing to fit on.
    """
    fitted_on = answers["question_id"].isin(held_out(answers["question_id"], share=SHARE, seed=seed))
    fitting, evaluation = answers[fitted_on], answers[~fitted_on]
    if not (fitting["correct"].notna() & fitting["confidence"].notna()).any():
        return evaluation.assign(confidence=np.nan)
    scaling = TemperatureScaling.fit(fitting["confidence"], fitting["correct"])
    return evaluation.assign(confidence=scaling.apply(evaluation["confidence"]))


def _values(answers: pd.DataFrame, design: Design | None, seed: int, resamples: int) -> dict[str, _Row]:
    """Every metric of an arm, with its interval."""
    found: Mapping[str, Any] = score(
        answers["confidence"], answers["correct"], seed=seed, cluster=answers["question_id"], resamples=resamples
    )
    scored = {
        metric: {f"value{end}": found[f"{metric}{end}"] for end in ("", "_low", "_high", "_reason")}
        for metric in COMPARED
    }
    about = {"n": found["n"], "n_missing": found["n_ungraded"]}
    mean = answer_means.values(answers, design, seed=seed, resamples=resamples)
    return {metric: about | row for metric, row in (scored | mean).items()}


def _changes(
    first: pd.DataFrame, second: pd.DataFrame, design: Design | None, seed: int, resamples: int, swaps: int
) -> dict[str, _Row]:
    """Every metric's paired difference, second less first."""
    tests = compare(first, second, seed=seed, resamples=resamples, swaps=swaps)
    tests = tests.rename(columns={"first": "untreated", "n": "n_pairs"})
    scored = {row["metric"]: {key: row[key] for key in _NO_CHANGE} for row in tables.records(tests)}
    return scored | answer_means.changes(first, second, design, seed=seed, resamples=resamples)


_NO_CHANGE: _Row = dict.fromkeys(("untreated", "delta", "delta_low", "delta_high", "p", "test")) | {"n_pairs": 0}


def _not_asked(rows: Sequence[_Row], checkpoints: Mapping[str, str]) -> Iterator[_Row]:
    """Rows of the settings that no question of the study is in."""
    there = {row["setting"] for row in rows}
    models = {checkpoint: model for model, checkpoint in checkpoints.items()}
    if UNTREATED in models:
        models[TEMPERATURE] = models[UNTREATED]
    for setting in WANTED:
        for method, model in models.items() if setting not in there else ():
            for metric in METRICS:
                yield {
                    **{"method": method, "model": model, "setting": setting, "metric": metric},
                    **{"question_set": "none", "tool": "none", "noise": 0.0, "n": 0, "n_missing": 0},
                    **{"value_reason": "not_asked"},
                    **_NO_CHANGE,
                }


def _tested(rows: pd.DataFrame) -> pd.DataFrame:
    """With relative changes and Holm's correction, in the order of settings."""
    numbers = ["value", "value_low", "value_high", "untreated", "delta", "delta_low", "delta_high", "p"]
    rows = rows.astype(dict.fromkeys(numbers, "float64"))
    base = rows["untreated"].where(rows["untreated"] > 0)
    for end in ("", "_low", "_high"):
        rows[f"relative{end}"] = rows[f"delta{end}"] / base
    there, tested = rows["delta"].notna(), rows["p"].notna()
    rows["test"] = rows["test"].where(tested, None)
    rows["p_holm"] = np.where(tested, holm(rows["p"].fillna(1.0).where(there), rows["metric"].tolist()), np.nan)
    rows["comparisons"] = there.groupby(rows["metric"]).transform("sum").astype("int64")
    order = rows["setting"].map(list(SETTINGS).index)
    return (
        rows.assign(_order=order)
        .sort_values(["_order", "question_set", "tool", "noise"], kind="stable", ignore_index=True)
        .drop(columns="_order")
    )
