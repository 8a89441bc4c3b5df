"""The details of a call by kind, and the forms in which people write and say them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from toolcal.writes.words import WORDS, contains, fold

RECORD, CHOICE, PAYMENT, PAID, DATE, TIME, AMOUNT, COUNT, TEXT, WORD = (
    "record", "choice", "payment", "paid", "date", "time", "amount", "count", "text", "word",
)  # fmt: skip

_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:t.*)?")
_TIME = re.compile(r"(\d\d?):(\d\d)(?::\d\d)?")
_CODE = re.compile(r"#?[\w.-]*\d[\w.-]*")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = rf"({'|'.join(_MONTHS)})[a-z]*\.?"
_DAYS = (
    re.compile(r"\d{4}-(?P<month>\d\d)-(?P<day>\d\d)"),
    re.compile(r"\b(?P<month>\d{1,2})/(?P<day>\d{1,2})\b"),
    re.compile(rf"\b(?P<month>{_MONTH}) (the )?(?P<day>\d{{1,2}})(?!\d)"),
    re.compile(rf"\b(?P<day>\d{{1,2}})(st|nd|rd|th)? (of )?(?P<month>{_MONTH})"),
)
"""The ways in which a day is written."""
_BOOKED = re.compile(r"(?<!\w)(booking date|(was|were) (booked|made|placed)|booked on|created|born|birth)[^\n]*")
_NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?")
_OF_USER = (
    "user_id",
    "customer_id",
    "user",
    "customer",
    "dob",
    "date_of_birth",
    "birthday",
    "country",
    "state",
    "zip",
    "email",
    "reason",
)
_SUMS = ("amount", "price", "cost", "fee", "total_due", "limit", "gb", "balance", "deposit")
_EMPTY = ("yes", "no", "none", "true", "false", "available", "active")


@dataclass(frozen=True)
class Detail:
    """One value of a call.

    Attributes:
        kind: one of the kinds above.
        key: the argument's name, or that of the innermost field.
        value: the value as it was given, as text.
        form: folded, as people would write it.
        number: of an amount, a count or what is paid.
    """

    kind: str
    key: str
    value: str
    form: str
    number: float = 0.0


def of(arguments: Mapping[str, Any]) -> tuple[Detail, ...]:
    """A call's details, but those that nobody would speak of, each once."""
    return tuple(dict.fromkeys(d for path, value in _leaves(arguments) if (d := _detail(path.lower(), value))))


def _leaves(value: Any, path: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    if depth > 8:
        return
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _leaves(inner, f"{path}.{name}" if path else str(name), depth + 1)
    elif isinstance(value, list):
        for inner in value[:200]:
            yield from _leaves(inner, path, depth + 1)
    elif isinstance(value, str) and len(parts := value.split()) > 1 and all(_CODE.fullmatch(part) for part in parts):
        yield from ((path, part) for part in parts)
    else:
        yield path, value


def _detail(path: str, value: Any) -> Detail | None:
    key = path.rsplit(".", 1)[-1]
    if isinstance(value, bool) or value is None or key in _OF_USER:
        return None
    if isinstance(value, int | float):
        number = float(value) if abs(value) < 1e12 else 0.0
        kind = PAID if "pay" in path else AMOUNT if any(word in key for word in _SUMS) else COUNT
        return Detail(kind, key, str(value)[:40], f"{number:g}", number)
    text = str(value).strip()
    form = fold(text).lstrip("#").replace("_", " ")
    if len(form) < 2 or form in ("yes", "no"):
        return None
    if ("pay" in path and "id" in key) or key in ("payment", "payment_method", "card") or kind_of(text):
        return Detail(PAYMENT, key, text, form)
    if _DATE.fullmatch(text.lower()):
        return Detail(DATE, key, text, text[:10])
    if _TIME.fullmatch(text):
        return Detail(TIME, key, text, text)
    if _CODE.fullmatch(text) or key.endswith(("_id", "_ids")):
        record = key in ("id", "code") or (key.endswith(("id", "_ids")) and "new" not in key)
        return Detail(RECORD if record else CHOICE, key, text, fold(text).lstrip("#"))
    if re.search(r"\d", text) and " " in text:
        return Detail(TEXT, key, text, form)
    return Detail(WORD, key, text, form) if len(form) > 3 or "name" in key else None


def numbers(text: str) -> set[float]:
    """All numbers of a text, 1,234.50 as one."""
    return {float(found.replace(",", "")) for found in _NUMBER.findall(text) if len(found) < 16}


def sums(text: str) -> set[float]:
    """The numbers of a text that stand beside a sign or word of a currency."""
    found = re.findall(
        r"[$€£] ?(\d[\d,]*(?:\.\d+)?)|(\d[\d,]*(?:\.\d+)?) ?(?:usd|dollars?|eur|euros?|€|£|pounds|gbp)", text
    )
    return {float((one or other).replace(",", "")) for one, other in found if len(one or other) < 16}


def dated(text: str, date: str) -> bool:
    """Whether a text has a date, in figures, or its month and its day in words ("May 3rd", "3 and 4 May")."""
    found = _DATE.fullmatch(date)
    if not found or not 1 <= int(found[2]) <= 12:
        return contains(text, date)
    month, day = int(found[2]), int(found[3])
    figures = (date[:10], f"{month}/{day}", f"{month:02}/{day:02}", f"{month:02}-{day:02}", f"{day:02}.{month:02}")
    if any(contains(text, form) for form in figures):
        return True
    said = re.search(rf"(?<!\w)0?{day}(st|nd|rd|th)?(?!\w)", text)
    return said is not None and re.search(rf"(?<!\w){_MONTHS[month - 1]}[a-z]*(?!\w)", text) is not None


def days(text: str) -> set[tuple[int, int]]:
    """The months and days of a text, but of when something was booked or somebody born."""
    found = [match for form in _DAYS for match in form.finditer(_BOOKED.sub("", text))]
    return {(_month(match["month"]), int(match["day"])) for match in found}


def _month(said: str) -> int:
    return int(said) if said.isdecimal() else _MONTHS.index(said[:3]) + 1


def time_forms(time: str) -> list[str]:
    """The ways in which a time of day is written or said."""
    found = _TIME.fullmatch(time)
    if not found:
        return [time]
    hour, minutes, half = int(found[1]), found[2], "pm" if int(found[1]) >= 12 else "am"
    twelve = (hour - 1) % 12 + 1
    short = [f"{twelve} {half}", f"{twelve}{half}"] if minutes == "00" else []
    return [
        f"{hour:02}:{minutes}",
        f"{hour}:{minutes}",
        f"{twelve}:{minutes} {half}",
        f"{twelve}:{minutes}{half}",
        *short,
    ]


def kind_of(value: str) -> str | None:
    """The kind of a payment method, from the way its id begins."""
    value = value.lower().replace("giftcard", "gift_card")
    brand = re.match(r"(visa|mc|mastercard|amex|card|debit_card)_?\d", value)
    return "credit_card" if brand else next((kind for kind in WORDS["payments"] if value.startswith(kind)), None)


def kinds_in(text: str) -> set[str]:
    """The kinds of payment that a text names."""
    return {kind for kind, pattern in WORDS["payments"].items() if pattern.search(text)}


def wanted(text: str) -> str:
    """A text without what it says is not wanted or not used, or is left behind."""
    return re.sub(r"(instead of|rather than|\bnot|\bnothing|no (additional|extra|further)|n't)[^.\n,]*", "", text)


def said(text: str, value: str) -> bool:
    """Whether a text has a value, in full or by most of its words."""
    if contains(_close(text), _close(value)):
        return True
    words = [w for w in re.findall(r"\w+", value) if len(w) > 3]
    return (
        len(words) > 1 and sum(contains(text, w) or contains(text, w.removesuffix("s")) for w in words) > len(words) / 2
    )


def described(text: str, value: str) -> bool:
    """Whether a text has a plain value, which may be a date with a time."""
    date, time = re.search(r"\d{4}-\d\d-\d\d", value), re.search(r"\d\d:\d\d", value)
    if not date and not time:
        return len(value) > 1 and value not in _EMPTY and said(text, value)
    if date and not dated(text, date[0]):
        return False
    return not time or any(contains(text, form) for form in time_forms(time[0]))


def telling(value: str) -> bool:
    """Whether a value is told by its words: no number, yes or no, or single letter."""
    return len(value) > 2 and value not in _EMPTY and not value.replace(".", "").isdigit()


@lru_cache(maxsize=8192)
def _close(text: str) -> str:
    """A text without hyphens, with figures and units written together."""
    return re.sub(r"(?<=\d) (?=[a-z])", "", text.replace("-", " "))
