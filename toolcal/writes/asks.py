"""What an agent's words put to the user: whether they ask for agreement, and what they set out to be done."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from toolcal.actions import refined
from toolcal.writes.words import WORDS, any_of, sentences, stem

CONSENT, OPEN, ANNOUNCED, NOTHING = "consent", "open", "announced", "nothing"
"""Asks for agreement; asks for a choice or a value; only tells what it will do; none of these."""

_WHICH = re.compile(r"(?<!\w)(which|what|who|where|when|how|why|whose)(?!\w)")
_SHALL = re.compile(r"(?<!\w)((shall|should|may) (i|we)|(would you like|do you want|want) (me|us) to)(?!\w)")
_REPORT = re.compile(r"(?<!\w)(i|we)( have|'ve)( now| just| already)? \w+(ed|en|de)(?!\w)")
_LONG, _SHORT = 600, 20
"""Characters: of the end of a sentence that is read; of a question as short as "Do it?"."""


@dataclass(frozen=True)
class Turn:
    """An agent's words in one go.

    Attributes:
        asks: CONSENT, OPEN, ANNOUNCED or NOTHING.
        questions: the sentences that ask for agreement.
        open: it also asks for a choice or a value.
        set_out: its words without reports of done work and without refusals.
    """

    asks: str
    questions: tuple[str, ...]
    open: bool
    set_out: str


@dataclass(frozen=True)
class Action:
    """The kind of action that a tool does, from its name.

    Attributes:
        name: its name in words.
        verb: how it is said.
        topic: how what it works on is said; None where the name tells nothing special.
        families: of `words.yaml`, those that its name has a word of.
    """

    name: str
    verb: re.Pattern[str]
    topic: re.Pattern[str] | None
    families: frozenset[str]


@lru_cache(maxsize=1024)
def action(tool: str) -> Action:
    """The kind of action of a tool."""
    words = re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", tool).lower())
    known = {word for words_ in WORDS["tools"].values() for word in words_}
    verb = next((word for word in words if word in known), words[0] if words else "")
    families = frozenset(name for name, tools in WORDS["tools"].items() if verb in tools)
    said = [WORDS["families"][name].pattern for name in sorted(families)] or [re.escape(stem(verb)) or "$"]
    topics = [word for word in words if word != verb and len(word) > 2 and word not in WORDS["common"]]
    about = [form for word in topics for form in (re.escape(stem(word)), *_also(word))]
    return Action(" ".join(words), any_of(said), any_of(about) if about else None, families)


def _also(word: str) -> list[str]:
    return [form for name, forms in WORDS["topics"].items() if stem(name) == stem(word) for form in forms]


def families(text: str) -> set[str]:
    """The kinds of action, but for paying, that a text speaks of."""
    return {name for name, said in WORDS["families"].items() if name != "pay" and said.search(text)}


@lru_cache(maxsize=2048)
def read(text: str) -> Turn:
    """Read an agent's folded words."""
    asks, is_open = NOTHING, False
    questions: list[str] = []
    kept: list[str] = []
    for sentence in sentences(text):
        found = _read(sentence)
        kind = _kind(sentence, found)
        if "CONFIRM" in found.cues and not _SHALL.search(sentence):
            continue
        if "REFUSE" not in found.cues or kind == CONSENT or " but " in sentence:
            kept.append(sentence if "REFUSE" not in found.cues else sentence.rsplit(" but ", 1)[-1])
        if kind == CONSENT:
            questions.append(sentence)
        is_open = is_open or kind == OPEN or "information" in found.sub
        asks = min(asks, kind, key=(CONSENT, OPEN, ANNOUNCED, NOTHING).index)
    return Turn(asks, tuple(questions), is_open, "\n".join(kept))


@lru_cache(maxsize=8192)
def _read(sentence: str) -> refined.Found:
    return refined.read(sentence)


def _kind(sentence: str, found: refined.Found) -> str:
    """How a sentence asks; a question that is open in no way and about no fact is one for agreement."""
    sentence = sentence[-_LONG:]
    question = sentence.rstrip("\"') ").endswith("?")
    if question and _REPORT.search(sentence):
        return NOTHING
    if "consent" in found.sub or WORDS["step"].search(sentence):
        return CONSENT
    if question and _SHALL.search(sentence) and not _WHICH.search(sentence):
        return CONSENT
    if question and len(sentence) <= _SHORT and not _WHICH.search(sentence):
        return CONSENT
    if "information" in found.sub or question:
        return OPEN
    return ANNOUNCED if WORDS["announce"].search(sentence) else NOTHING
