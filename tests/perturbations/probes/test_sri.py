from __future__ import annotations

import json

import pytest

from toolcal.perturbations.probes import Seen, sri
from toolcal.perturbations.probes.state import Observed


def result(text, **changed):
    return {"result": text, "executed": True, "error": None, **changed}


def observed(*results):
    state = Observed()
    for name, text in results:
        state = state.after(name, result(text))
    return state


def seen(text="Done.", **changed):
    values = {
        "scenario": "bfcl-base",
        "turn": 0,
        "requests": ("Book a room.",),
        "tools": (),
        "observed": Observed(),
        "text": text,
        "status": "ok",
        "call": None,
        "decisive": False,
        "arrived": False,
        "acted_in_turn": False,
        "acted_in_case": False,
    }
    return Seen(**values | changed)


def test_the_message_holds_requests_state_and_rule_in_that_order():
    requests = tuple(f"Request {number}. {'x' * 800}" for number in range(6))
    state = observed(("book", '{"room": 12, "paid": false}'), ("pay", '{"paid": true}'), ("book", '{"room": 14}'))
    text = sri.message(seen(requests=requests, observed=state, turn=5), "full")
    words = sri.wording()["message"]
    places = [text.index(words[part]) for part in ("header", "earlier", "current", "state", "rule")]
    assert places == sorted(places)
    assert [line[:11] for line in text.splitlines() if line.startswith("- ")] == [
        f"- Request {n}" for n in (4, 3, 2, 1)
    ]
    assert {len(line) for line in text.splitlines() if line.startswith("- ")} == {702}
    assert requests[5] in text
    assert text.index("book.paid: false\npay.paid: true\nbook.room: 14") > places[3]


def test_variants_leave_parts_out():
    words = sri.wording()["message"]
    state = observed(("book", '{"room": 12}'))

    def parts(variant):
        text = sri.message(seen(requests=("Hello.", "Book."), observed=state), variant)
        return {part for part in ("header", "earlier", "current", "state", "rule") if words[part] in text}

    assert parts("full") == parts("no_history_edit") == {"header", "earlier", "current", "state", "rule"}
    assert parts("no_state") == {"header", "earlier", "current", "rule"}
    assert parts("state_only") == {"header", "state"}


def test_a_first_turn_without_results_says_so():
    text = sri.message(seen(), "full")
    assert sri.wording()["message"]["no_state"] in text
    assert sri.wording()["message"]["earlier"] not in text


def test_the_newest_values_are_kept_at_the_limit():
    state = observed(*((f"tool{number}", json.dumps({"value": "x" * 50})) for number in range(100)))
    shown = state.shown(sri.STATE_LENGTH)
    assert len(shown) == sri.STATE_LENGTH
    assert shown.splitlines()[-1].startswith("tool99.value: xxx")
    assert shown.splitlines()[0].endswith("...")
    assert "tool1." not in shown
    huge = observed(("cat", json.dumps({"content": "y" * 5000})))
    assert huge.shown(100) == f"cat.content: {'y' * 84}..."
    assert Observed().shown(100) == ""


@pytest.mark.parametrize(
    "failed",
    [
        result("no", executed=False, error="no such tool"),
        result("Error during execution: x", error="x"),
        result('{"error": "No such file."}'),
    ],
)
def test_what_failed_is_not_observed(failed):
    assert Observed().after("cat", failed).said == ""


def test_results_of_any_form_are_observed():
    state = observed(("pwd", "/home"), ("sum", "12"), ("list", '["a", "b"]'), ("login", "{'user': None}"))
    assert (
        state.shown(500) == 'pwd.result: /home\nsum.result: 12\nlist.result: ["a", "b"]\nlogin.result: {\'user\': None}'
    )


@pytest.mark.parametrize(
    ("gate", "scenario", "acts"),
    [
        ("none", "bfcl-miss_param", True),
        ("all", "bfcl-base", False),
        ("miss_param", "bfcl-base", True),
        ("miss_param", "bfcl-miss_param", False),
    ],
)
def test_gates_leave_a_question_alone(gate, scenario, acts):
    decision = sri.Sri(gate=gate).decide(seen("Which room would you like?", scenario=scenario))
    assert (decision.triggered, decision.reason) == (acts, "no_call" if acts else "asks")
    assert sri.Sri(gate=gate).decide(seen("It is booked.", scenario=scenario)).triggered


@pytest.mark.parametrize("text", ["Which one?", "Please provide the date.", "I’ll need the date.", "いつですか？"])
def test_what_asks(text):
    assert sri.asks(text)


@pytest.mark.parametrize("text", ["", "The room is booked.", "None of the tools can do this."])
def test_what_does_not(text):
    assert not sri.asks(text)


def test_it_acts_once_a_turn_and_at_halts_only():
    probe = sri.Sri()
    assert probe.decide(seen(acted_in_case=True)).triggered
    assert probe.decide(seen(acted_in_turn=True)).reason == "once_a_turn"
    assert probe.decide(seen(call=object())) is None
    assert probe.decide(seen("", status="empty")).reason == "empty"
