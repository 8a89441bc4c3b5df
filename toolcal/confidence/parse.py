"""A stated confidence as a number, strictly: what does not say one value clearly is missing.

A missing confidence is never 0, 1 or a default; it is counted (coverage), and its text and the reason are kept.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

SCALES = ("unit", "percent")
"""What was asked for: 0 to 1, or 0 to 100."""
REASONS = {
    "absent": "nothing was given at all",
    "empty": "the text is empty",
    "no_number": "no number in it (words such as high, nan, inf)",
    "malformed": "digits that are no number, as in 1.2.3 or 90x, or a text of thousands of characters",
    "several_numbers": "numbers that say different things, a range among them",
    "bound": "a bound, as in more than 80 %, or not 80 %",
    "ambiguous": "two scales fit: 0.95 where 0 to 100 was asked for, 0.95 % where 0 to 1 was, or 1,000",
    "out_of_range": "not within the scale",
}
"""Why a confidence is missing."""


@dataclass(frozen=True)
class Confidence:
    """A confidence in [0, 1], or None with one of `REASONS`; `raw` is what was said."""

    value: float | None
    raw: str | None
    reason: str | None = None


_TAG = re.compile(r"</?[A-Za-z][\w-]*(?:\s[^<>]*)?>")
_SCALE = re.compile(
    r"\( ?0(?:\.0)? ?%? ?(?:-|to) ?(?:1(?:\.0)?|100) ?%? ?\)"
    r"|\bscale (?:of|from) 0(?:\.0)? ?%? ?(?:-|to) ?(?:1(?:\.0)?|100)(?![\d.]*\d) ?%?",
    re.IGNORECASE,
)
"""The scale repeated before the answer, as in `Confidence (0-100): 85`."""
_NUMBER = r"(?:\d+(?:[.,]\d+)?|\.\d+)(?:[eE][-+]?\d+)?"
_STATED = re.compile(
    rf"(?P<sign>(?<![\w.)%])[-+](?=[\d.]))?(?P<number>{_NUMBER})"
    rf"(?:\s*(?:/|out of|of)\s*(?P<whole>{_NUMBER}))?"
    r"(?P<percent>\s*(?:%|per ?cent\b|pct\b))?",
    re.IGNORECASE,
)
_BEFORE = re.compile(
    r"(?:[<>≤≥]=?|\b(?:(?:more|less|greater|fewer|lower|higher|smaller|larger|better|worse) than|at (?:least|most)"
    r"|over|under|above|below|exceeds|up to|not|not even|n't))\s*$",
    re.IGNORECASE,
)
"""Right before a number: it is a bound, or denied."""
_ATTACHED_BEFORE, _ATTACHED_AFTER = re.compile(r"[^\W_]$|\d[.,]$"), re.compile(r"[^\W_]|[.,/^]\d")
_RAISED = re.compile(r"(?<=\d)(?=[⁰¹²³⁴-⁹₀-₉])")
"""Before a power or the mark of a note, which folding would make digits of the number itself."""
_LONGEST = 100
"""Characters of a number: more is no confidence."""
_LONGEST_TEXT = 5000
"""Characters of what stands where it was asked for: more is no confidence, and takes seconds to read."""
_AFTER = re.compile(r"\s*(?:\+|or (?:more|less|higher|lower|above|below|better|worse)\b)", re.IGNORECASE)


def parse(text: str | None, scale: str) -> Confidence:
    """Read a stated confidence.

    One number is read, also with words around it, in tags or with the scale repeated before it. `85%`, `9/10` and
    `80 out of 100` say their scale themselves and are read so in either; a comma may stand for the decimal point.
    Several numbers are read where all say the same, as in `0.9 (90%)`.

    Args:
        text: what stands where the confidence was asked for; None where there is no such place.
        scale: one of `SCALES`: what was asked for.

    Raises:
        ValueError: for an unknown scale.
    """
    if scale not in SCALES:
        raise ValueError(f"unknown scale {scale!r}: {' or '.join(SCALES)}")
    if text is None:
        return Confidence(None, None, "absent")
    if not text.strip():
        return Confidence(None, text, "empty")
    if len(text) > _LONGEST_TEXT:
        return Confidence(None, text, "malformed")
    found = list(_read(_plain(text), scale))
    if not found:
        return Confidence(None, text, "no_number")
    values = {value for value in found if isinstance(value, Fraction)}
    reasons = [reason for reason in found if isinstance(reason, str)]
    if len(found) > 1 and (reasons or len(values) > 1):
        return Confidence(None, text, "malformed" if "malformed" in reasons else "several_numbers")
    if reasons:
        return Confidence(None, text, reasons[0])
    return Confidence(float(values.pop()), text)


def _plain(text: str) -> str:
    """The text with one way of writing signs and spaces, without tags and without the scale repeated."""
    plain = " ".join(unicodedata.normalize("NFKC", _RAISED.sub("^", text)).split()).replace("⁄", "/").replace("’", "'")
    plain = re.sub("[‐‑‒–—−]", "-", plain)
    return _SCALE.sub(" ", _TAG.sub(" ", plain))


def _read(text: str, scale: str) -> Iterator[Fraction | str]:
    """Of each number in the text, its value or why it has none."""
    end = 0
    for found in _STATED.finditer(text):
        before, after = text[end : found.start()], text[found.end() : found.end() + 20]
        end = found.end()
        attached = _ATTACHED_BEFORE.search(text[max(0, found.start() - 2) : found.start()])
        attached = attached or (not found["percent"] and _ATTACHED_AFTER.match(after)) or None
        if attached or len(found[0]) > _LONGEST:
            yield "malformed"
        elif _BEFORE.search(before) or _AFTER.match(after):
            yield "bound"
        else:
            yield _value(found, scale)


def _value(found: re.Match[str], scale: str) -> Fraction | str:
    number, whole = found["number"], found["whole"]
    if any(part and re.fullmatch(r"[1-9]\d{0,2},\d{3}", part) for part in (number, whole)):
        return "ambiguous"
    value = _exact(number)
    if found["sign"] == "-":
        value = -value
    if whole:
        if found["percent"] or not _exact(whole):
            return "malformed"
        value /= _exact(whole)
    elif found["percent"]:
        if scale == "unit" and 0 < value < 1:
            return "ambiguous"
        value /= 100
    elif scale == "percent":
        if 0 < value < 1 or (value == 1 and number != "1"):
            return "ambiguous"
        value /= 100
    return value if 0 <= value <= 1 else "out_of_range"


def _exact(number: str) -> Fraction:
    """As written: 0.3 is three tenths, so that 30 % and 0.3 are one value, and lie on the edge of one bin."""
    mantissa, _, exponent = number.replace(",", ".").lower().partition("e")
    if len(exponent) > 4:
        return Fraction(10) if not exponent.startswith("-") and Fraction(mantissa) else Fraction(0)
    return Fraction(f"{mantissa}e{exponent or 0}")
