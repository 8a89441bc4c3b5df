"""An agent small enough to be followed: a table of logits, trained on questions whose chances are known.

A question is of a *kind*. Its better answer, A, is right with the kind's chance p, B with p / 2; to abstain is never
right. The agent chooses one of the three together with a confidence of 0, 0.1, ... 1, by a softmax over the 33
combinations of each kind, and knows the kind but nothing of p. It is trained as language models are in GRPO: groups of
samples for a question, rewards, advantages relative to the group, and a step along the policy gradient, without a
baseline model and with one step a sample.

Chances are on the grid of confidences, so that no error is the grid's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from toolcal.training.rewards import Design, Floats, group_advantages, reward

CONFIDENCES = np.arange(11) / 10
"""What can be stated."""
POPULATIONS = {"spread": (0.1, 0.3, 0.5, 0.7, 0.9), "uniform": (0.5,) * 3}
"""The chance p of each kind of question: difficulty spread, or one difficulty throughout."""
SHARES = np.array([1.0, 0.5, 0.0])
"""Chance of a right answer by A, by B and by abstaining, as a share of p."""


@dataclass(frozen=True)
class Training:
    """How the agents are trained.

    Attributes:
        seeds: agents of each design, population and scaling.
        steps: updates.
        questions: of each kind in a step; each is a group.
        group_size: answers to a question.
        learning_rate: of the last step; it grows from 0, lest an agent commit itself to what it met by chance first.
    """

    seeds: int
    steps: int
    questions: int
    group_size: int
    learning_rate: float


def train(design: Design, chances: Floats, training: Training, *, scale: bool, seed: int) -> Floats:
    """Train agents that differ in their random numbers alone.

    Args:
        design: what answers are paid.
        chances: p of each kind of question, (kinds,).
        training: how.
        scale: whether advantages are divided by their group's standard deviation.
        seed: of all random numbers; agents of equal seed and shape draw the same ones under any design.

    Returns:
        The policies, (seeds, kinds, 3, confidences): probabilities of A, B and abstaining, with each confidence.
    """
    generator = np.random.default_rng(seed)
    stated = np.tile(CONFIDENCES, len(SHARES))
    right, wrong = (reward(design, correct, stated, True) for correct in (1, 0))
    rows, choices = training.seeds * len(chances), len(stated)
    start = np.arange(rows)[:, None] * choices
    chance = np.tile((chances[:, None] * SHARES).repeat(len(CONFIDENCES), axis=1), (training.seeds, 1)).ravel()
    drawn = (rows, training.questions * training.group_size)
    logits = np.zeros((rows, choices))
    for step in range(training.steps):
        policy = _softmax(logits)
        chosen = _choose(policy, generator.random(drawn))
        correct = generator.random(drawn) < chance[start + chosen]
        paid = np.where(correct, right[chosen], wrong[chosen])
        groups = paid.reshape(rows, training.questions, training.group_size)
        advantages = group_advantages(groups, scale=scale).reshape(drawn)
        # The gradient of the mean of advantage times log probability.
        moved = np.bincount((start + chosen).ravel(), advantages.ravel(), logits.size).reshape(logits.shape) / drawn[1]
        gradient = moved - policy * moved.sum(axis=1, keepdims=True)
        logits += training.learning_rate * (step + 1) / training.steps * gradient
    return _softmax(logits).reshape(training.seeds, len(chances), len(SHARES), len(CONFIDENCES))


def sample(policy: Floats, chances: Floats, questions: int, *, seed: int) -> tuple[Floats, Floats, Floats]:
    """Answers of a trained agent.

    Args:
        policy: (kinds, 3, confidences), of one agent.
        chances: p of each kind, (kinds,).
        questions: of each kind.
        seed: of the answers.

    Returns:
        Three arrays of (kinds x questions,): confidence, whether it is right (0 or 1), and whether the agent answered
        (0: abstained).
    """
    generator = np.random.default_rng(seed)
    choice = _choose(policy.reshape(len(chances), -1), generator.random((len(chances), questions)))
    answer, stated = np.divmod(choice, len(CONFIDENCES))
    correct = generator.random(choice.shape) < chances[:, None] * SHARES[answer]
    return CONFIDENCES[stated].ravel(), correct.astype(np.float64).ravel(), (SHARES[answer] > 0).astype(float).ravel()


def _softmax(logits: Floats) -> Floats:
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def _choose(policy: Floats, uniform: Floats) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """Draw from each row's distribution: (rows, choices) and uniform numbers of (rows, n) give (rows, n)."""
    rows, choices = policy.shape
    row = np.arange(rows)[:, None]
    # All rows' cumulative distributions behind one another, so that one search serves them all.
    ends = (policy.cumsum(axis=1) + row).ravel()
    found = np.searchsorted(ends, uniform + row, side="right") - row * choices
    return np.asarray(np.minimum(found, choices - 1), np.int64)
