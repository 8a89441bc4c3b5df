"""The tables of the training; `toolcal.tables` has them among its own."""

from __future__ import annotations

from toolcal.columns import Column, Table, column
from toolcal.confidence.parse import REASONS
from toolcal.confidence.tables import ANSWER_STATUSES, DONE

_KEYS: dict[str, Column] = {
    "design": column("str", "reward design, by its name in the configuration"),
    "step": column("int", "of the training, from 1: one batch of answers, then one update"),
    "answer": column("int", "place among the answers of the step, from 0"),
}

TRAINING_TABLES = (
    Table(
        "training_log",
        ("design", "step"),
        {
            "design": _KEYS["design"],
            "step": _KEYS["step"],
            "n": column("int", "answers of the step that have a grade"),
            "n_ungraded": column("int", "answers without one, since a tool's service was down; in no mean, no update"),
            "reward": column("float", "mean reward", null=True),
            "reward_accuracy": column("float", "mean of its term for right answers", null=True),
            "reward_calibration": column("float", "mean of its term for the stated confidence", null=True),
            "reward_format": column("float", "mean of its term for the form", null=True),
            "groups_alike": column("float", "share of questions whose answers were all paid alike: no signal (0 to 1)"),
            "accuracy": column("float", "share of n that are right, whatever their form (0 to 1)", null=True),
            "formatted": column(
                "float",
                "share of all answers each response of which was whole, the last with an answer and a readable "
                "confidence (0 to 1)",
            ),
            "confidence_missing": column("float", "share of all answers without a readable confidence (0 to 1)"),
            "confidence": column("float", "mean stated confidence (0 to 1)", null=True),
            "confidence_zero": column("float", "share of stated confidences that are 0", null=True),
            "confidence_one": column("float", "share of stated confidences that are 1", null=True),
            "rolling_n": column("int", "the last graded answers with a confidence, of this step and those before it"),
            "rolling_ece": column("float", "expected calibration error of these, 10 bins of equal width", null=True),
            "rolling_accuracy": column("float", "share of these that are right (0 to 1)", null=True),
            "rolling_confidence": column("float", "mean confidence of these (0 to 1)", null=True),
            "calls": column("float", "mean number of tool calls of an answer"),
            "tokens": column("float", "mean number of tokens of an answer's responses, with those that a schema gave"),
            "trained_tokens": column("int", "tokens that the update is made of: those that the model chose"),
            "loss": column("float", "of the update", null=True),
            "kl": column("float", "divergence from the untreated model, per token; null where beta is 0", null=True),
            "entropy": column("float", "mean entropy of the model's next token (nats)", null=True),
            "gradient_norm": column("float", "of the update, before it was cut to max_gradient_norm", null=True),
            "learning_rate": column("float", "of the update", null=True),
            "rollout_seconds": column("float", "seconds that the answers took"),
            "seconds": column("float", "seconds of the whole step"),
        },
    ),
    Table(
        "training_samples",
        ("design", "step", "answer"),
        {
            **_KEYS,
            "question_set": column("str", "name of the question set in the configuration"),
            "noise": column("float", "share of questions whose support is corrupted (0 to 1)"),
            "tool": column("str", "the tool that was offered", values=("search", "python")),
            "question_id": column("str", "the question's id in its set"),
            "difficulty": column("str", "level; empty where the set has none"),
            "done": column("str", "what noise did to the support that the tool reaches", values=DONE),
            "status": column("str", "how the conversation ended", values=ANSWER_STATUSES),
            "given": column("str", "the answer; null where there was none", null=True),
            "correct": column("bool", "whether it is right; null where it has no grade", null=True),
            "confidence_raw": column("str", "what was said where the confidence was asked for", null=True),
            "confidence": column("float", "the same as a number (0 to 1); null where it cannot be read", null=True),
            "confidence_reason": column("str", "why it cannot be read", null=True, values=tuple(REASONS)),
            "formatted": column("bool", "whether the form held throughout"),
            "reward": column("float", "what the answer was paid; null where it has no grade", null=True),
            "advantage": column("float", "how much better than its question's other answers, as the update has it"),
            "responses": column("json", "list of what the model wrote, word for word, a text a response"),
        },
    ),
)
