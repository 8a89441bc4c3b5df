"""What a reward design asks for, worked out without training: expected rewards, optima, margins, costs, gradients."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.optimize import minimize_scalar

from toolcal.training.rewards import Design, Floats, expected_reward, margin, optimal_confidence, reward

CHANCES = np.arange(1, 20) / 20
"""p: the chances of a right answer at which designs are looked at."""
CONFIDENCES = np.arange(101) / 100
"""q: the stated confidences at which they are."""


def analyse(designs: Sequence[Design]) -> dict[str, pd.DataFrame]:
    """The tables `reward_designs`, `reward_optima` and `reward_curves`."""
    return {
        "reward_designs": pd.DataFrame([_design(design) for design in designs]),
        "reward_optima": pd.DataFrame([_optimum(design, p) for design in designs for p in CHANCES]),
        "reward_curves": pd.concat([_curve(design, p) for design in designs for p in CHANCES], ignore_index=True),
    }


def _design(design: Design) -> dict[str, object]:
    right, wrong = (reward(design, correct, CONFIDENCES, True) for correct in (1, 0))
    return {
        "design": design.name,
        "formula": design.formula,
        **{name: design.parameters.get(name) for name in ("b1", "b2", "floor", "format_weight")},
        "lambda": design.parameters.get("lambda_"),
        "margin": margin(design),
        "margin_found": right.min() - wrong.max(),
        "lowest": min(right.min(), wrong.min()),
        "highest": max(right.max(), wrong.max()),
    }


def _optimum(design: Design, p: float) -> dict[str, object]:
    expected = expected_reward(design, p, CONFIDENCES)
    best = float(optimal_confidence(design, p))
    found: float | None = None
    if not np.isnan(best):
        search = minimize_scalar(
            lambda q: -float(expected_reward(design, p, q)), bounds=(0, 1), method="bounded", options={"xatol": 1e-9}
        )
        found = float(search.x)
    most = float(expected[0] if np.isnan(best) else expected_reward(design, p, best))
    return {
        "design": design.name,
        "p": p,
        "optimum": best,
        "optimum_found": found,
        "expected_reward": most,
        "cost_at_0": most - expected[0],
        "cost_at_1": most - expected[-1],
        "cost_at_p": most - float(expected_reward(design, p, p)),
        "signal": _advantages(design, p).std(),
    }


def _curve(design: Design, p: float) -> pd.DataFrame:
    expected = expected_reward(design, p, CONFIDENCES)
    best = float(optimal_confidence(design, p))
    most = expected[0] if np.isnan(best) else expected_reward(design, p, best)
    return pd.DataFrame(
        {
            "design": design.name,
            "p": p,
            "q": CONFIDENCES,
            "expected_reward": expected,
            "cost": most - expected,
            "advantage": _advantages(design, p),
        }
    )


def _advantages(design: Design, p: float) -> Floats:
    """The expected advantage of each confidence, in a large group whose members state all of them equally often.

    It is what a group-relative update moves that confidence's logit by, but for the learning rate and the policy's own
    share of it: (E[reward at q] - mean) / deviation, where the deviation is that of single rewards in the group.
    """
    right, wrong = (reward(design, correct, CONFIDENCES, True) for correct in (1, 0))
    expected = p * right + (1 - p) * wrong
    variance = (p * right**2 + (1 - p) * wrong**2).mean() - expected.mean() ** 2
    return np.asarray((expected - expected.mean()) / np.sqrt(variance))
