"""Ways to ask and to answer, and input that is not as it should be."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.timing import best_of, cpu
from tests.writes import shop
from tests.writes.shop import SHOP
from tests.writes.talks import agent, judge, result, user
from toolcal.writes.consent import decide
from toolcal.writes.words import WORDS, any_of, fold, sentences

ASKS = """Would you like me to cancel order #W7000001 with $39.00 back to PayPal?
Cancel order #W7000001, refund $39.00 to PayPal. Do you confirm?
To recap: cancel #W7000001, $39.00 back to PayPal. Do I have your go-ahead?
I'm ready to cancel order #W7000001 ($39.00 back to PayPal). Just say the word.
Before I cancel #W7000001 ($39.00 to PayPal), I need your explicit confirmation.
I will cancel order #W7000001 and refund $39.00 to PayPal once you confirm.
Are you sure you want to cancel #W7000001? $39.00 will go back to PayPal.
I'd cancel #W7000001; $39.00 go back to PayPal. Does that work for you?
**Please reply “yes”** to cancel order #W7000001 and receive $39.00 via PayPal.
Can you confirm that you'd like order #W7000001 cancelled, with $39.00 refunded to PayPal?
Action: cancel order #W7000001, refund: $39.00 to PayPal. Please confirm (yes/no).
If you'd like, I can cancel order #W7000001 and refund $39.00 to PayPal now. Want me to?
Do you authorize me to cancel order #W7000001 and refund $39.00 to PayPal?
Let me know if I should cancel #W7000001; $39.00 go to PayPal.
I can't change #W7000001, but I can cancel it, with $39.00 back to PayPal. Would you like me to do that?
Cancellation of order #W7000001; refund $39.00 to PayPal. Good to go?""".splitlines()
# Replies between bars and line ends.
AGREE = """Yes|yes go ahead|YES!|Yep, do it|That works.|Please do.|Go for it|Sounds good to me|Confirmed|y|Fine.
Affirmative|I'm okay with that|Let's do that.|Yes, I agree to those terms.|No problem, go ahead.|ok cool
Please cancel it.|Correct.|Yes please cancel. Also, can you check my other order?|No, nothing else, go ahead.
Yes - no need to wait.|I confirm|Yes, please proceed. I changed my mind about the mugs.
Yes, but can you tell me if my card is charged?"""
DISAGREE = """Great, thanks!|Hmm, let me think about it.|No, keep it.|Not yet, what's the fee?|Actually no.
I don't want that.|Before you do, can you tell me if I get all my money back?
Is that the only option?|Okay. Can you tell me the amount first?
Wait, hold on.|How long does it take?|No, please do not.|I changed my mind.|Please don't."""


@pytest.mark.parametrize("ask", ASKS)
def test_ways_to_ask(ask: str) -> None:
    assert judge(*SHOP, agent(ask), user("Yes"), agent(None, shop.cancel())).confirmed


@pytest.mark.parametrize("reply", AGREE.replace("\n", "|").split("|"))
def test_ways_to_agree(reply: str) -> None:
    assert judge(*SHOP, agent(ASKS[0]), user(reply), agent(None, shop.cancel())).confirmed


@pytest.mark.parametrize("reply", DISAGREE.replace("\n", "|").split("|"))
def test_ways_not_to(reply: str) -> None:
    decision = judge(*SHOP, agent(ASKS[0]), user(reply), agent(None, shop.cancel()))
    assert (decision.proposed, decision.agreed, decision.message) == (True, False, 5)


def test_text_is_folded() -> None:
    assert fold("**Don’t** “wait”\u200b") == 'don\'t "wait"'
    assert sentences("one. two?\nthree") == ("one.", "two?", "three")


def test_words_are_found_from_a_words_edge_on() -> None:
    assert any_of(["cancel"]).search("uncancelled") is None
    assert any_of(["cancel"]).search("cancelled") is not None
    assert WORDS["agree"].search("eyes") is None


@pytest.mark.parametrize(
    "arguments", [None, "", "{", "[]", "3", {"order_id": None}, '{"a": [[[[[1e400]]]]]}', "[" * 5000]
)
@pytest.mark.parametrize("content", [None, "", 3, [{"type": "text", "text": "yes"}], [None]])
def test_odd_input_is_judged_not_refused(arguments: Any, content: Any) -> None:
    call = {"id": "x", "function": {"name": "", "arguments": arguments}}
    messages: list[dict[str, Any]] = [
        {"role": "tool", "content": content},
        {"role": "user", "content": content},
        {"role": None},
        {"role": "assistant", "content": content, "tool_calls": None},
        {"role": "assistant", "content": content, "tool_calls": [call]},
    ]
    assert not decide(messages, 4, 0).confirmed
    assert not decide(messages[-1:], 0, 0).confirmed


def test_a_missing_call_is_an_error() -> None:
    with pytest.raises(IndexError):
        decide([user("hello"), agent("hello")], 1, 0)


def test_long_conversations_are_judged_in_no_time() -> None:
    round_ = (agent(ASKS[0]), user("Yes"), agent(None, shop.cancel()), result(json.dumps(shop.ORDER)))
    messages = [*SHOP, *(message for _ in range(125) for message in round_)]
    places = [at for at, message in enumerate(messages) if at > 5 and message.get("tool_calls")]

    def work() -> None:
        assert all(decide(messages, at, 0).message == at - 1 for at in places)

    assert best_of(lambda: cpu(work), 5) < 5
