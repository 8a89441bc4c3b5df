"""The table `calibration`: its rows, errors in common, rescalings on questions they were not fitted on, and gaps."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tests.confidence import scripted
from toolcal.confidence.calibration import calibration, common_questions
from toolcal.confidence.metric_names import METRICS
from toolcal.confidence.metrics import score
from toolcal.confidence.plan import StudyCell
from toolcal.confidence.planned_answers import planned_answers
from toolcal.confidence.post_hoc import held_out

NOISES = (0.0, 0.5)
KEY = ["difficulty", "post_hoc", "questions"]


def study(n=80, said=scripted.frank, models=None, trials=1, broken=(), noises=NOISES):
    """Planned answers of models (-> prompted or trained) that all speak alike; some cells are broken."""
    asked = scripted.questions(n, noises)
    cells = scripted.cells(models or {"m": "prompted"}, noises)
    given = [scripted.answers(cell, asked, said, trials=trials, seed=len(cell.model)) for cell in cells]
    given = [scripted.failed(rows) if cell in broken else rows for cell, rows in zip(cells, given, strict=True)]
    return planned_answers(pd.concat(given, ignore_index=True), asked, cells, {"world": None}, trials)


def table(rows, base_models=None, **options):
    options = {"seed": 0, "resamples": 50} | options
    return pd.DataFrame(calibration(rows, base_models or {}, **options))


def one(data, cell, **key):
    key = {"difficulty": "all", "post_hoc": "none", "questions": "all", **cell._asdict()} | key
    (row,) = data[np.logical_and.reduce([data[name] == value for name, value in key.items()])].to_dict("records")
    return row


DIRECT = StudyCell("m", "world", "direct", "none", 0.0)
SEARCH = StudyCell("m", "world", "prompted", "search", 0.0)
NOISY = SEARCH._replace(noise=0.5)


def test_the_rows_of_a_cell():
    data = table(study())
    rows = data[(data["tool"] == "search") & (data["noise"] == 0.5)]
    levels = [(level, "none", "all") for level in ("all", *sorted(scripted.LEVELS))]
    halves = [("all", post_hoc, "evaluation") for post_hoc in ("none", "temperature", "histogram")]
    assert list(rows[KEY].itertuples(index=False, name=None)) == levels + halves
    assert rows["n"].tolist() == [80, 20, 20, 20, 20, 40, 40, 40]
    assert len(data) == 5 * 8


def test_numbers_are_those_of_score_on_whole_questions():
    rows = study(trials=3)
    planned = rows[NOISY]
    found = one(table(rows), NOISY)
    alone = score(planned["confidence"], planned["correct"], seed=0, cluster=planned["question_id"], resamples=50)
    assert (found["n"], found["n_questions"], alone["n_clusters"]) == (240, 80, 80)
    for name in set(METRICS) - {"mcip_common"}:
        assert [found[f"{name}{end}"] for end in ("", "_low", "_high")] == pytest.approx(
            [alone[f"{name}{end}"] for end in ("", "_low", "_high")]
        ), name


def test_common_errors_are_of_the_cells_of_one_noise_and_direct():
    rows = study()
    wrong = {cell: set(planned["question_id"][planned["correct"] == 0]) for cell, planned in rows.items()}
    python = SEARCH._replace(tool="python")
    common = common_questions(rows, {})
    quiet = wrong[DIRECT] & wrong[SEARCH] & wrong[python]
    noisy = wrong[DIRECT] & wrong[NOISY] & wrong[NOISY._replace(tool="python")]
    assert 0 < len(quiet) < len(wrong[DIRECT])
    assert quiet != noisy
    assert set(common[DIRECT]) == set(common[SEARCH]) == set(common[python]) == quiet
    assert set(common[NOISY]) == noisy
    planned = rows[NOISY]
    mcip = planned["confidence"][planned["question_id"].isin(noisy)].mean()
    assert one(table(rows), NOISY)["mcip_common"] == pytest.approx(mcip)
    assert one(table(rows), NOISY)["n_common"] == len(noisy)


def test_a_trained_model_shares_errors_with_its_base_model_and_others_do_not():
    models = {"base": "prompted", "later": "trained", "x": "prompted"}
    rows = study(models=models, noises=(0.0,))
    common = common_questions(rows, {"base": None, "later": "base", "x": None})
    trained = StudyCell("later", "world", "trained", "search", 0.0)
    base, other = (
        trained._replace(model="base", configuration="prompted"),
        trained._replace(model="x", configuration="prompted"),
    )
    assert set(common[trained]) == set(common[base])
    assert set(common[other]) != set(common[base])
    chain = common_questions(rows, {"later": "x", "x": "base"})
    assert len({tuple(sorted(questions)) for questions in chain.values()}) == 1
    assert table(rows, {"later": "base"}).groupby("model")["base_model"].first()["later"] == "base"


def test_a_cell_without_any_verdict_leaves_errors_to_the_others():
    broken = SEARCH
    rows = study(broken=[broken])
    data = table(rows)
    gone = one(data, broken)
    assert (gone["n"], gone["n_missing"]) == (0, 80)
    assert all(pd.isna(gone[name]) for name in METRICS)
    assert {gone[f"{name}_reason"] for name in METRICS} == {"no_answers"}
    assert one(data, DIRECT)["n_common"] > 0
    later = one(data, broken, post_hoc="temperature", questions="evaluation")
    assert later["ece10_reason"] == "not_fitted"
    assert (later["n"], later["n_missing"]) == (0, 40)


def test_missing_confidences_are_neither_low_nor_high():
    data = table(study(said=scripted.shy))
    row = one(data, DIRECT)
    assert row["coverage"] == 0.75
    assert row["n_confident"] == 60
    assert row["mean_confidence"] == pytest.approx(0.9)
    assert row["mcip"] == pytest.approx(0.9)
    assert row["n"] == 80


def test_without_any_confidence_accuracy_stays_and_the_rest_says_why():
    data = table(study(said=lambda chance, rng: np.full(len(chance), np.nan)))
    row = one(data, DIRECT)
    assert (row["coverage"], row["ece10_reason"], row["mcip_reason"]) == (0, "no_confidence", "no_confidence")
    assert row["accuracy"] > 0
    fitted = one(data, DIRECT, post_hoc="histogram", questions="evaluation")
    plain = one(data, DIRECT, questions="evaluation")
    assert fitted["ece10_reason"] == "not_fitted"
    assert pd.isna(fitted["ece10"])
    assert fitted["accuracy"] == plain["accuracy"]
    assert pd.isna(fitted["accuracy_reason"])
    assert fitted["coverage"] == 0


def test_one_class_leaves_the_order_of_answers_undefined():
    rows = {cell: planned.assign(correct=1.0) for cell, planned in study(n=20).items()}
    row = one(table(rows), DIRECT)
    assert (row["auroc_reason"], row["mcip_reason"], row["mcip_common_reason"]) == ("no_errors",) * 3
    assert row["accuracy"] == 1
    wrong = {cell: planned.assign(correct=0.0) for cell, planned in study(n=20).items()}
    row = one(table(wrong), DIRECT)
    assert (row["auroc_reason"], row["mccp_reason"]) == ("no_right_answers",) * 2
    assert row["mcip_common"] == row["mcip"]


def test_rescalings_help_on_questions_that_they_were_not_fitted_on():
    rows = study(n=2000, said=scripted.boastful, noises=(0.0,))
    data = table(rows, resamples=0)
    plain = one(data, DIRECT, questions="evaluation")
    for name in ("temperature", "histogram"):
        scaled = one(data, DIRECT, post_hoc=name, questions="evaluation")
        assert scaled["ece10"] < 0.7 * plain["ece10"], name
        assert scaled["accuracy"] == plain["accuracy"]
        assert scaled["n"] == plain["n"] == 1000
    assert one(data, DIRECT, post_hoc="temperature", questions="evaluation")["auroc"] == pytest.approx(
        plain["auroc"], abs=0.01
    )
    assert one(data, DIRECT, post_hoc="histogram", questions="evaluation")["ece10"] < 0.05


def test_rescalings_see_the_fitting_half_only():
    rows = study(said=scripted.boastful)
    fitting = held_out(rows[DIRECT]["question_id"], share=0.5, seed=0)
    evaluated = ~rows[DIRECT]["question_id"].isin(fitting)
    turned = rows[DIRECT].copy()
    turned.loc[evaluated, "correct"] = 1 - turned.loc[evaluated, "correct"]
    before, after = (
        one(table(changed, resamples=0), DIRECT, post_hoc="histogram", questions="evaluation")
        for changed in (rows, rows | {DIRECT: turned})
    )
    assert before["mean_confidence"] == after["mean_confidence"]
    assert before["accuracy"] == pytest.approx(1 - after["accuracy"])


def test_a_set_without_levels_has_no_row_of_one():
    rows = {cell: planned.assign(difficulty="") for cell, planned in study(n=8).items()}
    assert set(table(rows)["difficulty"]) == {"all"}
