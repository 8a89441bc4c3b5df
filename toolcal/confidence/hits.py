"""What a search gives back, from whichever source: a list of hits, and the text that the model reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

NOTHING = "No results."


@dataclass(frozen=True)
class Hit:
    """One thing found, best first."""

    source: str
    """A passage's id, or a page's address."""
    title: str
    snippet: str


def cut(text: str, length: int) -> str:
    """The text on one line; where it is longer, its beginning up to a whole word, and an ellipsis.

    Args:
        text: any text.
        length: characters at most, the ellipsis included.
    """
    line = " ".join(text.split())
    if len(line) <= length:
        return line
    head = line[: max(length - 1, 0)]
    if not line[len(head)].isspace() and " " in head:
        head = head.rpartition(" ")[0]
    return head.rstrip() + "…"


def shown(hits: Sequence[Hit], *, sources: bool) -> str:
    """The hits as the model reads them.

    Args:
        hits: best first.
        sources: whether to show where each is from. Not for passages: an id could give away what was done to one.
    """
    blocks = [
        f"[{number}] {hit.title}{f' ({hit.source})' if sources and hit.source else ''}".rstrip() + f"\n{hit.snippet}"
        for number, hit in enumerate(hits, start=1)
    ]
    return "\n\n".join(blocks) or NOTHING
