"""The details of a call: which of them tell it from another one, and whether a text has them, or others instead."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from toolcal.writes import spoken
from toolcal.writes.talk import Known
from toolcal.writes.words import WORDS, contains, fold, sentences

RECORD, THING, PAYMENT, SUM, COUNT, DATE, WORD = "record", "thing", "payment", "sum", "count", "date", "word"
"""What is worked on; one of several that could be chosen; how it is paid; how much; how many; a day; any other text."""

_CODE = re.compile(r"#?[\w.-]*\d[\w.-]*")
_OF_USER = (
    "user_id", "customer_id", "user", "customer", "dob", "date_of_birth", "country", "state", "zip", "email", "reason",
    "insurance", "flight_type", "origin", "destination", "address2",
)  # fmt: skip
"""Arguments that nobody need be told of."""
_SUMS = ("amount", "price", "cost", "fee", "balance", "deposit", "limit")
_NAME = re.compile(r"^(first_|full_)?name$|payee|recipient|guest|beneficiary")
_STREET = re.compile(r"\d+\w* \w+")
"""An address is known by its number and the word beside it: "Street" is often shortened."""
_PAID = ("non", "paid", "extra", "additional")
_FREE = re.compile(r"\b(free|no (additional|extra) (cost|charge|fee)|within your allowance)")
_PAST = re.compile(r"(current\w*|original\w*|existing|was|from|instead of|rather than|old|out of)[^.\n]{0,25}$")
_ALL = re.compile(r"\b(all|both|everything|entire|whole|every)\b")
_NEAR = 0.51
"""Two sums that differ by less are one: cents are often left out."""


@dataclass(frozen=True)
class Detail:
    """One value of a call: its kind, the argument it stands in, as given, folded, and as a number where it is one."""

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
    else:
        yield path, value


def _detail(path: str, value: Any) -> Detail | None:
    key = path.rsplit(".", 1)[-1]
    if isinstance(value, bool) or not value or key in _OF_USER:
        return None
    if isinstance(value, int | float):
        number = float(value) if abs(value) < 1e12 else 0.0
        kind = SUM if "pay" in path or any(word in key for word in _SUMS) else COUNT
        return Detail(kind, path if "pay" in path else key, str(value)[:40], f"{number:g}", number)
    text = str(value).strip()
    form = fold(text).lstrip("#").replace("_", " ")
    if len(form) < 2 or form in ("yes", "no"):
        return None
    if ("pay" in path and "id" in key) or key in ("payment", "payment_method", "card") or spoken.kind_of(text):
        return Detail(PAYMENT, key, text, form)
    if spoken.DATE.fullmatch(text.lower()):
        return Detail(DATE, key, text, text[:10])
    if _CODE.fullmatch(text) or key.endswith(("_id", "_ids")):
        record = key in ("id", "code") or (key.endswith("_id") and "item" not in key and "new" not in key)
        return Detail(RECORD if record else THING, key, text, fold(text).lstrip("#"))
    return Detail(WORD, key, text, form)


class Call:
    """A call's details beside what the tools had told before it.

    Attributes:
        details: all of them.
        records: what is worked on.
        telling: those that the call does not leave as the record already has them.
        pays: money is involved.
    """

    def __init__(self, arguments: Mapping[str, Any], known: Known) -> None:
        self.details = of(arguments)
        self._known = known
        self.records = [one for one in self.details if one.kind == RECORD]
        self._record = "".join(known.record(one.value) for one in self.records)
        self._total = sum(one.number for one in self.details if one.kind == SUM)
        self._renews = any(one.kind == THING and "new" in one.key for one in self.details)
        self.telling = [one for one in self.details if not self._kept(one)]
        self.pays = any(one.kind in (PAYMENT, SUM) for one in self.details)

    def _kept(self, one: Detail) -> bool:
        """Whether the call leaves this as it is; what is exchanged or sent back is in the record as well."""
        if one.kind == THING and "item" in one.key and "new" not in one.key:
            return self._renews
        if one.kind == COUNT:
            return self._had(one) == one.number
        return one.kind not in (RECORD, PAYMENT, SUM) and contains(self._record, one.value.lower())

    def told(self, one: Detail, text: str) -> bool:
        """Whether a text has this detail, in any way that its kind is said."""
        if one.kind == PAYMENT:
            tail = re.search(r"\d{2,}$", one.form)
            named = contains(text, fold(one.value)) or bool(tail and contains(text, tail[0]))
            kind = spoken.kind_of(one.value) in spoken.kinds_in(text)
            return named or kind
        if one.kind == SUM:
            return any(abs(heard - part) < _NEAR for heard in spoken.sums(text) for part in self._shares())
        if one.kind == COUNT:
            heard = spoken.counts(text, _stem(one.key))
            if heard is None or one.key.startswith(_PAID):
                return heard is not None and bool(spoken.sums(text))
            return not heard or bool({one.number, one.number - self._had(one)} & heard)
        if one.kind == DATE:
            return spoken.dated(text, one.form)
        street = _STREET.match(one.form) if one.kind == WORD else None
        form = street[0] if street else one.form
        named = contains(text, form) if one.kind in (RECORD, THING) else spoken.said(text, form)
        return named or any(_score(text, mine, others) for mine, others in self._beside(one))

    def other(self, one: Detail, text: str) -> str | None:
        """What a text has in this detail's place, in words; None where it has the detail, or nothing for it."""
        if one.kind == WORD:
            group = next((group for group in WORDS["exclusive"] if one.form in group), None)
            return self._another(one, text, group) if group else None
        told = self.told(one, text)
        if one.kind == THING and not contains(text, one.form) and (better := self._better(one, text, 1 if told else 0)):
            return better
        if told:
            return None
        if one.kind in (RECORD, THING):
            codes = {
                fold(v).lstrip("#")
                for key in (one.key, f"{one.key.removesuffix('_id')}s")
                for v in self._known.values(key)
            }
            codes -= {same.form for same in self.details}
            heard = [code for code in sorted(codes) if len(code) > 2 and contains(text, code)]
            return next((code for code in heard if one.kind == RECORD or f'"{code}"' not in self._record), None)
        if one.kind == PAYMENT:
            kinds = spoken.kinds_in(text) if spoken.kind_of(one.value) else set()
            return min(kinds).replace("_", " ") if kinds else None
        if one.kind == SUM:
            # Of what a booking costs only the total is telling; any other sum is told as it is.
            totals = sorted(spoken.totals(text) if "pay" in one.key else spoken.sums(text))[:8]
            added = [sum(some) for n in range(1, 5) for some in combinations(totals, n)]
            near = any(abs(total - part) < _NEAR for total in added for part in self._shares())
            return f"a sum of {totals[-1]:g}" if totals and not near else None
        if one.kind == COUNT:
            if one.key.startswith(_PAID):
                return "nothing to pay" if _FREE.search(text) else None
            said = spoken.counts(text, _stem(one.key))
            return f"{max(said)} {_stem(one.key)}s" if said else None
        mine = {day for same in self.details if same.kind == DATE for day in spoken.days(same.form)}
        return "another date" if spoken.days(text) - mine else None

    def untold(self, text: str) -> Detail | None:
        """A detail that a text should have and has not: a choice among what tools listed, who it is for."""
        for one in self.details:
            person = one.kind == WORD and _NAME.search(one.key) and not any(d.kind == THING for d in self.details)
            place = one.kind == WORD and _STREET.match(one.form)
            if one.kind == THING and not _ALL.search(text):
                if not self._named(one, text):
                    return one
            elif (person or place) and one in self.telling and not self.told(one, text):
                return one
        return None

    def _named(self, one: Detail, text: str) -> bool:
        """Whether a text has one of the things that tools listed: its code, its name, or what sets it apart."""
        listed = [(mine, others) for mine, others in self._beside(one) if others]
        names = [value for mine, _ in listed for key, value in mine.items() if "name" in key]
        if contains(text, one.form) or not listed or (one not in self.telling and not names):
            return True
        if names:
            return any(contains(text, name.rsplit(" ", 1)[-1]) or spoken.said(text, name) for name in names)
        return any(_score(text, mine, others) for mine, others in listed)

    def _had(self, one: Detail) -> float:
        """How many there are in the record already."""
        found = re.search(rf'"{re.escape(one.key)}": (\d+)', self._record)
        return float(found[1]) if found else 0.0

    def _shares(self) -> list[float]:
        """What is paid, in whole and for one of several persons."""
        return [self._total / persons for persons in range(1, 7)]

    def _beside(self, one: Detail) -> list[tuple[Mapping[str, str], list[Mapping[str, str]]]]:
        """The objects that hold a value, each with those listed beside it."""
        return self._known.siblings(one.value)[:4]

    def _better(self, one: Detail, text: str, margin: int) -> str | None:
        """A thing listed beside this one that a text describes better by more than a margin."""
        for mine, others in self._beside(one)[:2]:
            for rival in others:
                if self._new(text, rival, mine) > self._new(text, mine, rival) + margin:
                    return "what it says of another one"
        return None

    def _new(self, text: str, mine: Mapping[str, str], other: Mapping[str, str]) -> int:
        """How many of the values that tell one thing from another a text has, but those of the record as it is."""
        return _score(text, {k: v for k, v in mine.items() if f'"{v}"' not in self._record}, [other])

    def _another(self, one: Detail, text: str, group: list[str]) -> str | None:
        """Another value of one slot, or two values, a part each: those that are left behind do not count."""
        pattern = "|".join(sorted(map(re.escape, group), key=len, reverse=True))
        things = [same.form for same in self.details if same.kind == THING]
        heard: set[str] = set()
        mine = other = False
        for line in sentences(text.replace("_", " ")):  # some say a value as the tool writes it
            found = re.finditer(pattern, line)
            new = {m[0] for m in found if not _PAST.search(line[max(0, m.start() - 40) : m.start()])}
            if new and any(thing in line for thing in things):
                # A line on how things are now is none on how they shall be, unless another line has the new value.
                mine = mine or one.form in new
                other = other or one.form not in new
                if one.form not in new and not any(f'"{value.replace(" ", "_")}"' in self._record for value in new):
                    return f"{min(new)} for a part"
            heard |= new
        if heard and one.form not in heard:
            return f"{min(heard)}, not {one.form}"
        part = (mine and other) or (len(heard) > 1 and len(things) > 1 and WORDS["part"].search(text))
        return f"{one.form} for a part only" if part else None


def _stem(key: str) -> str:
    words = [w for w in re.split(r"[_\W]", key) if w not in ("total", "number", "of", "count", "num", "nonfree")]
    return words[0].removesuffix("s").removesuffix("gage")[:5] if words else key


def _score(text: str, mine: Mapping[str, str], others: list[Mapping[str, str]]) -> int:
    """How many of the values that tell an object from others a text has."""
    apart = {key: value for key, value in mine.items() if not others or any(o.get(key) != value for o in others)}
    return sum(
        spoken.described(text, value) or ("name" in key and contains(text, value.rsplit(" ", 1)[-1]))
        for key, value in apart.items()
    )
