"""What a judge says of confirmed writes, beside the rule: in the rule's place, and how far the two agree."""

from __future__ import annotations

from typing import Any

import pandas as pd

from toolcal.diagnosis.statistics import means
from toolcal.diagnosis.two_readers import TwoReaders
from toolcal.tables import CELL, EMISSION, TABLES, frame

QUESTION = "confirmed_write"
_WRITE = [*EMISSION, "call"]
_KEY = [*CELL, "judge", "question"]


def judges(judgements: pd.DataFrame) -> list[str]:
    """The judges of a table `judgements` that were asked about writes, sorted."""
    return sorted(judgements.loc[judgements["question"] == QUESTION, "judge"].unique())


def judged_writes(writes: pd.DataFrame, judgements: pd.DataFrame, judge: str) -> pd.DataFrame:
    """The table `writes` with a judge's verdict in the rule's place, for `write_rates`.

    Args:
        writes: table `writes`.
        judgements: table `judgements`; other questions are not looked at.
        judge: its model.

    Returns:
        The writes that need the user's yes. One that the judge did not decide has no `passed` either: so it is missing
        like one without the run's verdict, and both rates stay over the same writes.
    """
    found = _beside(writes, judgements[judgements["judge"] == judge])
    passed = found["passed"].astype("boolean").where(found["verdict"].notna())
    return found.assign(confirmed=found["verdict"].astype("boolean"), passed=passed)[list(writes.columns)]


def judge_agreement(writes: pd.DataFrame, judgements: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """Table `judge_agreement`: how often rule and judge say the same of a write.

    Args:
        writes: table `writes`; those that need no yes are not looked at.
        judgements: table `judgements`; other questions are not looked at.
        seed: of the bootstrap, from the configuration.

    Returns:
        One row per cell x judge, sorted by the table's key; intervals by a bootstrap over clusters of cases.
    """
    parts = [
        _beside(writes, judgements[judgements["judge"] == judge]).assign(judge=judge, question=QUESTION)
        for judge in judges(judgements)
    ]
    if not parts:
        return frame("judge_agreement", [])
    found = pd.concat(parts)
    found = found.assign(agree=(found["verdict"].astype("boolean") == found["confirmed"].astype("boolean")))
    shares = means(found, _KEY, ["agree"], seed=seed).drop(columns="n")
    rows = [
        {**dict(zip(_KEY, key, strict=True)), **_counts(part), **_kappa(part[part["verdict"].notna()], seed)}
        for key, part in found.groupby(_KEY, sort=True)
    ]
    spec = TABLES["judge_agreement"]
    return shares.merge(pd.DataFrame(rows), on=_KEY)[list(spec.columns)].sort_values(list(spec.key), ignore_index=True)


def _beside(writes: pd.DataFrame, judgements: pd.DataFrame) -> pd.DataFrame:
    """The writes that need the user's yes, each with its verdict and status by one judge; null where it has none."""
    asked = writes[writes["to_be_confirmed"].astype(bool)]
    one = judgements[judgements["question"] == QUESTION]
    return asked.merge(one[[*_WRITE, "verdict", "status"]], on=_WRITE, how="left", validate="one_to_one")


def _counts(part: pd.DataFrame) -> dict[str, int]:
    known = part[part["verdict"].notna()]
    missing = part["status"].isna() | (part["status"] == "infra_error")
    return {
        "n": len(known),
        "n_undecided": len(part) - len(known) - int(missing.sum()),
        "n_missing": int(missing.sum()),
        "n_rule": int(known["confirmed"].astype(bool).sum()),
        "n_judge": int(known["verdict"].astype(bool).sum()),
    }


def _kappa(known: pd.DataFrame, seed: int) -> dict[str, Any]:
    """Cohen's kappa over writes that both decided, with its interval."""
    if known.empty:
        return {"kappa": None, "kappa_low": None, "kappa_high": None}
    rule, judge = (known[name].astype(bool) for name in ("confirmed", "verdict"))
    return TwoReaders(judge, rule, known["cluster_id"], seed=seed).score("kappa")
