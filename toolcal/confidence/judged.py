"""The judge's verdicts on answers: in place of the rules' where the study is graded by it, and how far both agree."""

from __future__ import annotations

import numpy as np
import pandas as pd

from toolcal import tables
from toolcal.confidence.causes import cause
from toolcal.confidence.tables import STUDY
from toolcal.diagnosis.two_readers import kappa_of

KEY = [*STUDY, "question_id", "trial"]


def graded_by_judge(answers: pd.DataFrame, judgements: pd.DataFrame) -> pd.DataFrame:
    """Answers with the judge's verdict in `correct` and `score`.

    An answer on which the judge decided nothing has no verdict any more: its status becomes `infra_error`, which is
    in no rate. Where no answer was given the rules' verdict stands: it is wrong. What only the judge takes for wrong
    gets its cause here.

    Args:
        answers: rows of table `answers`.
        judgements: rows of table `answer_judgements` on them.
    """
    found = answers.merge(judgements[[*KEY, "verdict"]], on=KEY, how="left")
    given = found["answer"].notna()
    undecided = given & found["verdict"].isna()
    verdict = found["verdict"].astype("boolean")
    found["correct"] = found["correct"].astype("boolean").where(~given, verdict)
    found["score"] = found["score"].astype("Float64").where(~given, verdict.astype("Float64"))
    found["grade_reason"] = found["grade_reason"].where(~given, "judge")
    found.loc[undecided, "status"] = "infra_error"
    found["cause"] = [cause(row) for row in tables.records(found)]
    return found.drop(columns="verdict")


def answer_agreement(answers: pd.DataFrame, judgements: pd.DataFrame) -> pd.DataFrame:
    """Table `answer_agreement`: the rules' verdicts beside the judge's, cell by cell.

    Args:
        answers: rows of table `answers`.
        judgements: rows of table `answer_judgements` on them.
    """
    both = judgements[[*KEY, "judge", "verdict"]].merge(answers[[*KEY, "correct"]], on=KEY)
    rows = []
    for key, part in both.groupby([*STUDY, "judge"], sort=True):
        decided = part.dropna(subset=["verdict", "correct"])
        rules, judge = (decided[name].astype(bool).to_numpy() for name in ("correct", "verdict"))
        both_ways = (rules & judge, rules & ~judge, ~rules & judge, ~rules & ~judge)
        counts = np.array([which.sum() for which in both_ways], dtype=float)
        kappa = float(kappa_of(counts)) if len(decided) else np.nan
        rows.append(
            {
                **dict(zip([*STUDY, "judge"], key, strict=True)),
                "n": len(decided),
                "n_undecided": len(part) - len(decided),
                "right_by_both": int(counts[0]),
                "right_by_rules_only": int(counts[1]),
                "right_by_judge_only": int(counts[2]),
                "wrong_by_both": int(counts[3]),
                "kappa": None if np.isnan(kappa) else kappa,
            }
        )
    return tables.frame("answer_agreement", rows)
