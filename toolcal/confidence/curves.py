"""The tables that the study's figures need beside its metrics: bins, risk by coverage, and what made answers wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from toolcal.confidence import binning
from toolcal.confidence.planned_answers import Rows
from toolcal.confidence.tables import CAUSES
from toolcal.diagnosis.statistics import wilson


def reliability(rows: Rows) -> pd.DataFrame:
    """The table `reliability`: ten bins of every cell, the empty ones too."""

    def bins(planned: pd.DataFrame) -> pd.DataFrame:
        found = binning.reliability(planned["confidence"], planned["correct"])
        return found.rename_axis("bin").reset_index().assign(n_answers=_answers(planned))

    return _by_cell(rows, bins)


def risk_coverage(rows: Rows) -> pd.DataFrame:
    """The table `risk_coverage`: a row per stated value of every cell; one without a risk where there is none."""

    def curve(planned: pd.DataFrame) -> pd.DataFrame:
        found = binning.risk_coverage(planned["confidence"], planned["correct"])
        low, high = wilson(np.round(found["risk"] * found["n"]), found["n"])
        found = found.assign(risk_low=low, risk_high=high)
        if found.empty:
            nothing = dict.fromkeys(("risk", "risk_low", "risk_high"), np.nan)
            found = pd.DataFrame([{"threshold": 1.0, "n": 0, "coverage": 0.0, **nothing}])
        return found.assign(n_confident=found["n"].max(), n_answers=_answers(planned))

    return _by_cell(rows, curve)


def answer_causes(rows: Rows) -> pd.DataFrame:
    """The table `answer_causes`: every cause in every cell, also where none of its wrong answers has it."""

    def causes(planned: pd.DataFrame) -> pd.DataFrame:
        return pd.DataFrame(_causes(planned))

    return _by_cell(rows, causes)


def _causes(planned: pd.DataFrame) -> Iterator[dict[str, Any]]:
    wrong = planned[planned["correct"] == 0]
    for cause in CAUSES:
        own = wrong[wrong["cause"] == cause]
        low, high = wilson(len(own), len(wrong))
        yield {
            "cause": cause,
            "n": len(own),
            "n_wrong": len(wrong),
            "n_answers": _answers(planned),
            "share": len(own) / len(wrong) if len(wrong) else np.nan,
            "share_low": float(low),
            "share_high": float(high),
            "n_confident": int(own["confidence"].notna().sum()),
            "mean_confidence": own["confidence"].mean(),
        }


def _answers(planned: pd.DataFrame) -> int:
    """How many answers have a verdict."""
    return int(planned["correct"].notna().sum())


def _by_cell(rows: Rows, made: Callable[[pd.DataFrame], pd.DataFrame]) -> pd.DataFrame:
    return pd.concat([made(planned).assign(**cell._asdict()) for cell, planned in rows.items()], ignore_index=True)
