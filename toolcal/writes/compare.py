"""Does a text name the details of a call, or others in their place?

Each detail is compared with a text in the way of its kind: it has the call's value (SAME), another one in its place (in
words), or nothing for it (None).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from toolcal.writes import details as d
from toolcal.writes.details import Detail
from toolcal.writes.talk import Known
from toolcal.writes.words import WORDS, contains, fold, sentences

SAME = "same"
PART = "for a part only"

_PAID = ("non", "paid", "extra", "additional")
_FIGURES = {"no": 0, "one": 1, "a": 1, "an": 1, "another": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
_PAST = re.compile(r"(current\w*|original\w*|existing|was|from|instead of|rather than|old|out of)[^.\n]{0,25}$")
_ENDING = re.compile(
    r"(?:ending|ends|last four|last 4|digits|visa|mastercard|amex|card)"
    r"(?: in| with| on| of|:)? ?[#x.]*(\d{3,})(?![\d.,]*\d)"
)
_ALL = re.compile(r"\b(all|both|everything|entire|whole|every)\b")
_LAST_FOUR = re.compile(r'"\w*(?:last|four|digits|ending|number)\w*": "?(\d{4})\b')
_WHO = re.compile(r"^(first_|full_)?name$|payee|recipient|guest|passenger|beneficiary")
_TOTAL = re.compile(r"\btotal\b[^.]{0,40}[$€£\d]|[$€£\d] (in )?total\b")
_BRANDS = ("visa", "mc", "mastercard", "amex")
_FREE = re.compile(
    r"(nothing|no (additional|extra|further) (charge|payment|cost)s?)[^.\n]{0,50}"
    r"(charged|required|needed|made|due)[^.\n]{0,30}"
)


class Comparison:
    """A call, as it is compared with texts."""

    def __init__(self, details: Sequence[Detail], known: Known, verb: re.Pattern[str]) -> None:
        self.details = details
        self._known = known
        self._verb = verb
        self._current = "".join(
            json.dumps(record).lower()
            for one in details
            if one.kind == d.RECORD
            for record in known.records(one.value)[:6]
        )

    def current(self, detail: Detail) -> bool:
        """Whether the record already has this value, so that the call leaves it as it is."""
        if detail.kind == d.RECORD:
            return any(one.kind == d.CHOICE and one.value == detail.value for one in self.details)
        return detail.kind not in (d.PAYMENT, d.PAID) and contains(self._current, detail.value.lower())

    def matters(self, detail: Detail) -> bool:
        """Whether a detail has to be told: a choice among what tools listed, a sum, what costs, who it is for."""
        if detail.kind == d.CHOICE or self._listed(detail):
            return any(others for _, others in self._known.siblings(detail.value))
        place = detail.kind == d.TEXT and detail.key in ("address", "address1", "street")
        person = detail.kind == d.WORD and _WHO.search(detail.key) is not None
        person = person and not any(one.kind == d.CHOICE for one in self.details)
        return (
            person
            or place
            or detail.kind == d.AMOUNT
            or (detail.kind == d.COUNT and detail.number > 0 and detail.key.startswith(_PAID))
        )

    def _listed(self, detail: Detail) -> bool:
        """Whether a thing is one of several that the call does the same to."""
        return detail.kind == d.RECORD and any(one.key == detail.key for one in self.details if one is not detail)

    def told(self, detail: Detail, text: str) -> str | None:
        """SAME, what the text has in this detail's place, or None."""
        match detail.kind:
            case d.RECORD | d.CHOICE:
                return self._code(detail, text)
            case d.PAYMENT:
                return self._payment(detail, text)
            case d.DATE:
                if d.dated(text, detail.form):
                    return SAME
                others = d.days(text) - {day for one in self.details if one.kind == d.DATE for day in d.days(one.form)}
                return f"another date than {detail.form}" if others else None
            case d.TIME:
                timed = re.search(r"\d:\d\d|\d ?[ap]\.?m\b", text)
                return _one_of(text, d.time_forms(detail.form)) or (
                    f"another time than {detail.form}" if timed else None
                )
            case d.AMOUNT | d.PAID:
                return self._amount(detail, text)
            case d.COUNT:
                return self._count(detail, text)
            case d.TEXT:
                return _address(detail, text)
            case _:
                return self._word(detail, text)

    def _code(self, detail: Detail, text: str) -> str | None:
        if contains(text, detail.form):
            return SAME
        others = self._alike(detail, text)
        if others and not self.current(detail):
            return f"{others[0]}, not {detail.value}"
        return self._described(detail, text)

    def _alike(self, detail: Detail, text: str) -> list[str]:
        """The other codes of a text that could stand in the same place."""
        prefix = re.match(r"[a-z]*-?", detail.form)
        if prefix and prefix[0] and detail.form[prefix.end() :].isdigit():
            found = set(re.findall(rf"(?<!\w){re.escape(prefix[0])}\d+(?!\w)", text))
        else:
            places = (detail.key, f"{detail.key.removesuffix('_id')}s", f"{detail.key}s")
            found = {fold(v).lstrip("#") for key in places for v in self._known.values(key)}
            found = {v for v in found if len(v) > 2 and _shape(v) == _shape(detail.form) and contains(text, v)}
            for mine, others in self._known.siblings(detail.value)[:4] if detail.kind == d.CHOICE else ():
                keys = tuple(key for key, value in mine.items() if value == detail.form)
                found |= {o[key] for o in others for key in keys if key in o and contains(text, o[key])}
        found -= {one.form for one in self.details}
        return sorted(v for v in found if detail.kind == d.RECORD or f'"{v}"' not in self._current)

    def _described(self, detail: Detail, text: str) -> str | None:
        """What a text says of a thing that it need not name: that in which it differs from those listed beside it."""
        same = False
        old = detail.kind == d.RECORD and any(one.kind == d.CHOICE for one in self.details)
        for mine, others in self._known.siblings(detail.value)[:4]:
            for key, value in mine.items():
                named = "name" in key
                if old and not named:
                    continue
                rivals = {other[key] for other in others if key in other} - {value} - self._own(key)
                if not rivals and not named:
                    continue
                if d.described(text, value) or (named and contains(text, value.rsplit(" ", 1)[-1])):
                    same = True
                    continue
                silent = d.telling(value) and value not in text and (named or not self.current(detail))
                if silent and (rival := next((r for r in sorted(rivals) if self._rival(r, value, text, named)), None)):
                    return f"{rival}, not {value}"
        return SAME if same or (self._listed(detail) and _ALL.search(text)) else None

    def _own(self, key: str) -> set[str]:
        """What the call has under a key, or the things in it."""
        things = [one for one in self.details if one.kind in (d.RECORD, d.CHOICE)] if "name" in key else []
        named = {mine[key] for one in things for mine, _ in self._known.siblings(one.value)[:4] if key in mine}
        return named | {one.form for one in self.details if one.key == key}

    def _rival(self, rival: str, value: str, text: str, named: bool) -> bool:
        """Whether a text has the value of another thing, which is neither that of the record now nor one of all."""
        if not d.telling(rival) or rival in value or not d.said(text, rival):
            return False
        return not _ALL.search(text) if named else rival not in self._current

    def _payment(self, detail: Detail, text: str) -> str | None:
        tail = re.search(r"\d{2,}$", detail.form)
        kind = d.kind_of(detail.value)
        if kind and kind in d.kinds_in(" ".join(m[0] for m in _FREE.finditer(text))):
            return f"nothing to be charged to the {kind.replace('_', ' ')}"
        if contains(text, detail.form) or contains(text, fold(detail.value)) or (tail and contains(text, tail[0])):
            return SAME
        text = d.wanted(text)
        kinds = d.kinds_in(text)
        ends = _ENDING.findall(text)
        tails = [one.form for one in self.details if one.kind == d.PAYMENT and one is not detail]
        ends = [end for end in ends if not any(other.endswith(end) for other in tails)]
        mine = set(_LAST_FOUR.findall(json.dumps(self._known.records(detail.value)[:8])))
        mine |= {tail[0]} if tail and len(tail[0]) == 4 else set()
        mine |= {tail[0]} if tail and detail.form.split(" ")[0] in _BRANDS else set()
        owners = [record for end in ends for record in self._known.records(end)]
        if ends and kind == "credit_card" and (mine or owners):
            own = bool(mine & set(ends)) or any(detail.value in record.values() for record in owners)
            return SAME if own else f"the card ending in {ends[-1]}"
        if kind in kinds or WORDS["settled_payment"].search(text):
            return SAME
        return f"{sorted(kinds)[0].replace('_', ' ')}" if kinds and kind else None

    def _amount(self, detail: Detail, text: str) -> str | None:
        """A sum; of what is paid, for one of several persons too, or in two parts."""
        if detail.kind == d.PAID:
            total = sum(one.number for one in self.details if one.kind == d.PAID)
            lines = [line for line in sentences(text) if d.sums(line) and not WORDS["balance"].search(line)]
            heard, summed = d.sums("\n".join(lines)), any(_TOTAL.search(line) for line in lines)
            # Without a total the reader adds up.
            added = [sum(some) for n in range(1, 2 if summed else 5) for some in combinations(sorted(heard)[:8], n)]
            if not total or any(abs(total / n - amount) < 0.51 for n in range(1, 7) for amount in added):
                return SAME
            return f"another sum than {total:g}" if summed else None
        unit = next((w for w in re.split(r"[_\W]", detail.key) if w in ("gb", "mb", "kg", "km")), "")
        doing = [s for s in sentences(text) if self._verb.search(s) and WORDS["announce"].search(s)]
        for part in ("\n".join(doing), text):
            heard = {float(n) for n in re.findall(rf"(\d+(?:\.\d+)?) ?{unit}", part)} if unit else d.sums(part)
            if heard:
                near = any(abs(abs(detail.number) - amount) < 0.011 for amount in heard)
                return SAME if near else f"another {detail.key} than {detail.number:g}"
        return SAME if abs(detail.number) in d.numbers(text) else None

    def _count(self, detail: Detail, text: str) -> str | None:
        words = [
            w for w in re.split(r"[_\W]", detail.key) if w not in ("total", "number", "of", "count", "num", "nonfree")
        ]
        stem = words[0].removesuffix("s").removesuffix("gage") if words else ""
        if detail.number < 1 or len(stem) < 3:
            return None
        spots = list(
            re.finditer(rf"(?<!\w)({re.escape(stem)}|luggage)" if stem == "bag" else rf"(?<!\w){re.escape(stem)}", text)
        )
        if detail.key.startswith(_PAID):
            return SAME if spots else None
        named = [_figure(w) for spot in spots for w in text[max(0, spot.start() - 40) : spot.start()].split()[-4:]]
        heard = {n for n in named if n is not None}
        had = next((r[k] for r in self._records() for k in r if k.endswith(detail.key) and isinstance(r[k], int)), 0)
        if {detail.number, detail.number - had} & heard or (not heard and contains(text, f"{detail.number:g}")):
            return SAME
        return f"{max(heard):g} {stem}s, not {detail.number:g}" if heard - {0} else None

    def prices(self) -> set[float]:
        """What the things that are chosen cost, as tools told: a price, or that of the call's class."""
        found: set[float] = set()
        classes = {one.value for one in self.details if one.kind == d.WORD}
        for one in self.details:
            if one.kind != d.CHOICE or self.current(one):
                continue
            for record in self._known.records(one.value)[:6]:
                listed = record.get("prices")
                named = listed if isinstance(listed, Mapping) else record
                found |= {float(named[k]) for k in ("price", *classes) if isinstance(named.get(k), int | float)}
        return found

    def _records(self) -> list[Mapping[str, Any]]:
        return [
            r for one in self.details if one.kind in (d.RECORD, d.CHOICE) for r in self._known.records(one.value)[:6]
        ]

    def _word(self, detail: Detail, text: str) -> str | None:
        group = next((group for group in WORDS["exclusive"] if detail.form in group), None)
        if group:
            return self._exclusive(detail, text, group)
        if d.said(text, detail.form):
            return SAME
        others = {fold(v).replace("_", " ") for v in self._known.values(detail.key)}
        others -= {one.form for one in self.details}
        other = next((o for o in sorted(others) if d.telling(o) and o not in detail.form and d.said(text, o)), None)
        if other and detail.form not in self._current:
            return f"{other}, not {detail.form}"
        return self._described(detail, text)

    def _exclusive(self, detail: Detail, text: str, group: Sequence[str]) -> str | None:
        """A value of one slot: those that are left behind do not count; two values are a part each."""
        mine = other = False
        for word in re.finditer("|".join(sorted(map(re.escape, group), key=len, reverse=True)), text):
            if word[0] == detail.form:
                mine = True
            elif not _PAST.search(text[max(0, word.start() - 40) : word.start()]):
                other = True
        legs = [
            line for line in sentences(text) if any(one.form in line for one in self.details if one.kind == d.CHOICE)
        ]
        had = [{value for value in group if value in line} for line in legs]
        split = other and {detail.form} in had and any(told and detail.form not in told for told in had)
        kept = mine and not other and self.current(detail)
        if (mine or other) and not kept and (split or WORDS["part"].search(text)):
            return f"{detail.form} {PART}"
        return SAME if mine else f"another {detail.key} than {detail.form}" if other else None


def _shape(code: str) -> tuple[str, int]:
    """Of what kind a code is: what it begins with where figures follow, and its length."""
    begins = re.match(r"([a-z]+-?)\d+$", code)
    return (begins[1], 0) if begins else ("", len(code))


def _one_of(text: str, forms: Sequence[str]) -> str | None:
    return SAME if any(contains(text, form) for form in forms) else None


def _figure(word: str) -> int | None:
    return int(word) if word.isdecimal() and len(word) < 6 else _FIGURES.get(word)


def _address(detail: Detail, text: str) -> str | None:
    """An address is known by its number and the word beside it; "Street" is often shortened."""
    if contains(text, detail.form):
        return SAME
    words = re.findall(r"\w+", detail.form)
    place = next((i for i, w in enumerate(words[:-1]) if any(c.isdigit() for c in w)), None)
    if place is not None and contains(text, f"{words[place]} {words[place + 1]}"):
        return SAME
    if re.search(
        r"(default|same|original|profile|account|on file|home)[^.\n]{0,20} address|address[^.\n]{0,25} on file", text
    ):
        return SAME
    return (
        f"another {detail.key.replace('_', ' ')}"
        if detail.form[0].isdigit() and re.search(r"\d+ \w+ (street|st|avenue|ave|road|lane|drive|way)\b", text)
        else None
    )
