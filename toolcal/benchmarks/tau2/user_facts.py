"""Identifiers in what a simulated user says, and whether somebody gave them to it.

Names, amounts and free text are not looked at: they are said in many ways.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = rf"(?:{'|'.join(_MONTHS)})[a-z]*\.?"
_DATE = re.compile(
    r"\b(?P<y1>\d{4})-(?P<m1>\d{1,2})-(?P<d1>\d{1,2})\b"
    rf"|\b(?P<w2>{_MONTH}) (?P<d2>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<y2>\d{{4}})\b"
    rf"|\b(?P<d3>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<w3>{_MONTH}),? (?P<y3>\d{{4}})\b"
    r"|\b(?P<a4>\d{1,2})/(?P<b4>\d{1,2})/(?P<y4>\d{4})\b",
    re.IGNORECASE,
)
_BIRTH = re.compile(r"\b(?:birth\w*|born|dob)\b", re.IGNORECASE)
_LAST = 4
"""Digits by which a card is named."""
_SPACE_BEFORE, _SPACE_AFTER = r"(?<![\w$€£#.,/@-])", r"(?![\w%@/-]|[.,]\d)"


@dataclass(frozen=True)
class _Kind:
    """A kind of identifier: how it is written, and how an agent asks for it."""

    written: re.Pattern[str]
    asked: re.Pattern[str]


def _kind(written: str, asked: str) -> _Kind:
    return _Kind(re.compile(written), re.compile(asked, re.IGNORECASE))


# In this order: what one kind has taken is no other's. Repeats have bounds, for a text may be of any length.
_KINDS = (
    _kind(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,6}", r"e-?mail"),
    _kind(
        r"\b[A-Za-z]{1,40}(?:\\?_[A-Za-z]{1,40}){0,6}\\?_\d{3,12}\b", r"\buser ?(?:id|name)|\bpayment (?:method )?id"
    ),
    _kind(
        rf"{_SPACE_BEFORE}#? ?W\d{{5,12}}{_SPACE_AFTER}|{_SPACE_BEFORE}#?\d{{7,12}}{_SPACE_AFTER}",
        r"\border (?:id|number)|\b(?:item|product) id",
    ),
    _kind(
        # With a digit in it (flights have one too), or named as what it is.
        rf"{_SPACE_BEFORE}(?=[A-Z]{{0,5}}\d)(?=\d{{0,5}}[A-Z])[A-Z\d]{{6}}{_SPACE_AFTER}"
        r"|\b(?:[Rr]eservation|[Cc]onfirmation|[Bb]ooking) (?:ID|id|[Nn]umber|[Cc]ode)(?: is|:)? [\"'*`]*"
        r"(?P<value>[A-Z]{6})\b",
        r"\b(?:reservation|confirmation|booking) (?:id|number|code)|\bflight number",
    ),
    _kind(
        rf"{_SPACE_BEFORE}\d{{5}}(?:-\d{{4}})?{_SPACE_AFTER}(?! (?:dollars|usd|points|miles|bucks))",
        r"\b(?:zip|postal) ?code",
    ),
    _kind(
        r"\b(?i:card|visa|mastercard)(?: \w+)? ending (?:in|with) (?P<value>\d{4})\b",
        r"\bcard",
    ),
)


def values(text: str) -> list[tuple[str, re.Pattern[str]]]:
    """The identifiers in a text but for dates, as written, each with how an agent asks for its kind."""
    found = []
    for kind in _KINDS:
        for match in kind.written.finditer(text):
            found.append((match.groupdict().get("value") or match[0], kind.asked))
        text = kind.written.sub(lambda match: " " * len(match[0]), text)
    return found


def unknown(text: str, known: Sequence[str], asked: str) -> list[str]:
    """Identifiers in what a user says that stand in no other text.

    Args:
        text: what it says.
        known: its scenario, and all that was said before.
        asked: the agent's last words: a date is one of birth if they or the user's say so.

    Returns:
        The values as written, each once.
    """
    found = [value for value, _ in values(text) if not _stands(value, known)]
    if _BIRTH.search(text) or _BIRTH.search(asked):
        dates = {day for one in known for _, days in _dates(one) for day in days}
        found += [written for written, days in _dates(text) if not days & dates]
    return list(dict.fromkeys(found))


def new(text: str, before: Sequence[str]) -> bool:
    """Whether a text tells an identifier that nobody has said before."""
    return any(not _stands(value, before) for value, _ in values(text))


def asked_for(heard: str, scenario: str, before: Sequence[str]) -> bool:
    """Whether an agent's words name a kind of identifier, and the scenario holds one that nobody has said before."""
    return any(asked.search(heard) and not _stands(value, before) for value, asked in values(scenario))


def _stands(value: str, texts: Iterable[str]) -> bool:
    """Whether a value stands in some text, whatever case and signs; a number as a whole, or the last digits of one."""
    bare = _squash(value)
    if not re.fullmatch(r"w?\d+", bare):
        return any(bare in _squash(text) for text in texts)
    digits = bare.removeprefix("w")  # an order's number is written with or without its letter
    number = re.compile(("" if len(digits) == _LAST else r"(?<!\d)") + digits + r"(?!\d)")
    return any(number.search(text) or number.search(text.replace("-", "")) for text in texts)


@lru_cache(maxsize=1024)
def _squash(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


def _dates(text: str) -> Iterator[tuple[str, frozenset[tuple[int, int, int]]]]:
    """The dates in a text: as written, and what they can mean as (year, month, day)."""
    for match in _DATE.finditer(text):
        part = match.groupdict()
        if part["y1"]:
            days = {(int(part["y1"]), int(part["m1"]), int(part["d1"]))}
        elif part["y4"]:
            year, first, second = int(part["y4"]), int(part["a4"]), int(part["b4"])
            days = {(year, first, second), (year, second, first)}
        else:
            form = "2" if part["w2"] else "3"
            month = _MONTHS.index(part[f"w{form}"][:3].lower()) + 1
            days = {(int(part[f"y{form}"]), month, int(part[f"d{form}"]))}
        yield match[0], frozenset(days)
