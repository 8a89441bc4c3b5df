"""Does a call agree with what was said? Every kind of detail is compared in its own way; for payment see `payments`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from toolcal.writes import items
from toolcal.writes.cues import CUES, fold, sentences
from toolcal.writes.details import (
    Details,
    Said,
    amounts_in,
    contains,
    date_forms,
    kinds_in,
    payment_kind,
    some_date,
    without_refused,
)
from toolcal.writes.talk import Known

_NUMBERS = {"no": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9}
_UNITS = ("gb", "mb", "kg", "km", "hours", "minutes", "days")
_FROM = re.compile(r"(current\w*|original\w*|existing|was|from|instead of|rather than|old)[^.\n]{0,25}$")

_PRICED = re.compile(r"( class)?( cabin)?( price| fare|[ :(=~-]*\$| is \$| for \$| to\b)")


def difference(details: Details, said: Said, known: Known) -> str | None:
    """What the call does other than was proposed, in words; None where nothing speaks against it.

    Payment is not looked at here.
    """
    checks = (_identities, _codes, _dates, _words, _counts, _amounts, _names, _streets, items.difference)
    return next((found for check in checks if (found := check(details, said, known))), None)


def changed(details: Details, sentence: str, core: str, known: Known) -> str | None:
    """What a user's sentence changes that the call does not have so, in words.

    Args:
        details: of the call.
        sentence: the user's, folded.
        core: the proposal.
        known: what tools told.
    """
    wanted = without_refused(sentence)
    kinds = kinds_in(wanted)
    paid = {payment_kind(payment) for payment in details.payments} if details.payments else kinds_in(core)
    if kinds and not kinds & paid:
        return "the payment"
    if details.codes:
        shape = re.compile(rf"\b{re.match(r'[a-z]+', details.codes[0])[0]}-?\d+\b")  # type: ignore[index]
        codes = set(shape.findall(wanted))
        if codes and not codes & set(details.codes):
            return f"it to {sorted(codes)[0].upper()}"
    for _, value in details.words:
        group = next((group for group in CUES.exclusive if value in group), None)
        if group and chosen(wanted, value, group) == "other":
            return f"it from {value}"
    for new in details.new_items:
        options, _ = items.options_of(new, known)
        for key, value in options.items():
            others = {fold(v) for v in known.values(key)} - {value}
            named = sorted(o for o in others if items.telling(o) and contains(wanted, o))
            if named and not contains(sentence, value) and not any(o in value or value in o for o in named):
                return f"it to {named[0]}"
    dates = [form for date in details.dates for form in date_forms(date)]
    if dates and some_date(sentence) and not any(contains(sentence, form) for form in dates):
        return "the date"
    return None


def touches(details: Details, text: str, known: Known, any_value: bool) -> bool:
    """Whether a text names one of the things that a call is about.

    Args:
        details: of the call.
        text: the text, folded.
        known: what tools told.
        any_value: any argument will do; else only those that tell this action from others on the same record.
    """
    forms = [*details.items, *details.new_items, *details.streets, *details.codes]
    if any_value:
        forms += [fold(value).lstrip("#") for _, value in details.identities]
        forms += [value for _, value in details.words if len(value) > 1]
    if any(contains(text, form) for form in forms):
        return True
    if any_value and any(abs(amount - number) < 0.011 for _, amount in details.amounts for number in amounts_in(text)):
        return True
    records = (record for item in (*details.items, *details.new_items) for record in known.records(item))
    return any(items.named(text, fold(str(r["name"]))) for r in records if isinstance(r.get("name"), str))


def _identities(details: Details, said: Said, known: Known) -> str | None:
    for key, value in details.identities:
        form = fold(value).lstrip("#")
        if contains(said.core, form):
            continue
        thing = key.removesuffix("_id")
        others = {fold(v).lstrip("#") for name in (key, f"{thing}s", f"{thing}_ids") for v in known.values(name)}
        named = sorted(other for other in others - {form} if len(other) > 2 and contains(said.core, other))
        if named and not contains(said.reply, form):
            return f"it was about {named[0]}, and the call is for {value}"
        if not contains(said.all, form):
            heard = sorted(other for other in others - {form} if len(other) > 2 and contains(said.all, other))
            if heard or not known.tells(value):
                return f"{value} was never named" + (f", {heard[0]} was" if heard else "")
    return None


def _current(details: Details, known: Known) -> str:
    """What the tools told of the things that the call is for."""
    return "".join(json.dumps(record).lower() for record in _records(details, known))


def _records(details: Details, known: Known) -> list[Mapping[str, Any]]:
    return [record for _, value in details.identities for record in known.records(value)[:6]]


def _codes(details: Details, said: Said, known: Known) -> str | None:
    if not details.codes:
        return None
    shape = re.compile(rf"\b{re.match(r'[a-z]+', details.codes[0])[0]}-?\d+\b")  # type: ignore[index]
    wanted = set(details.codes)
    core, reply = set(shape.findall(said.core)), set(shape.findall(said.reply))
    current = _current(details, known)
    new = {code for code in wanted if code not in current}
    missing = new - core - reply
    unheard = missing - set(shape.findall(said.agent))
    if not core and not reply:
        unheard = {code for code in unheard if not _described(code, said.agent, known)}
    if unheard:
        return f"{sorted(unheard)[0].upper()} was never put to the user"
    if missing and core - wanted:
        return f"{sorted(core - wanted)[0].upper()} was put, and the call has {sorted(missing)[0].upper()}"
    if reply and reply - wanted and not reply & wanted:
        return f"the user chose {sorted(reply - wanted)[0].upper()}"
    return None


def _described(code: str, text: str, known: Known) -> bool:
    """Whether something is told by its time or price, its code left out."""
    forms: set[str] = set()
    for record in known.records(code.upper())[:6]:
        for key, value in record.items():
            clock = re.match(r"(\d\d):(\d\d)", value) if isinstance(value, str) and "depart" in key else None
            if clock:
                hour, minutes, half = int(clock[1]), clock[2], "pm" if int(clock[1]) >= 12 else "am"
                twelve = (hour - 1) % 12 + 1
                forms |= {
                    clock[0],
                    f"{twelve}:{minutes} {half}",
                    f"{twelve}:{minutes}{half}",
                    f"{twelve} {half}",
                    f"{twelve}{half}",
                }
        prices = record.get("prices")
        forms |= {f"${price}" for price in prices.values()} if isinstance(prices, Mapping) else set()
    return any(contains(text, form) for form in forms)


def _dates(details: Details, said: Said, known: Known) -> str | None:
    current = _current(details, known) if details.dates else ""
    for date in details.dates:
        if date in current or not some_date(said.core):
            continue
        if not any(contains(said.all, form) for form in date_forms(date)):
            return f"the date {date} was never put to the user"
    return None


def _words(details: Details, said: Said, known: Known) -> str | None:
    for key, value in details.words:
        group = next((group for group in CUES.exclusive if value in group), None)
        if group is None:
            continue
        legs = [line for line in sentences(said.core) if any(code in line for code in details.codes)]
        if any(chosen(leg, value, group) == "other" for leg in legs):
            return f"another {key} than {value} was put for a part"
        if contains(said.before, value) and CUES.lists["partial"].search(said.before):
            return f"{value} was put for a part only"
        last = chosen(said.here, value, group)
        if last == "both":
            return f"{value} was put for a part only"
        if last == "other":
            return f"another {key} than {value} was put"
        if last is None and chosen(said.all, value, group) == "other" and not contains(said.all, value):
            return f"{value} was never put to the user"
    return None


def chosen(text: str, value: str, group: Sequence[str]) -> str | None:
    """Which of values that exclude each other a text names as the new one: this, "other", "both", or none (None)."""
    mine = others = False
    for word in re.finditer("|".join(sorted(map(re.escape, group), key=len, reverse=True)), text):
        before, after = text[max(0, word.start() - 40) : word.start()], text[word.end() : word.end() + 14]
        if word[0] == value:
            mine = True
        elif _FROM.search(before) or _PRICED.match(after):
            continue
        else:
            others = True
    if mine and CUES.lists["partial"].search(text):
        return "both"
    return "this" if mine else "other" if others else None


def _counts(details: Details, said: Said, known: Known) -> str | None:
    for key, count in details.counts:
        word = next(
            (w for w in re.split(r"[_\W]", key) if w not in ("total", "number", "of", "count", "num", "nonfree")), ""
        )
        stem = word.removesuffix("s").removesuffix("gage")
        paid = key.startswith(("non", "paid", "extra", "additional"))
        if count < 1 or len(stem) < 3:
            continue
        if paid and not re.search(rf"(?<!\w)({re.escape(stem)}|luggage)", said.all):
            return f"{count} {word} were never put to the user"
        named = [
            _figure(before)
            for found in re.finditer(rf"(?<!\w){re.escape(stem)}", said.core)
            for before in said.core[max(0, found.start() - 40) : found.start()].split()[-4:]
        ]
        if paid:
            continue
        numbers = {n for n in named if n is not None}
        before = next((r[key] for r in _records(details, known) if isinstance(r.get(key), int)), 0)
        if (
            numbers
            and not {count, count - before} & numbers
            and count > max(numbers)
            and not contains(said.here, str(count))
        ):
            return f"the call has {count} {word}, and {max(numbers)} were put"
    return None


def _figure(word: str) -> int | None:
    return int(word) if word.isdecimal() and len(word) < 6 else _NUMBERS.get(word)


def _amounts(details: Details, said: Said, known: Known) -> str | None:
    for key, amount in details.amounts:
        units = [word for word in re.split(r"[_\W]", key) if word in _UNITS]
        measured = [m[1] for unit in units for m in re.finditer(rf"([\d.,]*\d) ?{unit}", said.here)]
        heard = amounts_in(" ".join(measured)) or amounts_in(said.core) or amounts_in(said.all)
        if not any(abs(abs(amount) - number) < 0.011 for number in heard):
            return f"{key.replace('_', ' ')} {amount:g} was never put to the user"
    return None


def _names(details: Details, said: Said, known: Known) -> str | None:
    for name in details.names if not details.codes else ():
        if not contains(said.all, name.split(" ")[0]) and name not in _current(details, known):
            return f"{name.title()} was never named"
    return None


def _streets(details: Details, said: Said, known: Known) -> str | None:
    for street in details.streets:
        if (
            re.search(r"\d", street)
            and not contains(said.agent, _number_and_name(street))
            and not _known_address(said.here)
        ):
            return f"the address {street.title()} was never put to the user"
    return None


def _number_and_name(street: str) -> str:
    """A street without "Street", "St." or "Avenue", which people shorten."""
    words = street.split()
    return " ".join(words[:2]) if len(words) > 2 and words[0].isdecimal() else street


def _known_address(text: str) -> bool:
    return (
        re.search(
            r"(default|same|original|profile|account|on file|home)[^.\n]{0,20} address|address[^.\n]{0,25} on file",
            text,
        )
        is not None
    )
