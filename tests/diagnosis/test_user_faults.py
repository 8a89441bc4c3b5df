"""Rates with and without the runs in which the simulated user has a fault: small panels with their values by hand."""

from __future__ import annotations

import pandas as pd
import pytest

from tests.diagnosis.panel import ASK, CALL, REFUSE, UNKNOWN, Panel, row
from toolcal import tables
from toolcal.diagnosis.statistics import wilson

TAU2 = ("model", "tau2-airline", "baseline")


def panel(*runs, trials=1, **options):
    """A panel of (faults or None, gold action shown, passed), a case each."""
    made = Panel(**options)
    ids = [f"c{at}" for at in range(len(runs) // trials)]
    for case_id in ids:
        made.case(case_id, scenario=TAU2[1])
    made.planned(*ids, cell=TAU2, trials=trials)
    for at, (faults, shown, passed) in enumerate(runs):
        emission = {True: REFUSE, False: CALL, None: UNKNOWN}[shown]
        status = "infra_error" if passed is None else "done"
        case_id, trial = ids[at // trials], at % trials
        made.run(case_id, [[emission], [CALL]], passed, status=status, faults=faults, cell=TAU2, trial=trial)
    return made


EIGHT = (
    ([], True, True),
    ([], True, True),
    ([], True, False),
    ([], False, False),
    (["unknown_fact", "unknown_fact"], True, True),
    (["stops_at_confirmation", "unknown_fact"], False, False),
    (["out_of_scope"], True, False),
    (["says_nothing"], True, None),
)


def test_the_rates_by_hand():
    found = panel(*EIGHT).diagnose()
    line, cell = row(found["user_faults"]), row(found["cells"])
    names = ("n", "n_missing", "n_unread", "n_with_fault")
    assert [line[name] for name in names] == [7, 1, 0, 3]
    counts = {name: line[f"n_{name}"] for name in tables.USER_FAULTS}
    assert {name: number for name, number in counts.items() if number} == {
        "unknown_fact": 2,
        "stops_at_confirmation": 1,
        "out_of_scope": 1,
    }, "runs, not faults; of runs with a verdict"
    assert (line["acc"], line["acc_without"]) == pytest.approx((3 / 7, 2 / 4))
    assert (line["gar_case_any"], line["gar_case_any_without"]) == pytest.approx((5 / 7, 3 / 4))
    assert line["acc_difference"] == pytest.approx(2 / 4 - 3 / 7)
    assert line["gar_case_any_difference"] == pytest.approx(3 / 4 - 5 / 7)
    assert (line["family"], line["gold_action"]) == ("family", "REFUSE")
    assert (cell["n"], cell["acc"]) == (7, line["acc"]), "nothing is dropped from cells"


def test_intervals_are_those_of_cells():
    found = panel(*EIGHT).diagnose()
    line, cell = row(found["user_faults"]), row(found["cells"])
    ends = [f"{name}{end}" for name in ("acc", "gar_case_any") for end in ("", "_low", "_high")]
    assert list(line[ends]) == list(cell[ends])
    assert [line["acc_without_low"], line["acc_without_high"]] == pytest.approx([float(end) for end in wilson(2, 4)])
    for name in ("acc_difference", "gar_case_any_difference"):
        assert -1 <= line[f"{name}_low"] < line[name] < line[f"{name}_high"] <= 1


def test_trials_of_a_case_are_resampled_together():
    runs = [(["unknown_fact"] if at % 5 == 0 else [], at % 3 > 0, at % 4 > 1) for at in range(24)]
    found = panel(*runs, trials=3).diagnose()
    line, cell = row(found["user_faults"]), row(found["cells"])
    assert (line["n"], line["n_with_fault"]) == (24, 5)
    assert (line["acc_low"], line["acc_high"]) == (cell["acc_low"], cell["acc_high"])
    assert line["acc_high"] - line["acc_low"] != pytest.approx(wilson(12, 24)[1] - wilson(12, 24)[0])
    assert line["acc_without"] == pytest.approx(sum(run[2] for run in runs if not run[0]) / 19)
    assert line["acc_difference_low"] < line["acc_difference"] < line["acc_difference_high"]


def test_where_every_run_has_a_fault_there_is_nothing_without():
    line = row(panel((["ends_at_once"], True, True), (["breaks_role"], False, False)).diagnose()["user_faults"])
    assert (line["n"], line["n_with_fault"], line["acc"]) == (2, 2, 0.5)
    assert line[[f"{name}{end}" for name in ("acc_without", "acc_difference") for end in ("", "_low")]].isna().all()


def test_without_any_fault_both_rates_are_one():
    line = row(panel(([], True, True), ([], False, False), ([], True, False)).diagnose()["user_faults"])
    assert line["acc"] == line["acc_without"]
    assert line["acc_difference"] == 0
    assert line["acc_difference_low"] < 0 < line["acc_difference_high"], "three runs do not show that there is none"


def test_where_gar_is_unknown_of_a_run_that_counts_it_is_null():
    unsure = row(panel((["unknown_fact"], None, True), ([], True, True), ([], False, True)).diagnose()["user_faults"])
    assert pd.isna(unsure["gar_case_any"])
    assert unsure["gar_case_any_without"] == 0.5
    assert pd.isna(unsure["gar_case_any_difference"])
    assert unsure["acc"] == 1


def test_runs_of_no_known_scenario_are_counted_and_kept():
    line = row(panel((None, True, True), ([], True, False), (["unknown_fact"], True, False)).diagnose()["user_faults"])
    assert (line["n"], line["n_unread"], line["n_with_fault"]) == (3, 1, 1)
    assert (line["acc"], line["acc_without"]) == pytest.approx((1 / 3, 1 / 2))


def test_where_the_users_words_are_fixed_there_is_no_row():
    made = panel(([], True, True))
    made.case("fixed")
    made.planned("fixed")
    made.run("fixed", [[REFUSE], [CALL]], True)
    found = made.diagnose()
    assert list(found["user_faults"]["scenario"]) == ["tau2-airline"]
    assert list(found["cells"]["scenario"]) == ["bfcl-miss_func", "tau2-airline"]


def test_labellers_and_gold_actions_have_rows_of_their_own():
    made = Panel(labellers=("paper_like", "refined"))
    made.case("c", scenario=TAU2[1], gold=("TOOL_CALL", "ASK"))
    made.planned("c", cell=TAU2)
    asks = {"paper_like": [[CALL], [CALL]], "refined": [[CALL], [ASK]]}
    made.run("c", [[CALL], [CALL]], True, cell=TAU2, faults=["unknown_fact"], others=asks)
    found = made.diagnose()["user_faults"]
    got = {(line.gold_action, line.labeller): line.gar_case_any for line in found.itertuples()}
    assert got == {
        ("TOOL_CALL", "paper_like"): 1,
        ("TOOL_CALL", "refined"): 1,
        ("ASK", "paper_like"): 0,
        ("ASK", "refined"): 1,
    }
    assert set(found["n_unknown_fact"]) == {1}


def test_the_order_of_rows_moves_nothing():
    made = panel(*EIGHT)
    given = {name: frame.sample(frac=1, random_state=3) for name, frame in made.tables().items()}
    pd.testing.assert_frame_equal(made.diagnose()["user_faults"], made.diagnose(**given)["user_faults"])
