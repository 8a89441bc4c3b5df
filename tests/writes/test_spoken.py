"""The forms in which the same value is said."""

from __future__ import annotations

import pytest

from toolcal.writes import spoken


@pytest.mark.parametrize("text", ["may 2", "2nd of may", "on 5/2", "2024-05-02", "may 2-4", "2 and 3 may 2024"])
def test_ways_to_say_a_date(text: str) -> None:
    assert spoken.dated(text, "2024-05-02")
    assert not spoken.dated(text, "2024-06-12")


def test_a_date_that_is_none_is_read_as_it_stands() -> None:
    assert spoken.dated("in 2024-13-02", "2024-13-02")
    assert not spoken.dated("may 2", "2024-13-02")


def test_days_are_read_in_figures_and_words() -> None:
    assert spoken.days("2024-05-21, 5/22, may 23rd, the 24th of may") == {(5, 21), (5, 22), (5, 23), (5, 24)}
    assert spoken.days("booking date: 2024-05-01") == set()


@pytest.mark.parametrize("text", ["at 14:00", "at 2:00 pm", "2pm"])
def test_ways_to_say_a_time(text: str) -> None:
    assert spoken.described(text, "14:00:00")
    assert not spoken.described(text, "15:00:00")


def test_sums_and_totals_in_a_text() -> None:
    text = "$1,234.50 for 7 nights, 20 euros off, a total of $1,214.50"
    assert spoken.sums(text) == {1234.5, 20.0, 1214.5}
    assert spoken.totals(text) == {1214.5}
    assert spoken.totals("$12 in total, $3 each") == {12.0}


def test_small_numbers_beside_a_word() -> None:
    assert spoken.counts("two checked bags, $50 each; bags: 3", "bag") == {2, 3}
    assert spoken.counts("your bags", "bag") == set()
    assert spoken.counts("two cases", "bag") is None


def test_kinds_of_payment_used_and_not_used() -> None:
    text = "with my visa instead of the gift card"
    assert (spoken.kinds_in(text), spoken.kinds_in(text, unwanted=True)) == ({"credit_card"}, {"gift_card"})
    assert spoken.kinds_in("the gift card on file") == {"gift_card"}
    assert spoken.kind_of("credit_card_12") == spoken.kind_of("visa_2207") == "credit_card"
    assert spoken.kind_of("cheque_1") is None


def test_a_value_is_said_by_most_of_its_words_and_all_of_its_numbers() -> None:
    assert spoken.said("the stainless water bottle", "water bottle stainless steel")
    assert spoken.said("500 ml", "500ml")
    assert not spoken.said("14 elm street", "12 elm street")
