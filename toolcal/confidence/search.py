"""The tool `search` over a set of passages: BM25, as the package bm25s has it (method `lucene`, k1 1.5, b 0.75).

Words are runs of letters and digits, without regard to case; nothing is stemmed, no word is left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from bm25s import BM25

from toolcal.benchmarks.protocol import Tool as Schema
from toolcal.confidence.hits import Hit, cut, shown
from toolcal.confidence.questions import Passage
from toolcal.confidence.tools import SEARCH, function, text_argument

_WORD = re.compile(r"\w+")


class PassageError(ValueError):
    """A passage that cannot be used; the message says where it is and what is wrong with it."""


class Search:
    """Finds passages by their words.

    Args:
        passages: what can be found; their ids are unlike each other.
        k: results of a query, at most.
        length: characters of a result's text; longer ones are cut.

    Raises:
        PassageError: an id occurs twice.
    """

    name = SEARCH

    def __init__(self, passages: Sequence[Passage], *, k: int = 5, length: int = 300) -> None:
        self._passages = sorted(passages, key=lambda passage: passage.passage_id)
        for first, second in zip(self._passages, self._passages[1:], strict=False):
            if first.passage_id == second.passage_id:
                raise PassageError(f"passage {first.passage_id!r} is there twice")
        self._k, self._length = k, length
        words = [_words(f"{passage.title} {passage.text}") for passage in self._passages]
        self._index: BM25 | None = None
        if any(words):
            self._index = BM25(method="lucene", k1=1.5, b=0.75)
            self._index.index(words, show_progress=False)

    @property
    def schema(self) -> Schema:
        """The function in OpenAI form."""
        return function(SEARCH, "Searches a collection of short texts", "query", "the words to look for")

    def find(self, query: str) -> list[Hit]:
        """The passages that share a word with the query, best first; those that score alike in the order of their ids.

        Args:
            query: any text; one without a known word finds nothing.
        """
        words = _words(query)
        if self._index is None or not words:
            return []
        scores = np.asarray(self._index.get_scores(words))
        best = np.lexsort((np.arange(len(scores)), -scores))[: self._k]
        found = [self._passages[at] for at in best if scores[at] > 0]
        return [Hit(passage.passage_id, passage.title, cut(passage.text, self._length)) for passage in found]

    def run(self, arguments: Mapping[str, Any]) -> str:
        """Answer one query.

        Args:
            arguments: `{"query": ...}`.

        Raises:
            ToolError: no query.
        """
        return shown(self.find(text_argument(arguments, "query")), sources=False)


def read_passages(folder: Path) -> list[Passage]:
    """Passages from the JSON-lines files (`*.jsonl`) of a folder, in the order of the files' names.

    A line is an object with `passage_id` and `text`, and a `title` if there is one: texts, the first two not empty.
    Other fields, and empty lines, are passed over.

    Args:
        folder: where the files are.

    Raises:
        PassageError: no such folder, no such file in it, or a line that is not of this form.
    """
    files = sorted(path for path in folder.glob("*.jsonl") if path.is_file())
    if not files:
        raise PassageError(f"{folder}: {'no *.jsonl file in it' if folder.is_dir() else 'no such folder'}")
    found: dict[str, Passage] = {}
    for path in files:
        for where, line in _lines(path):
            passage = _passage(line, where)
            if passage.passage_id in found:
                raise PassageError(f"{where}: passage_id {passage.passage_id!r} has been there before")
            found[passage.passage_id] = passage
    if not found:
        raise PassageError(f"{folder}: its *.jsonl files hold no passage")
    return list(found.values())


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            where = f"{path}, line {number}"
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError:
                raise PassageError(f"{where}: not UTF-8") from None
            if text.strip():
                yield where, text


def _passage(line: str, where: str) -> Passage:
    try:
        value = json.loads(line)
        json.dumps(value, ensure_ascii=False).encode()  # a lone surrogate can be read, but not written
    except (ValueError, RecursionError):
        raise PassageError(f"{where}: no JSON") from None
    if not isinstance(value, dict):
        raise PassageError(f"{where}: no JSON object")
    for field in ("passage_id", "text"):
        if field not in value:
            raise PassageError(f"{where}: {field} is missing; there are {', '.join(sorted(value)) or 'no fields'}")
    value = {"title": "", **{name: given for name, given in value.items() if given is not None or name != "title"}}
    for field in ("passage_id", "title", "text"):
        if not isinstance(value[field], str):
            raise PassageError(f"{where}: {field} is no text")
        if field != "title" and not value[field].strip():
            raise PassageError(f"{where}: {field} is empty")
    return Passage(value["passage_id"], value["title"], value["text"])


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
