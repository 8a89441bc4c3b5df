"""What was planned for the confidence study beside what was answered: a row per planned answer, by cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from toolcal.confidence.plan import StudyCell
from toolcal.confidence.tables import STUDY

Rows = Mapping[StudyCell, pd.DataFrame]
"""Cell -> its planned answers: `question_id`, `trial`, `difficulty`, `correct` (1, 0; NaN: no verdict), `confidence`
(0 to 1; NaN: missing) and `cause` (of a wrong answer)."""
_KEY = ["question_id", "trial"]


def planned_answers(
    answers: pd.DataFrame,
    questions: pd.DataFrame,
    cells: Sequence[StudyCell],
    limits: Mapping[str, int | None],
    trials: int,
) -> dict[StudyCell, pd.DataFrame]:
    """Every planned answer of every cell; what was not answered has neither verdict nor confidence.

    Args:
        answers: rows of table answers.
        questions: rows of table questions, of every set and noise level.
        cells: the cells that were planned.
        limits: question set -> how many of its questions are asked, the first of their draw; None: all.
        trials: repetitions of every question.

    Raises:
        ValueError: for answers to what was not planned.
    """
    given = {StudyCell._make(key): rows for key, rows in answers.groupby(list(STUDY), sort=False)}
    asked = {key: rows.sort_values("draw") for key, rows in questions.groupby(["question_set", "noise"], sort=False)}
    found = {}
    for cell in cells:
        chosen = asked.get((cell.question_set, cell.noise), questions.iloc[:0])[: limits[cell.question_set]]
        plan = chosen[["question_id", "difficulty"]].merge(pd.DataFrame({"trial": range(trials)}), how="cross")
        rows = given.pop(cell, answers.iloc[:0])
        both = plan.merge(rows[[*_KEY, "correct", "confidence", "cause"]], how="outer", on=_KEY, indicator=True)
        extra = (both["_merge"] == "right_only").sum()
        if extra:
            raise ValueError(f"{', '.join(map(str, cell))}: {extra} answers to questions that were not planned")
        for column in ("correct", "confidence"):
            both[column] = both[column].astype("Float64").to_numpy(float, na_value=float("nan"))
        found[cell] = both.drop(columns="_merge").sort_values(_KEY, ignore_index=True)
    if given:
        raise ValueError(f"answers of cells that were not planned: {', '.join(map(str, given))}")
    return found
