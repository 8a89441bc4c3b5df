"""A call that does other than was proposed, kind by kind; and the forms in which the same thing is said."""

from __future__ import annotations

import pytest

from tests.writes import shop
from tests.writes.shop import AIRLINE, SHOP
from tests.writes.talks import Call, agent, judge, user

IN_SHOP: list[tuple[str, Call, Call]] = [
    ("cancel order #W7000001, $39.00 back to PayPal", shop.cancel(), shop.cancel("#W7000002")),
    ("swap the red mug for the blue one in #W7000001, $2.00 on PayPal", shop.modify(), shop.modify("1113")),
    ("swap the red mug for the blue one in #W7000001, $2.00 on PayPal", shop.modify(), shop.modify(pays="gift_card_9")),
    ("exchange item 1111 for 1113 in #W7000001, $3.50 on PayPal", shop.modify("1113"), shop.modify("1112")),
    ("process the return of the tea pot, $30.00 to PayPal", shop.give_back("2222"), shop.give_back("1111")),
    ("process the return of the tea pot, $30.00 to PayPal", shop.give_back("2222"), shop.give_back("2222", "1111")),
    ("ship #W7000001 to the address 12 Elm Street, Reno", shop.readdress(), shop.readdress("14 Elm Street")),
    ("ship #W7000001 to the address 12 Elm St., Reno", shop.readdress(), shop.readdress("12 Oak Street")),
    ("change the payment of #W7000001 to the Visa ending in 4321", shop.repay(), shop.cancel()),
]
IN_AIR: list[tuple[str, Call, Call]] = [
    ("cancel reservation AB12CD", shop.cancel_booking(), shop.cancel_booking("EF34GH")),
    ("change AB12CD to flight HAT202 on May 21, $50 on the Visa", shop.fly(), shop.fly("HAT303")),
    ("change AB12CD to flight HAT202 on 21 May, $50 on the Visa", shop.fly(), shop.fly(date="2024-05-22")),
    ("change AB12CD to HAT202 on 2024-05-21 in economy, $50 on the Visa", shop.fly(), shop.fly(cabin="business")),
    (
        "upgrade AB12CD from economy to business, $9 on the Visa",
        shop.fly("HAT101", "2024-05-20", "business"),
        shop.fly(),
    ),
    ("change AB12CD to HAT202 on 5/21, $50 on the Visa ending in 4321", shop.fly(), shop.fly(pays="gift_card_1")),
    ("change AB12CD to HAT202 on 5/21 with the card on file", shop.fly(), shop.fly(pays="gift_card_1")),
    ("add 3 bags to AB12CD for $150 on the Visa", shop.bags(4, 3), shop.bags(6, 5)),
    ("add one bag to AB12CD, two bags in all, for $50 on the Visa", shop.bags(), shop.bags(4, 3)),
    ("change the passenger on AB12CD to Bo Lund", shop.passenger(), shop.passenger("Bea")),
    ("book HAT202 on May 21st for a total price of $150 on the Visa", shop.book(), shop.book(190)),
    ("book the 2 PM flight on May 21 for $150 on the Visa", shop.book(), shop.book(flight="HAT303")),
]


@pytest.mark.parametrize(("offer", "same", "other"), IN_SHOP)
def test_in_the_shop(offer: str, same: Call, other: Call) -> None:
    talk = (*SHOP, agent(f"I'd {offer}. Shall I go ahead?"), user("Yes."))
    assert judge(*talk, agent(None, same)).confirmed
    assert not judge(*talk, agent(None, other)).confirmed


@pytest.mark.parametrize(("offer", "same", "other"), IN_AIR)
def test_in_the_air(offer: str, same: Call, other: Call) -> None:
    talk = (*AIRLINE, agent(f"I'd {offer}. Shall I go ahead?"), user("Yes."))
    assert judge(*talk, agent(None, same)).confirmed
    assert not judge(*talk, agent(None, other)).confirmed


def test_an_upgrade_of_a_part_is_no_upgrade_of_all() -> None:
    offer = "I'd upgrade only the outbound flight of AB12CD to business and keep economy on the way back, $9. Shall I?"
    name, arguments = shop.fly("HAT101", "2024-05-20", "business")
    both = [*arguments["flights"], {"flight_number": "HAT404", "date": "2024-05-27"}]
    call = (name, {**arguments, "flights": both})
    assert not judge(*AIRLINE, agent(offer), user("Yes."), agent(None, call)).confirmed


def test_what_follows_for_money_is_told_where_it_is_known() -> None:
    offer = agent("I'd swap the red mug of order #W7000001 for the blue one. Shall I?")
    decision = judge(*SHOP, offer, user("Yes."), agent(None, shop.modify()))
    assert (decision.proposed, decision.why) == (
        False,
        "message 5 puts another action: nothing was said about the payment",
    )


def test_nothing_to_be_charged_is_no_charge() -> None:
    offer = agent("I'd book HAT202 on May 21 with your certificates. Nothing will be charged to your Visa. Shall I?")
    assert not judge(*AIRLINE, offer, user("Yes."), agent(None, shop.book())).confirmed


def test_things_of_one_call_do_not_stand_for_each_other() -> None:
    both = agent("I'd return the mug and the pot of order #W7000001 with $39.00 to PayPal. Shall I go ahead?")
    said = user("Yes, return the mug and the tea pot.")
    assert judge(*SHOP, both, said, agent(None, shop.give_back("1111", "2222"))).confirmed


@pytest.mark.parametrize(
    ("said", "reply", "paid_by", "confirmed"),
    [
        ("$50 to be paid. Shall I go ahead?", "Yes, with my gift card.", "gift_card_1", True),
        ("$50 to be paid. Shall I go ahead?", "Yes, with my gift card.", "credit_card_77", False),
        ("$50 on the gift card. OK?", "Yes. But take the Visa instead of the gift card.", "credit_card_77", True),
        ("$50 on the gift card. OK?", "Yes. But take the Visa instead of the gift card.", "gift_card_1", False),
        ("shall I use the gift card and the Visa for the $50?", "Yes.", "credit_card_77", False),
        ("$50 on the Visa or the gift card. Shall I go ahead?", "Yes, the gift card on file.", "gift_card_1", True),
    ],
)  # fmt: skip
def test_how_to_pay_is_what_was_settled_last(said: str, reply: str, paid_by: str, confirmed: bool) -> None:
    offer = agent(f"I'd change AB12CD to flight HAT202 on May 21, {said}")
    decision = judge(*AIRLINE, offer, user(reply), agent(None, shop.fly(pays=paid_by)))
    assert decision.confirmed is confirmed


def test_a_class_for_one_flight_is_none_for_the_other() -> None:
    offer = agent(
        "1. HAT202 on May 21 in business\n2. HAT303 on May 23 in economy\n$50 on the Visa. Shall I book both?"
    )
    flights = [{"flight_number": "HAT202", "date": "2024-05-21"}, {"flight_number": "HAT303", "date": "2024-05-23"}]
    name, arguments = shop.book(50)
    for cabin in ("business", "economy"):
        call = (name, {**arguments, "cabin": cabin, "flights": flights})
        assert "for a part" in judge(*AIRLINE, offer, user("Yes."), agent(None, call)).why


def test_bags_that_were_called_free_are_not_paid_for() -> None:
    offer = agent("One bag more, two bags in all, is free of charge for you. Shall I add it to AB12CD?")
    assert judge(*AIRLINE, offer, user("Yes."), agent(None, shop.bags(2, 0))).confirmed
    assert not judge(*AIRLINE, offer, user("Yes."), agent(None, shop.bags(2, 1))).confirmed
