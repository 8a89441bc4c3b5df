"""The words of `words.yaml`, compiled, and text brought into the form that they are matched on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from toolcal.actions.sentences import plain

WORDS_FILE = Path(__file__).with_name("words.yaml")

_WHOLE = ("agree", "weak", "decline", "hold", "doubt", "without", "choice")
_SENTENCE = re.compile(r"(?<=[.?!;])[\"')]*\s+|\n+")
_CUT = 20_000  # a longer message than any that was spoken to a user


def any_of(words: Iterable[str], whole: bool = False) -> re.Pattern[str]:
    """A pattern for any of these words, from a word's edge on; `whole`: up to one."""
    found = "|".join(f"(?:{word})" for word in words)
    return re.compile(rf"(?<!\w)(?:{found})" + (r"(?!\w)" if whole else ""))


def _load() -> Mapping[str, Any]:
    found = yaml.safe_load(WORDS_FILE.read_text(encoding="utf-8"))
    families = found.pop("families")
    read: dict[str, Any] = {
        "common": frozenset(found.pop("common")),
        "exclusive": found.pop("exclusive"),
        "tools": {name: frozenset(family["tool"]) for name, family in families.items()},
        "families": {name: any_of(family["said"]) for name, family in families.items()},
        "topics": found.pop("topics"),
        "payments": {name: any_of(words) for name, words in found.pop("payments").items()},
        "ordinal": {int(place): any_of(words, whole=True) for place, words in found.pop("ordinal").items()},
    }
    return read | {name: any_of(words, name in _WHOLE) for name, words in found.items()}


WORDS = _load()


@lru_cache(maxsize=4096)
def fold(text: str) -> str:
    """Lower case, typographic and Markdown signs as plain ones; lines stay, also those of a text in JSON."""
    text = text.replace("\\n", "\n")
    return re.sub(r"[*`]|(?<=\n)#+ ", "", plain(text[:_CUT]).replace("\u2192", " to ")).lower()


@lru_cache(maxsize=4096)
def sentences(text: str) -> tuple[str, ...]:
    """The sentences and lines of a folded text."""
    return tuple(part.strip() for part in _SENTENCE.split(text) if part and part.strip())


def contains(text: str, words: str) -> bool:
    """Whether words stand in a text as whole words."""
    start = text.find(words) if words else -1
    while start >= 0:
        end = start + len(words)
        if not (start and text[start - 1].isalnum()) and not (end < len(text) and text[end].isalnum()):
            return True
        start = text.find(words, start + 1)
    return False


def stem(word: str) -> str:
    """A word without the ending that its forms differ in."""
    return re.sub(r"(ies|y|es|s|e)$", "", word) if len(word) > 3 else word
