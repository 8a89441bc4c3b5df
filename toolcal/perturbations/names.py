"""Where a text names a tool, and that text with the tool under another name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

_MARKS = {"'": "'", '"': '"', "`": "`", "‘": "’", "“": "”"}


def with_new_names(text: str, shown: Mapping[str, str]) -> str:
    """A text with tools by their new names.

    By rule, a text names a tool where the name stands as a whole word that is none of the language (an underscore or a
    capital within, as in `get_tweet`, `lockDoors`), or in quotation or code marks ('ls'), or with brackets (ls()).
    Elsewhere `find`, `sort` or `mean` is a word, and stays.

    Args:
        text: the text.
        shown: the benchmark's name -> the new one.
    """
    if not shown:
        return text
    return _any_of(tuple(shown)).sub(lambda found: _named(found, shown), text)


@lru_cache
def _any_of(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)({'|'.join(map(re.escape, names))})(?!\w)")


def _named(found: re.Match[str], shown: Mapping[str, str]) -> str:
    name = found[1]
    before, after = found.string[: found.start()][-1:], found.string[found.end() :][:2]
    marked = _MARKS.get(before) == after[:1] != "" or after == "()"
    return shown[name] if marked or not (name.isalpha() and name.islower()) else name
