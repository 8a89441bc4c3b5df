"""The number that an answer states, read exactly: `1,234.50`, `$1 234.5`, `1.2 million`, `45 %`, `1/2`, `twelve`.

Policy: a comma before exactly three digits groups thousands (`1,234` is 1234), any other single comma is a decimal
point (`0,85` is 0.85), and `1.234,50` is 1234.50. A percent sign is a unit like any other: `45%` is not 0.45.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction

_GROUP = r"[ '\u2019]"  # no-break and thin spaces are plain ones after folding
_PLAIN = (
    rf"\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d{{1,3}}(?:\.\d{{3}})+,\d+|\d{{1,3}}(?:{_GROUP}\d{{3}})+(?:[.,]\d+)?"
    r"|\d+(?:[.,]\d+)?|[.]\d+"
)
_NUMBER = re.compile(
    rf"(?<![\w.,])(?P<sign>[-+](?=[^\d\s]?[\d.]))?(?:[$€£¥]\s?)?(?P<sign2>-)?(?P<value>{_PLAIN})"
    r"(?:e(?P<exponent>[-+]?\d{1,3})|\s?[x×*]\s?10\s?\^\s?(?P<power>[-+]?\d{1,3}))?"
    r"(?:\s?/\s?(?P<below>\d{1,30})(?![\w/]))?",
    re.IGNORECASE,
)
_UNIT = re.compile(
    r"\s*(?P<scale>thousand|million|billion|trillion)?\s*(?P<unit>%|per ?cent\b|[^\W\d]+)?", re.IGNORECASE
)
_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_SPELLED = re.compile(
    r"(?<!-)\b(?:(zero)|(one)|(two)|(three)|(four)|(five)|(six)|(seven)|(eight)|(nine)|(ten)|(eleven)|(twelve)|(thirteen)"
    r"|(fourteen)|(fifteen)|(sixteen)|(seventeen)|(eighteen)|(nineteen)|(twenty))\b(?!-)",
    re.IGNORECASE,
)
_NO_UNIT = re.compile(
    r"and|in|is|are|was|were|of|for|to|by|from|at|on|as|or|the|a|an|it|which|that|since|with|but|if|per|each|total"
)
"""Words that may follow a number without being its unit."""

_RAISED = re.compile(r"(?<=\d)(?=[⁻⁰¹²³⁴-⁹])")
"""Before a power, which folding would make digits of the number itself."""

LONGEST = 2_000
"""Characters of an answer in which a number is looked for."""


@dataclass(frozen=True)
class Number:
    """A number and what stands behind it."""

    value: Fraction
    unit: str
    """`%`, a word in lower case without a plural s, or empty."""
    decimals: int | None
    """Digits after the point as written; None for fractions, powers and scaled numbers."""


def numbers(text: str) -> list[Number]:
    """All numbers in a text, in their order; of a number that is spelled out only zero to twenty.

    Args:
        text: any text; its first `LONGEST` characters are read.
    """
    plain = unicodedata.normalize("NFKC", _RAISED.sub("^", text[:LONGEST])).replace("⁄", "/")
    plain = re.sub(r"[‐‑‒–—−]", "-", plain)
    plain = re.sub(r"\s+", " ", plain)
    found = [(match.start(), _number(match, plain)) for match in _NUMBER.finditer(plain)]
    for match in _SPELLED.finditer(plain):
        scale, unit = _behind(plain[match.end() :])
        assert match.lastindex is not None
        found.append((match.start(), Number(Fraction((match.lastindex - 1) * scale), unit, None)))
    return [number for _, number in sorted(found, key=lambda pair: pair[0])]


def equal(stated: Number, wanted: Number) -> bool:
    """Whether one number is the other.

    Exactly, or where the wanted one has decimals and the stated one has more of them, rounded to as many. Units are not
    looked at.

    Args:
        stated: the answer's.
        wanted: the right one.
    """
    if stated.value == wanted.value:
        return True
    if not wanted.decimals or (stated.decimals is not None and stated.decimals <= wanted.decimals):
        return False
    with localcontext() as context:
        context.prec = 200
        value = Decimal(stated.value.numerator) / Decimal(stated.value.denominator)
        step = Decimal(1).scaleb(-wanted.decimals)
        if value.adjusted() + wanted.decimals > 150:
            return False
        return any(Fraction(value.quantize(step, mode)) == wanted.value for mode in (ROUND_HALF_UP, ROUND_HALF_EVEN))


def _number(match: re.Match[str], text: str) -> Number:
    digits = match["value"]
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", digits):
        digits = digits.replace(",", "")
    elif re.fullmatch(r"\d{1,3}(?:\.\d{3})+,\d+", digits):
        digits = digits.replace(".", "").replace(",", ".")
    digits = re.sub(_GROUP, "", digits).replace(",", ".")
    value = Fraction(Decimal(digits)) * Fraction(10) ** int(match["exponent"] or match["power"] or 0)
    decimals: int | None = len(digits.partition(".")[2])
    if match["below"]:
        value = value / int(match["below"]) if int(match["below"]) else Fraction(0)
    scale, unit = _behind(text[match.end() :])
    if scale != 1 or match["exponent"] or match["power"] or match["below"]:
        decimals = None
    if "-" in (match["sign"], match["sign2"]):
        value = -value
    return Number(value * scale, unit, decimals)


def _behind(rest: str) -> tuple[int, str]:
    match = _UNIT.match(rest)
    assert match is not None  # all its parts are optional
    unit = (match["unit"] or "").lower()
    if unit.startswith("per") and unit.endswith("cent"):
        unit = "%"
    unit = "" if _NO_UNIT.fullmatch(unit) else unit
    return _SCALES.get((match["scale"] or "").lower(), 1), unit[:-1] if len(unit) > 3 and unit.endswith("s") else unit
