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


def test_every_item_is_labelled_by_the_guidelines(readers):
    with (ROOT / "toolcal/validity/items.csv").open(encoding="utf-8", newline="") as file:
        kinds = {row["id"]: row["kind"] for row in csv.DictReader(file)}
    for labels in readers:
        assert labels.keys() == kinds.keys()
        for item, label in labels.items():
            if kinds[item] == "write":
                assert label.proposed or (not label.agreed and label.message is None), item
                assert not label.labels, item
                continue
            assert label.labels, item
            assert label.labels <= set(CLASSES), item
            assert "OTHER" not in label.labels or label.labels == {"OTHER"}, item
            assert bool(label.sub & {"information", "consent"}) == ("ASK" in label.labels), item
            assert "transfer" not in label.sub or "REFUSE" in label.labels, item


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
