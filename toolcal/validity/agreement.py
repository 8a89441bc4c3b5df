"""How far the two readers of the validity set agree: Cohen's kappa per class of emissions, and for confirmed writes."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from toolcal.diagnosis.two_readers import kappa_of

HERE = Path(__file__).parent
READERS = (HERE / "labels_a.csv", HERE / "labels_b.csv")
THIRD = HERE / "labels_c.csv"
"""A third reader's labels of the items on which the two differ, and of some others among which those were hidden."""
CLASSES = ("ASK", "REFUSE", "CONFIRM", "OTHER")


@dataclass(frozen=True)
class Labels:
    """One reader's labels of one item; which fields are filled depends on its kind."""

    labels: frozenset[str] = frozenset()
    """Of an emission: some of `CLASSES`."""
    sub: frozenset[str] = frozenset()
    proposed: bool = False
    agreed: bool = False
    message: int | None = None
    """Of a write: the number of the message that decided it."""

    @property
    def confirmed(self) -> bool:
        """The write was proposed, and the user agreed to it."""
        return self.proposed and self.agreed


@dataclass(frozen=True)
class Agreement:
    """Two readers on one question: `n` items, of which `differ` were answered differently."""

    question: str
    n: int
    differ: int
    kappa: float | None


def read(path: Path) -> dict[str, Labels]:
    """A reader's labels by item id.

    Raises:
        ValueError: for an item that is there twice.
    """
    found: dict[str, Labels] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["id"] in found:
                raise ValueError(f"{path.name}: item {row['id']} is there a second time")
            found[row["id"]] = Labels(
                frozenset(row["labels"].split()),
                frozenset(row["sub"].split()),
                row["proposed"] == "true",
                row["agreed"] == "true",
                int(row["message"]) if row["message"] else None,
            )
    return found


def settled() -> dict[str, Labels]:
    """What is taken for right, by item id: what the two readers say alike, and the majority of three where they differ.

    Raises:
        ValueError: where the readers differ on an item that the third one did not label.
    """
    one, other = map(read, READERS)
    third = read(THIRD)
    return {item: _majority(item, one[item], other[item], third.get(item)) for item in one}


def _majority(item: str, one: Labels, other: Labels, third: Labels | None) -> Labels:
    if (one.labels, one.sub, one.proposed, one.agreed) == (other.labels, other.sub, other.proposed, other.agreed):
        return one
    if third is None:
        raise ValueError(f"{THIRD.name}: item {item} is missing, and the readers differ on it")
    proposed, agreed = (_most(r.proposed for r in (one, other, third)), _most(r.agreed for r in (one, other, third)))
    alike = [r.message for r in (third, one, other) if (r.proposed, r.agreed) == (proposed, agreed)]
    return Labels(
        _in_most(one.labels, other.labels, third.labels) or third.labels,
        _in_most(one.sub, other.sub, third.sub),
        proposed,
        agreed,
        alike[0] if alike else None,
    )


def _most(answers: Iterable[bool]) -> bool:
    return sum(answers) >= 2


def _in_most(*answers: frozenset[str]) -> frozenset[str]:
    return frozenset(name for name in frozenset().union(*answers) if _most(name in found for found in answers))


def kappa(one: Sequence[bool], other: Sequence[bool]) -> float | None:
    """Cohen's kappa of two readers' answers to the same items.

    Args:
        one: a reader's answers.
        other: the other's, in the same order.

    Returns:
        -1 to 1; None where both gave one answer throughout, so that chance alone would agree.

    Raises:
        ValueError: where there are no items, or not the same number.
    """
    pairs = Counter(zip(one, other, strict=True))
    if not pairs:
        raise ValueError("no items to compare")
    counts = np.array([pairs[True, True], pairs[True, False], pairs[False, True], pairs[False, False]], float)
    found = float(kappa_of(counts))
    return None if np.isnan(found) else found


def agreement(one: dict[str, Labels], other: dict[str, Labels]) -> list[Agreement]:
    """The readers on each class of emissions, and on whether writes were confirmed.

    Raises:
        ValueError: where they did not label the same items.
    """
    if one.keys() != other.keys():
        raise ValueError(f"the readers labelled different items, e.g. {min(one.keys() ^ other.keys())}")
    emissions, writes = ([item for item in sorted(one) if item.startswith(kind)] for kind in "ew")
    questions: list[tuple[str, list[str], Callable[[Labels], bool]]] = [
        (name, emissions, partial(_has, name)) for name in CLASSES
    ]
    questions.append(("confirmed", writes, _confirmed))
    found = []
    for name, items, answer in questions:
        pair = [answer(one[item]) for item in items], [answer(other[item]) for item in items]
        found.append(Agreement(name, len(items), sum(a != b for a, b in zip(*pair, strict=True)), kappa(*pair)))
    return found


def kappas() -> dict[str, float | None]:
    """How far the two readers agree, by question."""
    return {found.question: found.kappa for found in agreement(*map(read, READERS))}


def _has(name: str, labels: Labels) -> bool:
    return name in labels.labels


def _confirmed(labels: Labels) -> bool:
    return labels.confirmed


if __name__ == "__main__":
    for line in agreement(*map(read, READERS)):
        shown = "none" if line.kappa is None else f"{line.kappa:.3f}"
        print(f"{line.question}: n = {line.n}, {line.differ} differ, kappa {shown}")
