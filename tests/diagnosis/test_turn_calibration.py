"""Table `turn_calibration`: which turn and which case each confidence is held against, and what is counted."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tests.diagnosis.panel import ASK, CALL, NOW, REFUSE, Panel, random_panel, row, typed
from toolcal import tables
from toolcal.confidence.metrics import score

REST = {
    "confidence_raw": None,
    "confidence_reason": None,
    "reasked": False,
    "status": "ok",
    "prompt_tokens": None,
    "completion_tokens": None,
    "latency": None,
    "cost": None,
    "cached": False,
}


def confidences(stated, cell=NOW, trial=0, **others):
    """Rows of table `turn_confidence`: case id -> confidences by turn (None: unreadable); `others` by (case, turn)."""
    key = dict(zip(tables.CELL, cell, strict=True))
    return [
        key
        | {"case_id": case_id, "trial": trial, "turn": turn, "confidence": confidence}
        | REST
        | others.get(f"{case_id}_{turn}", {})
        for case_id, values in stated.items()
        for turn, confidence in enumerate(values)
    ]


def small():
    """Four cases of miss_func, one of each outcome; the gold of turn 1 is REFUSE, that of turn 0 TOOL_CALL."""
    panel = Panel()
    turns = {
        "calibrated": ([[CALL], [REFUSE]], True),
        "masked": ([[CALL], [CALL]], True),
        "slack": ([[ASK], [REFUSE]], False),
        "failed": ([[CALL]], False),  # never reached turn 1
    }
    for case_id, (emissions, passed) in turns.items():
        panel.case(case_id, decisive=1)
        panel.run(case_id, emissions, passed, reason=None if passed else "state")
    panel.planned(*turns)
    return panel


STATED = {"calibrated": [0.9, 0.8], "masked": [0.7, 0.6], "slack": [0.2, None], "failed": [0.5]}


def found(panel, rows, **options):
    return panel.diagnose(turn_confidence=typed("turn_confidence", rows), **options)["turn_calibration"]


def of(table, question, action="all", outcome="all"):
    return row(table, question=question, action=action, outcome=outcome)


def test_turns_are_held_against_their_gold_class():
    table = found(small(), confidences(STATED))
    every = of(table, "turn_gold")
    # Turns 0: right, right, wrong, right; turns 1: right, wrong (a call), right (unreadable), wrong (never reached).
    assert every[["n", "n_missing", "n_asked", "n_confident", "n_wrong", "n_clusters"]].tolist() == [8, 0, 7, 6, 2, 4]
    assert every["coverage"] == pytest.approx(6 / 8)
    assert every["rate"] == pytest.approx(5 / 8)
    assert every["mean_confidence"] == pytest.approx((0.9 + 0.8 + 0.7 + 0.6 + 0.2 + 0.5) / 6)
    assert every["mcip"] == pytest.approx((0.6 + 0.2) / 2)
    assert every["auroc"] == pytest.approx(7 / 8)  # of right 0.9, 0.8, 0.7, 0.5 and wrong 0.6, 0.2
    assert every[["confidence_min", "confidence_median", "confidence_max"]].tolist() == pytest.approx([0.2, 0.65, 0.9])
    calls = of(table, "turn_gold", "TOOL_CALL")
    assert calls[["n", "n_wrong", "mcip"]].tolist() == [4, 1, 0.6]
    nowhere = of(table, "turn_gold", "NONE", "failed")
    assert nowhere[["n", "n_asked", "n_confident", "coverage"]].tolist() == [1, 0, 0, 0.0]
    assert nowhere[["auroc_reason", "mcip_reason"]].tolist() == ["no_confidence"] * 2


def test_cases_are_held_against_their_verdict_by_the_last_turns_confidence():
    table = found(small(), confidences(STATED))
    every = of(table, "case_passed")
    assert every[["n", "n_asked", "n_confident", "n_wrong", "rate"]].tolist() == [4, 4, 3, 1, 0.5]
    assert every["mean_confidence"] == pytest.approx((0.8 + 0.6 + 0.5) / 3)
    assert every["mcip"] == 0.5
    for outcome, stated in {"calibrated": 0.8, "masked": 0.6, "slack": None, "failed": 0.5}.items():
        part = of(table, "case_passed", outcome=outcome)
        assert part["n"] == 1
        assert part["mean_confidence"] == stated if stated else pd.isna(part["mean_confidence"])
    assert of(table, "case_passed", "REFUSE")["n"] == 2
    assert of(table, "case_passed", "TOOL_CALL", "failed")["mcip"] == 0.5
    assert of(table, "case_passed", outcome="masked")["auroc_reason"] == "no_errors"


def test_what_the_endpoint_did_not_answer_is_in_no_rate():
    broken = {"masked_1": {"confidence": None, "status": "infra_error"}}
    every = of(found(small(), confidences(STATED, **broken)), "case_passed")
    assert every[["n", "n_missing", "n_asked", "n_confident"]].tolist() == [3, 1, 3, 2]
    assert every["rate"] == pytest.approx(1 / 3)


def test_a_case_in_which_no_turn_was_ended_counts_and_has_no_confidence():
    stated = {name: values for name, values in STATED.items() if name != "failed"}
    every = of(found(small(), confidences(stated)), "case_passed")
    assert every[["n", "n_asked", "n_confident"]].tolist() == [4, 3, 2]


def test_cells_in_which_nobody_was_asked_have_no_rows():
    panel = small()
    assert found(panel, []).empty
    assert list(found(panel, []).columns) == list(tables.TABLES["turn_calibration"].columns)
    assert "turn_calibration" not in panel.diagnose()


def random_rows(panel, seed):
    """A confidence, readable or not, after each turn of a random panel that has emissions."""
    chance = np.random.default_rng(seed)
    turns = panel.tables()["trajectories"][[*tables.CASE, "turn"]].drop_duplicates().to_dict("records")
    return [
        made | REST | {"confidence": None if chance.random() < 0.2 else round(chance.random(), 2)} for made in turns
    ]


def test_the_rates_are_those_of_cells_and_each_row_is_the_score_of_its_part():
    panel = random_panel(3, cases=20)
    rows = random_rows(panel, 3)
    results = panel.diagnose(turn_confidence=typed("turn_confidence", rows))
    table, cells = results["turn_calibration"], results["cells"]
    keys = [*tables.CELL, "gold_action", "labeller"]
    whole = table[(table["action"] == "all") & (table["outcome"] == "all")]
    for question, rate, n in (("turn_gold", "gar_turn", "n_turns"), ("case_passed", "acc", "n")):
        both = whole[whole["question"] == question].merge(cells, on=keys, suffixes=("", "_cell"))
        assert len(both) >= 4
        both = both[both[rate].notna()]
        assert both["rate"].to_numpy() == pytest.approx(both[rate].to_numpy(dtype=float))
        assert (both["n"] == both[n if n in both else f"{n}_cell"]).all()
    parts = table[(table["action"] == "all") & (table["outcome"] != "all") & (table["question"] == "case_passed")]
    shares = parts.groupby([*keys, "outcome"])["n"].sum().unstack(fill_value=0)
    known = cells.set_index(keys).loc[shares.index]
    for name in shares:
        expected = known[f"share_{name}"].to_numpy(dtype=float) * known["n"].to_numpy(dtype=float)
        there = ~np.isnan(expected)
        assert shares[name].to_numpy()[there] == pytest.approx(expected[there])


def test_intervals_resample_scenario_numbers():
    panel = Panel()
    stated = {}
    chance = np.random.default_rng(1)
    truth, given, cluster = [], [], []
    for number in range(12):
        for copy in range(2):
            case_id, passed = f"c{number}_{copy}", bool(chance.random() < 0.5)
            panel.case(case_id, decisive=1, cluster=f"{number}")
            panel.run(case_id, [[CALL], [REFUSE]], passed, reason=None if passed else "state")
            stated[case_id] = [0.5, float(chance.random())]
            truth.append(passed)
            given.append(stated[case_id][1])
            cluster.append(f"{number}")
    panel.planned(*stated)
    every = of(found(panel, confidences(stated), seed=7), "case_passed")
    direct = score(given, np.array(truth, float), seed=7, cluster=cluster)
    for name, (metric, _) in tables.TURN_METRICS.items():
        for end in ("", "_low", "_high"):
            assert every[f"{name}{end}"] == pytest.approx(direct[f"{metric}{end}"]), name
    assert every["n_clusters"] == 12
