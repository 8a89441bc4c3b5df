"""What stood before an emission: which requests are open, which calls change something."""

from __future__ import annotations

import pytest

from toolcal.actions.before import MAX_REQUEST, Before, changes


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
    ("request_", "calls", "offer", "named"),
    [
        ("Check the cost and book a flight.", ["get_flight_cost"], "Shall I book it?", True),
        ("Purchase ten shares.", ["get_stock_info"], "Would you like me to buy them?", True),
        ("Purchase ten shares.", ["get_stock_info", "place_order"], "Would you like me to buy more?", False),
        ("Erase the draft and rename the report.", ["rm"], "Would you like me to rename the report?", True),
        ("Erase the draft and rename the report.", ["rm"], "Would you like me to delete the report?", False),
        ("What does a flight cost?", ["get_flight_cost"], "Shall I book it?", False),
        ("Just cancelling it would help.", ["get_order"], "Would you like me to cancel it?", True),
    ],
)
def test_an_offer_of_what_was_asked_for(request_, calls, offer, named):
    assert Before().asked(request_).called(calls).names(offer) is named


def test_long_talks_are_cut():
    before = Before()
    for number in range(500):
        before = before.asked(f"Tell me about number {number}.")
    assert len(before.request) <= MAX_REQUEST
    assert before.request.endswith("number 499.")
