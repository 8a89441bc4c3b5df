"""Rates of confirmed writes: small frames with their values by hand."""

from __future__ import annotations

import pytest

from tests.diagnosis.panel import row, typed
from toolcal import tables
from toolcal.cells import BASELINE
from toolcal.diagnosis.write_rates import write_rates

FAMILIES = {"m": "f", "n": "g"}


def write(case, turn=0, *, confirmed=True, passed=True, executed=True, asked=True, **more):
    """A row of table `writes`."""
    return {
        **{"model": "m", "scenario": "tau2-airline", "perturbation": BASELINE, "case_id": case, "trial": 0},
        **{"turn": turn, "step": 0, "attempt": 0, "call": 0, "cluster_id": case, "place": 3 + turn, "tool": "cancel"},
        **{"arguments": "{}", "to_be_confirmed": asked, "executed": executed, "proposed": True, "agreed": confirmed},
        **{"confirmed": confirmed, "deciding_place": None, "deciding_text": None, "why": "so it is", "passed": passed},
        **more,
    }


def rates(*rows, **options):
    found = write_rates(typed("writes", rows), FAMILIES, seed=0, **options)
    tables.check("write_rates", found)
    return found


def test_the_rates_by_hand():
    found = rates(
        write("a", 0),
        write("a", 1, confirmed=False, executed=False),
        write("b", confirmed=True, passed=False),
        write("c", confirmed=False, passed=False),
        write("d", confirmed=False, passed=True, executed=False),
    )
    of_all, executed = row(found, writes="all"), row(found, writes="executed")
    names = ("n", "n_missing", "confirmed", "acc", "gap")
    shares = ("share_calibrated", "share_masked", "share_slack", "share_failed")
    assert [of_all[name] for name in names] == pytest.approx([5, 0, 2 / 5, 3 / 5, 1 / 5])
    assert [of_all[name] for name in shares] == pytest.approx([1 / 5, 2 / 5, 1 / 5, 1 / 5])
    assert [executed[name] for name in names] == pytest.approx([3, 0, 2 / 3, 1 / 3, -1 / 3])
    assert [executed[name] for name in shares] == pytest.approx([1 / 3, 0, 1 / 3, 1 / 3])
    assert of_all["gap"] == pytest.approx(of_all["share_masked"] - of_all["share_slack"]), "the identity of method A4"
    assert (of_all["family"], of_all["reader"]) == ("f", "rule")


def test_intervals_hold_their_rate_and_stay_within_bounds():
    rows = [write(str(at // 2), at % 2, confirmed=at % 3 > 0, passed=at % 4 > 1) for at in range(24)]
    found = row(rates(*rows), writes="all")
    for name, lowest in (("confirmed", 0), ("acc", 0), ("gap", -1), ("share_slack", 0), ("share_failed", 0)):
        assert lowest <= found[f"{name}_low"] <= found[name] <= found[f"{name}_high"] <= 1, name
        assert found[f"{name}_low"] < found[f"{name}_high"], name


def test_writes_of_one_conversation_are_resampled_together():
    rows = [write(str(at // 6), at % 6, passed=at < 12) for at in range(24)]
    together, apart = (
        row(rates(*(line | {"cluster_id": cluster(at)} for at, line in enumerate(rows))), writes="all")
        for cluster in (lambda at: str(at // 6), str)
    )
    assert together["acc"] == apart["acc"] == 0.5
    assert together["acc_high"] - together["acc_low"] > apart["acc_high"] - apart["acc_low"]


def test_runs_without_a_verdict_are_counted_and_in_no_rate():
    found = rates(write("a"), write("b", passed=None, confirmed=False), write("c", passed=None, executed=False))
    of_all, executed = row(found, writes="all"), row(found, writes="executed")
    assert (of_all["n"], of_all["n_missing"], of_all["confirmed"], of_all["acc"]) == (1, 2, 1, 1)
    assert (executed["n"], executed["n_missing"]) == (1, 1)


def test_a_cell_without_any_verdict_has_its_counts_alone():
    lost = row(rates(write("a", passed=None), write("b", model="n")), model="m", writes="all")
    assert (lost["n"], lost["n_missing"]) == (0, 1)
    assert lost[["confirmed", "confirmed_low", "acc", "gap", "gap_high", "share_slack"]].isna().all()


def test_no_cell_has_any_verdict():
    found = rates(write("a", passed=None), write("b", passed=None, executed=False))
    assert list(found["n_missing"]) == [2, 1]
    assert found["confirmed"].isna().all()


def test_calls_that_need_no_yes_are_not_looked_at():
    found = rates(write("a"), write("b", asked=False, confirmed=False, passed=False))
    assert (row(found, writes="all")["n"], row(found, writes="all")["confirmed"]) == (1, 1)
    assert len(rates(write("a", asked=False))) == 0


def test_where_no_call_was_executed_there_is_one_row():
    assert list(rates(write("a", executed=False))["writes"]) == ["all"]


@pytest.mark.parametrize("make", [typed, tables.frame])
def test_an_empty_table_has_no_rates(make):
    found = write_rates(make("writes", []), FAMILIES, seed=0)
    assert tables.check("write_rates", found).num_rows == 0


def test_cells_and_readers_are_kept_apart():
    found = rates(write("a"), write("a", model="n", confirmed=False), reader="judge-x")
    assert list(found["reader"].unique()) == ["judge-x"]
    assert [row(found, model=model, writes="all")["confirmed"] for model in "mn"] == [1, 0]
    assert [row(found, model=model, writes="all")["family"] for model in "mn"] == ["f", "g"]


def test_the_order_of_rows_moves_nothing():
    rows = [write(str(at // 3), at % 3, confirmed=at % 2 > 0, passed=at % 5 > 1) for at in range(15)]
    assert rates(*rows).equals(rates(*reversed(rows)))
