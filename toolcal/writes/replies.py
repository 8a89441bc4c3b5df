"""What a user's reply says to a proposal, by its words alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from toolcal.writes.cues import CUES, sentences

_WEAK = ("ok", "okay", "sure", "alright", "all right", "perfect", "fine")


@dataclass(frozen=True)
class Reply:
    """A reply as read.

    Attributes:
        yes: it agrees to something.
        held: it refuses, holds back, or asks for something first.
        picks: it chooses one of several or asks for the thing to be done.
        brief: it is a few words, and no question.
        changes: the sentences that change what was proposed.
        without: the sentences that take a part out.
        only: the sentences that limit it to a part.
    """

    yes: bool
    held: bool
    picks: bool
    brief: bool
    changes: tuple[str, ...]
    without: tuple[str, ...]
    only: tuple[str, ...]


@lru_cache(maxsize=4096)
def read(text: str) -> Reply:
    """Read a folded reply."""
    lists = CUES.lists
    parts = sentences(text)
    opening = parts[0] if parts else ""
    return Reply(
        yes=_yes(parts),
        held=(lists["decline"].match(opening) is not None and lists["still"].search(text) is None)
        or (lists["doubt"].search(text) is not None and lists["still"].search(text) is None)
        or any(lists["hold"].search(part) for part in parts),
        picks=any(lists["pick"].search(part) and _no_question(part) for part in parts),
        brief=len(text.split()) <= 8 and "?" not in text,
        changes=tuple(part for part in parts if lists["change"].search(part) and _no_question(part)),
        without=tuple(part for part in parts if lists["without"].search(part)),
        only=tuple(part for part in parts if lists["only"].search(part)),
    )


def _yes(parts: tuple[str, ...]) -> bool:
    """A mere "okay" beside a question is no agreement."""
    agreeing = [part for part in parts if _agrees(part)]
    asks_first = any(part.endswith("?") and "also" not in part and part not in agreeing for part in parts)
    return bool(agreeing) and not (asks_first and all(_weak(part) for part in agreeing))


def _weak(sentence: str) -> bool:
    return all(found[0] in _WEAK for found in CUES.lists["agree"].finditer(sentence))


def _no_question(sentence: str) -> bool:
    return not sentence.endswith("?") or CUES.lists["request"].search(sentence) is not None


def _agrees(sentence: str) -> bool:
    found = CUES.lists["agree"].search(sentence)
    if found is None:
        return False
    if not sentence.endswith("?"):
        return True
    return found.start() == 0 and not _weak(sentence)
