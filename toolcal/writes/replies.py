"""What a user's reply says to a proposal, by its words alone."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from toolcal.writes.words import WORDS, sentences

_WH = re.compile(r"(and |so )?(how|what|when|where|which|why|is|are|do|does|did)\b.*\?")
_NOT = re.compile(r"(\bnot|n't|before (we|you|i))( \w+){1,2}")
_CLAUSE = re.compile(r"(?<=[.?!;])\s+|\n+|, (?:but|and|just|only|then)\b|\bbut\b| - ")


@dataclass(frozen=True)
class Reply:
    """A reply as read.

    Attributes:
        yes: it agrees, in words that mean nothing else.
        weak: it says ok or the like, with no question and nothing set against it.
        held: it refuses, holds back, or wants something first.
        stops: it does so in words that stop whatever is under way.
        asks: it has a question that asks for nothing to be done.
        clauses: its parts.
        requests: those that ask for something to be done.
        without: those that take a part out.
    """

    yes: bool
    weak: bool
    held: bool
    stops: bool
    asks: bool
    clauses: tuple[str, ...]
    requests: tuple[str, ...]
    without: tuple[str, ...]


@lru_cache(maxsize=4096)
def read(text: str) -> Reply:
    """Read a folded reply."""
    parts = sentences(text)
    told = [part for part in parts if not part.endswith("?") or WORDS["agree"].match(part)]
    asked = any(part.endswith("?") and not WORDS["request"].search(part) for part in parts)
    declined = bool(parts) and WORDS["decline"].match(parts[0]) is not None
    clauses = tuple(part.strip() for part in _CLAUSE.split(text) if part and part.strip())
    yes = any(WORDS["agree"].search(_NOT.sub("", part)) for part in told if not WORDS["decline"].match(part))
    stops = any(WORDS["hold"].search(part) for part in parts)
    return Reply(
        yes=yes,
        weak=any(WORDS["weak"].search(part) for part in told)
        and not asked
        and not any(part.endswith("?") for part in parts),
        held=stops or (not yes and (declined or WORDS["doubt"].search(text) is not None)),
        stops=stops,
        asks=asked,
        clauses=clauses,
        requests=tuple(part for part in parts if WORDS["request"].search(part) and not _WH.match(part)),
        without=tuple(part for part in clauses if WORDS["without"].search(part)),
    )
