"""Every bullet of the labellers' guidelines for writes, on invented conversations."""

from __future__ import annotations

import pytest

from tests.writes import shop
from tests.writes.shop import AIRLINE, SHOP
from tests.writes.talks import agent, judge, result, user, verdict

OFFER = "I'd cancel order #W7000001 (a mug and a tea pot, $39.00 back to PayPal). Do you agree?"
NOTHING = (False, False, None)


def test_a_yes_to_the_proposal_confirms() -> None:
    assert verdict(*SHOP, agent(OFFER), user("Yes please."), agent(None, shop.cancel())) == (True, True, 6)


def test_a_decision_explains_itself() -> None:
    assert judge(*SHOP, agent(OFFER), user("Yes."), agent(None, shop.cancel())).why == (
        "the user's reply in message 6 agrees to the proposal in message 5"
    )
    assert (
        judge(*SHOP, agent(None, shop.cancel())).why == "no agent message puts this to the user: cancel pending order"
    )


@pytest.mark.parametrize(
    "before",
    [
        (user("Cancel order W7000001, I don't need it any more."),),
        (agent("To cancel it I need the reason: by mistake, or no longer needed?"), user("No longer needed.")),
        (agent("Which of your orders do you want to cancel?"), user("W7000001, please cancel it.")),
        (agent("A pending order can be cancelled at any time."), user("Good, then cancel W7000001.")),
        (agent("I can help you cancel. Could you confirm your email?"), user("Yes, it's ada@mail.org")),
        (agent("It can't be cancelled. Shall I transfer you to a human agent?"), user("Yes.")),
        (agent("Would you like me to check its status?"), user("Yes please.")),
        (agent("I found W7000001 with $39.00. Is that the order that you want to cancel?"), user("Yes, it is.")),
        (agent("Shall I get you a human agent about cancelling W7000001 ($39.00)?"), user("Yes please.")),
    ],
)
def test_without_a_proposal_there_is_nothing_to_agree_to(before: tuple[dict[str, object], ...]) -> None:
    assert verdict(*SHOP, *before, agent(None, shop.cancel())) == NOTHING


def test_announcing_and_doing_it_at_once_is_no_proposal() -> None:
    assert verdict(*SHOP, agent(f"I will do this now. {OFFER}", shop.cancel())) == NOTHING


def test_a_report_afterwards_is_no_proposal() -> None:
    asked = agent("I have cancelled order #W7000001, is that fine?")
    assert verdict(*SHOP, asked, user("Yes."), agent(None, shop.cancel())) == NOTHING


def test_an_announced_step_that_the_user_agrees_to_counts() -> None:
    told = agent("I will cancel order #W7000001 next, and $39.00 go back to PayPal.")
    assert verdict(*SHOP, told, user("That's fine."), agent(None, shop.cancel())) == (True, True, 6)


def test_details_may_be_spread_over_messages() -> None:
    talk = (
        agent("Order #W7000001 cost $39.00, paid by PayPal. I can cancel it as no longer needed."),
        user("When would I have the money?"),
        agent("Within a week. Shall I go ahead?"),
        user("Sure."),
    )
    assert verdict(*SHOP, *talk, agent(None, shop.cancel())) == (True, True, 8)


def test_a_yes_to_another_question_is_none() -> None:
    asked = (agent("Your total is $150; is card 4321 still yours?"), user("Yes."))
    assert not judge(*AIRLINE, *asked, agent(None, shop.book())).confirmed


TWO = "I'd move AB12CD to flight HAT202 on May 21 in economy and add one bag, 2 bags in all, at $50 each on the Visa."


def test_a_list_approved_together_counts_for_each() -> None:
    talk = (*AIRLINE, agent(f"{TWO} Shall I do both?"), user("Yes, both."), agent(None, shop.fly(), shop.bags()))
    assert verdict(*talk, call=0) == verdict(*talk, call=1) == (True, True, 6)


def test_a_yes_to_one_of_several_does_not_count_for_the_rest() -> None:
    talk = (
        *AIRLINE,
        agent(f"{TWO} OK?"),
        user("Yes, the flight. Leave the bag."),
        agent(None, shop.fly(), shop.bags()),
    )
    assert verdict(*talk, call=0) == (True, True, 6)
    assert verdict(*talk, call=1) == (True, False, 5)


def test_a_yes_to_some_of_the_records_does_not_count_for_the_others() -> None:
    talk = (*AIRLINE, agent("Shall I cancel AB12CD, EF34GH and IJ56KL?"), user("Yes, cancel EF34GH and IJ56KL."))
    assert verdict(*talk, agent(None, shop.cancel_booking("AB12CD"))) == (True, False, 5)
    assert verdict(*talk, agent(None, shop.cancel_booking("IJ56KL"))) == (True, True, 6)


def test_two_calls_for_two_bookings_share_a_yes() -> None:
    talk = (*AIRLINE, agent("Shall I cancel AB12CD and EF34GH?"), user("OK."))
    first = agent(None, shop.cancel_booking("AB12CD"))
    assert verdict(*talk, first, result("{}"), agent(None, shop.cancel_booking("EF34GH"))) == (True, True, 6)


MOVE = "I'd move AB12CD to HAT202 on May 21, economy, $50 more on your {}. OK?"


def test_a_yes_with_a_change_counts_for_a_call_with_that_change() -> None:
    talk = (*AIRLINE, agent(MOVE.format("PayPal account")), user("Yes, but use the Visa instead."))
    assert verdict(*talk, agent(None, shop.fly())) == (True, True, 6)
    assert not judge(*talk, agent(None, shop.fly(pays="paypal_55"))).confirmed


def test_a_change_of_the_thing_itself_has_to_be_carried() -> None:
    offer = agent("I'd swap the red mug of order #W7000001 for the blue one, $2.00 more on PayPal. OK?")
    talk = (*SHOP, offer, user("Yes, but make it the green one instead."))
    assert not judge(*talk, agent(None, shop.modify("1112"))).confirmed
    assert verdict(*talk, agent(None, shop.modify("1113"))) == (True, True, 6)


OPTIONS = (
    "I can change your flight to one of these on May 21, on the Visa:\n1. HAT303: $170\n2. HAT202: $150\nWhich one?"
)


@pytest.mark.parametrize("choice", ["The second, please.", "HAT202", "I'd like to go with HAT202."])
def test_picking_a_priced_option_agrees_to_it(choice: str) -> None:
    assert verdict(*AIRLINE, agent(OPTIONS), user(choice), agent(None, shop.fly())) == (True, True, 6)


def test_picking_one_option_is_no_agreement_to_the_other() -> None:
    assert not judge(*AIRLINE, agent(OPTIONS), user("HAT202"), agent(None, shop.fly("HAT303"))).confirmed


def test_a_choice_while_details_are_gathered_does_not_agree() -> None:
    talk = (agent("Which date and cabin would you like for your flight?"), user("May 21 in economy, HAT202"))
    assert verdict(*AIRLINE, *talk, agent(None, shop.fly())) == NOTHING


def test_a_yes_can_be_taken_back() -> None:
    talk = (*SHOP, agent(OFFER), user("Yes."), agent("One moment."), user("Actually, please don't cancel it."))
    assert verdict(*talk, agent(None, shop.cancel())) == (True, False, 5)


def test_a_request_changed_after_the_yes_needs_another_one() -> None:
    talk = (*AIRLINE, agent(MOVE.format("Visa")), user("Yes."), agent("One moment."), user("Actually, HAT303 instead."))
    assert verdict(*talk, agent(None, shop.fly("HAT202"))) == (True, False, 5)
    assert not judge(*talk, agent(None, shop.fly("HAT303"))).confirmed


def test_one_yes_covers_one_success_and_the_repeat_of_a_failure() -> None:
    talk = (*SHOP, agent(OFFER), user("Yes."), agent(None, shop.cancel()))
    assert verdict(*talk, result("Error: later", failed=True), agent(None, shop.cancel())) == (True, True, 6)
    assert verdict(*talk, result("{}"), agent(None, shop.cancel())) == (True, False, 5)


def test_payment_settled_after_a_failure() -> None:
    talk = (
        *AIRLINE,
        agent("I'd book HAT202 on May 21 in economy, a total of $150 on your gift card. Shall I book it?"),
        user("Yes."),
        agent(None, ("book_reservation", {**shop.book()[1], "payment_methods": [{"payment_id": "gift_card_1"}]})),
        result("Error: not enough", failed=True),
        agent("The gift card is not enough. Would you like to use your Visa ending in 4321 instead?"),
        user("Yes, use the Visa."),
    )
    assert judge(*talk, agent(None, shop.book())).confirmed


def test_a_plan_that_the_user_then_asks_for_by_name() -> None:
    talk = (
        agent("The plan:\n1. I will add a bag to AB12CD.\n2. I will then cancel AB12CD.\nShall I add the bag for $50?"),
        user("Yes, add it. After that, cancel the reservation."),
    )
    assert verdict(*AIRLINE, *talk, agent(None, shop.cancel_booking())) == (True, True, 6)


@pytest.mark.parametrize("reply", ["A change of plans.", "A change of plans, please cancel it."])
def test_an_answer_to_a_question_is_no_agreement(reply: str) -> None:
    talk = (agent("I can cancel it. What is the reason?"), user(reply))
    assert verdict(*AIRLINE, *talk, agent(None, shop.cancel_booking())) == NOTHING


def test_what_the_agent_tells_on_the_way_to_the_call_needs_no_reply() -> None:
    talk = (
        agent(f"{TWO} Shall I do both?"),
        user("Yes, both."),
        agent("I'll add the bag once you confirm.", shop.fly()),
    )
    assert verdict(*AIRLINE, *talk, result("{}"), agent(None, shop.bags())) == (True, True, 6)


def test_nothing_in_reply() -> None:
    assert verdict(*SHOP, agent(OFFER), agent(None, shop.cancel())) == (True, False, 5)


@pytest.mark.parametrize("doubt", ["Hmm, I'm not sure. Let me think about it.", "No, thanks."])
def test_doubt_after_a_failed_call_ends_the_agreement(doubt: str) -> None:
    talk = (
        *AIRLINE,
        agent("I'd book HAT202 on May 21 in economy, a total of $150 on your Visa. Shall I book it?"),
        user("Yes."),
        agent(None, shop.book()),
        result("Error: card refused", failed=True),
        agent("The card was refused. Would you like to use another card for the booking?"),
        user(doubt),
    )
    assert not judge(*talk, agent(None, shop.book())).confirmed


def test_a_record_may_go_unnamed_but_not_be_another_one() -> None:
    offer = agent("I can cancel your booking, with $100 back on your Visa. Shall I cancel it?")
    assert judge(*AIRLINE, offer, user("Yes."), agent(None, shop.cancel_booking())).confirmed
    named = agent("I can cancel AB12CD, with $100 back on your Visa. Shall I cancel it?")
    assert not judge(*AIRLINE, named, user("Yes."), agent(None, shop.cancel_booking("ZZ99ZZ"))).confirmed


def test_the_newest_proposal_counts() -> None:
    talk = (*SHOP, agent(OFFER), user("Yes."), agent("One thing first: " + OFFER), user("What about the mug?"))
    assert verdict(*talk, agent(None, shop.cancel())) == (True, False, 7)


def test_the_window_ends_with_ten_messages_of_which_six_are_spoken() -> None:
    silent = [message for _ in range(9) for message in (agent(None, ("look", {})), result("nothing"))]
    assert judge(*SHOP, agent(OFFER), user("Yes."), *silent, agent(None, shop.cancel())).message == 6
    spoken = [message for _ in range(6) for message in (agent("It is sunny."), user("Lovely weather."))]
    assert verdict(*SHOP, agent(OFFER), user("Yes."), *spoken, agent(None, shop.cancel())) == NOTHING


FIRST = "I'd cancel order #W7000001, with $39.00 back to PayPal. {}"


@pytest.mark.parametrize(
    "asked",
    [
        "Please confirm, or let me know what to change.",
        'Please respond with "I confirm", or tell me what to change.',
        "Please confirm the cancellation and tell me the reason.",
        "If everything looks right, I'll do it.",
        "Once confirmed, I will cancel it.",
        "Is there any other order to be cancelled before I proceed?",
        "Tell me the reason and I'll cancel it.",
    ],
)
def test_agreement_is_asked_for_beside_something_else(asked: str) -> None:
    reply = user("Yes, please go ahead, I no longer need it.")
    assert verdict(*SHOP, agent(FIRST.format(asked)), reply, agent(None, shop.cancel())) == (True, True, 6)


@pytest.mark.parametrize(
    "more",
    [
        "After that, please return the items of W7000002 and pay the refund to my gift card.",
        "For the other order, use my credit card.",
        "Then let's exchange the lamp of order W7000002 for a blue one.",
    ],
)
def test_a_wish_about_something_else_leaves_the_agreement(more: str) -> None:
    talk = (*SHOP, agent(FIRST.format("OK?")), user(f"Yes, cancel it. {more}"), agent(None, shop.cancel()))
    assert verdict(*talk) == (True, True, 6)


def test_a_record_that_only_the_user_names_was_not_put() -> None:
    talk = (*SHOP, agent(FIRST.format("OK?")), user("Yes. And W7000002 too please."))
    assert verdict(*talk, agent(None, shop.cancel("#W7000002"))) == NOTHING


def test_a_price_told_before_counts() -> None:
    told = agent("On May 21 there are HAT202 at $150 in economy and HAT303 at $170. Which one do you like?")
    put = agent("I'd change AB12CD to HAT202 on May 21 in economy. Shall I go ahead?")
    talk = (*AIRLINE, told, user("HAT202."))
    assert judge(*talk, put, user("Yes."), agent(None, shop.fly())).confirmed
