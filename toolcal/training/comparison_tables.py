"""The tables of the fine-tune and of the comparison; `toolcal.tables` has them among its own."""

from __future__ import annotations

from toolcal.columns import Table, column
from toolcal.confidence.metric_names import METRICS as ALL_METRICS
from toolcal.confidence.metric_names import REASONS
from toolcal.confidence.tables import TOOLS
from toolcal.training.settings import SETTINGS

_MEANS = {
    "format_share": "share of graded answers whose first form was whole: an answer and a confidence that could be read",
    "reward": "mean reward of graded answers by the design that the checkpoint was trained with",
}
COMPARED = ("accuracy", "mean_confidence", "brier", "ece10", "ece_debiased", "auroc", "mcip", "coverage", *_MEANS)
"""Metrics of the table `comparison`."""
_WORDS = "; ".join(f"{name}: {_MEANS.get(name) or ALL_METRICS[name]}" for name in COMPARED)

COMPARISON_TABLES = (
    Table(
        "supervised_log",
        ("step",),
        {
            "step": column("int", "optimizer step, from 0"),
            "loss": column("float", "mean negative log-likelihood of the responses' tokens in the step's examples"),
            "token_accuracy": column("float", "share of these tokens that were the likeliest (0 to 1)", null=True),
            "gradient_norm": column("float", "Euclidean norm of the adapter's gradient, before clipping", null=True),
            "learning_rate": column("float", "of the step"),
            "tokens": column("int", "tokens read so far, those of the prompts among them"),
        },
    ),
    Table(
        "comparison",
        ("method", "setting", "question_set", "tool", "noise", "metric"),
        {
            "method": column(
                "str",
                "the checkpoint; untreated: before training; temperature: the untreated model's confidences under "
                "temperature scaling, on the half of the questions that it was not fitted on",
            ),
            "setting": column(
                "str",
                "how far the questions are from those that were trained on. "
                + "; ".join(f"{name}: {words}" for name, words in SETTINGS.items()),
                values=tuple(SETTINGS),
            ),
            "question_set": column("str", "name of the question set; none where the setting was not asked"),
            "tool": column("str", "the tool that was offered", values=TOOLS),
            "noise": column("float", "share of questions whose support is corrupted (0 to 1)"),
            "metric": column("str", f"what is compared. {_WORDS}", values=COMPARED),
            "model": column("str", "model id of the configuration"),
            "n": column("int", "answers with a verdict"),
            "n_missing": column("int", "answers planned but without a verdict"),
            "value": column("float", "the metric over all of the method's answers", null=True),
            "value_low": column("float", "lower end of its 95 % interval", null=True),
            "value_high": column("float", "upper end of its 95 % interval", null=True),
            "value_reason": column(
                "str",
                "why it is null; not_asked: the configuration has no questions of the setting; no_design: no reward "
                "was trained with",
                null=True,
                values=(*REASONS, "not_asked", "no_design"),
            ),
            "n_pairs": column("int", "answers that the difference is over: of both, to the same question and trial"),
            "untreated": column("float", "the untreated model's value on the pairs", null=True),
            "delta": column("float", "difference to it on the pairs; null for the untreated model itself", null=True),
            "delta_low": column("float", "lower end of its 95 % interval, paired, questions resampled", null=True),
            "delta_high": column("float", "upper end of its 95 % interval, paired, questions resampled", null=True),
            "relative": column("float", "delta / untreated; null where that is not above 0", null=True),
            "relative_low": column(
                "float", "delta_low / untreated, so that it has delta's uncertainty alone", null=True
            ),
            "relative_high": column("float", "delta_high / untreated", null=True),
            "p": column("float", "two-sided p of the paired test; null where nothing was tested", null=True),
            "test": column(
                "str",
                "the test: labels swapped question by question at random, or exactly",
                null=True,
                values=("mcnemar_exact", "permutation_clustered", "swapped_labels"),
            ),
            "p_holm": column("float", "p after Holm over the comparisons", null=True),
            "comparisons": column("int", "of the Holm family: all rows of this metric that have a delta"),
        },
    ),
)
