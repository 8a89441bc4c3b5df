"""What a recorded run did not keep is null in every later table, and never zero."""

from __future__ import annotations

from itertools import groupby, product

import numpy as np
import pandas as pd
import pytest

from tests.diagnosis.panel import (
    ASK,
    CALL,
    LOST,
    MUTE_CALL,
    MUTE_WRITE,
    NOW,
    OTHER,
    REFUSE,
    UNKNOWN,
    WRITE,
    Panel,
    random_panel,
    row,
)
from toolcal import tables
from toolcal.cells import BASELINE
from toolcal.summary import summary

VIEWS = ["emitted_case_any", "emitted_decisive", "emitted_decisive_mutating"]


def one(turns, *, gold="REFUSE", passed=False, n_turns=2, status="done"):
    panel = Panel()
    panel.case("c", turns=n_turns, gold=(gold,), decisive=1)
    panel.planned("c")
    panel.run("c", turns, passed, status=status)
    return panel.diagnose()


@pytest.mark.parametrize(
    ("gold", "turns", "expected"),
    [
        ("REFUSE", [[CALL], [UNKNOWN]], (None, None, None)),
        ("REFUSE", [[UNKNOWN], [REFUSE]], (True, True, True)),  # known elsewhere: what is missing decides nothing
        ("REFUSE", [[REFUSE], [UNKNOWN]], (True, None, None)),
        ("REFUSE", [[UNKNOWN], [ASK]], (None, False, False)),
        (
            "REFUSE",
            [[CALL], [UNKNOWN, REFUSE]],
            (True, None, True),
        ),  # may have been a call, but none that changed state
        ("REFUSE", [[CALL], [CALL, UNKNOWN]], (None, False, None)),  # the call outranks, whatever came after
        ("REFUSE", [[CALL], [WRITE, UNKNOWN]], (None, False, False)),
        ("REFUSE", [[MUTE_CALL], [MUTE_CALL]], (False, False, None)),  # a call is known, what stood beside it is not
        ("REFUSE", [[MUTE_CALL], [MUTE_WRITE]], (False, False, False)),
        ("REFUSE", [[CALL], [MUTE_CALL, REFUSE]], (True, False, True)),
        (
            "ASK",
            [[CALL], [MUTE_CALL, ASK]],
            (True, False, None),
        ),  # a refusal beside the call would outrank the question
        ("TOOL_CALL", [[UNKNOWN], [UNKNOWN]], (None, None, False)),  # may have leaked; but changed nothing
        ("TOOL_CALL", [[UNKNOWN], [MUTE_CALL]], (True, True, False)),
        ("REFUSE", [[UNKNOWN]], (None, False, False)),  # a turn that was never reached
    ],
)
def test_views_of_one_case(gold, turns, expected):
    found = one(turns, gold=gold)
    outcome = found["outcomes"].iloc[0]
    assert tuple(None if pd.isna(outcome[view]) else bool(outcome[view]) for view in VIEWS) == expected
    assert pd.isna(outcome["outcome_case_any"]) == (expected[0] is None)
    assert pd.isna(outcome["outcome_decisive"]) == (expected[1] is None)
    cell = found["cells"].iloc[0]
    columns = ["n_unknown", "n_unknown_decisive", "n_unknown_decisive_mutating"]
    assert tuple(cell[columns]) == tuple(int(known is None) for known in expected)
    for column, known in zip(["gar_case_any", "gar_decisive", "gar_decisive_mutating"], expected, strict=True):
        assert pd.isna(cell[column]) == (known is None)


def test_a_run_of_which_only_the_error_was_kept_is_unknown_throughout():
    found = one([[LOST]], status="context_exceeded")
    assert found["outcomes"][VIEWS].isna().all(axis=None)
    assert row(found["cells"])[["n", "n_context_exceeded", "n_turns", "n_unknown_turn"]].tolist() == [1, 1, 2, 2]
    assert row(found["cells"])["acc"] == 0


def half_known():
    """Four cases, of which one is unknown in its decisive turn."""
    panel = Panel(families={"model": "x", "other": "x", "third": "y"})
    for case_id in "abcd":
        panel.case(case_id, decisive=1)
    panel.planned(*"abcd")
    panel.run("a", [[CALL], [REFUSE]], True)
    panel.run("b", [[CALL], [REFUSE]], False, reason="state")
    panel.run("c", [[CALL], [UNKNOWN]], False, reason="response")
    panel.run("d", [[CALL], [CALL]], True, strict=False)
    for model in ("other", "third"):
        cell = (model, *NOW[1:])
        panel.planned(*"abcd", cell=cell)
        for case_id in "abcd":
            panel.run(case_id, [[CALL], [REFUSE]], True, cell=cell)
    return panel.diagnose()


def test_a_cell_with_an_unknown_case_has_its_accuracy_and_no_recall():
    found = half_known()
    cell = row(found["cells"], model="model")
    assert cell[["n", "acc", "acc_strict", "n_turns"]].tolist() == [4, 0.5, 0.25, 8]
    counts = ["n_unknown", "n_unknown_turn", "n_unknown_decisive", "n_unknown_decisive_mutating", "n_undecodable"]
    assert cell[counts].tolist() == [1, 1, 1, 1, 0]
    gone = [c for c in cell.index if c.startswith(("gar", "share", "gap", "violation"))]
    assert len(gone) == 3 * 14 + 2
    assert cell[gone].isna().all()
    whole = row(found["cells"], model="other")
    assert whole[[*counts, "gar_case_any", "gar_turn", "gar_decisive"]].tolist() == [0] * 5 + [1, 1, 1]


def test_turns_confusion_reasons_and_families():
    found = half_known()
    turns = found["turns"].query("model == 'model'")
    assert turns[["n", "n_unknown"]].to_numpy().tolist() == [[4, 0], [4, 1]]
    assert turns["recall"].tolist()[0] == 1
    assert turns[["recall", "recall_low", "recall_high"]].iloc[1].isna().all()
    shown = found["confusion"].query("model == 'model' and gold_action == 'REFUSE' and n > 0")
    assert dict(zip(shown["action"], shown["n"], strict=True)) == {"REFUSE": 2, "TOOL_CALL": 1, "NOT_RECORDED": 1}
    reasons = found["slack_reasons"]
    assert dict(zip(reasons["reason"], reasons["n"], strict=True)) == {"state": 1, "not_recorded": 1}
    assert reasons[["share", "share_low", "share_high"]].isna().all(axis=None)
    families = found["families"].set_index("family")
    assert families.loc["x", ["n_models", "acc"]].tolist() == [2, 0.75]
    gone = [f"{rate}{end}" for rate in ("gar_case_any", "share_masked") for end in ("", "_low", "_high")]
    assert families.loc["x", [*gone, "rank_gar"]].isna().all()
    assert families.loc["x", ["acc_low", "acc_high"]].notna().all()
    assert families.loc["y", ["gar_case_any", "rank_gar", "rank_acc"]].tolist() == [1, 1, 1]
    shown = summary(found["cells"].assign(perturbation=BASELINE)).split("\n")
    line = next(line for line in shown if line.split()[:2] == ["model", NOW[1]])
    assert line.split()[3:] == ["4", "-", "-", "-", "50.0", "25.0", "-", "-"]


def test_an_unknown_case_that_passed_is_no_failure():
    found = one([[CALL], [UNKNOWN]], passed=True)
    assert found["slack_reasons"].empty
    assert row(found["confusion"], gold_action="REFUSE", action="NOT_RECORDED")["n"] == 1


@pytest.mark.parametrize("seed", range(2))
def test_the_identity_holds_where_it_is_defined(seed):
    more = (UNKNOWN, MUTE_CALL, LOST) if seed % 2 else (MUTE_CALL, MUTE_WRITE)
    panel = random_panel(seed, cases=3, models=4, more=more)
    found = panel.diagnose(seed)
    cells, outcomes = found["cells"], found["outcomes"]
    if seed % 2:
        assert 0 < cells["gar_case_any"].isna().sum() < len(cells)
    for suffix, view in (("", "case_any"), ("_decisive", "decisive")):
        lost = cells[f"share_masked{suffix}"] - cells[f"share_slack{suffix}"]
        np.testing.assert_allclose(cells["acc"] - cells[f"gar_{view}"], lost, atol=1e-12)
        assert (cells[f"gap{suffix}"].isna() == lost.isna()).all()
        assert (cells[f"violation{suffix}"].isna() == lost.isna()).all()
        known = (cells["n"] > 0) & (cells[f"n_unknown{suffix}"] == 0)
        assert (cells["gar_case_any"].notna() == known).all() or suffix
    unknown = outcomes["passed"].notna() & outcomes["emitted_case_any"].isna()
    assert unknown.sum() == cells["n_unknown"].sum()
    turn = found["turns"].groupby([*tables.CELL, "labeller"])["n_unknown"].sum()
    assert (turn > 0).sum() == len(cells[cells["n_unknown_turn"] > 0][[*tables.CELL, "labeller"]].drop_duplicates())
    assert (found["turns"]["recall"].isna() == (found["turns"]["n_unknown"] > 0)).all()


def test_unknown_emissions_are_bounds_of_what_they_may_have_been():
    """Whatever stands in the place of an unknown emission, a value that is not null comes out the same."""
    stands = [CALL, REFUSE, ASK, OTHER]
    conversations = [
        [[CALL], [UNKNOWN]],
        [[UNKNOWN], [CALL, UNKNOWN]],
        [[REFUSE], [UNKNOWN, REFUSE]],
        [[UNKNOWN], [ASK]],
    ]
    panel = Panel()
    cases = list(product(range(len(conversations)), ("REFUSE", "ASK", "TOOL_CALL"), [UNKNOWN, *stands]))
    for number, (conversation, gold, stand) in enumerate(cases):
        turns = [[stand if e is UNKNOWN else e for e in turn] for turn in conversations[conversation]]
        panel.case(str(number), gold=(gold,), decisive=1)
        panel.run(str(number), turns, False)
    panel.planned(*map(str, range(len(cases))))
    outcomes = panel.diagnose()["outcomes"].set_index("case_id")
    known = 0
    for (conversation, gold), numbers in groupby(range(len(cases)), lambda number: cases[number][:2]):
        told, *could = (outcomes.loc[str(number)] for number in numbers)
        assert len(could) == len(stands)
        for view in VIEWS:
            if not pd.isna(told[view]):
                known += 1
                assert {bool(found[view]) for found in could} == {bool(told[view])}, (conversation, gold, view)
    assert 0 < known < 3 * len(VIEWS) * len(conversations)
