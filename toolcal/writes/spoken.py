"""How values are said: dates, sums, times, ways to pay and names, as a folded text may have them."""

from __future__ import annotations

import re
from functools import lru_cache

from toolcal.writes.words import WORDS, contains

DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:t.*)?")
_TIME = re.compile(r"(\d\d?):(\d\d)(?::\d\d)?")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = rf"({'|'.join(_MONTHS)})[a-z]*\.?"
_DAYS = (
    re.compile(r"\d{4}-(?P<month>\d\d)-(?P<day>\d\d)"),
    re.compile(r"\b(?P<month>\d{1,2})/(?P<day>\d{1,2})\b"),
    re.compile(rf"\b(?P<month>{_MONTH}) (the )?(?P<day>\d{{1,2}})(?!\d)"),
    re.compile(rf"\b(?P<day>\d{{1,2}})(st|nd|rd|th)? (of )?(?P<month>{_MONTH})"),
)
"""The ways in which a day is written."""
_BIRTH = re.compile(r"(?<!\w)(booking date|booked on|created|born|birth|dob)[^\n]*")
_SUM = re.compile(r"[$€£] ?(\d[\d,]*(?:\.\d+)?)|(\d[\d,]*(?:\.\d+)?) ?(?:usd|dollars?|eur|euros?|€|£|pounds|gbp)")
_TOTAL = re.compile(r"\btotal\b[^.\n]{0,60}?[$€£] ?(\d[\d,]*(?:\.\d+)?)|[$€£] ?(\d[\d,]*(?:\.\d+)?) (?:in )?total\b")
_EMPTY = ("yes", "no", "none", "true", "false", "available", "active")
_FIGURES = {"one": 1, "a": 1, "an": 1, "another": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
_UNWANTED = re.compile(r"(instead of|rather than|\bnot|\bnothing|no (additional|extra|further)|n't)[^.\n,]*")


def sums(text: str) -> set[float]:
    """The numbers of a text that stand beside a sign or word of a currency."""
    return {_number(one or other) for one, other in _SUM.findall(text)}


def totals(text: str) -> set[float]:
    """The sums that a text calls a total."""
    return {_number(one or other) for one, other in _TOTAL.findall(text)}


def _number(said: str) -> float:
    return float(said.replace(",", "")[:15])


def counts(text: str, stem: str) -> set[int] | None:
    """The small numbers around a word that begins with a stem; None where there is no such word."""
    spots = [found.start() for found in re.finditer(rf"(?<!\w){re.escape(stem)}", text)]
    before = [word for spot in spots for word in re.findall(r"\w+", text[max(0, spot - 40) : spot])[-4:]]
    before += [word for spot in spots for word in re.findall(r"(?<![$\d.])\d(?![\d.,:])", text[spot : spot + 30])]
    heard = {_FIGURES.get(word, int(word) if word.isdecimal() and len(word) == 1 else 0) for word in before}
    return heard - {0} if spots else None


def dated(text: str, date: str) -> bool:
    """Whether a text has a date, in figures, or its month and its day in words ("May 3rd", "3 and 4 May")."""
    found = DATE.fullmatch(date)
    if not found or not 1 <= int(found[2]) <= 12:
        return contains(text, date)
    month, day = int(found[2]), int(found[3])
    if (month, day) in days(text):
        return True
    said = re.search(rf"(?<!\w)0?{day}(st|nd|rd|th)?(?!\w)", text)
    return said is not None and re.search(rf"(?<!\w){_MONTHS[month - 1]}[a-z]*(?!\w)", text) is not None


def days(text: str) -> set[tuple[int, int]]:
    """The months and days of a text, but of when something was booked or somebody born."""
    found = [match for form in _DAYS for match in form.finditer(_BIRTH.sub("", text))]
    return {(_month(match["month"]), int(match["day"])) for match in found}


def _month(said: str) -> int:
    return int(said) if said.isdecimal() else _MONTHS.index(said[:3]) + 1


def kind_of(value: str) -> str | None:
    """The kind of a payment method, from the way its id begins."""
    value = value.lower().replace("giftcard", "gift_card")
    brand = re.match(r"(visa|mc|mastercard|amex|card|debit_card)_?\d", value)
    return "credit_card" if brand else next((kind for kind in WORDS["payments"] if value.startswith(kind)), None)


def kinds_in(text: str, unwanted: bool = False) -> set[str]:
    """The kinds of payment that a text names as used, or those that it says are not."""
    text = "\n".join(m[0] for m in _UNWANTED.finditer(text)) if unwanted else _UNWANTED.sub("", text)
    return {kind for kind, pattern in WORDS["payments"].items() if pattern.search(text)}


def said(text: str, value: str) -> bool:
    """Whether a text has a value, in full or by most of its words."""
    if contains(_close(text), _close(value)):
        return True
    words = re.findall(r"\w+", value)
    if not all(contains(text, word) for word in words if word.isdecimal()):
        return False
    words = [w for w in words if len(w) > 3]
    return (
        len(words) > 1 and sum(contains(text, w) or contains(text, w.removesuffix("s")) for w in words) > len(words) / 2
    )


def described(text: str, value: str) -> bool:
    """Whether a text has a plain value of a tool's result, which may be a date with a time."""
    date, time = re.search(r"\d{4}-\d\d-\d\d", value), re.search(r"(\d\d):(\d\d)", value)
    if not date and not time:
        return len(value) > 1 and value not in _EMPTY and said(text, value)
    if date and not dated(text, date[0]):
        return False
    return not time or any(contains(text, form) for form in _times(int(time[1]), time[2]))


def _times(hour: int, minutes: str) -> list[str]:
    """The ways in which a time of day is written."""
    twelve, half = (hour - 1) % 12 + 1, "pm" if hour >= 12 else "am"
    short = [f"{twelve} {half}", f"{twelve}{half}"] if minutes == "00" else []
    return [
        f"{hour:02}:{minutes}",
        f"{hour}:{minutes}",
        f"{twelve}:{minutes} {half}",
        f"{twelve}:{minutes}{half}",
        *short,
    ]


@lru_cache(maxsize=8192)
def _close(text: str) -> str:
    """A text without hyphens, with figures and units written together."""
    return re.sub(r"(?<=\d) (?=[a-z])", "", text.replace("-", " "))
