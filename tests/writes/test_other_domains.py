"""Tools, values and manners of speaking that no list of the rule knows."""

from __future__ import annotations

import pytest

from tests.writes.talks import Call, agent, judge, result, user, verdict

LOOK = agent(None, ("list_slots", {"week": "20"}))
SLOTS = result(
    [
        {"slot": "D-12", "when": "2025-05-13 09:30", "who": "Dr Amsel"},
        {"slot": "D-17", "when": "2025-05-15 16:00", "who": "Dr Quist"},
    ]
)
PLANS = result([{"plan": "P1", "name": "Snail 5", "price": 9}, {"plan": "P2", "name": "Hare 20", "price": 19}])


def book(slot: str) -> Call:
    return "book_slot", {"patient": "3307", "slot": slot}


def switch(plan: str) -> Call:
    return "change_plan", {"line": "L-4", "plan": plan}


def pay(amount: float, card: str = "visa_6161") -> Call:
    return "pay_bill", {"bill": "I-51", "amount": amount, "card": card}


@pytest.mark.parametrize(
    ("offer", "same", "other"),
    [
        ("I'd book you in with Dr Quist on Thursday, 15 May, at 4 pm. All right?", book("D-17"), book("D-12")),
        ("Moving line L-4 to Hare 20, $19 a month. Do you agree?", switch("P2"), switch("P1")),
        ("You have 90 dollars due on bill I-51; I'd pay $40.00 of it from the Visa. OK?", pay(40), pay(70)),
        ("I'm going to pay $40 of bill I-51 from the Visa. Just say the word!", pay(40), pay(40, "paypal_2020")),
        (
            "I'd turn on roaming for line L1001, all right?",
            ("enable_roaming", {"line_id": "L1001"}),
            ("suspend_service", {"line_id": "L1002"}),
        ),
        (
            "I'd transfer $1,234.50 from account A1 to account A2. Is that OK?",
            ("transfer_money", {"from_account": "A1", "to_account": "A2", "amount": 1234.5}),
            ("transfer_money", {"from_account": "A1", "to_account": "A2", "amount": 1284.5}),
        ),
        (
            "Two nights for three persons at Mill Inn, shall I reserve it?",
            ("reserve_room", {"hotel": "Mill Inn", "persons": 3}),
            ("reserve_room", {"hotel": "Mill Inn", "persons": 4}),
        ),
        (
            "I'd ship it to 18 Harbour Row in Whitby from now on, ok?",
            ("change_address", {"address": "18 Harbour Row, Whitby, YO21 3PU"}),
            ("change_address", {"address": "9 Hill Road, Whitby, YO21 1AA"}),
        ),
    ],
)  # fmt: skip
def test_a_value_in_words_and_another_one_in_its_place(offer: str, same: Call, other: Call) -> None:
    start = (user("Hello"), LOOK, SLOTS, LOOK, PLANS)
    assert judge(*start, agent(offer), user("Sure."), agent(None, same)).confirmed
    assert not judge(*start, agent(offer), user("Sure."), agent(None, other)).confirmed


LIST = agent("This is what I can do:\n\n1. **Switch** L-4 to Hare 20, $19\n2. **Block** card 8181\n\nShall I do both?")
BLOCK = ("block_card", {"card": "8181"})


@pytest.mark.parametrize(
    ("reply", "switched", "blocked"),
    [
        ("Yes, both please", True, True),
        ("Yes. But don't block the card.", True, False),
        ("yes, block it. Leave the plan as it is", False, True),
    ],
)
def test_a_reply_to_a_list(reply: str, switched: bool, blocked: bool) -> None:
    talk = (user("Hello"), LOOK, PLANS, LIST, user(reply), agent(None, switch("P2"), BLOCK))
    assert (judge(*talk).confirmed, judge(*talk, call=1).confirmed) == (switched, blocked)


def test_a_question_that_only_points_is_about_what_was_told_before() -> None:
    talk = (
        agent("I can change your line L-4 to Hare 20 for $19."),
        user("From when?"),
        agent("From now. Okay for you?"),
    )
    assert verdict(user("Hi"), LOOK, PLANS, *talk, user("that works"), agent(None, switch("P2"))) == (True, True, 6)


def test_held_back_first_and_agreed_to_after_the_answer() -> None:
    talk = (
        user("Hi"), LOOK, PLANS, agent("I'd move L-4 to plan Hare 20, $19. Shall I?"), user("no, wait. Is it fast?"),
        agent("It is the fastest one."), user("ok, then go ahead"), agent(None, switch("P2")),
    )  # fmt: skip
    assert verdict(*talk) == (True, True, 6)


@pytest.mark.parametrize("reply", ["ok, understood", "thanks!", "And what about the fee?"])
def test_a_word_to_an_explanation_is_no_agreement(reply: str) -> None:
    talk = (
        user("Hi"), LOOK, PLANS, agent("I'd move L-4 to plan Hare 20, $19. Shall I?"), user("Is it fast?"),
        agent("It is the fastest one."), user(reply), agent(None, switch("P2")),
    )  # fmt: skip
    assert verdict(*talk) == (True, False, 3)


@pytest.mark.parametrize(
    ("asked", "reply", "confirmed"),
    [
        ("I can book (1) 13 May, 9:30, Dr Amsel or (2) 15 May, 4 pm, Dr Quist. Which one?", "Dr Quist, please", True),
        ("I can book (1) 13 May, 9:30, Dr Amsel or (2) 15 May, 4 pm, Dr Quist. Which one?", "How far is it?", False),
        ("To book with Dr Quist I need the patient's number.", "3307, Dr Quist", False),
        ("I can book Dr Quist on 15 May, 16:00. What is your number?", "3307", False),
    ],
)
def test_a_choice_among_actions_and_the_answer_to_a_question(asked: str, reply: str, confirmed: bool) -> None:
    talk = (user("Hello"), LOOK, SLOTS, agent(asked), user(reply), agent(None, book("D-17")))
    assert judge(*talk).confirmed is confirmed


@pytest.mark.parametrize(
    "reply", ["Yes, but only if it's free.", "Unless it hurts, yes.", "Before you book that, how long?"]
)
def test_a_condition_is_no_agreement(reply: str) -> None:
    offer = agent("I'd book you in with Dr Quist on 15 May at 16:00. Shall I?")
    assert not judge(user("Hi"), LOOK, SLOTS, offer, user(reply), agent(None, book("D-17"))).confirmed


def test_a_no_to_another_question_takes_nothing_back() -> None:
    offer = agent("I'd book you in with Dr Quist on 15 May at 16:00. Shall I?")
    later = (user("Yes"), agent("Do you have any allergies?"), user("No."))
    assert judge(user("Hi"), LOOK, SLOTS, offer, *later, agent(None, book("D-17"))).confirmed


def test_a_call_that_does_less_than_the_failed_one_is_another_action() -> None:
    def move(*flights: str) -> Call:
        return "change_flights", {"flights": [{"flight_number": flight} for flight in flights]}

    talk = (user("Hi"), agent("I'd change your flights to XY10 and XY20. Shall I?"), user("Yes"))
    failed = (agent(None, move("XY10", "XY20")), result("Error: no seats", failed=True))
    assert judge(*talk, *failed, agent(None, move("XY10", "XY20"))).confirmed
    assert not judge(*talk, *failed, agent(None, move("XY10"))).confirmed
