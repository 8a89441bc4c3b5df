"""The bench of reward designs: tabular agents trained by each, and what they end with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from toolcal.confidence.metric_names import BOUNDS
from toolcal.confidence.metrics import score
from toolcal.training.reward_tables import OUTCOMES, SCORED
from toolcal.training.rewards import Design, Floats, optimal_confidence
from toolcal.training.tabular_agent import CONFIDENCES, POPULATIONS, SHARES, Training, sample, train

QUESTIONS = 400
"""Questions of each kind that a trained agent is judged by."""
_LEVEL = 0.95


def bench(designs: Sequence[Design], training: Training, *, seed: int) -> dict[str, pd.DataFrame]:
    """Train and judge: the tables `tabular_agents`, `tabular_kinds`, `tabular_confidences` and `tabular_summary`.

    Args:
        designs: the reward designs.
        training: how agents are trained.
        seed: of the configuration.
    """
    agents, kinds, confidences = [], [], []
    for design in designs:
        for population, chances in POPULATIONS.items():
            for scaled in (False, True):
                key = {"design": design.name, "population": population, "scaled": scaled}
                policies = train(design, np.array(chances), training, scale=scaled, seed=seed)
                agents += [
                    key | {"seed": place} | _judged(policy, np.array(chances), seed + place)
                    for place, policy in enumerate(policies)
                ]
                kinds += [key | row for row in _kinds(design, policies, np.array(chances))]
                confidences += [key | row for row in _confidences(policies)]
    outcomes = pd.DataFrame(agents)
    return {
        "tabular_agents": outcomes,
        "tabular_kinds": pd.DataFrame(kinds),
        "tabular_confidences": pd.DataFrame(confidences),
        "tabular_summary": pd.DataFrame(_summaries(outcomes)),
    }


def _judged(policy: Floats, chances: Floats, seed: int) -> dict[str, object]:
    """What an agent ends with, by its answers to new questions; calibration is of questions that it answered."""
    confidence, correct, answered = sample(policy, chances, QUESTIONS, seed=seed)
    given = answered == 1
    scores = score(confidence[given], correct[given], seed=seed, resamples=0)
    stated = np.unique(confidence[given], return_counts=True)[1]
    return {
        "n": len(correct),
        "n_answered": int(given.sum()),
        "accuracy": correct.mean(),
        "abstention": 1 - answered.mean(),
        **{name: scores[name] for name in SCORED},
        "sd_confidence": confidence[given].std() if given.any() else None,
        "modal_share": stated.max() / given.sum() if given.any() else None,
    }


def _kinds(design: Design, policies: Floats, chances: Floats) -> Iterator[dict[str, object]]:
    """By kind of question, from the policies themselves: what is stated where it is answered, over the seeds."""
    answers = policies[:, :, SHARES > 0]
    stated = (answers * CONFIDENCES).sum(axis=(2, 3)) / answers.sum(axis=(2, 3))
    right = (policies.sum(axis=3) * SHARES).sum(axis=2) * chances
    for kind, p in enumerate(chances):
        mean, low, high = _interval(stated[:, kind], (0.0, 1.0))
        yield {
            "kind": kind,
            "p": p,
            "optimum": float(optimal_confidence(design, p)),
            "confidence": mean,
            "confidence_low": low,
            "confidence_high": high,
            "accuracy": right[:, kind].mean(),
            "abstention": 1 - answers.sum(axis=(2, 3))[:, kind].mean(),
        }


def _confidences(policies: Floats) -> Iterator[dict[str, object]]:
    """How often each confidence is stated with an answer, over kinds and seeds."""
    said = policies[:, :, SHARES > 0].sum(axis=2).mean(axis=(0, 1))
    for value, share in zip(CONFIDENCES, said / said.sum(), strict=True):
        yield {"confidence": value, "share": share}


def _summaries(agents: pd.DataFrame) -> Iterator[dict[str, object]]:
    key = ["design", "population", "scaled"]
    for values, rows in agents.groupby(key, sort=False):
        for metric in OUTCOMES:
            there = rows[metric].dropna().to_numpy(np.float64)
            mean, low, high = _interval(there, BOUNDS.get(metric, (0.0, 1.0)))
            yield dict(zip(key, values, strict=True)) | {
                "metric": metric,
                "n_seeds": len(there),
                "mean": mean,
                "low": low,
                "high": high,
            }


def _interval(values: Floats, bounds: tuple[float, float]) -> tuple[float, float | None, float | None]:
    """Mean over seeds with Student's interval, kept within the bounds; no interval of a single seed."""
    if not len(values):
        return np.nan, None, None
    mean = float(values.mean())
    if len(values) == 1:
        return mean, None, None
    half = stdtrit(len(values) - 1, (1 + _LEVEL) / 2) * values.std(ddof=1) / np.sqrt(len(values))
    return mean, float(max(bounds[0], mean - half)), float(min(bounds[1], mean + half))
