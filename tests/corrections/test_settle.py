from __future__ import annotations

import json

import pytest

from tests.corrections.marks import LINE, mark
from tests.diagnosis.panel import ASK, CALL, CONFIRM, EMPTY, OTHER, E, Panel
from toolcal import tables
from toolcal.corrections.settle import overlay, relabelled, settle

LABELLERS = ("refined", "paper_like")


@pytest.fixture
def actions():
    """Turn by turn: OTHER (paper_like: ASK), a call, a call that leaked, a status alone, ASK and CONFIRM in one."""
    both = E("ASK", flags=("ASK", "CONFIRM"))
    panel = Panel(labellers=LABELLERS)
    turns = [[OTHER], [CALL], [CALL], [EMPTY], [both]]
    panel.run("a", turns, True, others={"paper_like": [[ASK], [CALL], [CALL], [EMPTY], [CONFIRM]]})
    found = panel.tables()["actions"]
    found.loc[found["turn"] == 2, "leaked"] = True
    return found


def statuses(actions, *marks):
    found = settle(marks, actions, LABELLERS)
    tables.check("corrections", found.corrections)
    tables.check("actions", found.labels)
    return dict(zip(found.corrections["line"], found.corrections["status"], strict=True)), found


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({}, "applied"),
        ({"action": "OTHER"}, "upheld"),
        ({"labeller": "paper_like"}, "met"),
        ({"was": "REFUSE"}, "stale"),
        ({"was": None}, "stale"),
        ({"turn": 3, "was": None}, "no_class"),
        ({"labeller": "human"}, "not_there"),
        ({"case_id": "b"}, "not_there"),
        ({"attempt": 1}, "not_there"),
        ({"turn": 1, "was": "TOOL_CALL"}, "call"),
        ({"turn": 2, "was": "TOOL_CALL"}, "applied"),
        ({"turn": 3}, "no_class"),
    ],
)
def test_a_correction_holds_where_its_message_is_there_and_its_label_is_what_it_was(actions, changed, status):
    found, settled = statuses(actions, mark(**changed))
    assert found == {1: status}
    assert settled.corrections["why"].isna().item() == (status in tables.CORRECTIONS_IN_FORCE)


def test_of_one_reader_the_latest_holds_and_readers_who_differ_cancel_each_other(actions):
    again = mark(2, action="REFUSE", time="2026-12-01T09:15:00+00:00")
    assert statuses(actions, mark(), again)[0] == {1: "superseded", 2: "applied"}
    assert statuses(actions, again, mark())[0] == {1: "superseded", 2: "applied"}
    other = mark(3, by="bob", action="CONFIRM")
    found, settled = statuses(actions, mark(), again, other)
    assert found == {1: "superseded", 2: "contradicted", 3: "contradicted"}
    assert "ann REFUSE (marks.jsonl line 2), bob CONFIRM (marks.jsonl line 3)" in settled.corrections["why"].iloc[2]
    assert settled.labels.empty
    assert statuses(actions, again, mark(3, by="bob", action="REFUSE"))[0] == {2: "applied", 3: "applied"}


def test_the_labels_stay_and_the_corrected_ones_stand_beside_them(actions):
    _, settled = statuses(actions, mark(), mark(2, turn=4, was="CONFIRM", labeller="paper_like", action="REFUSE"))
    found = overlay(actions, settled.labels, "refined")
    assert found[found["labeller"] != "corrected"].reset_index(drop=True).equals(actions)
    tables.check("actions", found)
    own = found[found["labeller"] == "corrected"].sort_values("turn")
    assert own["action"].fillna("").tolist() == ["ASK", "TOOL_CALL", "TOOL_CALL", "", "REFUSE"]
    # Whosever label was marked: it is the message that the reader speaks of.
    assert own["flags"].iloc[-1] == '["REFUSE","ASK","CONFIRM"]'
    assert own["cue"].iloc[0] == "correction by ann"


def test_a_file_without_lines_changes_nothing(actions):
    found = overlay(actions, statuses(actions)[1].labels, "refined")
    assert len(found) == len(actions) * 3 / 2


@pytest.mark.parametrize(
    ("flags", "sub", "action", "flags_then", "sub_then"),
    [
        (["OTHER"], [], "ASK", ["ASK"], []),
        (["ASK"], ["information"], "OTHER", ["OTHER"], []),
        (["REFUSE", "ASK"], ["consent", "transfer"], "ASK", ["ASK"], ["consent"]),
        (["ASK"], ["consent"], "REFUSE", ["REFUSE", "ASK"], ["consent"]),
        (["TOOL_CALL", "CONFIRM"], [], "CONFIRM", ["CONFIRM"], []),
        (["CONFIRM"], [], "TOOL_CALL", ["TOOL_CALL", "CONFIRM"], []),
    ],
)
def test_what_stands_above_the_right_class_goes_and_what_is_below_it_stays(flags, sub, action, flags_then, sub_then):
    row = {"action": flags[0], "flags": json.dumps(flags), "sub": json.dumps(sub), "leaked": False, "cue": "x"}
    found = relabelled(row, action, "y")
    assert (json.loads(found["flags"]), json.loads(found["sub"]), found["action"]) == (flags_then, sub_then, action)
    assert found["leaked"] == (action == "TOOL_CALL")


def test_every_key_of_a_line_is_a_column():
    assert set(LINE) < set(tables.TABLES["corrections"].columns)
