"""What stood before an emission: what the user asked for, and which tools were called since.

Whether "Would you like me to ...?" asks about open work or offers something more, and whether a result is work done or
mere information, no message tells by itself. The readers of the validity set saw the request and the calls; so does
labeller `refined`, where they are known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import yaml

from toolcal.actions.sentences import fold

VERBS_FILE = Path(__file__).with_name("verbs.yaml")
MAX_REQUEST = 4000
"""Characters of the user's words that are looked at, the last ones: the work on an emission stays bounded."""

_NAME = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
# Where a verb stands that says what to do: at the beginning, behind a conjunction, behind who is to do it.
_ADVERBS = r"(?:(?:\w+ly|also|just|now|then|please|kindly|either|first|go ahead and) )*"
_VERB = re.compile(
    r"(?:^|[.!?;:,] ?(?:and |or |then |but )?"
    r"|\b(?:to|and|or|then|you|me|i|we|let's|lets|please|kindly|just|by|for|with) )"
    rf"(?={_ADVERBS}(?!make sure|set to)([a-z][a-z-]*))"
)
_OFFERED = re.compile(rf"\b(?:to|i) {_ADVERBS}([a-z][a-z-]*)")
_WHICH = re.compile(r"(?:\w+ ){0,3}(?:which|what|who|whom|where|when|how)\b")


@dataclass(frozen=True)
class Before:
    """What the user asked for and may still wait for, and the names of the tools called in this turn, in order.

    An emission of which nothing is known has no `Before`; the empty one says that nothing was asked and called.
    """

    request: str = ""
    calls: tuple[str, ...] = ()

    def asked(self, words: str) -> Before:
        """After the next words of the user. Earlier ones stay open until a call has changed something."""
        still_open = "" if self.changing else self.request
        return Before(f"{still_open}\n{words}"[-MAX_REQUEST:].strip())

    def called(self, names: Iterable[str]) -> Before:
        """After calls of these tools."""
        return replace(self, calls=(*self.calls, *names))

    @property
    def changing(self) -> tuple[str, ...]:
        """Those of the calls that change something, as far as a name tells."""
        return tuple(name for name in self.calls if changes(name))

    @property
    def looked(self) -> bool:
        """Whether tools were called, and none of them changes anything."""
        return bool(self.calls) and not self.changing

    @property
    def answered(self) -> bool:
        """Whether the calls did what the request needs: one changed something, or all was to be found out."""
        return bool(self.calls) and (bool(self.changing) or not _work(self.request))

    @property
    def reached(self) -> bool:
        """Whether somebody was written to in the user's name: the tool is called so, and hands nobody over."""
        return any(_words(name)[0] == "contact" for name in self.changing)

    def beyond(self, offer: str) -> bool | None:
        """Whether a sentence offers something beyond the request: work that it does not name, or a call has done.

        To find out more is beyond it where the calls have answered. None where the sentence names no verb that is
        known: it may ask for a value.
        """
        if work := _work(offer):
            done = _families(word for name in self.changing for word in _words(name))
            return not (work & _work(self.request)) - done
        if _WHICH.match(offer) or not any(READS & {*_forms(verb[1])} for verb in _OFFERED.finditer(offer)):
            return None
        return True


@lru_cache(1 << 12)
def changes(name: str) -> bool:
    """Whether a tool of this name changes something: its first word is no verb of finding out."""
    words = _words(name)
    return bool(words) and words[0] not in READS


def _words(name: str) -> tuple[str, ...]:
    """The words of a tool's name in snake or camel case."""
    return tuple(word.lower() for word in _NAME.findall(name))


@lru_cache(1 << 12)
def _work(text: str) -> frozenset[str]:
    """The work that a text names: families of its verbs, those of finding out left out."""
    return _families(verb[1] for line in text.splitlines() for verb in _VERB.finditer(fold(line)))


def _families(words: Iterable[str]) -> frozenset[str]:
    found: set[str] = set()
    for word in words:
        for form in _forms(word):
            found.update(FAMILIES.get(form, ()))
    return frozenset(found)


def _forms(word: str) -> Iterable[str]:
    """A word's possible plain forms: cancelling is cancel, moving move."""
    yield word
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            stem = word[: -len(ending)]
            yield stem
            yield stem + "e"
            if stem[-1] == stem[-2]:
                yield stem[:-1]


def _load(path: Path) -> tuple[frozenset[str], dict[str, frozenset[str]]]:
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    reads = frozenset(content["reads"].split())
    families: dict[str, set[str]] = {}
    for line in content["same"].splitlines():
        words = line.split()
        for word in words:
            families.setdefault(word, set()).add(words[0])
    return reads, {word: frozenset(names) for word, names in families.items()}


READS, FAMILIES = _load(VERBS_FILE)
