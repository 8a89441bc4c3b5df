"""The tables of the bench of reward designs; `toolcal.tables` has them among its own."""

from __future__ import annotations

from collections.abc import Mapping

from toolcal.columns import Column, Table, column
from toolcal.confidence.metric_names import METRICS
from toolcal.training.designs import FORMULAS

SCORED = ("ece10", "ece_debiased", "brier", "auroc", "mcip", "mean_confidence")
"""Metrics of the confidence study that agents are judged by too."""
OUTCOMES: Mapping[str, str] = {
    "accuracy": "share of all questions answered right; to abstain is not right",
    "abstention": "share of all questions on which the agent abstained",
    **{name: f"of answered questions: {METRICS[name]}" for name in SCORED},
    "sd_confidence": "of answered questions: standard deviation of the stated confidence",
    "modal_share": "of answered questions: share that states the commonest confidence; 1 where it has collapsed",
}
"""What an agent is judged by (0 to 1; ece_debiased -1 to 1)."""

_KEYS: dict[str, Column] = {
    "design": column("str", "the reward design's name in the configuration"),
    "p": column("float", "chance that the answer is right (0 to 1)"),
    "q": column("float", "stated confidence (0 to 1)"),
    "population": column(
        "str",
        "spread: kinds of questions of 0.1, 0.3, 0.5, 0.7, 0.9; uniform: all of 0.5",
        values=("spread", "uniform"),
    ),
    "scaled": column("bool", "advantages were divided by their group's standard deviation"),
    "seed": column("int", "the agent, from 0"),
    "kind": column("int", "the kind of question, from 0"),
    "confidence": column("float", "stated confidence (0 to 1)"),
    "metric": column("str", "one of the columns of tabular_agents", values=tuple(OUTCOMES)),
}
_AGENT = ("design", "population", "scaled")


def _keys(*names: str) -> dict[str, Column]:
    return {name: _KEYS[name] for name in names}


REWARD_TABLES = (
    Table(
        "reward_designs",
        ("design",),
        {
            **_keys("design"),
            "formula": column("str", "as in toolcal/training/rewards.py", values=tuple(FORMULAS)),
            "lambda": column("float", "weight of the calibration term; null where the formula has none", null=True),
            "b1": column("float", "of MSCR, the weight for right answers", null=True),
            "b2": column("float", "of MSCR, the weight for wrong answers", null=True),
            "floor": column("float", "of the log score, the least confidence that is told from lower ones", null=True),
            "format_weight": column("float", "what form alone is paid"),
            "margin": column("float", "least reward of a right answer less the most of a wrong one, by its formula"),
            "margin_found": column("float", "the same, over a grid of confidences"),
            "lowest": column("float", "least reward of an answer in form"),
            "highest": column("float", "highest reward"),
        },
    ),
    Table(
        "reward_optima",
        ("design", "p"),
        {
            **_keys("design", "p"),
            "optimum": column("float", "q*(p) by its formula (0 to 1); null: all confidences pay the same", null=True),
            "optimum_found": column("float", "q*(p) by a numerical search", null=True),
            "expected_reward": column("float", "mean reward at q*"),
            "cost_at_0": column("float", "what is lost of it by stating 0"),
            "cost_at_1": column("float", "what is lost of it by stating 1"),
            "cost_at_p": column("float", "what is lost of it by stating p, the truth; above 0 where not proper"),
            "signal": column(
                "float",
                "how much of a scaled advantage tells of the confidence: standard deviation of the expected advantage "
                "over confidences, in a large group that states all equally often (0: nothing, 1: all)",
            ),
        },
    ),
    Table(
        "reward_curves",
        ("design", "p", "q"),
        {
            **_keys("design", "p", "q"),
            "expected_reward": column("float", "mean reward of an answer in form"),
            "cost": column("float", "what is lost of the mean reward at q*"),
            "advantage": column(
                "float", "expected scaled advantage of stating q, in a large group that states all equally often"
            ),
        },
    ),
    Table(
        "tabular_agents",
        (*_AGENT, "seed"),
        {
            **_keys(*_AGENT, "seed"),
            "n": column("int", "questions that the agent was judged by"),
            "n_answered": column("int", "of n, those on which it did not abstain"),
            **{name: column("float", doc, null=True) for name, doc in OUTCOMES.items()},
        },
    ),
    Table(
        "tabular_kinds",
        (*_AGENT, "kind"),
        {
            **_keys(*_AGENT, "kind"),
            "p": column("float", "chance that the better answer is right (0 to 1)"),
            "optimum": column("float", "q*(p) of the design; null: all confidences pay the same", null=True),
            "confidence": column("float", "mean confidence of its answers, over the seeds (0 to 1)", null=True),
            "confidence_low": column("float", "lower end of its 95 % interval over seeds, Student's", null=True),
            "confidence_high": column("float", "upper end of its 95 % interval over seeds, Student's", null=True),
            "accuracy": column("float", "share of its questions answered right, over the seeds"),
            "abstention": column("float", "share of its questions on which agents abstained"),
        },
    ),
    Table(
        "tabular_confidences",
        (*_AGENT, "confidence"),
        {**_keys(*_AGENT, "confidence"), "share": column("float", "share of answers that state it (0 to 1)")},
    ),
    Table(
        "tabular_summary",
        (*_AGENT, "metric"),
        {
            **_keys(*_AGENT, "metric"),
            "n_seeds": column("int", "agents of which the metric is defined"),
            "mean": column("float", "over these agents", null=True),
            "low": column("float", "lower end of its 95 % interval over seeds, Student's", null=True),
            "high": column("float", "upper end of its 95 % interval over seeds, Student's", null=True),
        },
    ),
)
"""What reward designs ask for, and what agents trained by them end with."""
