"""Which plain words a regular expression cannot do without: a rule is tried only on sentences that hold one of them.

This changes no label, only the time: most rules are about words that most sentences do not have.
"""

from __future__ import annotations

from collections.abc import Iterable
from re import _parser as parser  # type: ignore[attr-defined]  # the parse tree has no public door
from typing import Any

MAX_LITERALS = 30
"""With more of them the look for the words costs as much as the rule itself."""
_RARER = 2.0
"""By how much a letter more makes a word rarer: a guess that is good enough to choose by."""


def needed(pattern: str) -> tuple[str, ...]:
    """Literals of which every match of the pattern holds at least one; none if there is no such set, or a large one."""
    found = _needed(parser.parse(pattern))
    if found is None:
        return ()
    # What holds a shorter literal of the set needs no entry of its own.
    short = [one for one in sorted(found, key=len) if one]
    kept: list[str] = []
    for one in short:
        if not any(other in one for other in kept):
            kept.append(one)
    return tuple(kept) if len(kept) <= MAX_LITERALS else ()


def _needed(tree: Iterable[Any]) -> frozenset[str] | None:
    """The best set of one sequence: that of the element which the fewest sentences hold."""
    sets: list[frozenset[str]] = []
    run = ""
    for operation, argument in tree:
        if operation is parser.LITERAL:
            run += chr(argument)
            continue
        if run:
            sets.append(frozenset([run]))
            run = ""
        if (inner := _inside(operation, argument)) is not None:
            sets.append(inner)
    if run:
        sets.append(frozenset([run]))
    return min(sets, key=_chance, default=None)


def _chance(literals: frozenset[str]) -> float:
    """How likely a sentence holds one of them, roughly."""
    return sum(_RARER ** -len(one) for one in literals)


def _inside(operation: Any, argument: Any) -> frozenset[str] | None:
    if operation is parser.SUBPATTERN:
        return _needed(argument[-1])
    if operation is parser.BRANCH:
        parts = [_needed(part) for part in argument[1]]
        return None if None in parts else frozenset().union(*(part for part in parts if part))
    if operation in (parser.MAX_REPEAT, parser.MIN_REPEAT) and argument[0] > 0:
        return _needed(argument[2])
    return None


def holds_one(text: str, literals: tuple[str, ...]) -> bool:
    """Whether the text holds one of the literals; true where none are given."""
    return not literals or any(map(text.__contains__, literals))
