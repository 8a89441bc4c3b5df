"""All tables that sum up the confidence study, from its questions and answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from toolcal import tables
from toolcal.confidence.calibration import calibration
from toolcal.confidence.calibration_tests import calibration_tests
from toolcal.confidence.curves import answer_causes, reliability, risk_coverage
from toolcal.confidence.plan import StudyCell
from toolcal.confidence.planned_answers import planned_answers


def calibrate(
    answers: pd.DataFrame,
    questions: pd.DataFrame,
    cells: Sequence[StudyCell],
    *,
    base_models: Mapping[str, str | None],
    limits: Mapping[str, int | None],
    trials: int,
    seed: int,
) -> dict[str, pd.DataFrame]:
    """The tables `calibration`, `calibration_tests`, `reliability`, `risk_coverage` and `answer_causes`.

    Args:
        answers: rows of table answers.
        questions: rows of table questions, of every set and noise level.
        cells: the cells that were planned.
        base_models: model -> the model from which it was trained, or None.
        limits: question set -> how many of its questions are asked, the first of their draw; None: all.
        trials: repetitions of every question.
        seed: from the configuration.
    """
    rows = planned_answers(answers, questions, cells, limits, trials)
    found = {
        "calibration": pd.DataFrame(calibration(rows, base_models, seed=seed)),
        "calibration_tests": calibration_tests(rows, base_models, seed=seed),
        "reliability": reliability(rows),
        "risk_coverage": risk_coverage(rows),
        "answer_causes": answer_causes(rows),
    }
    return {
        name: data[list(tables.TABLES[name].columns)] if len(data) else tables.frame(name, [])
        for name, data in found.items()
    }
