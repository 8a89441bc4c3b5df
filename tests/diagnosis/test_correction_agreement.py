from __future__ import annotations

import pytest

from tests.corrections.marks import mark
from tests.diagnosis.panel import ASK, CONFIRM, OTHER, REFUSE, Panel, row
from toolcal import tables
from toolcal.corrections.settle import overlay, settle

LABELLERS = ("refined", "paper_like")


@pytest.fixture
def found():
    """Four marked messages and one that nobody marked; refined is right on the last two, paper_like on the first."""
    panel = Panel(labellers=LABELLERS)
    cases = "abcde"
    panel.planned(*cases)
    said = {"a": (OTHER, ASK), "b": (OTHER, OTHER), "c": (ASK, OTHER), "d": (ASK, REFUSE), "e": (CONFIRM, ASK)}
    for case_id in cases:
        refined, paper_like = said[case_id]
        panel.case(case_id, turns=1, gold=("ASK",))
        panel.run(case_id, [[refined]], True, others={"paper_like": [[paper_like]]})
    marks = [
        mark(1, case_id="a"),
        mark(2, case_id="b"),
        mark(3, case_id="c", was="ASK"),
        mark(4, case_id="d", was="ASK"),
    ]
    marks.append(mark(5, case_id="e", was="REFUSE"))
    actions = panel.tables()["actions"]
    settled = settle(marks, actions, LABELLERS)
    assert settled.corrections["status"].tolist() == ["applied", "applied", "upheld", "upheld", "stale"]
    given = {"actions": overlay(actions, settled.labels, "refined"), "corrections": settled.corrections}
    return panel.diagnose(labellers=(*LABELLERS, "corrected"), **given)


def test_each_labeller_is_held_against_all_marked_messages(found):
    table = found["correction_agreement"]
    assert set(table["labeller"]) == set(LABELLERS)
    assert set(table["n"]) == {4}
    for labeller, agree, precision, recall in (("refined", 0.5, 1.0, 0.5), ("paper_like", 0.25, 1.0, 0.25)):
        assert row(table, labeller=labeller, label="all")["agree"] == agree
        asks = row(table, labeller=labeller, label="ASK")
        assert (asks["precision"], asks["recall"], asks["n_right"]) == (precision, recall, 4)
        assert asks["precision_low"] < 1
        assert row(table, labeller=labeller, label="OTHER")["precision"] == 0
        assert row(table, labeller=labeller, label="CONFIRM")[["precision", "recall", "kappa"]].isna().all()


def test_gar_is_stated_with_and_without_the_corrections(found):
    gar = found["cells"].set_index("labeller")["gar_case_any"]
    assert gar.to_dict() == {"refined": 0.4, "paper_like": 0.4, "corrected": 0.8}


def test_without_corrections_there_is_no_table():
    panel = Panel()
    panel.planned("a")
    panel.case("a")
    panel.run("a", [[ASK], [REFUSE]], True)
    assert "correction_agreement" not in panel.diagnose()
    assert "correction_agreement" in tables.TABLES
