"""The question after a turn: what is asked in each mode, what is read of the answer, and when it is asked again."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.models.test_json_mode import CASE, TOOLS
from toolcal import tables
from toolcal.confidence.turn import TurnQuestion
from toolcal.confidence.turn_plan import BESIDE
from toolcal.models import json_mode, python_list
from toolcal.models.protocol import Reply, Request

SAID = (
    {"role": "user", "content": "Where am I?"},
    {"role": "assistant", "content": "You are at home."},
)
ENDED = Request(CASE, 0, 3, 2, 1, SAID, 0, TOOLS, 5)


def reply(content: Any = None, finish: str = "stop", **values: Any) -> Reply:
    return Reply({"role": "assistant", "content": content}, finish, **values)


def in_json(content: str) -> Reply:
    """An answer as `Chat` gives it in JSON mode."""
    asked = TurnQuestion("percent", in_json=True).first(ENDED)
    return Reply(json_mode.decode(content, asked.tools, guide=asked.guide), "stop")


@pytest.mark.parametrize(("scale", "range"), [("percent", "from 0 to 100"), ("unit", "from 0 to 1")])
def test_a_message_of_the_user_asks_behind_the_conversation_with_the_tools_as_before(scale: Any, range: str) -> None:
    asked = TurnQuestion(scale).first(ENDED)
    assert asked.messages[:-1] == SAID
    assert asked.messages[-1]["role"] == "user"
    assert f"a number {range}" in asked.messages[-1]["content"]
    assert asked.messages[-1]["content"].endswith(f"Confidence: <a number {range}>")
    assert (asked.tools, asked.guide, asked.beside) == (TOOLS, None, BESIDE)
    assert (asked.turn, asked.step, asked.attempt, asked.turn_start) == (3, 0, 0, 0)


def test_in_json_mode_the_confidence_alone_can_be_stated() -> None:
    asked = TurnQuestion("percent", in_json=True).first(ENDED)
    messages, form = json_mode.prompt(asked)
    (branch,) = form["json_schema"]["schema"]["anyOf"]
    assert branch["properties"]["confidence"] == {"type": "integer", "minimum": 0, "maximum": 100}
    assert branch["required"] == ["action", "confidence"]
    assert [message["content"] for message in messages[-3:-1]] == [message["content"] for message in SAID]
    assert '{"action": "answer", "confidence": 95}' in [message["content"] for message in messages]
    assert "The kitchen lamp is off." in [message["content"] for message in messages]
    _, unit = json_mode.prompt(TurnQuestion("unit", in_json=True).first(ENDED))
    assert unit["json_schema"]["schema"]["anyOf"][0]["properties"]["confidence"]["maximum"] == 1


def test_roles_alternate_in_every_mode_also_where_it_is_asked_again() -> None:
    question = TurnQuestion("percent")
    asked = question.first(ENDED)
    for answer in (reply("Quite sure."), reply(""), reply(None)):
        again = question.again(asked, answer)
        assert again is not None
        for request in (asked, again):
            roles = [message["role"] for message in request.messages]
            assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"]
            assert [message["role"] for message in python_list.prompt(request)] == ["system", *roles]


@pytest.mark.parametrize(
    ("content", "value"),
    [("Confidence: 85", 0.85), ("**Confidence:** 85%", 0.85), ("I looked.\nConfidence: 0", 0.0)],
)
def test_what_was_stated_is_read_at_the_first_asking(content: str, value: float) -> None:
    question = TurnQuestion("percent")
    assert question.again(question.first(ENDED), reply(content)) is None
    row = question.row(3, [reply(content)])
    assert (row["confidence"], row["status"], row["reasked"], row["confidence_reason"]) == (value, "ok", False, None)


@pytest.mark.parametrize(
    ("content", "reason"), [("Confidence: high", "no_number"), ("Confidence: 80 to 90", "several_numbers")]
)
def test_a_stated_confidence_that_is_no_number_is_missing_and_not_asked_for_again(content: str, reason: str) -> None:
    question = TurnQuestion("percent")
    assert question.again(question.first(ENDED), reply(content)) is None
    row = question.row(0, [reply(content)])
    assert (row["confidence"], row["confidence_reason"], row["status"]) == (None, reason, "ok")
    assert row["confidence_raw"] == content.removeprefix("Confidence: ")


def test_a_broken_form_is_asked_for_once_more_and_both_calls_are_paid() -> None:
    question = TurnQuestion("percent")
    asked = question.first(ENDED)
    first = reply("85, I think", prompt_tokens=10, completion_tokens=2, latency=1.0, cost=0.5, cached=True)
    again = question.again(asked, first)
    assert again is not None
    assert [message["content"] for message in again.messages[-2:-1]] == ["85, I think"]
    assert "does not have the line" in again.messages[-1]["content"]
    assert (again.beside, again.turn, again.step, again.attempt) == (BESIDE, 3, 0, 1)
    second = reply("Confidence: 70", prompt_tokens=20, completion_tokens=3, latency=2.0, cost=0.25)
    row = question.row(3, [first, second])
    assert (row["confidence"], row["reasked"], row["status"], row["cached"]) == (0.7, True, "ok", False)
    assert (row["prompt_tokens"], row["completion_tokens"], row["latency"], row["cost"]) == (30, 5, 3.0, 0.75)


@pytest.mark.parametrize(
    ("last", "status"),
    [
        (reply("No idea."), "broken_form"),
        (reply(""), "empty"),
        (reply("Let me th", "length"), "truncated"),
        (Reply({}, failure="context_exceeded"), "context_exceeded"),
        (Reply({}, failure="infra_error"), "infra_error"),
        (Reply({"role": "assistant", "content": None, "tool_calls": [None, 1]}), "malformed_call"),
        (Reply({"role": "assistant", "content": 3}), "empty"),
    ],
)
def test_without_a_confidence_the_status_says_what_there_is(last: Reply, status: str) -> None:
    row = TurnQuestion("percent").row(0, [reply("No idea."), last])
    assert row["status"] == status
    assert (row["confidence"], row["confidence_raw"], row["confidence_reason"]) == (None, None, "absent")
    key = {"model": "m", "scenario": "s", "perturbation": "p", "case_id": "c", "trial": 0}
    tables.check("turn_confidence", tables.frame("turn_confidence", [key | row]))


def test_a_failure_is_not_asked_again() -> None:
    question = TurnQuestion("percent")
    assert question.again(question.first(ENDED), Reply({}, failure="infra_error")) is None


def test_a_call_is_no_confidence() -> None:
    question = TurnQuestion("percent")
    called = {"id": "c", "type": "function", "function": {"name": "ls", "arguments": '{"confidence": 80}'}}
    made = Reply({"role": "assistant", "content": None, "tool_calls": [called]}, "tool_calls")
    assert question.again(question.first(ENDED), made) is not None
    assert question.row(0, [made])["confidence"] is None


@pytest.mark.parametrize(
    ("content", "value", "status"),
    [
        ('{"action": "answer", "confidence": 35}', 0.35, "ok"),
        ('{"action": "answer", "confidence": 350}', None, "ok"),
        ('{"action": "answer", "confidence": null}', None, "broken_form"),
        ('{"action": "answer"', None, "broken_form"),
        ("Confidence: 35", None, "broken_form"),
    ],
)
def test_in_json_mode_the_action_is_read(content: str, value: float | None, status: str) -> None:
    row = TurnQuestion("percent", in_json=True).row(0, [in_json(content)])
    assert (row["confidence"], row["status"]) == (value, status)
    assert row["confidence_raw"] == (str(json.loads(content)["confidence"]) if status == "ok" else None)
