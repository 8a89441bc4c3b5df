from __future__ import annotations

import json
import time

import pytest

from toolcal.calls import parse
from toolcal.confidence.final_form import Final, read, read_emission

BOTH = Final("Paris", "0.9")


@pytest.mark.parametrize(
    "message",
    [
        "Answer: Paris\nConfidence: 0.9",
        "I looked it up.\n\nAnswer: Paris\nConfidence: 0.9\n",
        "answer : Paris\nCONFIDENCE:0.9",
        "**Answer:** Paris\n**Confidence:** 0.9",
        "**Answer**: Paris\n**Confidence**: 0.9",
        "**Answer: Paris**\n**Confidence: 0.9**",
        "Answer: **Paris**\nConfidence: *0.9*",
        "Answer: `Paris`\nConfidence: `0.9`",
        "### Answer: Paris\n### Confidence: 0.9",
        "- Answer: Paris\n- Confidence: 0.9",
        "1. Answer: Paris\n2. Confidence: 0.9",
        "> Answer: Paris\n> Confidence: 0.9",
        "```\nAnswer: Paris\nConfidence: 0.9\n```",
        "```text\nAnswer: Paris\nConfidence: 0.9\n```\n",
        "Answer： Paris\nConfidence：0.9",
        "Final answer: Paris\nConfidence level: 0.9",
        "My final answer: Paris\nMy confidence: 0.9",
        "Answer:\nParis\n\nConfidence:\n0.9",
        "Answer: Paris, Confidence: 0.9",
        "Answer: Paris. Confidence: 0.9",
        "Answer: Paris | Confidence: 0.9",
        "Answer: Paris\r\nConfidence: 0.9\r\n",
        "Confidence: 0.9\nAnswer: Paris",
        "<answer>Paris</answer>\n<confidence>0.9</confidence>",
        "<think>Answer: Rome\nConfidence: 0.1</think>Answer: Paris\nConfidence: 0.9",
        "Answer: Rome\nConfidence: 0.1</think>\nAnswer: Paris\nConfidence: 0.9",
        "Answer: Rome\nConfidence: 0.1\nWait.\nAnswer: Paris\nConfidence: 0.9",
        "Answer: Paris\nConfidence: 0.9\n\nAnswer: Rome",
        "Answer: <the answer alone>\nConfidence: <a number>\nAnswer: Paris\nConfidence: 0.9",
        '{"answer": "Paris", "confidence": 0.9}',
        '```json\n{"answer": "Paris", "confidence": "0.9"}\n```',
        'So:\n{"confidence": 0.9, "answer": " Paris "}',
        *(f"Answer: Paris{end}Confidence: 0.9{end}" for end in ("\r", "\x0b", "\x0c", "\x85", "\u2028", "\u2029")),
    ],
)
def test_the_form_in_any_dress(message):
    found = read(message)
    assert (found.answer.rstrip("."), found.confidence) == ("Paris", "0.9")


@pytest.mark.parametrize(
    ("message", "final"),
    [
        (None, Final(None, None)),
        ("", Final(None, None)),
        ("Paris, I am sure.", Final(None, None)),
        ("The answer is Paris.", Final(None, None)),
        ("Answer: Paris", Final("Paris", None)),
        ("Confidence: 0.9", Final(None, "0.9")),
        ("Answer:\nConfidence: 0.9", Final(None, "0.9")),
        ("Answer: Paris\nConfidence:", Final("Paris", None)),
        ("Answer: ...\nConfidence: 0.9", Final(None, "0.9")),
        ("Answer: <the answer alone, as short as possible>\nConfidence: <a number from 0 to 1>", Final(None, None)),
        ("<think>Answer: Paris\nConfidence: 0.9", Final(None, None)),
        ("Answer: Paris\nAnswer: Rome\nConfidence: 0.9", Final("Rome", "0.9")),
        ('{"answer": "Paris"}', Final(None, None)),
        ("{" * 50_000, Final(None, None)),
    ],
)
def test_what_is_not_there_is_missing(message, final):
    assert read(message) == final


@pytest.mark.parametrize(
    ("message", "final"),
    [
        ("Answer: 12:30\nConfidence: 80% (fairly sure)", Final("12:30", "80% (fairly sure)")),
        ("Answer: line one\nline two\nConfidence: 90", Final("line one\nline two", "90")),
        ("Answer: $\\frac{1}{2}$\nConfidence: 90", Final("$\\frac{1}{2}$", "90")),
        ("Answer: a_b * c\nConfidence: high", Final("a_b * c", "high")),
        ("Answer: Paris\nConfidence (0-100): 85\nThank you.", Final("Paris", "85")),
        ("Answer: 0\nConfidence: 0", Final("0", "0")),
        ("Answer: I don't know\nConfidence: 0.1", Final("I don't know", "0.1")),
        ("Answer: x² — “y”\nConfidence: ０．９", Final("x² — “y”", "０．９")),
        ('{"answer": 0, "confidence": 0}', Final("0", "0")),
        ('{"answer": "\\\\frac{1}{2}", "confidence": 80}', Final("\\frac{1}{2}", "80")),
        ('Of {1, 2}:\n```json\n{"answer": {"x": 1}, "confidence": 80}\n```', Final('{"x": 1}', "80")),
    ],
)
def test_what_it_says_is_left_as_it_stands(message, final):
    assert read(message) == final


@pytest.mark.parametrize(
    "message",
    [
        *("Answer: " * 50_000, "*" * 200_000, "<think>" * 20_000, " " * 300_000, "<answer>" * 30_000),
        *("```\n" * 50_000, "{" * 100_000 + "}", '{"a":' * 20_000 + "1" + "}" * 20_000),
    ],
)
def test_odd_messages_are_read_quickly(message):
    started = time.monotonic()
    assert read(message).confidence is None
    assert read(message + "\nAnswer: Paris\nConfidence: 0.9").confidence in ("0.9", None)
    assert time.monotonic() - started < 2


def emission(content=None, tool="answer", **message):
    return read_emission(parse({"role": "assistant", "content": content, **message}, "stop", {"answer"}), tool)


def called(arguments, tool="answer"):
    return emission(tool=tool, tool_calls=[{"id": "x", "function": {"name": "answer", "arguments": arguments}}])


def test_a_call_of_the_answering_tool_is_the_form_too():
    assert called(json.dumps({"answer": "Paris", "confidence": 0.9})) == BOTH
    assert called({"answer": "Paris"}) == Final("Paris", None)
    assert called({"answer": "", "confidence": 90}) == Final(None, "90")
    assert called({"answer": "Paris", "confidence": 0.9}, tool="other") == Final(None, None)
    assert emission("Answer: Paris\nConfidence: 0.9") == BOTH
    assert emission([{"type": "text", "text": "Answer: Paris\n"}, {"type": "text", "text": "Confidence: 0.9"}]) == BOTH
    assert emission() == Final(None, None)


@pytest.mark.parametrize(
    "arguments", ['{"answer": "a", "confidence": 1e999}', '{"answer": "a", "conf', "[" * 9000, "9" * 9000, 7, None]
)
def test_a_call_that_cannot_be_read_is_no_form(arguments):
    assert called(arguments) == Final(None, None)
    assert emission(tool_calls=[arguments, {"id": 1}]) == Final(None, None)


def test_the_missing_parts_are_named():
    assert Final("a", None).missing() == ["confidence"]
    assert Final(None, None).missing() == ["answer", "confidence"]
    assert Final("a", None).missing(("answer",)) == []
