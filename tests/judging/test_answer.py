from __future__ import annotations

import json

import pytest

from toolcal.judging.answer import Unreadable, Verdict, read

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
    assert read(text, SHOWN) == verdict


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
        read(text, SHOWN)
