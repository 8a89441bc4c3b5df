"""Draw the validity set: `python -m toolcal.validity.draw --recorded FOLDER --out FOLDER`.

The draw knows nothing of any labelling rule: it orders all candidates by a checksum of the seed and their place, and
takes the first ones of each stratum. It is made once; later runs only check it and write the labellers' files again.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from pathlib import Path

from toolcal.benchmarks.tau2 import engine
from toolcal.validity import reading
from toolcal.validity.conversations import EMBEDDED, Conversation, ValidityError, read_all

ITEMS = Path(__file__).with_name("items.csv")
SEED = 20260

EMISSIONS = {"tau2": 90, "tau1": 50, "bfcl": 40, EMBEDDED.name: 30}
"""Emissions for each stratum of a kind; all where it has fewer."""
WRITES = 40
"""Writes for each file of tau-bench."""


@dataclass(frozen=True)
class Item:
    """One item: where it stands, and its half.

    Attributes:
        id: e or w and a number, in an order that tells nothing.
        kind: emission or write.
        file: relative to the recorded folder; `embedded.jsonl` stands beside this module.
        record: task/trial, or BFCL's id.
        message: the index in the list of messages, or turn/step in BFCL.
        call: a write's index among the message's calls, else "".
        split: dev or test.
    """

    id: str
    kind: str
    file: str
    record: str
    message: str
    call: str
    split: str


def draw(conversations: Sequence[Conversation], seed: int = SEED) -> list[Item]:
    """The items, in the order of their ids.

    Args:
        conversations: all there are.
        seed: another one gives another set.
    """
    halves = _halves(conversations, seed)
    chosen: list[Item] = []
    for stratum, members in _by_stratum(conversations).items():
        kind = stratum.split("/", 1)[0]
        candidates = [
            item for member in members for item in _candidates(member, halves[member.stratum, member.cluster])
        ]
        for wanted, number in (("emission", EMISSIONS[kind]), ("write", WRITES)):
            chosen += _ordered([item for item in candidates if item.kind == wanted], f"{seed} draw")[:number]
    numbered = []
    for wanted in ("emission", "write"):
        for number, item in enumerate(_ordered([i for i in chosen if i.kind == wanted], f"{seed} order"), 1):
            numbered.append(replace(item, id=f"{wanted[0]}{number:03}"))
    return numbered


def _by_stratum(conversations: Iterable[Conversation]) -> dict[str, list[Conversation]]:
    strata = defaultdict(list)
    for conversation in conversations:
        strata[conversation.stratum].append(conversation)
    return strata


def _halves(conversations: Sequence[Conversation], seed: int) -> dict[tuple[str, str], str]:
    """dev or test for each (stratum, cluster): a conversation is not split, so no half knows the other's texts."""
    halves: dict[tuple[str, str], str] = {}
    for stratum, members in _by_stratum(conversations).items():
        clusters = sorted({m.cluster for m in members}, key=lambda c: _checksum(f"{seed} split", stratum, c))
        first = ("dev", "test") if _checksum(f"{seed} first", stratum) < "8" else ("test", "dev")
        halves |= {(stratum, cluster): first[place % 2] for place, cluster in enumerate(clusters)}
    return halves


def _candidates(conversation: Conversation, split: str) -> Iterable[Item]:
    for message in conversation.messages:
        place = (conversation.file, conversation.record, message.position)
        if message.of_model and message.text:
            yield Item("", "emission", *place, "", split)
        for index, call in enumerate(message.calls):
            if call.name in _write_tools():
                yield Item("", "write", *place, str(index), split)


@cache
def _write_tools() -> frozenset[str]:
    """Tools that change a database and need the user's yes (`send_certificate` needs none)."""
    return frozenset().union(*(engine.domain(name).to_be_confirmed for name in engine.DOMAINS))


def _ordered(items: Iterable[Item], salt: str) -> list[Item]:
    return sorted(items, key=lambda item: _checksum(salt, item.kind, item.file, item.record, item.message, item.call))


def _checksum(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def read_items(path: Path = ITEMS) -> list[Item]:
    """The items as they were drawn."""
    with path.open(newline="") as lines:
        return [Item(**row) for row in csv.DictReader(lines)]


def keep(items: Sequence[Item], path: Path = ITEMS) -> None:
    """Write the items, once.

    Raises:
        ValidityError: where other items were drawn before: their labels would lose their meaning.
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, [field.name for field in fields(Item)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(item) for item in items)
    if path.exists() and path.read_text() != text.getvalue():
        raise ValidityError(f"{path}: another set was drawn before; move it and its labels away to draw anew")
    path.write_text(text.getvalue())


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw or check the items, and write the labellers' files."""
    parser = argparse.ArgumentParser(description="Draw the validity set and write what its labellers read.")
    parser.add_argument("--recorded", type=Path, required=True, help="folder of recorded runs: tau2, tau1, bfcl")
    parser.add_argument("--out", type=Path, required=True, help="folder for the labellers' files (others' texts)")
    given = parser.parse_args(arguments)
    try:
        conversations = read_all(given.recorded)
        items = draw(conversations)
        keep(items)
    except ValidityError as error:
        parser.exit(1, f"{error}\n")
    reading.write([asdict(item) for item in items], conversations, given.out)
    counts = Counter((item.kind, item.file, item.split) for item in items)
    for (kind, file, split), number in sorted(counts.items()):
        print(f"{kind:9} {split:5} {number:4}  {file}")


if __name__ == "__main__":
    main()
