"""JSON files of any size, read item by item."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_CHUNK = 1 << 20
_SPACE = " \t\n\r"


class RecordingError(ValueError):
    """Files that cannot be used at all; the message says which, and what to do."""


class CutOff(ValueError):
    """A file that is no JSON from some place on; what came before it was good."""


def items(path: Path) -> Iterator[tuple[str, int | None, Any]]:
    """The values at the top of a JSON file, those of lists one by one.

    A list at the top has the key "". What JSON does not know (NaN) is null. At no time more than an item is held.

    Yields:
        (key, index in the key's list or None, value).

    Raises:
        CutOff: where the text stops being JSON, after what came before has been given out.
        RecordingError: the file cannot be opened, or is neither an object nor a list.
    """
    try:
        with path.open(encoding="utf-8") as file:
            reader = _Reader(file)
            start = reader.peek()
            if start == "[":
                yield from (("", index, value) for index, value in reader.elements())
            elif start == "{":
                for key in reader.names():
                    if reader.peek() == "[":
                        yield from ((key, index, value) for index, value in reader.elements())
                    else:
                        yield key, None, reader.value()
            else:
                raise RecordingError(f"{path}: neither a JSON object nor a list")
            if reader.peek():
                raise CutOff("text after the end of the JSON")
    except UnicodeDecodeError:
        raise CutOff("not UTF-8 text") from None
    except OSError as error:
        raise RecordingError(f"{path}: cannot be read ({error.strerror})") from None


class _Reader:
    """Decodes one value after the other, reading on where the text at hand is not enough."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._text = ""
        self._at = 0
        self._ended = False
        self._decoder = json.JSONDecoder(parse_constant=lambda _: None)

    def peek(self) -> str:
        """The next character that is no space; empty at the end."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in _SPACE:
                self._at += 1
            if self._at < len(self._text) or not self._more(_CHUNK):
                return self._text[self._at : self._at + 1]

    def value(self) -> Any:
        """The value that stands here."""
        self.peek()
        size = _CHUNK
        while True:
            try:
                value, end = self._decoder.raw_decode(self._text, self._at)
            except (ValueError, RecursionError) as error:
                # Not whole yet, or broken: only the end of the file tells which.
                if isinstance(error, RecursionError) or not self._more(size):
                    place = "cut off" if self._at_end(error) else "not JSON"
                    raise CutOff(place) from None
                size *= 2
                continue
            if end == len(self._text) and self._more(_CHUNK):
                continue  # a number may go on
            self._at = end
            return value

    def elements(self) -> Iterator[tuple[int, Any]]:
        """(index, value) of the list that begins here."""
        self._take("[")
        index = 0
        if self.peek() != "]":
            yield index, self.value()
            while self.peek() == ",":
                self._take(",")
                index += 1
                self.peek()
                yield index, self.value()
        self._take("]")

    def names(self) -> Iterator[str]:
        """The keys of the object that begins here; whoever asks has to read each one's value."""
        self._take("{")
        if self.peek() != "}":
            yield self._key()
            while self.peek() == ",":
                self._take(",")
                yield self._key()
        self._take("}")

    def _key(self) -> str:
        key = self.value()
        self._take(":")
        return str(key)

    def _take(self, sign: str) -> None:
        found = self.peek()
        if found != sign:
            raise CutOff("cut off" if not found else f"not JSON: {found!r} where {sign!r} is due")
        self._at += 1

    def _more(self, size: int) -> bool:
        if self._ended:
            return False
        piece = self._file.read(size)
        self._ended = not piece
        self._text = self._text[self._at :] + piece
        self._at = 0
        return bool(piece)

    def _at_end(self, error: Exception) -> bool:
        """Whether the text broke off where the file ends."""
        if not isinstance(error, json.JSONDecodeError):
            return False
        return error.msg.startswith("Unterminated string") or error.pos >= len(self._text.rstrip())
