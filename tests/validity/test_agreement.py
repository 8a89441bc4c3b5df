"""The two readers of the validity set: whole, valid, and as far in agreement as its page says."""

from __future__ import annotations

import csv
import re

import pytest

from tests.conftest import ROOT
from toolcal.validity import agreement
from toolcal.validity.agreement import CLASSES, READERS, Labels, kappa, read


@pytest.fixture(scope="module")
def readers():
    return [read(path) for path in READERS]


def test_kappa_by_hand():
    yes_no = [True] * 25 + [False] * 25
    # 20 yes of both, 15 no of both, 5 and 10 differ: 0.7 observed, 0.5 by chance.
    assert kappa([True] * 25 + [False] * 25, [True] * 20 + [False] * 5 + [True] * 10 + [False] * 15) == pytest.approx(
        0.4
    )
    assert kappa(yes_no, yes_no) == 1
    assert kappa(yes_no, [not answer for answer in yes_no]) == -1
    assert kappa([True, True], [True, True]) is None
    with pytest.raises(ValueError, match="no items"):
        kappa([], [])


def keeps_to_the_guidelines(item, label):
    if item.startswith("w"):
        assert label.proposed or (not label.agreed and label.message is None), item
        assert not label.labels, item
        return
    assert label.labels, item
    assert label.labels <= set(CLASSES), item
    assert "OTHER" not in label.labels or label.labels == {"OTHER"}, item
    assert bool(label.sub & {"information", "consent"}) == ("ASK" in label.labels), item
    assert "transfer" not in label.sub or "REFUSE" in label.labels, item


def test_every_item_is_labelled_by_the_guidelines(readers):
    with (ROOT / "toolcal/validity/items.csv").open(encoding="utf-8", newline="") as file:
        ids = {row["id"] for row in csv.DictReader(file)}
    for labels in (*readers, agreement.settled()):
        assert labels.keys() == ids
        for item, label in labels.items():
            keeps_to_the_guidelines(item, label)


def test_the_page_states_the_measured_agreement(readers):
    page = (ROOT / "docs/validity.md").read_text(encoding="utf-8")
    stated = {
        name: (int(n), int(d), k)
        for name, n, d, k in re.findall(r"^\| (\w+) \| (\d+) \| (\d+) \| ([\d.]+) \|", page, re.M)
    }
    found = agreement.agreement(*readers)
    assert stated == {line.question: (line.n, line.differ, f"{line.kappa:.3f}") for line in found}


def test_different_items_cannot_be_compared():
    one = {"e1": Labels(frozenset({"ASK"})), "w1": Labels(proposed=True, agreed=True)}
    with pytest.raises(ValueError, match=r"different items, e\.g\. w1"):
        agreement.agreement(one, {"e1": one["e1"]})


def test_what_the_two_readers_say_alike_is_settled(readers):
    found = agreement.settled()
    alike = [item for item in found if readers[0][item] == readers[1][item]]
    assert len(alike) > len(found) / 2
    assert all(found[item] == readers[0][item] for item in alike)


def labels(names, sub="", **more):
    return Labels(frozenset(names.split()), frozenset(sub.split()), **more)


@pytest.mark.parametrize(
    ("one", "other", "third", "right"),
    [
        (labels("ASK", "consent"), labels("OTHER"), labels("ASK", "consent"), labels("ASK", "consent")),
        (labels("ASK REFUSE"), labels("REFUSE"), labels("ASK CONFIRM"), labels("ASK REFUSE")),
        (labels("ASK"), labels("REFUSE"), labels("CONFIRM"), labels("CONFIRM")),
        (
            labels("", proposed=True, agreed=True, message=5),
            labels(""),
            labels("", proposed=True, message=3),
            labels("", proposed=True, message=3),
        ),
        (
            labels("", proposed=True, agreed=True, message=5),
            labels("", proposed=True, message=3),
            labels(""),
            labels("", proposed=True, message=3),
        ),
        (
            labels("", proposed=True, agreed=True, message=5),
            labels("", proposed=True, agreed=True, message=7),
            labels(""),
            labels("", proposed=True, agreed=True, message=5),
        ),
    ],
)
def test_the_majority_by_hand(one, other, third, right):
    assert agreement._majority("x1", one, other, third) == right


def test_where_the_readers_differ_a_third_is_needed():
    with pytest.raises(ValueError, match=r"labels_c\.csv: item e7 is missing"):
        agreement._majority("e7", labels("ASK"), labels("OTHER"), None)
