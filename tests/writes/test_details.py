"""A call that does other than was proposed, kind by kind; and the forms in which the same thing is said."""

from __future__ import annotations

import pytest

from tests.writes import shop
from tests.writes.shop import AIRLINE, SHOP
from tests.writes.talks import Call, agent, judge, user
from toolcal.writes import details

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
    ("change AB12CD to HAT202 on 5/21, $50 on the Visa ending in 4321", shop.fly(), shop.fly(pays="credit_card_8")),
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
    assert not judge(
        *AIRLINE, agent(offer), user("Yes."), agent(None, shop.fly("HAT101", "2024-05-20", "business"))
    ).confirmed


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


UNKNOWN: list[tuple[str, Call, Call]] = [
    (
        "turn on roaming for line L1001",
        ("enable_roaming", {"customer_id": "C1", "line_id": "L1001"}),
        ("suspend_line", {"customer_id": "C1", "line_id": "L1001"}),
    ),
    (
        "add 2 GB of data to line L1001 for $4.00",
        ("refuel_data", {"line_id": "L1001", "gb_amount": 2.0}),
        ("refuel_data", {"line_id": "L1001", "gb_amount": 4.0}),
    ),
    (
        "transfer $1,234.50 from account A1 to account A2",
        ("transfer_money", {"from_account": "A1", "to_account": "A2", "amount": 1234.5}),
        ("transfer_money", {"from_account": "A1", "to_account": "A2", "amount": 1234.0}),
    ),
    (
        "create the event 'Tea' on June 3",
        ("createEvent", {"title": "Tea", "date": "2024-06-03"}),
        ("deleteEvent", {"title": "Tea", "date": "2024-06-03"}),
    ),
    ("frobnicate the widget W-9", ("frobnicate_widget", {"widget_id": "W-9"}), ("polish_widget", {"widget_id": "W-9"})),
]


@pytest.mark.parametrize(("offer", "same", "other"), UNKNOWN)
def test_tools_of_other_domains(offer: str, same: Call, other: Call) -> None:
    talk = (user("Hello"), agent(f"I'd {offer}. Is that OK?"), user("Yes."))
    assert judge(*talk, agent(None, same)).confirmed
    assert not judge(*talk, agent(None, other)).confirmed


@pytest.mark.parametrize("text", ["may 2", "2nd of may", "on 5/2", "2024-05-02", "may 2-4", "2 and 3 may 2024"])
def test_ways_to_say_a_date(text: str) -> None:
    assert details.dated(text, "2024-05-02")
    assert not details.dated(text, "2024-06-12")


def test_a_date_that_is_none_is_read_as_it_stands() -> None:
    assert details.dated("in 2024-13-02", "2024-13-02")
    assert not details.dated("may 2", "2024-13-02")


def test_ways_to_say_a_time() -> None:
    assert {"14:00", "2:00 pm", "2pm"} <= set(details.time_forms("14:00"))
    assert details.time_forms("noon") == ["noon"]


def test_numbers_and_sums_in_a_text() -> None:
    assert details.numbers("$1,234.50, then 7 and 20.") == {1234.5, 7.0, 20.0}
    assert details.sums("$1,234.50 for 7 nights, 20 euros off") == {1234.5, 20.0}


def test_kinds_of_payment() -> None:
    assert details.kinds_in("my visa, not the gift card") == {"credit_card", "gift_card"}
    assert details.kind_of("credit_card_12") == details.kind_of("visa_2207") == "credit_card"
    assert details.kind_of("cheque_1") is None


def test_things_of_one_call_do_not_stand_for_each_other() -> None:
    both = agent("I'd return the mug and the pot of order #W7000001 with $39.00 to PayPal. Shall I go ahead?")
    said = user("Yes, return the mug and the tea pot.")
    assert judge(*SHOP, both, said, agent(None, shop.give_back("1111", "2222"))).confirmed


def test_days_are_read_in_figures_and_words() -> None:
    assert details.days("2024-05-21, 5/22, may 23rd, the 24th of may") == {(5, 21), (5, 22), (5, 23), (5, 24)}
    assert details.days("booking date: 2024-05-01") == set()
