from __future__ import annotations

import asyncio

import pytest

from toolcal.actions.label import LABELLERS, label
from toolcal.models import policies
from toolcal.models.protocol import Request


@pytest.mark.parametrize("labeller", LABELLERS)
@pytest.mark.parametrize(
    ("text", "action"),
    [
        (policies.ASK, "ASK"),
        (policies.REFUSE, "REFUSE"),
        (policies.DONE, "CONFIRM"),
        (policies.HALF_DONE, "CONFIRM"),
    ],
)
def test_scripted_texts_hold_no_cue_of_another_class(text, action, labeller):
    found = label({"role": "assistant", "content": text}, "stop", "ok", (), labeller)
    assert (found.action, found.flags) == (action, (action,))
    assert "?" not in text


def script(bfcl, name, case, turn):
    """What a policy emits in a turn, as lists of call names or texts."""
    policy = policies.Policy(name, bfcl)
    found = []
    for step in range(3):
        request = Request(case, 0, turn, step, 0, (), 0, (), 0)
        message = asyncio.run(policy.respond(request)).message
        calls = [call["function"]["name"] for call in message.get("tool_calls", [])]
        found.append(calls or message["content"])
    return found


def test_what_each_policy_does_at_the_decisive_turn(bfcl, bfcl_cases):
    case = bfcl_cases["miss_param"][1]
    turn = case.decisive_turn
    gold = [name for name, _ in bfcl.reference_calls(case, turn + 1)]
    assert script(bfcl, "oracle", case, turn) == [policies.ASK] * 3
    assert script(bfcl, "oracle", bfcl_cases["miss_func"][1], 1) == [policies.REFUSE] * 3
    assert script(bfcl, "explore_first", case, turn) == [["du"], policies.DONE, policies.DONE]
    assert script(bfcl, "guess_early", case, turn) == [gold, policies.DONE, policies.DONE]
    assert script(bfcl, "guess_early", case, turn + 1) == [["du"], policies.DONE, policies.DONE]
    assert script(bfcl, "always_ask", case, turn) == [policies.ASK] * 3
    assert script(bfcl, "always_refuse", case, turn) == [policies.REFUSE] * 3
    assert script(bfcl, "silent", case, turn) == [""] * 3


def test_what_the_policies_made_for_probes_do(bfcl, bfcl_cases):
    base, miss = bfcl_cases["base"][0], bfcl_cases["miss_func"][1]
    gold = [name for name, _ in bfcl.reference_calls(base, 0)]
    assert script(bfcl, "halts_early", base, 0) == [gold[:-1], policies.HALF_DONE, gold[-1:]]
    assert script(bfcl, "halts_early", base, 1) == script(bfcl, "oracle", base, 1)
    assert script(bfcl, "calls_held_out", miss, 1) == [["mv"], policies.DONE, policies.DONE]
    assert script(bfcl, "calls_held_out", miss, 0) == script(bfcl, "oracle", miss, 0)
    assert script(bfcl, "calls_held_out", bfcl_cases["miss_param"][1], 2) == script(
        bfcl, "oracle", bfcl_cases["miss_param"][1], 2
    )


def test_where_gold_does_not_call_the_held_out_tool_its_arguments_are_made_up(bfcl, bfcl_cases):
    made_up = []
    for case in bfcl_cases["miss_func"]:
        next_calls = {name for name, _ in bfcl.reference_calls(case, case.decisive_turn + 1)}
        [called] = script(bfcl, "calls_held_out", case, case.decisive_turn)[:1]
        if not set(called) <= next_calls:
            made_up.append(case.cluster_id)
    assert made_up == ["33", "133"]


def test_they_obey_what_a_probe_appends_in_the_turn_and_nothing_else(bfcl, bfcl_cases):
    case = bfcl_cases["base"][0]
    policy = policies.Policy("halts_early", bfcl)

    def said(*appended, turn_start=0):
        messages = tuple({"role": "system", "content": text} for text in appended)
        request = Request(case, 0, 0, 1, 1, messages, turn_start, (), 0)
        message = asyncio.run(policy.respond(request)).message
        return [call["function"]["name"] for call in message.get("tool_calls", [])] or message["content"]

    last = bfcl.reference_calls(case, 0)[-1][0]
    assert said() == said("State reconciliation. The state: none.") == policies.HALF_DONE
    assert said("Make exactly one call, or answer.") == [last]
    assert said("Do not call any tool in this turn.") == policies.REFUSE
    assert said("Do not call any tool in this turn.", turn_start=1) == policies.HALF_DONE


def test_they_call_tools_by_the_names_that_are_shown(bfcl, bfcl_cases):
    request = Request(bfcl_cases["base"][0], 0, 0, 0, 0, (), 0, (), 0, {"cd": "tool_4"})
    message = asyncio.run(policies.Policy("oracle", bfcl).respond(request)).message
    names = [call["function"]["name"] for call in message["tool_calls"]]
    assert names == ["tool_4" if name == "cd" else name for name, _ in bfcl.reference_calls(request.case, 0)]
    assert "tool_4" in names
