"""What an answer with a stated confidence is paid: correctness, calibration and form.

    reward = f (c + calibration + format_weight)

c is 1 for a right answer, else 0; q the stated confidence; f is 1 where the form holds and a confidence is stated,
else 0. The designs differ in the calibration term:

| formula        | right           | wrong          | margin   | optimum q*(p)            | range right; wrong         |
|----------------|-----------------|----------------|----------|--------------------------|----------------------------|
| accuracy       | 0               | 0              | 1        | none: any q is as good   | 1; 0                       |
| rlcr           | -(1-q)^2        | -q^2           | 0        | p                        | 0 to 1; -1 to 0            |
| weighted_brier | -lambda (1-q)^2 | -lambda q^2    | 1-lambda | p                        | 1-lambda to 1; -lambda to 0|
| mscr           | b1 (1-(1-q)^2)  | -b2 q^2        | 1        | b1 p / (b1 p + b2 (1-p)) | 1 to 1+b1; -b2 to 0        |
| log_score      | -lambda l(q)    | -lambda l(1-q) | 1-lambda | p, kept within the floor | 1-lambda to 1; -lambda to 0|

*Margin*: the least that a right answer is paid less the most that a wrong one is, at whatever confidence. Margins and
ranges are without format_weight, which both get alike. l(x) = ln((1-e)/x) / ln((1-e)/e), with x kept within e (`floor`)
and 1-e: the loss of the logarithmic score, brought to 0 to 1. Unbounded, it would pay more for an answer that is
wrong, and said to be, than for many a right one.

Sources: rlcr, Damani et al. (arXiv 2507.16806); log_score after Bani-Harouni et al. (arXiv 2503.02623), with c added;
weighted Brier and MSCR, "The Confidence Dichotomy" (arXiv 2601.07264). The published MSCR is known by its properties
alone (separate terms for right and wrong answers, a strict margin, this optimum): ours is one instantiation of them.

A missing confidence is not a low one. It costs the form, so that all terms are 0: were c still paid, then to leave the
confidence out would pay more than to state the best one, by lambda p (1-p) less format_weight (weighted Brier).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from toolcal.training.designs import Design as Design
from toolcal.training.designs import design_of as design_of

Floats = npt.NDArray[np.float64]


def reward(
    design: Design, correct: npt.ArrayLike, confidence: npt.ArrayLike, formatted: npt.ArrayLike
) -> npt.NDArray[np.float64]:
    """What each answer is paid.

    Args:
        design: the reward design.
        correct: 1 or 0, of any shape; NaN or None where the answer was not graded.
        confidence: 0 to 1, broadcast with `correct`; NaN or None where none was stated.
        formatted: whether the form holds, broadcast with `correct`.

    Returns:
        The rewards, in the broadcast shape; NaN where the answer was not graded.

    Raises:
        ValueError: for verdicts other than 0 and 1, or confidences outside 0 to 1.
    """
    return total(parts(design, correct, confidence, formatted))


def total(terms: Mapping[str, Floats]) -> Floats:
    """What answers are paid, from the terms that `parts` gives."""
    return np.asarray(sum(terms.values()), np.float64)


def parts(
    design: Design, correct: npt.ArrayLike, confidence: npt.ArrayLike, formatted: npt.ArrayLike
) -> dict[str, npt.NDArray[np.float64]]:
    """The terms `accuracy`, `calibration` and `format`, which sum to the reward; arguments and errors as `reward`."""
    c, q = np.asarray(correct, np.float64), np.asarray(confidence, np.float64)
    for values, odd, what in (
        (c, ~np.isin(c, (0, 1)) & ~np.isnan(c), "a verdict must be 0 or 1"),
        (q, (q < 0) | (q > 1), "a confidence must be within 0 and 1"),
    ):
        if odd.any():
            raise ValueError(f"{what}, not {values[odd][0]:g}")
    c, q, holds = np.broadcast_arrays(c, q, np.asarray(formatted, np.bool_))
    stated = holds & ~np.isnan(q)
    right, wrong = _calibration(design, np.where(stated, q, 0.0))
    terms = {"accuracy": c, "calibration": np.where(c == 1, right, wrong)}
    terms["format"] = np.full(c.shape, design.parameters["format_weight"])
    return {name: np.where(np.isnan(c), np.nan, np.where(stated, term, 0.0)) for name, term in terms.items()}


def group_advantages(rewards: npt.ArrayLike, *, scale: bool) -> npt.NDArray[np.float64]:
    """How much better each answer of a group is paid than the group's mean.

    Args:
        rewards: (..., groups, members); NaN or None is masked: out of mean and deviation, with an advantage of 0.
        scale: divide by the group's standard deviation (of a sample, n - 1), as GRPO does (Shao et al., arXiv
            2402.03300); without it, the plain difference.

    Returns:
        The advantages, in the shape of `rewards`; 0 throughout a group of one value, or of one member.
    """
    paid = np.asarray(rewards, np.float64)
    there = ~np.isnan(paid)
    known = np.where(there, paid, 0.0)
    n = there.sum(axis=-1, keepdims=True)
    gap = np.where(there, known - known.sum(axis=-1, keepdims=True) / np.maximum(n, 1), 0.0)
    deviation = np.sqrt((gap**2).sum(axis=-1, keepdims=True) / np.maximum(n - 1, 1))
    # Rounding alone is no difference, and would be blown up to one.
    differ = deviation > 1e-12 * np.abs(known).max(axis=-1, keepdims=True, initial=0.0)
    return np.asarray(np.divide(gap, deviation if scale else 1.0, out=np.zeros_like(gap), where=differ))


def margin(design: Design) -> float:
    """The least that a right answer is paid less the most that a wrong one is, both in form, at whatever confidence."""
    match design.formula:
        case "rlcr":
            return 0.0
        case "weighted_brier" | "log_score":
            return 1.0 - design.parameters["lambda_"]
    return 1.0


def expected_reward(design: Design, p: npt.ArrayLike, q: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """What an answer in form is paid in the mean, right with probability p and stated with confidence q (broadcast)."""
    chance = np.asarray(p, np.float64)
    return np.asarray(chance * reward(design, 1, q, True) + (1 - chance) * reward(design, 0, q, True))


def optimal_confidence(design: Design, p: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """q*(p): the confidence that pays best where an answer is right with probability p; NaN where all pay the same."""
    chance = np.asarray(p, np.float64)
    match design.formula:
        case "accuracy":
            return np.full(chance.shape, np.nan)
        case "mscr":
            right, wrong = (design.parameters[name] for name in ("b1", "b2"))
            return np.asarray(right * chance / (right * chance + wrong * (1 - chance)))
        case "log_score":
            floor = design.parameters["floor"]
            return np.clip(chance, floor, 1 - floor)
    return chance.copy()


def _calibration(design: Design, q: Floats) -> tuple[Floats, Floats]:
    """The calibration term of right and of wrong answers at these confidences."""
    has: Mapping[str, float] = design.parameters
    match design.formula:
        case "rlcr":
            return -((1 - q) ** 2), -(q**2)
        case "weighted_brier":
            return -has["lambda_"] * (1 - q) ** 2, -has["lambda_"] * q**2
        case "mscr":
            return has["b1"] * (1 - (1 - q) ** 2), -has["b2"] * q**2
        case "log_score":
            return -has["lambda_"] * _log_loss(q, has["floor"]), -has["lambda_"] * _log_loss(1 - q, has["floor"])
    return np.zeros_like(q), np.zeros_like(q)


def _log_loss(x: Floats, floor: float) -> Floats:
    """Of the probability given to what came true: 0 at 1 - floor and above, 1 at the floor and below."""
    most = 1 - floor
    return np.asarray(np.log(most / np.clip(x, floor, most)) / np.log(most / floor))
