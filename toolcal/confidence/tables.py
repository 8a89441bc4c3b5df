"""The tables of the confidence study; `toolcal.tables` has them among its own."""

from __future__ import annotations

from toolcal.columns import Column, Table, column
from toolcal.confidence.metric_names import BOUNDS, METRICS, REASONS

CONFIGURATIONS = ("direct", "prompted", "trained")
"""How a model answers: from what it knows, with tools, or with tools that it was trained to use."""
TOOLS = ("none", "search", "python")
ANSWER_STATUSES = ("ok", "broken_form", "empty", "truncated", "malformed_call", "context_exceeded", "infra_error")
DONE = ("none", "irrelevant", "outdated", "contradictory", "missing", "wrong")
"""What noise did to what supports a question, in passages or rows."""
CAUSES = (
    *("irrelevant", "outdated", "contradictory", "missing", "wrong"),
    *("no_call", "tool_failed", "not_found", "misread", "no_answer", "unknown"),
)

POST_HOC = ("none", "temperature", "histogram")
"""Rescalings of the stated confidence: none, temperature scaling, histogram binning."""
COMPARISONS = ("tool", "tools", "noise", "training")
"""Which two cells are compared: without and with a tool, both tools, noise 0 and more, before and after training."""

STUDY = ("model", "question_set", "configuration", "tool", "noise")
"""The key of one cell of the study."""

_KEYS: dict[str, Column] = {
    "model": column("str", "model id of the configuration"),
    "question_set": column("str", "name of the question set in the configuration"),
    "configuration": column("str", "direct, prompted (with tools), or trained (with tools)", values=CONFIGURATIONS),
    "tool": column("str", "the tool that was offered", values=TOOLS),
    "noise": column("float", "share of questions whose support is corrupted (0 to 1); 0 for real sets"),
    "question_id": column("str", "the question's id in its set"),
    "trial": column("int", "repetition, from 0"),
    "passage_id": column("str", "the passage's id"),
    "post_hoc": column(
        "str",
        "what was done to the confidences: none, temperature scaling, or histogram binning",
        values=POST_HOC,
    ),
    "questions": column(
        "str",
        "all, or the evaluation half: the questions that no rescaling was fitted on, of which all rescaled rows are",
        values=("all", "evaluation"),
    ),
    "comparison": column(
        "str",
        "tool: direct (first) and with the tool; tools: search (first) and python at one noise; noise: one tool at "
        "noise 0 (first) and at more; training: the base model with tools (first) and the model trained from it",
        values=COMPARISONS,
    ),
    "first_model": column("str", "model of the first cell"),
    "first_configuration": column("str", "configuration of the first cell", values=CONFIGURATIONS),
    "first_tool": column("str", "tool of the first cell", values=TOOLS),
    "first_noise": column("float", "noise of the first cell (0 to 1)"),
    "metric": column("str", "the metric that is compared"),
    "bin": column("int", "bin of equal width of the stated confidence, from 0"),
    "threshold": column("float", "answers at least so confident are kept (0 to 1)"),
    "cause": column("str", "of a wrong answer, as in answers", values=CAUSES),
}
_LOW, _HIGH = "lower end of its 95 % interval", "upper end of its 95 % interval"


def _keys(*names: str) -> dict[str, Column]:
    return {name: _KEYS[name] for name in names}


def _metric(name: str) -> dict[str, Column]:
    low, high = BOUNDS.get(name, (0.0, 1.0))
    return {
        name: column("float", f"{METRICS[name]} ({low:g} to {high:g})", null=True),
        f"{name}_low": column("float", _LOW, null=True),
        f"{name}_high": column("float", _HIGH, null=True),
        f"{name}_reason": column("str", "why it is null", null=True, values=(*REASONS, "not_fitted")),
    }


def _wilson(name: str, doc: str) -> dict[str, Column]:
    ends = {f"{name}_low": column("float", f"{_LOW}, Wilson's", null=True)}
    ends[f"{name}_high"] = column("float", f"{_HIGH}, Wilson's", null=True)
    return {name: column("float", f"{doc} (0 to 1)", null=True), **ends}


_JUDGE = column("str", "the judge's model, by litellm's name")

CONFIDENCE_TABLES = (
    Table(
        "answer_judgements",
        (*STUDY, "question_id", "trial", "judge"),
        {
            **_keys(*STUDY, "question_id", "trial"),
            "judge": _JUDGE,
            "question": column("str", "what it was asked", values=("right_answer",)),
            "verdict": column("bool", "the answer is right; null where it did not decide", null=True),
            "reason": column("str", "the judge's reason in its words, or why there is no verdict", null=True),
            "status": column(
                "str",
                "undecided: neither of two answers could be read; infra_error: asked again on the next run",
                values=("decided", "undecided", "context_exceeded", "infra_error"),
            ),
            "prompt_tokens": column("int", "of its calls for this answer", null=True),
            "completion_tokens": column("int", "of the same calls", null=True),
            "latency": column("float", "seconds of the same calls", null=True),
            "cost": column("float", "US dollars of the same calls; null where the price is unknown", null=True),
            "cached": column("bool", "answered from the journal throughout"),
        },
    ),
    Table(
        "answer_agreement",
        (*STUDY, "judge"),
        {
            **_keys(*STUDY),
            "judge": _JUDGE,
            "n": column("int", "answers with a verdict of both the rules and the judge"),
            "n_undecided": column("int", "answers that were put to the judge and have no verdict"),
            "right_by_both": column("int", "of n"),
            "right_by_rules_only": column("int", "of n"),
            "right_by_judge_only": column("int", "of n"),
            "wrong_by_both": column("int", "of n"),
            "kappa": column("float", "Cohen's kappa (-1 to 1); null where chance alone would agree", null=True),
        },
    ),
    Table(
        "questions",
        ("question_set", "noise", "question_id"),
        {
            **_keys("question_set", "noise", "question_id"),
            "draw": column("int", "place in the seeded order by which limits choose questions, from 0"),
            "source": column("str", "where the set comes from: world, or the published set's name"),
            "revision": column("str", "of the set: version of the generator, or the published set's revision"),
            "licence": column("str", "as the set's page states it"),
            "text": column("str", "the question"),
            "answers": column("json", "list of accepted answers, the canonical one first"),
            "kind": column("str", "how it is graded", values=("text", "number", "maths", "choice")),
            "difficulty": column("str", "level; empty where the set has none"),
            "gold_passages": column("json", "list of ids of the passages that together state the answer"),
            "done_search": column("str", "what noise did to its passages", values=DONE),
            "done_python": column("str", "what noise did to its rows", values=DONE),
        },
    ),
    Table(
        "passages",
        ("question_set", "noise", "passage_id"),
        {
            **_keys("question_set", "noise", "passage_id"),
            "title": column("str", "the passage's title"),
            "text": column("str", "the passage"),
        },
    ),
    Table(
        "answers",
        (*STUDY, "question_id", "trial"),
        {
            **_keys(*STUDY, "question_id", "trial"),
            "difficulty": column("str", "the question's level; empty where its set has none"),
            "done": column("str", "what noise did to the support that the tool reaches", values=DONE),
            "status": column(
                "str",
                "of the answer; broken_form: no answer could be read, the re-ask included; an infrastructure error is "
                "in no rate, and asked again on the next run",
                values=ANSWER_STATUSES,
            ),
            "answer": column("str", "the answer as read; null where there is none", null=True),
            "correct": column(
                "bool", "right by the grader; no answer is wrong; null for an infrastructure error", null=True
            ),
            "score": column(
                "float", "the grader's score: token F1 for text, else 0 or 1; null as `correct`", null=True
            ),
            "grade_reason": column("str", "why the grader decided so", null=True),
            "confidence_raw": column("str", "the confidence as written; null where none was", null=True),
            "confidence": column(
                "float", "the confidence (0 to 1); null where none could be read: it is missing", null=True
            ),
            "confidence_reason": column("str", "why the confidence is missing", null=True),
            "reasked": column("bool", "the form was broken, and was asked for once more"),
            "calls": column("int", "calls of the tool"),
            "calls_failed": column("int", "calls of the tool that came to nothing"),
            "gold_seen": column(
                "bool", "all gold passages were among the results; null without search or gold", null=True
            ),
            "cause": column(
                "str",
                "of a wrong answer: what noise did to its support, else no_call, tool_failed, not_found (the gold "
                "passages), misread (they were found, or code ran), no_answer, unknown; null where it is right",
                null=True,
                values=CAUSES,
            ),
            "messages": column("json", "the conversation, as OpenAI messages"),
            "prompt_tokens": column("int", "sum over the calls of the model", null=True),
            "completion_tokens": column("int", "sum over the calls of the model", null=True),
            "latency": column("float", "seconds, sum over the calls of the model", null=True),
            "cost": column("float", "US dollars, sum over the calls of the model", null=True),
            "cached": column("bool", "all calls of the model came from the journal"),
        },
    ),
    Table(
        "calibration",
        (*STUDY, "difficulty", "post_hoc", "questions"),
        {
            **_keys(*STUDY),
            "difficulty": column("str", "the questions' level; all: of every level"),
            **_keys("post_hoc", "questions"),
            "base_model": column("str", "the model from which this one was trained; null for others", null=True),
            "n": column("int", "answers with a verdict: the denominator of accuracy and coverage"),
            "n_missing": column("int", "answers planned but without a verdict (infrastructure errors, no rows)"),
            "n_questions": column("int", "questions of the n; intervals resample these"),
            "n_confident": column("int", "of n, answers whose confidence could be read"),
            "n_wrong": column("int", "of n_confident, wrong ones: what mcip is the mean of"),
            "n_common": column(
                "int",
                "of n_wrong, those to questions that all compared cells get wrong, in every trial: the model's, and "
                "those of all that comes from the same first model by training, at this noise, with direct at every "
                "noise; cells without any verdict aside. What mcip_common is the mean of",
            ),
            **{name: spec for metric in METRICS for name, spec in _metric(metric).items()},
        },
    ),
    Table(
        "calibration_tests",
        ("comparison", *STUDY, *(f"first_{name}" for name in STUDY if name != "question_set"), "metric"),
        {
            **_keys("comparison", *STUDY, *(f"first_{name}" for name in STUDY if name != "question_set"), "metric"),
            "n": column(
                "int", "pairs: trials with a verdict in both cells; for all metrics but accuracy a confidence too"
            ),
            "n_questions": column("int", "questions of the pairs"),
            "first": column("float", "the metric in the pairs, of the first cell", null=True),
            "second": column("float", "the metric in the pairs, of the cell that the key names", null=True),
            "delta": column("float", "second - first (-1 to 1); p_reason says why it is null", null=True),
            "delta_low": column("float", f"{_LOW}, paired and clustered on the question", null=True),
            "delta_high": column("float", f"{_HIGH}, paired and clustered on the question", null=True),
            "test": column(
                "str",
                "mcnemar_exact for accuracy where each question is one pair, permutation_clustered where it has more; "
                "swapped_labels for the others; null without a test",
                null=True,
                values=("mcnemar_exact", "permutation_clustered", "swapped_labels"),
            ),
            "p": column("float", "of no difference, two-sided, not corrected; null where p_reason says why", null=True),
            "p_reason": column(
                "str",
                "why p is null. no_pairs; undefined: the metric is, in one of the two (no wrong answer, for instance); "
                "no_difference: all pairs agree, so that delta is 0 and nothing is left to test",
                null=True,
                values=("no_pairs", "undefined", "no_difference"),
            ),
            "p_holm": column("float", "p after Holm over the comparisons", null=True),
            "comparisons": column(
                "int",
                "of the Holm family: all rows of this metric that have a delta; those whose pairs all agree count, "
                "with a p of 1",
            ),
        },
    ),
    Table(
        "reliability",
        (*STUDY, "bin"),
        {
            **_keys(*STUDY, "bin"),
            "low": column("float", "the bin's lower edge, within it"),
            "high": column("float", "its upper edge, within it for the last bin only"),
            "n": column("int", "answers with a verdict and a confidence in the bin"),
            "confidence": column("float", "their mean confidence (0 to 1); null in an empty bin", null=True),
            **_wilson("accuracy", "share of them that are right"),
            "n_answers": column("int", "all answers of the cell that have a verdict, with a confidence or without"),
        },
    ),
    Table(
        "risk_coverage",
        (*STUDY, "threshold"),
        {
            **_keys(*STUDY, "threshold"),
            "n": column("int", "answers with a verdict and a confidence at or above the threshold"),
            "coverage": column("float", "their share of the cell's answers with a verdict and a confidence (0 to 1)"),
            **_wilson("risk", "share of them that are wrong; null where no confidence could be read (threshold 1)"),
            "n_confident": column("int", "answers of the cell with a verdict and a confidence"),
            "n_answers": column("int", "all answers of the cell that have a verdict"),
        },
    ),
    Table(
        "answer_causes",
        (*STUDY, "cause"),
        {
            **_keys(*STUDY, "cause"),
            "n": column("int", "wrong answers of this cause"),
            "n_wrong": column("int", "all wrong answers of the cell, those without a confidence too"),
            "n_answers": column("int", "all answers of the cell that have a verdict"),
            **_wilson("share", "n / n_wrong"),
            "n_confident": column("int", "of n, answers whose confidence could be read"),
            "mean_confidence": column("float", "mean of these (0 to 1)", null=True),
        },
    ),
)
