"""Stated confidences: the shared cases, the kinds that they stand for, and hostile text."""

from __future__ import annotations

import json
import random
import time

import pytest

from tests.conftest import ROOT
from toolcal.confidence.parse import REASONS, Confidence, parse

CASES = [json.loads(line) for line in (ROOT / "tests/data/confidence.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_shared_cases(case):
    found = parse(case["text"], case["scale"])
    assert found.value == case["expect"]
    assert found.raw == case["text"]
    assert (found.reason is None) == (case["expect"] is not None)


def test_the_shared_cases_are_all_there():
    assert len(CASES) == 22


@pytest.mark.parametrize(
    ("text", "scale", "value"),
    [
        (".85", "unit", 0.85),
        ("  0.7\n", "unit", 0.7),
        ("+0.7", "unit", 0.7),
        ("**0.9**", "unit", 0.9),
        ('{"confidence": 0.35}', "unit", 0.35),
        ("\\boxed{0.35}", "unit", 0.35),
        ("p=0.35", "unit", 0.35),
        ("- 0.8", "unit", 0.8),
        ("0.8!", "unit", 0.8),
        ("1", "unit", 1.0),
        ("1/2", "unit", 0.5),
        ("½", "unit", 0.5),
        ("0.9/1", "unit", 0.9),
        ("0.9/1.0", "percent", 0.9),
        ("8 of 10", "percent", 0.8),
        ("10/10", "unit", 1.0),
        ("85 %", "unit", 0.85),
        ("85%sure", "unit", 0.85),
        ("85％", "unit", 0.85),
        ("８５", "percent", 0.85),
        ("85 percent", "unit", 0.85),
        ("85 per cent", "percent", 0.85),
        ("I am about 75% sure.", "unit", 0.75),
        ("~75%", "unit", 0.75),
        ("33.3", "percent", 0.333),
        ("99,5%", "percent", 0.995),
        ("0.5%", "percent", 0.005),
        ("1", "percent", 0.01),
        ("0%", "unit", 0.0),
        ("<conf>95</conf>", "percent", 0.95),
        ("Confidence (0-1): 0.9", "unit", 0.9),
        ("Confidence (0–100): 85", "percent", 0.85),
        ("On a scale of 0 to 100: 85", "percent", 0.85),
        ("on a scale from 0 to 1, 0.6", "unit", 0.6),
        ("0.9 (90%)", "unit", 0.9),
        ("9/10, or 90%", "percent", 0.9),
        ("2.5e-1", "unit", 0.25),
        ("1e-999999", "unit", 0.0),
    ],
)
def test_one_clear_value_is_read(text, scale, value):
    assert parse(text, scale) == Confidence(value, text)


@pytest.mark.parametrize(
    ("text", "scale", "reason"),
    [
        (None, "unit", "absent"),
        ("", "unit", "empty"),
        (" \n", "percent", "empty"),
        ("very likely", "unit", "no_number"),
        ("NaN%", "percent", "no_number"),
        ("-inf", "unit", "no_number"),
        ("None", "unit", "no_number"),
        ("ninety percent", "percent", "no_number"),
        ("80–90%", "unit", "several_numbers"),
        ("80 to 90", "percent", "several_numbers"),
        ("between 0.8 and 0.9", "unit", "several_numbers"),
        ("0.8±0.1", "unit", "several_numbers"),
        ("0.8 or maybe 0.7", "unit", "several_numbers"),
        ("Answer 42, confidence 90%", "unit", "several_numbers"),
        ("The answer is 1912. Confidence: 0.9", "unit", "several_numbers"),
        ("0.9 0.9 0.1", "unit", "several_numbers"),
        ("1.2.3", "unit", "malformed"),
        ("85²", "percent", "malformed"),
        ("0.9¹", "unit", "malformed"),
        ("8₁", "percent", "malformed"),
        ("0..9", "unit", "malformed"),
        ("90x", "percent", "malformed"),
        ("0x1", "unit", "malformed"),
        ("v0.5", "unit", "malformed"),
        ("x85%", "unit", "malformed"),
        ("1/2/3", "unit", "malformed"),
        ("1/0", "unit", "malformed"),
        ("9/10%", "unit", "malformed"),
        ("0." + "3" * 200, "unit", "malformed"),
        ("GPT4 says 0.9", "unit", "malformed"),
        ("over 90%", "unit", "bound"),
        (">0.9", "unit", "bound"),
        ("≥ 0.9", "unit", "bound"),
        ("more than 90", "percent", "bound"),
        ("at least 80 %", "percent", "bound"),
        ("less than 0.1", "unit", "bound"),
        ("95+", "percent", "bound"),
        ("80 or higher", "percent", "bound"),
        ("not 90%", "percent", "bound"),
        ("0.95", "percent", "ambiguous"),
        ("1.0", "percent", "ambiguous"),
        ("0.95%", "unit", "ambiguous"),
        ("1,000", "unit", "ambiguous"),
        ("101", "percent", "out_of_range"),
        ("150%", "unit", "out_of_range"),
        ("-5", "percent", "out_of_range"),
        ("−0.5", "unit", "out_of_range"),
        ("11/10", "unit", "out_of_range"),
        ("-1/10", "unit", "out_of_range"),
        ("85", "unit", "out_of_range"),
        ("1.0001", "unit", "out_of_range"),
        ("1e5", "unit", "out_of_range"),
        ("1e999999999999", "unit", "out_of_range"),
        ("<confidence>1.2</confidence>", "unit", "out_of_range"),
    ],
)
def test_all_else_is_missing_with_its_reason(text, scale, reason):
    assert parse(text, scale) == Confidence(None, text, reason)
    assert reason in REASONS


def test_every_reason_is_met():
    shown = {parse(text, "unit").reason for text in (None, "", "x", "1.2.3", "0.1 0.2", ">0.1", "1,000", "7")}
    assert shown == set(REASONS)


@pytest.mark.parametrize("number", range(101))
def test_all_ways_to_write_a_percentage_are_one_value(number):
    """The bins' edges are such values: a rounding error would put an answer into the wrong bin."""
    ways = [f"{number}%", f"{number}/100", f"{number / 100:.2f}", f"{number / 100:.2f}".replace(".", ",")]
    assert {parse(way, "unit").value for way in ways} == {float(f"{number / 100:.2f}")}
    assert parse(str(number), "percent").value == number / 100


def test_hostile_text_is_read_fast_and_stays_in_range():
    chance = random.Random(1)
    alphabet = "0123456789.,/%-+eE <>()ofut\n\tnan½٣"
    for _ in range(5000):
        text = "".join(chance.choices(alphabet, k=chance.randrange(1, 25)))
        for scale in ("unit", "percent"):
            found = parse(text, scale)
            assert found.raw == text
            assert (found.value is None) == (found.reason is not None)
            assert found.value is None or 0 <= found.value <= 1


@pytest.mark.parametrize(
    "part", ["9", "9.", "<a ", "<a\t", "0-1 (", " ", "1/", "(0 ", "(0", "0 to ", "% ", "scale of 0 "]
)
def test_long_text_is_read_in_time(part):
    for text in (part * 20_000, part + " " * 60_000, part * 20_000 + "0.9", part * 300_000, (part * 5000)[:5000]):
        start = time.perf_counter()
        parse(text, "unit")
        assert time.perf_counter() - start < 2


def test_thousands_of_characters_are_no_confidence():
    assert parse("90 % " + "I am sure of it. " * 200, "unit").value == 0.9
    assert parse("90 % " + "I am sure of it. " * 400, "unit").reason == "malformed"


def test_an_unknown_scale_is_refused():
    with pytest.raises(ValueError, match="unknown scale 'stars': unit or percent"):
        parse("5", "stars")
