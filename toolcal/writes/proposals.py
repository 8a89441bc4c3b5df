"""What an agent's message puts to the user: the actions that it sets out, and whether it asks for agreement to them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from toolcal.writes.cues import CUES, any_of, sentences

_WORDS = re.compile(r"[a-z]+")


@dataclass(frozen=True)
class Action:
    """The kind of action that a tool does, by the words of its name.

    Attributes:
        family: what it does; the name's first word where it is in no family.
        said: how that is spoken of.
        topics: what it works on, each with how it is spoken of; empty where the name tells nothing special.
        guessed: the topic is a word of the name that no list has.
    """

    family: str
    said: re.Pattern[str]
    topics: tuple[tuple[str, re.Pattern[str]], ...]
    guessed: bool

    @property
    def topic(self) -> str:
        """What it works on, in words."""
        return " and ".join(name for name, _ in self.topics)

    def named(self, text: str) -> bool:
        """Whether a text speaks of such an action on such a thing."""
        return self.said.search(text) is not None and self.on_topic(text)

    def on_topic(self, text: str) -> bool:
        """Whether a text speaks of what the action works on."""
        return not self.topics or any(pattern.search(text) for _, pattern in self.topics)


@dataclass(frozen=True)
class Turn:
    """An agent's words in one go.

    Attributes:
        asks: the sentences that ask for agreement.
        chooses: it asks which of several, or for a value.
        plans: it announces a step.
        set_out: its words without reports of done work and without refusals.
        families: the families of actions that `set_out` speaks of.
    """

    asks: tuple[str, ...]
    chooses: bool
    plans: bool
    set_out: str
    families: frozenset[str]


@lru_cache(maxsize=512)
def action(tool: str) -> Action:
    """The kind of action of a tool, from its name alone."""
    words = _WORDS.findall(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", tool).lower())
    verb = next((word for word in words if word in CUES.tool_words), words[0] if words else tool.lower())
    family = CUES.tool_words.get(verb, verb)
    said = CUES.said.get(family) or any_of([re.escape(_stem(verb)) or "$"])
    rest = [word for word in words if word != verb and word not in CUES.common and len(word) > 2]
    plural = {name for name in CUES.topics for word in rest if _stem(word) == _stem(name)}
    topics = [(name, CUES.topics[name]) for name in sorted(plural)] or [
        (word, any_of([re.escape(_stem(word))])) for word in rest[-1:]
    ]
    return Action(family, said, tuple(topics), not plural)


@lru_cache(maxsize=4096)
def read(text: str) -> Turn:
    """Read an agent's folded words."""
    lists = CUES.lists
    asks: list[str] = []
    set_out: list[str] = []
    chooses = plans = False
    for part in sentences(text):
        done = lists["report"].search(part)
        wanted = lists["consent"].search(part)
        consent = wanted is not None and not (done and done.start() < wanted.start())
        if consent and not (part.endswith("?") and lists["open"].search(part)) and not _elsewhere(part):
            asks.append(part)
        chooses = chooses or lists["choice"].search(part) is not None
        plans = plans or lists["announce"].search(part) is not None
        reports = done or lists["refusal"].search(part)
        if consent or not reports:
            set_out.append(part)
        else:
            set_out += _alternative(part)
    words = "\n".join(set_out)
    families = frozenset(name for name, pattern in CUES.said.items() if pattern.search(words))
    return Turn(tuple(asks), chooses, plans, words, families)


def _alternative(refusal: str) -> list[str]:
    """What a refusal offers instead, after its "but"."""
    _, but, rest = refusal.partition(" but ")
    return [rest] if but and not CUES.lists["refusal"].search(rest) and not CUES.lists["report"].search(rest) else []


def specific(question: str) -> bool:
    """Whether a question names an action, rather than "this change"."""
    rest = CUES.lists["generic"].sub("", question)
    return any(pattern.search(rest) for pattern in CUES.said.values())


def _elsewhere(question: str) -> bool:
    """Whether a question is about no write at all, but a search, a hand-over or a fact."""
    lists = CUES.lists
    other = lists["elsewhere"].search(question) or lists["fact"].search(question)
    return other is not None and not any(pattern.search(question) for pattern in CUES.said.values())


def _stem(word: str) -> str:
    return word[:-1] if word.endswith(("s", "e")) and len(word) > 3 else word
