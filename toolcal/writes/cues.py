"""The word lists of `cues.yaml`, compiled, and text brought into the form that they are matched on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import yaml

CUES_FILE = Path(__file__).with_name("cues.yaml")

_FOLDED = str.maketrans(
    dict.fromkeys("‘’‚‛′ʼ`´", "'")
    | dict.fromkeys("“”„‟″", '"')
    | dict.fromkeys("‐‑‒–—―−", "-")
    | dict.fromkeys("\u00a0\u2007\u2009\u202f", " ")
    | dict.fromkeys("*\u200b\u200c\u200d\u2060\ufeff")
    | {"？": "?", "→": " to "}
)
_SENTENCE = re.compile(r"(?<=[.?!])[\"')]*\s+|\n+")
_CUT = 20_000  # a longer message than any that was spoken to a user


@dataclass(frozen=True)
class Cues:
    """What `cues.yaml` holds: `lists` by name, and of each family of actions the words in tool names and those said."""

    lists: Mapping[str, re.Pattern[str]]
    tool_words: Mapping[str, str]
    said: Mapping[str, re.Pattern[str]]
    topics: Mapping[str, re.Pattern[str]]
    common: frozenset[str]
    payments: Mapping[str, re.Pattern[str]]
    exclusive: tuple[tuple[str, ...], ...]


def any_of(words: Iterable[str]) -> re.Pattern[str]:
    """A pattern for any of these cues; one that begins with a letter, a digit or a group begins at a word's edge."""
    listed = list(words)
    edged = [word for word in listed if word[0].isalnum() or (word[0] == "(" and not word.startswith("(?<"))]
    # One word's edge before all of them: the pattern then fails at once inside a word.
    parts = [rf"(?<!\w)(?:{'|'.join(edged)})"] if edged else []
    return re.compile("|".join(parts + [f"(?:{word})" for word in listed if word not in edged]))


def load(path: Path = CUES_FILE) -> Cues:
    """Read the file."""
    found = yaml.safe_load(path.read_text(encoding="utf-8"))
    families, topics, payments = (found.pop(name) for name in ("families", "topics", "payments"))
    common, exclusive = frozenset(found.pop("common")), tuple(map(tuple, found.pop("exclusive")))
    whole = {"agree", "decline", "hold", "doubt", "change", "without", "only", "pick", "still"}
    return Cues(
        lists={
            name: any_of(f"(?:{word})(?!\\w)" if name in whole and word[-1] not in "$.,!" else word for word in words)
            for name, words in found.items()
        },
        tool_words={word: name for name, family in families.items() for word in family["tool"]},
        said={name: any_of(family["said"]) for name, family in families.items()},
        topics={name: any_of(words) for name, words in topics.items()},
        common=common,
        payments={name: any_of(words) for name, words in payments.items()},
        exclusive=exclusive,
    )


CUES = load()


@lru_cache(maxsize=4096)
def fold(text: str) -> str:
    """Lower case, typographic and Markdown signs as plain ones; lines stay."""
    return text[:_CUT].translate(_FOLDED).lower()


@lru_cache(maxsize=4096)
def sentences(text: str) -> tuple[str, ...]:
    """The sentences and lines of a folded text."""
    return tuple(part.strip() for part in _SENTENCE.split(text) if part and part.strip())
