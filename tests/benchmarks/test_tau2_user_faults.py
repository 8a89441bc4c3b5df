"""Faults of the simulated user in small invented conversations, each beside a near miss that is none."""

from __future__ import annotations

import json

import pytest

from toolcal.benchmarks.protocol import Case
from toolcal.benchmarks.tau2.cases import load
from toolcal.benchmarks.tau2.user_faults import Fault, scenario_of, user_faults
from toolcal.recordings.run import Run, Verdict

SCENARIO = {
    "persona": "You are curt.",
    "instructions": {
        "domain": "airline",
        "reason_for_call": "You want to cancel reservation K7QD2M.",
        "known_info": "Your name is Ada Moor, your user id is ada_moor_4120. You were born on 1988-03-09.",
        "unknown_info": None,
        "task_instructions": "If it cannot be refunded, keep it.",
    },
}
GREETING = "Hi! How can I help you today?"
REQUEST = "I want to cancel a trip."
PROPOSAL = "I can cancel reservation K7QD2M and refund 210 dollars to your card. Do you want me to proceed?"
DONE = "Reservation K7QD2M has been cancelled. If you need anything else, let me know!"


def case_of(task, benchmark="tau2"):
    return Case(benchmark, f"{benchmark}-airline", "r", "a", "a", (), (), {"task": task}, ((),), ("REFUSE",), None)


CASE = case_of({"user_scenario": SCENARIO})


def call(identity, name):
    return {"id": identity, "type": "function", "function": {"name": name, "arguments": "{}"}}


def agent(text, *calls):
    return {"role": "assistant", "content": text} | ({"tool_calls": list(calls)} if calls else {})


def user(text):
    return {"role": "user", "content": text}


def result(identity, text):
    return {"role": "tool", "tool_call_id": identity, "content": text, "failed": False}


def talk(*words, reason=None):
    """A run of agent and user in turn, the agent first."""
    messages = tuple(agent(text) if at % 2 == 0 else user(text) for at, text in enumerate(words))
    return Run("a", 0, messages, Verdict("premature" if reason else "done", False, reason))


def names(run, case=CASE):
    return [fault.fault for fault in user_faults(run, case)]


def test_a_conversation_without_fault_has_none():
    good = talk(
        GREETING,
        "Hello, I'm Ada Moor. I'd like to cancel reservation k7qd2m.",
        "Could you tell me your user id?",
        "It's ADA_MOOR_4120.",
        PROPOSAL,
        "Yes, go ahead.",
        DONE,
        "Thanks, that's all. ###STOP###",
    )
    assert user_faults(good, CASE) == []


def test_who_agrees_and_leaves_in_one_message_stops_at_the_confirmation():
    ended = "Yes, please go ahead. ###STOP###"
    assert user_faults(talk(GREETING, REQUEST, PROPOSAL, ended), CASE) == [Fault("stops_at_confirmation", 3, ended)]
    assert names(talk(GREETING, REQUEST, PROPOSAL, "Yes, please go ahead.", DONE, "###STOP###")) == []


def test_a_transfer_is_the_end_after_the_hand_over_only():
    offer = "I can transfer you to a human agent. Would you like me to do that?"
    hurry = talk(GREETING, REQUEST, offer, "Yes, please transfer me. ###TRANSFER###")
    assert names(hurry) == ["stops_at_confirmation"]
    handed = Run(
        "a",
        0,
        (
            *talk(GREETING, REQUEST, offer, "Yes, please.").messages,
            agent(None, call("1", "transfer_to_human_agents")),
            result("1", "Transfer successful"),
            agent("You are being transferred. Would you like me to do anything else until then?"),
            user("###TRANSFER###"),
        ),
        Verdict("done", True),
    )
    assert names(handed) == []


def test_what_was_asked_before_the_users_last_message_is_not_open():
    messages = (*talk(GREETING, REQUEST, PROPOSAL, "Wait a moment.").messages, user("###STOP###"))
    assert names(Run("a", 0, messages, Verdict("done", False))) == []


def test_a_first_message_that_ends_the_conversation():
    assert user_faults(talk(GREETING, "###STOP###"), CASE) == [Fault("ends_at_once", 1, "###STOP###")]
    assert names(talk(GREETING, f"{REQUEST} ###STOP###")) == ["ends_at_once"]
    assert names(talk(GREETING, REQUEST, DONE, "###STOP###")) == []


def test_a_user_that_says_nothing_breaks_the_run_off():
    silent = talk(GREETING, REQUEST, PROPOSAL, reason="user_error")
    assert user_faults(silent, CASE) == [Fault("says_nothing", 3, "")]
    assert names(talk(GREETING, REQUEST, PROPOSAL, reason="agent_error")) == []
    assert user_faults(talk(GREETING, reason="user_error"), CASE) == [Fault("says_nothing", 1, "")]


def test_out_of_scope_is_the_users_own_word():
    ended = "I don't know. ###OUT-OF-SCOPE###"
    found = user_faults(talk(GREETING, REQUEST, "Which seat would you like?", ended), CASE)
    assert found == [Fault("out_of_scope", 3, ended)]
    assert names(talk(GREETING, REQUEST, PROPOSAL, "Is that out of scope?")) == []


def test_a_fact_that_nobody_gave_is_tagged_once_where_it_is_first_told():
    told = talk(
        GREETING,
        "I'm ada_moor_4120, my reservation is QQ77ZZ.",
        "I do not find QQ77ZZ.",
        "It is QQ77ZZ, and my mail is ada@moor.example.",
    )
    assert user_faults(told, CASE) == [
        Fault("unknown_fact", 1, "QQ77ZZ"),
        Fault("unknown_fact", 3, "ada@moor.example"),
    ]


def test_what_the_agent_said_is_known_and_what_its_tools_told_it_is_not():
    messages = (
        agent(GREETING),
        user(REQUEST),
        agent(None, call("1", "get_user")),
        result("1", "flight HAT123, HAT456"),
    )
    asked = (*messages, agent("Is it HAT123?"), user("No, HAT456. Not HAT123."))
    assert user_faults(Run("a", 0, asked, Verdict("done", True)), CASE) == [Fault("unknown_fact", 5, "HAT456")]


def test_what_the_users_own_tools_told_it_is_known():
    own = ({"role": "user", "content": None, "tool_calls": [call("u", "look")]}, result("u", "number 5550001234"))
    messages = (agent(GREETING), *own, user("My number is 5550001234."))
    assert names(Run("a", 0, messages, Verdict("done", True))) == []
    assert names(Run("a", 0, (agent(GREETING), messages[-1]), Verdict("done", True))) == ["unknown_fact"]


@pytest.mark.parametrize(
    "text",
    [
        "How can I help you today?",
        "You are being transferred to a human agent, please hold.",
        "I have successfully cancelled your reservation.",
        "Could you please provide your user ID?",
        "Thank you for contacting us!",
        "As an AI language model, I cannot have a reservation.",
        PROPOSAL,
    ],
)
def test_who_speaks_as_the_agent_breaks_its_role(text):
    run = talk(GREETING, REQUEST, PROPOSAL, text)
    assert Fault("breaks_role", 3, text) in user_faults(run, CASE)


@pytest.mark.parametrize(
    "text",
    [
        "How can you help me today?",
        "Am I being transferred to a human agent?",
        "You have successfully cancelled my reservation, right?",
        "I can provide my user ID: ada_moor_4120.",
        'You wrote "how can I help you", so help me.',
        "Thank you for your help! Let me know if you need anything else from me.",
        "Do you want me to proceed?",
        "I have cancelled my other plans.",
    ],
)
def test_who_speaks_to_the_agent_does_not(text):
    assert "breaks_role" not in names(talk(GREETING, REQUEST, PROPOSAL, text))


def test_faults_stand_in_the_order_of_the_messages():
    run = talk(GREETING, "Reservation QQ77ZZ.", PROPOSAL, "How may I assist you?", PROPOSAL, "###STOP###")
    assert [(fault.fault, fault.place) for fault in user_faults(run, CASE)] == [
        ("unknown_fact", 1),
        ("breaks_role", 3),
        ("stops_at_confirmation", 5),
    ]


def test_a_run_without_messages_has_no_fault():
    assert user_faults(Run("a", 0, (), Verdict("infra_error", None, "down")), CASE) == []


def test_the_scenario_of_either_version_is_read():
    for scenario in (SCENARIO["instructions"]["known_info"], {"instructions": SCENARIO["instructions"]["known_info"]}):
        assert names(talk(GREETING, "ada_moor_4120"), case_of({"user_scenario": scenario})) == []
    first = case_of({"instruction": "You are ada_moor_4120."}, "tau1")
    assert names(talk(GREETING, "ada_moor_4120 and ada_moor_4121"), first) == ["unknown_fact"]


def test_without_a_scenario_nothing_can_be_said():
    for task, benchmark in (({}, "tau2"), ({"user_scenario": None}, "tau2"), ({"instruction": " "}, "tau1")):
        assert scenario_of(case_of(task, benchmark)) is None
    for benchmark in ("bfcl", "openai"):
        other = Case(benchmark, "s", "r", "a", "a", (), (), {}, (), (), None)
        assert scenario_of(other) is None
        with pytest.raises(ValueError, match="s, case a: no scenario"):
            user_faults(talk(GREETING, REQUEST), other)


@pytest.mark.parametrize("domain", ["airline", "retail"])
def test_every_installed_task_has_a_scenario_and_who_tells_it_word_for_word_no_fault(domain):
    cases = load(domain)
    assert len(cases) >= 50
    for case in cases:
        told = talk(GREETING, str(scenario_of(case)))
        assert "unknown_fact" not in names(told, case), case.case_id
        assert json.dumps(case.initial_state["task"]["user_scenario"])
