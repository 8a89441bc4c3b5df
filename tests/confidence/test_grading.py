from __future__ import annotations

import time
from fractions import Fraction

import pytest

from toolcal.confidence import grading, maths
from toolcal.confidence.grading import REASONS, f1, grade, normalised
from toolcal.confidence.maths import Maths, MathsMissing
from toolcal.confidence.numbers import equal, numbers
from toolcal.confidence.questions import KINDS, Question


def asked(kind, *answers):
    return Question("q", "?", answers, kind, "")


# As SQuAD's evaluate-v1.1 gives it: normalised text, and F1 of pairs worked out by hand.
@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("The  Cat's, a hat!", "cats hat"),
        ("an apple and the An", "apple and"),
        ("twenty-one", "twentyone"),
        ("Another theory", "another theory"),
        ("“Ida’s”  «x»", "idas x"),
        ("ﬁrm１", "firm1"),
        ("a", ""),
        ("?!", ""),
    ],
)
def test_normalised_as_squad_does(text, wanted):
    assert normalised(text) == wanted


@pytest.mark.parametrize(
    ("stated", "wanted", "score"),
    [
        ("the cat sat", "cat sat", 1.0),
        ("cat", "the cat sat", 2 / 3),
        ("cat cat", "cat", 2 / 3),
        ("dog", "cat", 0.0),
        ("the", "a", 1.0),
        ("the", "cat", 0.0),
        ("a b c d", "c d e", 2 * 2 / 6),
    ],
)
def test_f1_as_squad_has_it(stated, wanted, score):
    assert f1(stated, wanted) == pytest.approx(score)
    assert f1(wanted, stated) == pytest.approx(score)


def test_text_is_right_where_it_equals_any_accepted_form():
    question = asked("text", "Ida Holm", "I. Holm")
    assert grade(question, "the I Holm.").correct
    half = grade(question, "Holm")
    assert (half.correct, half.reason) == (False, "different")
    assert half.score == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("1,234.50", "1234.5", ""),
        ("1.234,50", "1234.5", ""),
        ("1 234,5", "1234.5", ""),
        ("1\u202f234\u00a0567", "1234567", ""),
        ("1'234", "1234", ""),
        ("1,234", "1234", ""),
        ("0,85", "0.85", ""),
        (".5", "0.5", ""),
        ("−5", "-5", ""),
        ("-$5.00", "-5", ""),
        ("$ 1,200", "1200", ""),
        ("€-3", "-3", ""),
        ("45 %", "45", "%"),
        ("45 per cent", "45", "%"),
        ("１２", "12", ""),
        ("1.2 million euros", "1200000", "euro"),
        ("3 thousand", "3000", ""),
        ("1/2", "0.5", ""),
        ("½", "0.5", ""),
        ("1.5e3", "1500", ""),
        ("2 × 10^3", "2000", ""),
        ("2×10³", "2000", ""),
        ("2×10⁻³", "0.002", ""),
        ("500 km²", "500", "km"),
        ("twelve firms", "12", "firm"),
        ("Answer: 12.", "12", ""),
        ("**12**", "12", ""),
        ("5kg", "5", "kg"),
        ("about 7 in total", "7", ""),
        ("1,234,567.891", "1234567.891", ""),
    ],
)
def test_one_number_is_read(text, value, unit):
    (number,) = numbers(text)
    assert (number.value, number.unit) == (Fraction(value), unit)


@pytest.mark.parametrize("text", ["", "none", "x1", "a1b2", "nan", "inf", "twenty-one"])
def test_no_number_is_read(text):
    assert numbers(text) == []


@pytest.mark.parametrize(
    ("wanted", "stated", "reason"),
    [
        ("1234.5", "1,234.50", "equal"),
        ("1234.5", "1234.54", "equal"),
        ("1234.5", "1234.56", "different"),
        ("12.33", "12.3333333", "equal"),
        ("12.33", "12.335", "different"),
        ("12.34", "12.335", "equal"),
        ("12.33", "12.3", "different"),
        ("12", "12.3", "different"),
        ("0.33", "1/3", "equal"),
        ("45%", "45", "equal"),
        ("45", "45%", "equal"),
        ("45%", "0.45", "different"),
        ("45%", "45 km", "other_unit"),
        ("5 km", "5 kilometers", "other_unit"),
        ("5 firms", "5 firm", "equal"),
        ("45", "45 (forty or so), that is 45.0", "equal"),
        ("45", "45 or 46", "several_numbers"),
        ("45", "45 in 2003", "several_numbers"),
        ("45", "many", "no_number"),
        ("45", "-45", "different"),
        ("0", "0.0", "equal"),
        ("1000000000000000000001", "1000000000000000000000", "different"),
        ("0.5", "1e999", "different"),
        ("0.5", "1/0", "different"),
    ],
)
def test_numbers(wanted, stated, reason):
    given = grade(asked("number", wanted), stated)
    assert (given.reason, given.correct, given.score) == (reason, reason == "equal", float(reason == "equal"))


def test_rounding_needs_decimals_on_the_right_side():
    (exact,), (longer,) = numbers("2.50"), numbers("2.504")
    assert equal(longer, exact)
    assert not equal(exact, longer)


@pytest.mark.parametrize(
    ("wanted", "stated", "correct"),
    [
        ("B", "B", True),
        ("B", "(b)", True),
        ("B", "B.", True),
        ("B", "Option B", True),
        ("B", "Answer: B) Birch Mills", True),
        ("B", "[B]", True),
        ("(B)", "b", True),
        ("B", "A", False),
        ("B", "Birch", False),
        ("B", "Both are possible", False),
        ("B", "A) Birch, not B", False),
        ("Birch Mills", "birch mills.", True),
        ("Birch Mills", "Alder", False),
    ],
)
def test_choices(wanted, stated, correct):
    assert grade(asked("choice", wanted), stated).correct is correct


@pytest.mark.parametrize(
    ("wanted", "stated", "reason"),
    [
        (r"\frac{1}{2}", "0.5", "equal"),
        (r"\frac{1}{2}", r"$\frac{2}{4}$", "equal"),
        (r"2\sqrt{3}", r"\sqrt{12}", "equal"),
        (r"\left( 3, \frac{\pi}{2} \right)", r"(3, \frac{\pi}{2})", "equal"),
        ("204", "The answer is 204", "equal"),
        ("204", r"\boxed{204}", "equal"),
        ("204", "205", "different"),
        ("1", "3, 2, 1", "different"),
        ("p - q", "p-q", "equal"),
        ("6 - 5i", "6-5i", "equal"),
        (r"\text{Evelyn}", "Evelyn", "equal"),
        (r"\text{Evelyn}", "Briana", "different"),
        ("x=5", "5", "equal"),
        ("5", "1" * 3000, "unreadable"),
    ],
)
def test_mathematics(wanted, stated, reason):
    given = grade(asked("maths", wanted), stated)
    assert (given.reason, given.correct) == (reason, reason == "equal")


def test_a_power_tower_ends_at_the_timeout_and_the_next_one_is_answered():
    comparer = Maths(timeout=1.0)
    try:
        assert comparer.compare("5", "5") == "equal"
        started = time.monotonic()
        assert comparer.compare("5", "$9^{9^{9^{9}}}$") in ("late", "broken", "unreadable", "different")
        assert time.monotonic() - started < 6
        assert comparer.compare("5", "5.0") == "equal"
    finally:
        comparer.close()


def test_a_comparison_that_hangs_is_late(monkeypatch, tmp_path):
    package = tmp_path / "math_verify"
    package.mkdir()
    (package / "__init__.py").write_text("def parse(text, **_):\n    return pow(9, 9**9, 10**9**7)\nverify = parse\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    comparer = Maths(timeout=0.3)
    try:
        started = time.monotonic()
        assert comparer.compare("5", "5") == "late"
        assert time.monotonic() - started < 3
    finally:
        comparer.close()


def test_without_math_verify_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(maths.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MathsMissing, match=r"toolcal\[maths\]"):
        Maths().compare("1", "2")


ODD = [
    "\ud800",
    "\0",
    "x" * 1_000_000,
    "1" * 100_000,
    "🙂",
    "\u202e12",
    "{" * 500,
    "$" * 99,
    "\\frac{",
    "%s %d {0}",
    "1e99999",
]


@pytest.mark.parametrize("kind", KINDS)
def test_odd_answers_are_graded_and_wrong(kind, monkeypatch):
    quick = Maths(timeout=1.0)
    monkeypatch.setattr(grading, "_comparer", lambda: quick)
    for answer in ODD:
        given = grade(asked(kind, "42"), answer)
        assert not given.correct, answer[:20]
        assert given.reason in REASONS
    quick.close()
    for answer in (None, "", " \n\t"):
        assert grade(asked(kind, "42"), answer) == grade(asked("text", "x"), None)
        assert grade(asked(kind, "42"), answer).reason == "no_answer"


@pytest.mark.parametrize(("kind", "answers", "word"), [("prose", ("a",), "prose"), ("text", (), "no accepted answer")])
def test_questions_that_cannot_be_graded_are_named(kind, answers, word):
    with pytest.raises(ValueError, match=f"question q: .*{word}"):
        grade(asked(kind, *answers), "a")
