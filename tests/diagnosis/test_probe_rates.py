import pandas as pd
import pytest
from statsmodels.stats.proportion import proportion_confint

from tests.diagnosis.panel import ASK, CALL, REFUSE, E, Panel, typed
from toolcal import tables
from toolcal.cells import BASELINE
from toolcal.diagnosis.probe_rates import probe_rates

CELL = ("model", "bfcl-miss_func", "cri-retry")
PROBES = {"cri-retry": "cri"}
RETRACTED, ABSTENTION = E("TOOL_CALL", retracted=True), E("REFUSE", origin="probe")


def event(case_id, turn, reason, *, step=0, attempt=0, cell=CELL, trial=0, seam="call"):
    key = dict(zip(tables.CELL, cell, strict=True)) | {"case_id": case_id, "trial": trial}
    triggered = reason in ("mc", "ur", "no_call")
    return (
        key
        | {"turn": turn, "step": step, "attempt": attempt, "probe": "cri", "seam": seam, "triggered": triggered}
        | {"reason": reason, "detector": "{}", "appended": "Do not call." if triggered else None}
    )


def trajectories(panel):
    """With the answers of attempt 0 replayed."""
    found = panel.tables()["trajectories"]
    return found.assign(replayed=(found["step"] == 0).astype("boolean"))


def rates(panel, events, probes=PROBES):
    found = probe_rates(
        trajectories(panel), typed("probe_events", events), panel.graded(), probes, panel.families, seed=0
    )
    tables.check("probe_rates", found)
    return found


def small():
    """Four cases of two turns, the second decisive: a trigger there, one too early, none, and one without a verdict."""
    panel = Panel()
    for case_id in "abcd":
        panel.case(case_id, decisive=1)
    for cell in (CELL, ("model", CELL[1], BASELINE)):
        panel.planned(*"abcd", cell=cell)
    panel.run("a", [[CALL], [RETRACTED, REFUSE]], True, cell=CELL)
    panel.run("b", [[RETRACTED, ASK], [CALL]], False, cell=CELL)
    panel.run("c", [[CALL]], False, cell=CELL, status="context_exceeded")
    panel.run("d", [[CALL], [RETRACTED]], None, cell=CELL, status="infra_error")
    events = [event("a", 0, "not_suspected"), event("a", 1, "ur"), event("b", 0, "mc")]
    events += [event("b", 1, "once_a_case"), event("c", 0, "not_suspected"), event("d", 1, "mc")]
    return panel, events


def test_by_hand():
    panel, events = small()
    given = {"trajectories": trajectories(panel), "probe_events": typed("probe_events", events), "probes": PROBES}
    found = panel.diagnose(**given)["probe_rates"]
    pd.testing.assert_frame_equal(found, rates(panel, events))
    assert len(found) == 1
    found = found.iloc[0]
    assert found[["model", "scenario", "perturbation", "family", "probe"]].tolist() == [*CELL, "family", "cri"]
    assert found[["n", "n_missing", "n_turns", "n_decisive"]].tolist() == [3, 1, 5, 3]
    assert found[["n_events", "n_triggers", "n_suspected"]].tolist() == [5, 2, 3]
    expected = {"triggered_turns": 2 / 5, "triggered_cases": 2 / 3, "precision": 1 / 2, "recall": 1 / 3}
    expected |= {"detector_precision": 2 / 3, "detector_recall": 2 / 3}
    assert {name: found[name] for name in expected} == pytest.approx(expected)
    # c never reached the decisive turn: it counts as not recalled.
    assert found[["recall_low", "recall_high"]].tolist() == pytest.approx(proportion_confint(1, 3, method="wilson"))
    # All answers of the model, the run without a verdict included; those of a first step were replayed.
    assert found[["calls", "fresh"]].tolist() == [9, 2]
    assert found["replayed_share"] == pytest.approx(7 / 9)


def test_what_a_probe_wrote_is_no_call():
    panel, events = small()
    panel.run("a", [[CALL], [ABSTENTION]], True, cell=("model", CELL[1], "bypass"))
    panel.planned("a", cell=("model", CELL[1], "bypass"))
    found = rates(panel, events, probes={"bypass": "cri"})
    assert found[["perturbation", "calls", "n_events"]].to_numpy().tolist() == [["bypass", 1, 0]]
    assert found.loc[0, ["triggered_turns", "triggered_cases", "recall"]].tolist() == [0, 0, 0]
    assert pd.isna(found.loc[0, "precision"])


def test_without_a_decisive_turn_there_is_no_recall():
    panel = Panel()
    panel.case("a", scenario="bfcl-base", gold=("TOOL_CALL",))
    cell = ("model", "bfcl-base", "cri-retry")
    panel.planned("a", cell=cell)
    panel.run("a", [[CALL], [CALL]], True, cell=cell)
    found = rates(panel, [event("a", 0, "ur", cell=cell)]).iloc[0]
    assert found[["n_decisive", "n_triggers", "triggered_turns"]].tolist() == [0, 1, 0.5]
    assert found[["precision", "recall", "detector_precision", "detector_recall"]].isna().all()


def test_a_cell_that_did_not_run_keeps_its_row():
    panel, _ = small()
    for name in ("trajectories", "actions", "grades"):
        panel.rows[name] = []
    found = rates(panel, []).iloc[0]
    assert found[["n", "n_missing", "n_turns", "calls", "fresh"]].tolist() == [0, 4, 0, 0, 0]
    assert found[["triggered_turns", "triggered_cases", "precision", "recall", "replayed_share"]].isna().all()


def test_several_triggers_of_a_case_are_clustered():
    panel, events = small()
    events.append(event("a", 1, "ur", step=1))
    found = rates(panel, events).iloc[0]
    assert found[["n_triggers", "triggered_turns"]].tolist() == [3, 2 / 5]
    assert found["precision"] == pytest.approx(2 / 3)
    assert found["precision_low"] == 0.0  # of two cases one has no trigger at its decisive turn
