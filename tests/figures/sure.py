"""Made-up rows of the table `turn_calibration`: cases with an outcome, and the confidence after their last turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from toolcal import tables
from toolcal.diagnosis.turn_calibration import scored

SURE = {"calibrated": 0.92, "masked": 0.8, "slack": 0.85, "failed": 0.55}
"""About the mean confidence by outcome."""


def turn_calibration(cells: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of each cell that a figure shows, and one that it does not: of all outcomes together.

    Some confidences cannot be read, and where the shares are unknown there are no cases.
    """
    chance = np.random.default_rng(14)
    rows = []
    for cell in cells:
        counts = {name: round(cell["n"] * (cell[f"share_{name}"] or 0)) for name in tables.OUTCOMES}
        parts = {name: _cases(name, n, chance) for name, n in counts.items() if n}
        if parts:
            parts["all"] = pd.concat(parts.values())
        keys = {key: cell[key] for key in ("model", "scenario", "perturbation", "gold_action", "labeller")}
        rows += [
            {**keys, "question": "case_passed", "action": "all", "outcome": name, **scored(part, {}, 1, resamples=0)}
            for name, part in parts.items()
        ]
    return rows


def _cases(outcome: str, n: int, chance: np.random.Generator) -> pd.DataFrame:
    stated = np.clip(chance.normal(SURE[outcome], 0.15, n), 0, 1).round(2)
    return pd.DataFrame(
        {
            "cluster_id": [str(place) for place in range(n)],
            "confidence": np.where(chance.random(n) < 0.05, np.nan, stated),
            "asked": True,
            "correct": outcome in ("calibrated", "masked"),
        }
    )
