from __future__ import annotations

import asyncio

import pytest

from toolcal.actions.label import LABELLERS, label
from toolcal.models import policies
from toolcal.models.protocol import Request


@pytest.mark.parametrize("labeller", LABELLERS)
@pytest.mark.parametrize(
    ("text", "action"), [(policies.ASK, "ASK"), (policies.REFUSE, "REFUSE"), (policies.DONE, "CONFIRM")]
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
