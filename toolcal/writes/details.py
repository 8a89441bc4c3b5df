"""The details of a call by kind, and the forms in which people write and say them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from toolcal.writes.cues import CUES, fold

_CODE = re.compile(r"[A-Z]{2,4}-?\d{1,5}")
_DATE = re.compile(r"\d{4}-(\d\d)-(\d\d)")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_SOME_DATE = re.compile(
    rf"\d{{4}}-\d\d-\d\d|\b\d{{1,2}}/\d{{1,2}}\b|\b({'|'.join(_MONTHS)})[a-z]*\.? \d"
    rf"|\b\d{{1,2}}(st|nd|rd|th)? (of )?({'|'.join(_MONTHS)})"
)
_AMOUNT = re.compile(r"\d[\d,]*(?:\.\d+)?")


@dataclass(frozen=True)
class Said:
    """The words that a call is compared with, all folded.

    Attributes:
        core: the agent's words that put the action.
        reply: the user's answer to them.
        before: what was said in the exchange before that.
        agent: all words of the agent in view.
        user: all words of the user in view.
    """

    core: str
    reply: str
    before: str
    agent: str
    user: str

    @cached_property
    def here(self) -> str:
        """Proposal and reply."""
        return f"{self.core}\n{self.reply}"

    @cached_property
    def all(self) -> str:
        """Everything in view."""
        return f"{self.agent}\n{self.user}"


@dataclass
class Details:
    """The details of a call, by kind."""

    identities: list[tuple[str, str]] = field(default_factory=list)
    payments: list[str] = field(default_factory=list)
    paid: list[float] = field(default_factory=list)
    codes: list[str] = field(default_factory=list)
    dates: list[str] = field(default_factory=list)
    amounts: list[tuple[str, float]] = field(default_factory=list)
    counts: list[tuple[str, int]] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    streets: list[str] = field(default_factory=list)
    words: list[tuple[str, str]] = field(default_factory=list)
    items: list[str] = field(default_factory=list)
    new_items: list[str] = field(default_factory=list)

    def same(self, other: Details) -> bool:
        """Whether another call does the same, paid for in whatever way."""
        names = ("identities", "codes", "dates", "amounts", "counts", "names", "streets", "items", "new_items")
        return all(getattr(self, name) == getattr(other, name) for name in names)


def of(arguments: Mapping[str, Any]) -> Details:
    """Sort a call's arguments by kind."""
    found = Details()
    for key, value in _leaves(arguments):
        _sort(found, key.lower(), value)
    return found


def contains(text: str, words: str) -> bool:
    """Whether words stand in a text as whole words."""
    start = text.find(words) if words else -1
    while start >= 0:
        end = start + len(words)
        if not (start and text[start - 1].isalnum()) and not (end < len(text) and text[end].isalnum()):
            return True
        start = text.find(words, start + 1)
    return False


def amounts_in(text: str) -> set[float]:
    """All numbers of a text, 1,234.50 as one."""
    return {float(found.replace(",", "")) for found in _AMOUNT.findall(text) if len(found) < 16}


def date_forms(date: str) -> list[str]:
    """The ways in which a date is written or said."""
    found = _DATE.fullmatch(date)
    if not found:
        return [date]
    month, day = int(found[1]), int(found[2])
    if not 1 <= month <= 12:
        return [date]
    short = _MONTHS[month - 1]
    full = {"jan": "january", "feb": "february", "mar": "march", "apr": "april", "jun": "june", "jul": "july"}
    full |= {"aug": "august", "sep": "september", "oct": "october", "nov": "november", "dec": "december"}
    ends = (f"{day}", f"{day:02}", f"{day}th", f"{day}st", f"{day}nd", f"{day}rd")
    forms = [f"{name} {end}" for name in {short, full.get(short, short), f"{short}."} for end in ends]
    forms += [f"{end} {of}{name}" for name in {short, full.get(short, short)} for end in ends for of in ("", "of ")]
    return [date, f"{month}/{day}", f"{month:02}/{day:02}", f"{month:02}-{day:02}", *forms]


def some_date(text: str) -> bool:
    """Whether a text names a date."""
    return _SOME_DATE.search(text) is not None


def payment_kind(value: str) -> str | None:
    """The kind of a payment method, from the way its id begins."""
    return next((kind for kind in CUES.payments if value.lower().startswith(kind)), None)


def kinds_in(text: str) -> set[str]:
    """The kinds of payment that a text names."""
    return {kind for kind, pattern in CUES.payments.items() if pattern.search(text)}


def without_refused(text: str) -> str:
    """A text without what it says is not wanted or not used."""
    return re.sub(r"(instead of|rather than|\bnot|\bnothing|no (additional|extra|further))[^.\n,]*", "", text)


def _leaves(value: Any, key: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    if depth > 8:
        return
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _leaves(inner, f"{key}.{name}" if key else str(name), depth + 1)
    elif isinstance(value, list):
        for inner in value[:200]:
            yield from _leaves(inner, key, depth + 1)
    else:
        yield key, value


def _sort(found: Details, path: str, value: Any) -> None:
    key = path.rsplit(".", 1)[-1]
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, int | float):
        _number(found, path, key, value)
        return
    text = str(value).strip()
    if "payment" in key or payment_kind(text):
        found.payments.append(text)
    elif key in ("user_id", "customer_id", "account_id") or not text:
        return
    elif key.endswith("_ids") or key.startswith("item_id") or key.startswith("new_item"):
        (found.new_items if "new" in key else found.items).append(text)
    elif key == "id" or key.endswith("_id"):
        found.identities.append((key, text))
    elif _CODE.fullmatch(text):
        found.codes.append(text.lower())
    elif _DATE.fullmatch(text):
        if key not in ("dob", "date_of_birth", "birthday"):
            found.dates.append(text)
    elif "address" in key or "street" in key:
        if key.endswith(("1", "address", "street")):
            found.streets.append(fold(text))
    elif key == "first_name" or key == "name":
        found.names.append(fold(text))
    else:
        found.words.append((key, fold(text).replace("_", " ")))


def _number(found: Details, path: str, key: str, value: float) -> None:
    if "payment" in path:
        found.paid.append(value)
    elif any(word in key for word in ("amount", "price", "cost", "total_due", "gb", "fee")):
        found.amounts.append((key, value))
    else:
        found.counts.append((key, int(value) if abs(value) < 1e9 else 0))
