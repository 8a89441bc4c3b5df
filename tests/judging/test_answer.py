from __future__ import annotations

import json

import pytest

from toolcal.judging.answer import Unreadable, Verdict, read_assertions, read_write

SHOWN = {3: "agent", 4: "user", 5: "tool"}


def answer(proposed=True, agreed=True, message=4, reason="r", **more):
    return json.dumps({"proposed": proposed, "agreed": agreed, "message": message, "reason": reason} | more)


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        (answer(), Verdict(True, True, 4, "r")),
        (f"\n```json\n{answer()}\n```\n", Verdict(True, True, 4, "r")),
        (f"```\n{answer(agreed=False, message=3)}\n```", Verdict(True, False, 3, "r")),
        (answer(False, False, None), Verdict(False, False, None, "r")),
    ],
)
def test_an_answer_of_the_form_asked_for_is_read(text, verdict):
    assert read_write(text, SHOWN) == verdict


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not one JSON object"),
        ("Yes, it was confirmed.", "not one JSON object"),
        (f"Here it is: {answer()}", "not one JSON object"),
        (answer() + answer(), "not one JSON object"),
        (f"[{answer()}]", "not one JSON object"),
        (answer()[:-1], "not one JSON object"),
        ("[" * 100_000, "not one JSON object"),
        ("```", "not one JSON object"),
        (answer(confidence=1), "its keys are not exactly"),
        ('{"proposed": true}', "its keys are not exactly"),
        (answer()[:-1] + ', "agreed": false}', "a key twice"),
        (answer(proposed="true"), "not both true or false"),
        (answer(agreed=1), "not both true or false"),
        (answer(reason=None), "reason is no text"),
        (answer(proposed=False), "agreed is true where proposed is false"),
        (answer(False, False, 3), "message is not null"),
        (answer(message=None), "message of the user"),
        (answer(message=3), "message of the user"),
        (answer(message=99), "message of the user"),
        (answer(message=4.0), "message of the user"),
        (answer(agreed=False, message=4), "message of the agent"),
        (answer(agreed=False, message=True), "message of the agent"),
    ],
)
def test_what_is_not_of_that_form_is_no_verdict(text, why):
    with pytest.raises(Unreadable, match=why):
        read_write(text, SHOWN)


def held(*entries, **more):
    """An answer about assertions, each entry (number, met), (number, met, reason) or what it is."""
    told = [
        dict(zip(("number", "met", "reason"), (*e, "r")[:3], strict=True)) if isinstance(e, tuple) else e
        for e in entries
    ]
    return json.dumps({"assertions": told, **more})


@pytest.mark.parametrize(
    "text",
    [
        held((0, True, "a"), (1, False, "b")),
        held((1, False, "b"), (0, True, "a")),
        f"```json\n{held((0, True, 'a'), (1, False, 'b'))}\n```",
    ],
)
def test_each_assertion_is_read_by_its_number(text):
    assert read_assertions(text, 2) == [(True, "a"), (False, "b")]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not one JSON object"),
        ("All assertions are met.", "not one JSON object"),
        (f"Here: {held((0, True), (1, True))}", "not one JSON object"),
        (held((0, True), (1, True))[:-4], "not one JSON object"),
        ("[true, true]", "not one JSON object"),
        ("{}", "its keys are not exactly assertions"),
        (held((0, True), (1, True), all=True), "its keys are not exactly assertions"),
        ('{"assertions": {"0": true, "1": true}}', "assertions is not a list"),
        (held(True, True), "an entry of assertions is no object"),
        (held((0, True)), "not there: assertion 1"),
        (held(), "not there: assertion 0, 1"),
        (held((0, True), (1, True), (1, True)), "assertion 1 is there twice"),
        (held((0, True), (2, True)), "a number is not that of an assertion"),
        (held((-1, True), (0, True)), "a number is not that of an assertion"),
        (held(("0", True), (1, True)), "a number is not that of an assertion"),
        (held((False, True), (1, True)), "a number is not that of an assertion"),
        (held((0, "true"), (1, True)), "met is not true or false for assertion 0"),
        (held((0, True), (1, None)), "met is not true or false for assertion 1"),
        (held((0, True, None), (1, True)), "reason is no text for assertion 0"),
        (
            held({"number": 0, "met": True}, (1, True)),
            "keys of an entry of assertions are not exactly number, met, reason",
        ),
        ('{"assertions": [{"number": 0, "met": true, "met": false, "reason": "r"}]}', "a key twice"),
    ],
)
def test_what_does_not_have_each_assertion_once_is_no_verdict(text, why):
    with pytest.raises(Unreadable, match=why):
        read_assertions(text, 2)
