"""Texts cut into folded sentences, so that rules about wording need to know nothing of typography and Markdown.

What is not said to the reader is taken out: code blocks, quotations of more than a few words, addresses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

MAX_SENTENCE = 600
"""Characters; a longer one is cut, which keeps the work on any text proportional to its length."""

SIGNS = str.maketrans(
    dict.fromkeys("‘’‚‛′ʼ＇´", "'")
    | dict.fromkeys("“”„‟″＂", '"')
    | dict.fromkeys("‐‑‒–—―−", "-")
    | dict.fromkeys("\u00a0\u2002\u2003\u2007\u2009\u200a\u202f\u3000", " ")
    | dict.fromkeys("？؟﹖", "?")
    | dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad")
)
"""Typographic signs as plain ones."""

_FENCE = re.compile(r"\s*(?:```|~~~)")
_ITEM = re.compile(r"\s*(?:[-*+•–]|\(?\d{1,3}[.)]|\(?[a-z][.)])\s+")
_HEADING = re.compile(r"\s*#{1,6}\s+")
_MARKS = re.compile(r"\*+|(?<!\w)_+(?=\w)|(?<=\w)_+(?!\w)|\[[ x]\] ")
_CODE = re.compile(r"`[^`\n]{0,200}`")
_LINK = re.compile(r"\[([^\[\]\n]{1,200})\]\([^()\n]{0,300}\)")
_ADDRESS = re.compile(r"https?://\S{0,300}")
_QUOTED = re.compile(r'"([^"\n]{0,300})"')
_SHORT = re.compile(r"(?<=[a-z])('s|n't)(?!\w)")
_END = re.compile(r"""[.!?…]{1,8}["')\]]{0,2}(?=\s|$)|[。！]|(?<=[a-z)]);(?=\s)""")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:e\.g|i\.e|etc|no|nr|st|mr|mrs|ms|dr|vs|approx|incl|inc|u\.s|a\.m|p\.m|[a-z])$"
)
_INVERTED = re.compile(r"(?:would|do|shall|should|can|could|may) (?:you|i|we)\b")
_EMPHATIC = 3
"""Words of a quotation that are still the agent's own: reply "yes", status "pending"."""


@dataclass(frozen=True)
class Sentence:
    """A folded sentence.

    `text` is in lower case without end marks, short forms apart; `paragraph` counts blocks of text from 0; `item` says
    that it begins an item of a list, `listed` that it is a part of one, `opens_list` that it ends in a colon (where
    "Would you like me to:" asks as well).
    """

    text: str
    paragraph: int
    question: bool
    item: bool = False
    listed: bool = False
    opens_list: bool = False


def fold(text: str) -> str:
    """Lower case, typographic signs as plain ones, any run of white space as one space."""
    return " ".join(plain(text).lower().split())


def plain(text: str) -> str:
    """Typographic signs as plain ones, and nothing else changed."""
    return text if text.isascii() else text.translate(SIGNS)


def apart(text: str) -> str:
    """The short forms 's and n't as words of their own, in a text or in a pattern for it: `isn't` is `is n't`."""
    return _SHORT.sub(r" \1", text)


def together(text: str) -> str:
    """What `apart` took apart."""
    return text.replace(" 's", "'s").replace(" n't", "n't")


def sentences(text: str) -> list[Sentence]:
    """The sentences of a text, in order, in time proportional to its length."""
    return list(_sentences(plain(text)))


def _sentences(text: str) -> Iterator[Sentence]:
    paragraph = 0
    for line in _spoken_lines(text):
        if not line.strip():
            paragraph += 1
            continue
        line = _HEADING.sub("", line, count=1)
        item = bool(mark := _ITEM.match(line.lower()))
        line = _cleaned(line[mark.end() :] if mark else line)
        for at, (sentence, question) in enumerate(_cut(line)):
            opens = sentence.endswith(":")
            question = question or (opens and _INVERTED.match(sentence) is not None)
            yield Sentence(sentence.rstrip(": "), paragraph, question, item and at == 0, item, opens)


def _spoken_lines(text: str) -> Iterator[str]:
    """The lines outside of code and quoted blocks, table cells one by one; a line that only goes on joins the last."""
    fenced, open_line = False, ""
    for line in text.splitlines():
        if _FENCE.match(line):
            fenced, line = not fenced, ""
        elif fenced or line.lstrip().startswith(">"):
            line = ""
        elif line.lstrip().startswith("|"):
            yield from (f"- {cell}" for cell in line.split("|") if cell.strip(" -:"))
            continue
        if open_line and line[:1].islower() and len(open_line) < MAX_SENTENCE and open_line[-1] not in ".!?:;":
            open_line += " " + line.rstrip()
            continue
        if open_line:
            yield open_line
        open_line = line.rstrip()
        if not open_line:
            yield ""
    if open_line:
        yield open_line


def _cleaned(line: str) -> str:
    if any(map(line.__contains__, ("`", "](", "://"))):  # few lines have any
        line = _ADDRESS.sub("link", _LINK.sub(r"\1", _CODE.sub("code", line)))
    if '"' in line:
        line = _QUOTED.sub(_own_words, line)
    return " ".join(_MARKS.sub("", line).lower().split())


def _own_words(quoted: re.Match[str]) -> str:
    inside = quoted[1]
    emphatic = len(inside.split()) <= _EMPHATIC and not (" " in inside and inside.endswith((".", "!", "?")))
    return inside.strip(" .,!?") if emphatic else '"quoted"'


def _cut(line: str) -> Iterator[tuple[str, bool]]:
    """(sentence, whether it is a question) of a line; abbreviations do not end one."""
    start = 0
    for end in _END.finditer(line):
        if end[0] == "." and _ABBREVIATION.search(line, max(start, end.start() - 8), end.start()):
            continue
        yield from _pieces(line[start : end.start()], "?" in end[0])
        start = end.end()
    yield from _pieces(line[start:], False)


def _pieces(sentence: str, question: bool) -> Iterator[tuple[str, bool]]:
    """The sentence without outer signs, cut where it is too long; nothing where it holds no letter."""
    sentence = sentence.strip(" -|\"'()[]")
    bounds = [*range(0, len(sentence), MAX_SENTENCE), len(sentence)]
    for start, end in pairwise(bounds):
        piece = apart(sentence[start:end])
        if any(character.isalpha() for character in piece):
            yield piece, question and end == len(sentence)
