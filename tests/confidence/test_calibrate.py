"""The whole stage: what scripted answerers must come out as, tables that hold their contract, and the time it takes."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pytest

from tests.confidence import scripted
from toolcal import tables
from toolcal.confidence.calibrate import calibrate
from toolcal.confidence.shown import changes_summary, study_summary

NOISES = (0.0, 0.5)


def calibrated(n, said, *, noises=NOISES, models=None, broken=(), **options):
    asked = scripted.questions(n, noises)
    cells = scripted.cells(models or {"m": "prompted"}, noises)
    given = [
        scripted.failed(rows) if cell[2:] in broken else rows
        for cell in cells
        for rows in [scripted.answers(cell, asked, said)]
    ]
    base_models = {cell.model: None for cell in cells}
    options = {"base_models": base_models, "limits": {"world": None}, "trials": 1, "seed": 0} | options
    return calibrate(pd.concat(given, ignore_index=True), asked, cells, **options)


def whole(found, tool="none", noise=0.0):
    data = found["calibration"]
    rows = data[(data["difficulty"] == "all") & (data["questions"] == "all")]
    (row,) = rows[(rows["tool"] == tool) & (rows["noise"] == noise)].to_dict("records")
    return row


@pytest.mark.slow
def test_ten_thousand_answers_of_a_frank_answerer_come_out_as_theory_says_within_thirty_seconds():
    start = time.process_time()
    found = calibrated(2000, scripted.frank)
    assert time.process_time() - start <= 30
    assert found["calibration"]["n"][found["calibration"]["questions"] == "all"].sum() == 2 * 10_000
    # The chance to be right is uniform, so that right answers have the density 2c and wrong ones 2 (1 - c).
    expected = {"mcip": 1 / 3, "mccp": 2 / 3, "auroc": 5 / 6, "brier": 1 / 6, "accuracy": 1 / 2, "ece_debiased": 0}
    row = whole(found)
    for name, value in expected.items():
        error = (row[f"{name}_high"] - row[f"{name}_low"]) / (2 * 1.96)
        assert 0 < error < 0.02, name
        assert abs(row[name] - value) <= 3 * error, name
    noisy = whole(found, "search", 0.5)
    # Noise takes 35 % off every chance: c is uniform up to 0.65.
    top = 0.65
    mcip = (top / 2 - top**2 / 3) / (1 - top / 2)
    error = (noisy["mcip_high"] - noisy["mcip_low"]) / (2 * 1.96)
    assert abs(noisy["mcip"] - mcip) <= 3 * error
    tests = found["calibration_tests"]
    noise = tests[(tests["comparison"] == "noise") & (tests["metric"] == "accuracy")]
    assert (noise["p_holm"] < 0.001).all()
    tools = tests[(tests["comparison"] == "tools")]
    assert (tools["p_holm"] > 0.01).all()


def test_equal_answers_give_equal_tables_in_any_order():
    asked = scripted.questions(24)
    cells = scripted.cells({"m": "prompted"})[:2]
    given = pd.concat([scripted.answers(cell, asked, scripted.shy) for cell in cells], ignore_index=True)
    options = {"base_models": {}, "limits": {"world": None}, "trials": 1, "seed": 0}
    first = calibrate(given, asked, cells, **options)
    second = calibrate(given.sample(frac=1, random_state=3), asked.sample(frac=1, random_state=4), cells, **options)
    for name, data in first.items():
        pd.testing.assert_frame_equal(data, second[name])


@pytest.fixture(scope="module")
def with_gaps():
    """A cell without any answer, and every fourth confidence missing elsewhere."""
    return calibrated(24, scripted.shy, broken=[("prompted", "python", 0.5)])


def test_tables_hold_their_contract_with_gaps(with_gaps, tmp_path):
    assert list(with_gaps) == ["calibration", "calibration_tests", "reliability", "risk_coverage", "answer_causes"]
    for name, data in with_gaps.items():
        tables.write(name, data, tmp_path / f"{name}.parquet")
        back = tables.read(name, tmp_path / f"{name}.parquet")
        assert len(back) == len(data) > 0
    gone = whole(with_gaps, "python", 0.5)
    assert (gone["n"], gone["n_missing"]) == (0, 24)


def test_the_summary_has_a_line_per_cell_and_no_number_where_there_is_none(with_gaps):
    lines = study_summary(with_gaps["calibration"]).splitlines()
    assert len(lines) == 2 + 5
    assert " ".join(lines[1].split()) == (
        "model set configuration tool noise n accuracy confidence ECE MCIP AUROC coverage"
    )
    direct = lines[2].split()
    assert direct[:6] == ["m", "world", "direct", "none", "0", "24"]
    assert direct[7] == direct[9] == "90.0"
    assert direct[10:] == ["0.50", "75.0"]
    assert lines[-1].split() == ["m", "world", "prompted", "python", "0.5", "0", "(+24", "missing)", *["-"] * 6]
    assert all(len(line) <= 120 for line in lines)


def test_a_study_that_has_no_rows_says_nothing():
    assert study_summary(tables.frame("calibration", [])) == ""
    assert changes_summary(tables.frame("calibration_tests", [])) == ""


def test_the_summary_says_what_tools_did_to_the_confidence_of_wrong_answers(with_gaps):
    tests = with_gaps["calibration_tests"]
    lines = changes_summary(tests).splitlines()
    assert lines[2].split() == [
        *("model", "set", "configuration", "tool", "noise", "pairs", "change", "low", "high", "p")
    ]
    rows = tests[(tests["comparison"] == "tool") & (tests["metric"] == "mcip")]
    assert len(lines) == 3 + len(rows) == 3 + 4
    for line, row in zip(lines[3:], rows.itertuples(), strict=True):
        words = line.split()
        assert words[3:6] == [row.tool, f"{row.noise:g}", str(row.n)]
        assert words[6] == ("-" if pd.isna(row.delta) else f"{100 * row.delta:.1f}")
        assert words[9] == ("-" if pd.isna(row.p_holm) else f"{row.p_holm:.3f}")
    assert all(len(line) <= 120 for line in lines)


def test_always_sure_and_always_alike():
    row = whole(calibrated(400, scripted.sure, noises=(0.0,)))
    assert row["mcip"] == row["mean_confidence"] == 1
    assert row["auroc"] == 0.5
    assert row["ece10"] == pytest.approx(1 - row["accuracy"])
    assert row["strict_ranking"] == 0
    assert np.isclose(row["brier"], 1 - row["accuracy"])
