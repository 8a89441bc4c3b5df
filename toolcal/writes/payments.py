"""What a call pays with, and what was said about it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from toolcal.writes.cues import CUES, sentences
from toolcal.writes.details import Details, Said, amounts_in, kinds_in, payment_kind, without_refused
from toolcal.writes.talk import Known

_CARD = re.compile(r"\b(?:ending|ends|last four|last 4)(?: digits)?(?: in| with| on| of|:)? ?[#x.]*(\d{4,})")
_FREE = re.compile(
    r"(?:nothing|no (?:additional|extra|further) (?:charge|payment|cost)s?)[^.\n]{0,50}"
    r"(?:charged|required|needed)[^.\n]{0,30}"
)


def difference(details: Details, said: Said, later: str, known: Known) -> str | None:
    """What the call pays with other than was said.

    Args:
        details: of the call.
        said: the proposal and its reply, and all in view.
        later: what the agent and the user said after that.
        known: what tools told.
    """
    kinds = {kind for payment in details.payments if (kind := payment_kind(payment))}
    if not details.payments:
        return None
    text = f"{said.here}\n{later}"
    free = "\n".join(m[0] for m in _FREE.finditer(text))
    if kinds and kinds <= kinds_in(free):
        return f"nothing was to be charged to the {sorted(kinds)[0].replace('_', ' ')}"
    named = kinds_in(without_refused(text)) or kinds_in(without_refused(said.all))
    if kinds and (put := kinds_in(without_refused(text))) and not kinds & put:
        return f"{sorted(put)[0].replace('_', ' ')} was put, and the call pays by {sorted(kinds)[0].replace('_', ' ')}"
    assumed = CUES.lists["known_payment"].search(text) is not None
    if named and not assumed and (unnamed := sorted(kinds - named)):
        return f"paying by {unnamed[0].replace('_', ' ')} was never put to the user"
    total = sum(details.paid)
    if total > 0 and not _heard(total, said.agent):
        return f"a total of {total:g} was never put to the user"
    ends = _CARD.findall(text)
    cards = [p for p in details.payments if "card" in p]
    if ends and cards and not _CARD.findall(said.reply) and not any(_has_ending(card, ends, known) for card in cards):
        return f"the card was said to end in {ends[-1]}"
    return None


def otherwise(details: Details, answer: str, known: Known) -> str | None:
    """What the call pays with other than the user said, in words."""
    kinds = {kind for payment in details.payments if (kind := payment_kind(payment))}
    wanted = kinds_in(without_refused(answer))
    if kinds and wanted and not kinds & wanted:
        return f"the user wanted to pay by {sorted(wanted)[0].replace('_', ' ')}"
    ends = _CARD.findall(answer)
    cards = [p for p in details.payments if "card" in p]
    if ends and cards and not any(_has_ending(card, ends, known) for card in cards):
        return f"the user's card ends in {ends[-1]}"
    return None


def costs(details: Details) -> bool:
    """Whether a call counts something that is to be paid."""
    return any(count > 0 and key.startswith(("non", "paid", "extra")) for key, count in details.counts)


def price_known(details: Details, known: Known) -> bool:
    """Whether the tools told what the new things of a call cost."""
    records = [record for item in details.new_items for record in known.records(item)]
    records += [record for code in details.codes for record in known.records(code.upper()) if "prices" in record]
    return any("price" in record or "prices" in record for record in records)


def _heard(total: float, agent: str) -> bool:
    """Whether a total was named, for all or for one of several persons, or in two parts; true where no price was."""
    priced = [line for line in sentences(agent) if not CUES.lists["balance"].search(line)]
    amounts = {
        round(amount, 1)
        for amount in amounts_in("\n".join(line for line in priced if CUES.lists["priced"].search(line)))
    }
    if not amounts or any(round(total / persons, 1) in amounts for persons in range(1, 7)):
        return True
    summed = any(CUES.lists["total"].search(line) for line in priced)
    return not summed and any(round(total - amount, 1) in amounts for amount in amounts)


def _has_ending(card: str, ends: Sequence[str], known: Known) -> bool:
    records = "".join(json.dumps(r) for r in known.records(card)[:8])
    return any(end in card or f'"{end}"' in records for end in ends)
