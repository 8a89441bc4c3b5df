"""Identifiers in a user's words: what is one, in which spellings it is the same, and what is none."""

from __future__ import annotations

import pytest

from toolcal.benchmarks.tau2.user_facts import asked_for, new, unknown

KNOWN = [
    "You are Ada Moor (ada_moor_4120), zip code 20417, born on 1988-03-09, and your email is ada.moor@mail.example.",
    "Your order #W1234567 has item 9876543210; reservation K7QD2M on flight HAT123, reservation QWERTY.",
    "You pay with credit_card_7777777, a Visa ending in 4321.",
]


@pytest.mark.parametrize(
    "text",
    [
        "My user ID is ADA_MOOR_4120.",
        "It's ada\\_moor\\_4120, order W1234567, or just 1234567.",
        "order # W1234567: item 9876543210",
        "k7qd2m, or K7QD2M; flight HAT123!",
        "My reservation number is QWERTY.",
        "Ada.Moor@Mail.example",
        "Zip: 20417.",
        "I was born on March 9, 1988.",
        "My date of birth is 9th March 1988, so 03/09/1988.",
        "Use credit_card_7777777, the Visa ending in 4321.",
    ],
)
def test_known_values_in_other_spellings(text):
    assert unknown(text, KNOWN, "") == []


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("My user ID is ada_moor_4121.", ["ada_moor_4121"]),
        ("Orders #W7654321 and #W1234567.", ["#W7654321"]),
        ("Reservation K7QD2N, please.", ["K7QD2N"]),
        ("My confirmation code is ASDFGH.", ["ASDFGH"]),
        ("On flight HAT124.", ["HAT124"]),
        ("Item 9876543211, item 9876543211.", ["9876543211"]),
        ("Write to ada_moor_4120@mail.example.", ["ada_moor_4120@mail.example"]),
        ("I live in 20418.", ["20418"]),
        ("I was born on March 10, 1988.", ["March 10, 1988"]),
        ("Take gift_card_1111111 or my card ending in 1234.", ["gift_card_1111111", "1234"]),
    ],
)
def test_values_that_nobody_gave(text, values):
    assert unknown(text, KNOWN, "") == values


@pytest.mark.parametrize(
    "text",
    [
        "I paid $10519, 20,418.50 or 20418 dollars.",
        "My name is Adah Moore.",
        "PLEASE CANCEL the TICKET.",
        "I fly on May 12, 2024.",
        "It was 2024-05-12 at 10:30, for 2 people and 3 bags in 1080p.",
        "I have a size 10.",
    ],
)
def test_what_is_no_identifier(text):
    assert unknown(text, [], "Which flight is it?") == []


def test_a_bare_date_is_one_of_birth_where_that_was_asked_for():
    assert unknown("March 10, 1988", KNOWN, "What is your date of birth?") == ["March 10, 1988"]
    assert unknown("March 10, 1988", KNOWN, "When do you fly?") == []
    assert unknown("9/3/1988", KNOWN, "When were you born?") == []


def test_a_value_is_new_until_somebody_said_it():
    before = ["Hello.", "My id is ada_moor_4120."]
    assert not new("As I said: ada_moor_4120.", before)
    assert new("ada_moor_4120, and order W1234567", before)
    assert not new("Thank you.", before)


def test_what_the_scenario_holds_of_what_is_asked_for():
    scenario = "\n".join(KNOWN)
    assert asked_for("Could you tell me your zip code?", scenario, [])
    assert not asked_for("Could you tell me your zip code?", scenario, ["I live in 20417."])
    assert not asked_for("Could you tell me your zip code?", "You are Ada Moor.", [])
    assert not asked_for("Which seat would you like?", scenario, [])
