"""What stood before an emission: which requests are open, which calls change something."""

from __future__ import annotations

import pytest

from toolcal.actions.before import MAX_REQUEST, Before, changes
from toolcal.actions.sentences import fold


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("get_order_details", False),
        ("displayCarStatus", False),
        ("find_nearest_tire_shop", False),
        ("posting_get_login_status", True),  # the first word counts; a wrong guess leaves the text to decide
        ("ls", False),
        ("cd", False),
        ("mv", True),
        ("sort", True),
        ("lockDoors", True),
        ("cancel_reservation", True),
        ("message_login", True),
        ("", False),
        ("_", False),
    ],
)
def test_names_of_tools_that_change_something(name, expected):
    assert changes(name) is expected


def test_a_request_stays_open_until_a_call_changes_something():
    asked = Before().asked("Cancel my order.").called(["get_user"]).asked("It is number 7.")
    assert asked.request == "Cancel my order.\nIt is number 7."
    assert asked.calls == ()
    done = asked.called(["cancel_order"])
    assert done.changing == ("cancel_order",)
    assert done.asked("Thanks!").request == "Thanks!"


@pytest.mark.parametrize(
    ("request_", "calls", "answered"),
    [
        ("What does a flight cost?", [], False),
        ("What does a flight cost?", ["get_flight_cost"], True),
        ("Check the cost and book the flight.", ["get_flight_cost"], False),
        ("Check the cost and book the flight.", ["get_flight_cost", "book_flight"], True),
        ("Show the files in the order folder.", ["ls"], True),  # an order is no verb there
        ("Make sure that it is locked.", ["displayCarStatus"], True),
    ],
)
def test_whether_the_calls_have_answered_the_request(request_, calls, answered):
    assert Before().asked(request_).called(calls).answered is answered


@pytest.mark.parametrize(
    ("request_", "calls", "offer", "beyond"),
    [
        ("Check the cost and book a flight.", ["get_flight_cost"], "Shall I book it?", False),
        ("Purchase ten shares.", ["get_stock_info"], "Would you like me to buy them?", False),
        ("Purchase ten shares.", ["get_stock_info", "place_order"], "Would you like me to buy more?", True),
        ("Erase the draft and rename the report.", ["rm"], "Would you like me to rename the report?", False),
        ("Erase the draft and rename the report.", ["rm"], "Would you like me to delete the report?", True),
        ("What does a flight cost?", ["get_flight_cost"], "Shall I book it?", True),
        ("Just cancelling it would help.", ["get_order"], "Would you like me to cancel it?", False),
        ("What does a flight cost?", ["get_flight_cost"], "Would you like me to check other dates?", True),
        ("What does a flight cost?", ["get_flight_cost"], "Which date would you like me to check?", None),
        ("What does a flight cost?", ["get_flight_cost"], "Would you like a single or a return?", None),
    ],
)
def test_an_offer_of_what_was_asked_for_or_of_more(request_, calls, offer, beyond):
    assert Before().asked(request_).called(calls).beyond(fold(offer)) is beyond


def test_long_talks_are_cut():
    before = Before()
    for number in range(500):
        before = before.asked(f"Tell me about number {number}.")
    assert len(before.request) <= MAX_REQUEST
    assert before.request.endswith("number 499.")
