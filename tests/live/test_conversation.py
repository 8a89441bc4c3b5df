"""One conversation: how it ends, what becomes of its rows, and what probes and edits do in it."""

from __future__ import annotations

import json
import time

import pytest

from tests.live.speaking import Script, called, results, roles, seen, talk, text
from toolcal.benchmarks.protocol import NO_RESULT
from toolcal.benchmarks.tau2.user_faults import user_faults
from toolcal.live.agent import first_and_last
from toolcal.live.conversation import Limits
from toolcal.live.user import MOST, YES, ScriptedUser
from toolcal.models.protocol import Reply
from toolcal.perturbations import registry
from toolcal.perturbations.context import baseline
from toolcal.writes.conversation import conversation

DETAILS = ("get_user_details", {"user_id": "noah_muller_9847"})
RESERVATION = ("get_reservation_details", {"reservation_id": "SDZQKO"})
CERTIFICATE = ("send_certificate", {"user_id": "noah_muller_9847", "amount": 50})
BROKEN = Reply({"role": "assistant", "content": None}, raw="no route", failure="infra_error")


def perturbed(case, **spec):
    return registry.apply(case, {"name": "p", **spec}, seed=0)


def sri(case, variant="full"):
    return perturbed(case, kind="probe", probe="sri", parameters={"variant": variant})


def test_turns_steps_and_messages_stand_as_in_a_recording(airline):
    held = talk(airline["2"], Script(called(DETAILS), text("What is the number?"), called(RESERVATION), text("Done.")))
    assert seen(held, "turn", "step", "origin") == [
        (0, 0, "benchmark"),
        (0, 1, "model"),
        (0, 2, "model"),
        (1, 0, "model"),
        (1, 1, "model"),
    ]
    assert roles(held.run.messages) == "auatauatau"
    assert results(held.rows[1])[0]["executed"]
    assert json.loads(results(held.rows[1])[0]["result"])["user_id"] == "noah_muller_9847"
    assert held.run.verdict.status == "done"
    assert held.run.verdict.passed is False


def test_the_model_reads_policy_tools_and_all_that_was_said(airline):
    agent = Script(called(DETAILS, RESERVATION), text("Done."))
    talk(airline["2"], agent)
    first, second = agent.asked
    assert roles(first.messages) == "su"
    assert "<policy>" in first.messages[0]["content"]
    assert "airline" in first.messages[0]["content"]
    assert "book_reservation" in {tool["function"]["name"] for tool in first.tools}
    assert roles(second.messages) == "suatt"
    ids = [call["id"] for call in second.messages[2]["tool_calls"]]
    assert [message["tool_call_id"] for message in second.messages[3:]] == ids
    assert first.seed != second.seed


@pytest.mark.parametrize("said", [None, "", "  ", "<think>nothing</think>"])
def test_an_agent_that_says_nothing_breaks_the_run_off(said, airline):
    held = talk(airline["2"], Script(called(DETAILS), text(said)))
    assert (held.run.verdict.status, held.run.verdict.reason, held.run.verdict.passed) == (
        "premature",
        "agent_error",
        False,
    )
    assert held.rows[-1]["status"] == "empty"


def test_a_call_that_cannot_be_read_is_no_message(airline):
    broken = Reply(
        {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "x", "arguments": "{"}}]}
    )
    held = talk(airline["2"], Script(broken))
    assert (held.rows[-1]["status"], held.run.verdict.reason) == ("malformed_call", "agent_error")


def test_words_beside_a_call_that_cannot_be_read_reach_the_user(airline):
    broken = {
        "role": "assistant",
        "content": "One moment.",
        "tool_calls": [{"function": {"name": "x", "arguments": "{"}}],
    }
    agent = Script(Reply(broken), text("Is that all?"))
    held = talk(airline["2"], agent)
    assert "One moment." in [message["content"] for message in held.run.messages]


@pytest.mark.parametrize("failing", ["agent", "user"])
def test_an_endpoint_that_fails_is_no_failure_of_the_agent(failing, airline):
    working = text("What is the number?")
    agent = Script(working, BROKEN if failing == "agent" else working)
    user = Script(text("Hello, I need help."), BROKEN if failing == "user" else text("It is SDZQKO."))
    held = talk(airline["2"], agent, user)
    assert (held.run.verdict.status, held.run.verdict.passed) == ("infra_error", None)
    assert [row["status"] for row in held.rows].count("infra_error") == 1
    assert json.loads(held.rows[-1]["raw"]) == "no route"


def test_a_full_context_is_the_agents_failure(airline):
    full = Reply({"role": "assistant", "content": None}, raw="too long", failure="context_exceeded")
    held = talk(airline["2"], Script(full))
    assert (held.run.verdict.status, held.run.verdict.passed) == ("context_exceeded", False)


def test_a_user_model_that_says_nothing_is_told_apart(airline):
    held = talk(airline["2"], Script(text("Hello?")), Script(text("I need help."), text("")))
    assert (held.run.verdict.status, held.run.verdict.reason) == ("premature", "user_error")


def test_a_user_model_reads_its_scenario_and_the_agent_as_its_user(airline):
    user = Script(text("I want to book."), text("###STOP###"))
    held = talk(airline["2"], Script(text("Of course.")), user)
    assert roles(user.asked[0].messages) == "su"
    assert "noah_muller_9847" in user.asked[0].messages[0]["content"]
    assert roles(user.asked[1].messages) == "suau"
    assert user.asked[1].messages[-1]["content"] == "Of course."
    assert user.asked[0].tools == ()
    assert held.run.verdict.status == "done"


def test_limits_break_a_conversation_off(airline):
    circling = Script(called(DETAILS))
    held = talk(airline["2"], circling, limits=Limits(max_steps=12))
    assert (held.run.verdict.status, held.run.verdict.passed) == ("step_limit", False)
    failing = Script(called(("get_user_details", {"user_id": "nobody"})))
    held = talk(airline["2"], failing, limits=Limits(max_errors=3))
    assert (held.run.verdict.status, held.run.verdict.reason) == ("premature", "too_many_errors")


@pytest.mark.parametrize("expression", ["9**9**9", "1+" * 400 + "1"])
def test_arithmetic_without_end_is_refused(expression, airline):
    held = talk(airline["2"], Script(called(("calculate", {"expression": expression})), text("Done.")))
    assert results(held.rows[1])[0]["executed"] is False


def test_leaked_calls_run_only_where_the_entry_says_so(airline):
    leaked = text('[get_user_details(user_id="noah_muller_9847")]')
    assert results(talk(airline["2"], Script(leaked)).rows[1]) == []
    held = talk(airline["2"], Script(leaked, text("Done.")), execute_leaked=True)
    assert results(held.rows[1])[0]["executed"]
    emissions, heard = (
        held.rows,
        [{"place": 1, "role": "user", "content": "x", "tool_calls": "[]", "tool_call_id": None}],
    )
    assert roles(conversation(emissions, heard)[0]) == "auata"


def test_sri_drops_the_halt_and_shows_the_last_results(airline):
    agent = Script(called(DETAILS), text("I stop here."), called(RESERVATION), text("Now I am done."))
    held = talk(airline["2"], agent, context=sri(airline["2"]))
    assert seen(held, "turn", "step", "attempt")[2:5] == [(0, 2, 0), (0, 2, 1), (0, 3, 0)]
    asked_again = agent.asked[2].messages
    assert "I stop here." not in json.dumps(asked_again)
    told = asked_again[-1]
    assert told["role"] == "system"
    assert "get_user_details:\n" in told["content"]
    assert "I stop here." not in [message["content"] for message in held.run.messages]
    assert [(event["seam"], event["triggered"], event["reason"]) for event in held.events] == [
        ("halt", True, "no_call"),
        ("halt", False, "once_a_turn"),
    ]


def test_sri_without_state_shows_none(airline):
    agent = Script(called(DETAILS), text("I stop here."), text("Done."))
    talk(airline["2"], agent, context=sri(airline["2"], "no_state"))
    assert "get_user_details" not in agent.asked[2].messages[-1]["content"]


def test_what_sri_dropped_is_not_part_of_the_conversation(airline):
    held = talk(airline["2"], Script(text("Shall I go ahead?"), text("Goodbye.")), context=sri(airline["2"]))
    said = [message["content"] for message in conversation(held.rows, [])[0]]
    assert "Goodbye." in said
    assert "Shall I go ahead?" not in said


def test_the_first_and_the_last_messages_keep_results_with_their_call():
    messages = [{"role": role} for role in ["system", "user", *["assistant", "tool", "tool"] * 6]]
    kept = first_and_last(messages, last=5)
    assert roles(kept) == "s" + "att" * 2
    assert first_and_last(messages[:3], last=5) == messages[:3]


def test_cri_takes_back_a_call_and_those_after_it(airline):
    context = perturbed(airline["2"], kind="probe", probe="cri", parameters={"variant": "retry", "detectors": ["mc"]})
    agent = Script(called(DETAILS, ("teleport", {}), RESERVATION), text("I cannot."), text("Done."))
    held = talk(airline["2"], agent, context=context)
    assert [result["name"] for result in results(held.rows[1])] == ["get_user_details"]
    assert agent.asked[1].messages[-1]["role"] == "system"
    assert roles(agent.asked[1].messages) == "suats"
    alone = Script(called(("teleport", {})), text("I cannot."))
    held = talk(airline["2"], alone, context=context)
    assert seen(held, "step", "attempt", "retracted")[1:3] == [(1, 0, True), (1, 1, False)]
    assert "teleport" not in json.dumps(held.run.messages)


def test_renamed_tools_run_by_their_new_names_alone(airline):
    context = perturbed(airline["2"], kind="static", edit="tool_rename", parameters={"style": "neutral"})
    shown = {name: new for new, name in context.renamed.items()}
    agent = Script(called((shown["get_user_details"], DETAILS[1]), DETAILS), text("Done."))
    held = talk(airline["2"], agent, context=context)
    one, other = results(held.rows[1])
    assert (one["name"], one["executed"]) == ("get_user_details", True)
    assert (other["executed"], other["error"]) == (False, "name 'get_user_details' is not defined")
    assert "transfer_to_human_agents" not in agent.asked[0].messages[0]["content"]
    assert held.run.messages[2]["tool_calls"][0]["function"]["name"] == "get_user_details"


def test_tools_of_the_other_domain_are_shown_and_do_not_run(airline):
    context = perturbed(airline["2"], kind="static", edit="distractor_tools", parameters={"n": 4})
    names = {tool["function"]["name"] for _, tool in context.tools}
    added = names - {tool["function"]["name"] for _, tool in baseline(airline["2"]).tools}
    assert len(added) == 4
    held = talk(airline["2"], Script(called((min(added), {})), text("Done.")), context=context)
    assert results(held.rows[1])[0]["executed"] is False


def test_edits_of_messages_need_messages(airline):
    context = perturbed(airline["2"], kind="static", edit="message_edit", parameters={"template": "{text}!"})
    assert context.left_out == "the user speaks freely, so there are no messages to edit before the run"


def test_a_hint_stands_behind_the_policy(airline):
    context = perturbed(airline["2"], kind="static", edit="system_hint", parameters={"text": "Ask first."})
    assert context.system == f"{airline['2'].system}\n\nAsk first."


def test_the_scripted_user_tells_agrees_and_ends(airline):
    agent = Script(
        text("Could you give me your user id?"),
        text("I would book it now. Shall I go ahead?"),
        text("It is booked."),
    )
    held = talk(airline["2"], agent)
    said = [message["content"] for message in held.run.messages if message["role"] == "user"]
    assert said[0].startswith("First, try to book a flight from sf to ny.")
    assert "noah_muller_9847" in said[1]
    assert said[2:] == [YES, "###STOP###"]


def test_the_scripted_user_does_not_go_on_for_ever(airline):
    held = talk(airline["2"], Script(text("What is your user id?")))
    said = [message["content"] for message in held.run.messages if message["role"] == "user"]
    assert (len(said), said[-1]) == (MOST + 1, "###STOP###")


def test_a_scenario_without_form_is_told_as_it_stands(airline):
    user = ScriptedUser(airline["2"])
    assert user._request.startswith("First")
    for scenario in (None, {}, {"instructions": None}, {"instructions": ""}):
        case = airline["2"]
        odd = type(case)(
            **{**case.__dict__, "initial_state": {"domain": "airline", "task": {"user_scenario": scenario}}}
        )
        assert ScriptedUser(odd)._request == "I need help."


def test_no_result_is_told_for_a_call_that_was_never_run(airline):
    held = talk(airline["2"], Script(called(DETAILS)), limits=Limits(max_steps=2))
    assert all(result["error"] != NO_RESULT for row in held.rows for result in results(row))


def test_an_entry_that_doubles_with_every_write_is_written_to_no_more(airline):
    cancel = called(*[("cancel_reservation", {"reservation_id": "SDZQKO"})] * 50)
    begun = time.process_time()
    held = talk(airline["2"], Script(cancel, text("Done.")))
    assert time.process_time() - begun < 20  # without an end to it, the 20th would take minutes
    errors = [result["error"] for result in results(held.rows[1])]
    assert errors[0] is None
    assert "grown beyond all measure" in errors[-1]
    assert (held.run.verdict.status, held.run.verdict.reason) == ("premature", "too_many_errors")


@pytest.mark.parametrize("arguments", [{"\ud800": 1}, {"passengers": [{"\ud800": "\ud800"}]}])
def test_half_a_character_in_an_argument_ends_nothing(arguments, airline):
    odd = called(("get_user_details", arguments))
    held = talk(airline["2"], Script(odd, text("Done.")))
    assert results(held.rows[1])[0]["executed"] is False
    assert held.run.verdict.status == "done"


@pytest.mark.parametrize("words", ["x" * 100_000, ".x" * 50_000, "a_" * 50_000, "7" * 100_000, "Q" * 100_000])
def test_long_words_of_a_user_take_no_time(words, airline):
    begun = time.process_time()
    held = talk(airline["2"], Script(text("Hello?")), Script(text(words), text("###STOP###")))
    assert user_faults(held.run, airline["2"]) is not None
    assert time.process_time() - begun < 5  # quadratic, it took minutes
