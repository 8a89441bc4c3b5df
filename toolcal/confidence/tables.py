"""The tables of the confidence study; `toolcal.tables` has them among its own."""

from __future__ import annotations

from toolcal.columns import Column, Table, column

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
}


def _keys(*names: str) -> dict[str, Column]:
    return {name: _KEYS[name] for name in names}


CONFIDENCE_TABLES = (
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
)
