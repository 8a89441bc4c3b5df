"""Metrics: the shared cases, what theory says of scripted answerers, other libraries, intervals, and speed."""

from __future__ import annotations

import json
import time

import numpy as np
import pandas as pd
import pytest

from tests.conftest import ROOT
from toolcal.confidence.metrics import METRICS, REASONS, common_errors, score

CASES = [json.loads(line) for line in (ROOT / "tests/data/calibration.jsonl").read_text(encoding="utf-8").splitlines()]
N = 5000


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_shared_cases(case):
    found = score(case["confidence"], case["correct"], seed=0, resamples=50)
    for name, value in case["expect"].items():
        assert found[name] == (None if value is None else pytest.approx(value, abs=1e-6)), name
        if name in METRICS:
            assert (found[f"{name}_reason"] in REASONS) == (value is None)
            assert (found[f"{name}_low"] is None) == (value is None)


def test_the_shared_cases_are_all_there():
    assert len(CASES) == 5


def answerer(kind, seed, n=N, accuracy=0.7):
    """Confidences and verdicts of a scripted answerer."""
    rng = np.random.default_rng(seed)
    if kind == "calibrated":
        said = rng.random(n)
        return said, (rng.random(n) < said).astype(float)
    return np.full(n, kind), (rng.random(n) < accuracy).astype(float)


@pytest.mark.parametrize("seed", range(3))
def test_the_calibrated_answerer(seed):
    said, right = answerer("calibrated", seed)
    found = score(said, right, seed=0, resamples=0)
    # q uniform, so right answers have density 2q and wrong ones 2(1 - q).
    assert found["brier"] == pytest.approx(1 / 6, abs=3 * np.std((said - right) ** 2) / np.sqrt(N))
    wrong = N - right.sum()
    assert found["mcip"] == pytest.approx(1 / 3, abs=3 * np.sqrt(1 / 18 / wrong))
    # Hanley and McNeil 1982: variance of AUROC from Q1 = Q2 = P(two right answers both beat a wrong one) = 11 / 15.
    auroc, q = 5 / 6, 11 / 15
    error = np.sqrt((auroc * (1 - auroc) + (right.sum() - 1 + wrong - 1) * (q - auroc**2)) / (right.sum() * wrong))
    assert found["auroc"] == pytest.approx(auroc, abs=3 * error)
    assert found["strict_ranking"] == pytest.approx(found["auroc"], abs=1e-12)
    assert 0 < found["ece10"] <= 0.02
    # By chance alone a bin of m answers is off by about 0.33 / sqrt(m).
    assert 0 < found["ece15"] <= 0.025
    assert 0 < found["ece_mass10"] <= 0.025


def test_the_debiased_error_of_the_calibrated_answerer():
    found = pd.DataFrame([score(*answerer("calibrated", i), seed=0, resamples=0) for i in range(60)])
    for name in ("ece_debiased", "reliability_debiased"):
        values = found[name].astype(float)
        assert 0 < values.std() < 0.006
        assert (abs(values) <= 3 * values.std()).all(), name
        assert abs(values.mean()) <= 3 * values.std() / np.sqrt(60), name
    assert found["ece10"].astype(float).mean() == pytest.approx(0.0146, abs=0.002)
    one = score(*answerer("calibrated", 0), seed=0, resamples=300)
    assert one["ece_debiased_low"] < 0 < one["ece_debiased_high"]
    width = one["ece_debiased_high"] - one["ece_debiased_low"]
    assert width == pytest.approx(3.92 * found["ece_debiased"].std(), rel=0.6)


@pytest.mark.parametrize("said", [1.0, 0.9])
def test_the_answerer_that_always_says_the_same(said):
    found = score(*answerer(said, 4), seed=0)
    error = 3 * np.sqrt(0.7 * 0.3 / N)
    assert found["brier"] == pytest.approx(0.7 * (1 - said) ** 2 + 0.3 * said**2, abs=error * abs(2 * said - 1))
    for name in ("ece10", "ece15", "ece_mass10", "ece_debiased"):
        assert found[name] == pytest.approx(said - 0.7, abs=error)
        assert found[f"{name}_low"] < said - 0.7 < found[f"{name}_high"]
    assert (found["auroc"], found["strict_ranking"]) == (0.5, 0)
    assert (found["mcip"], found["mccp"]) == pytest.approx((said, said), abs=1e-9)
    assert found["aurc"] == pytest.approx(1 - found["accuracy"], abs=1e-9)


@pytest.mark.parametrize("n", [10, 60, 600])
def test_the_debiased_error_of_the_calibrated_is_0_in_the_mean_and_the_plain_one_is_not(n):
    found = pd.DataFrame([score(*answerer("calibrated", i, n), seed=0, resamples=0) for i in range(400)])
    for name in ("ece_debiased", "reliability_debiased"):
        values = found[name].astype(float)
        assert abs(values.mean()) <= 3 * values.std() / np.sqrt(len(values)), name
    assert found["ece10"].astype(float).mean() > 0.04


def test_the_debiased_error_of_the_overconfident_is_their_error():
    """Accuracy q squared: the error of the ten bins is about the mean of q - q squared, 1 / 6."""
    rng = np.random.default_rng(0)
    values = []
    for _ in range(100):
        said = rng.random(2000)
        values.append(score(said, rng.random(2000) < said**2, seed=0, resamples=0)["ece_debiased"])
    assert np.mean(values) == pytest.approx(1 / 6, abs=0.003)


def test_brier_is_the_sum_of_its_parts():
    rng = np.random.default_rng(2)
    for n in (1, 2, 7, 300):
        said = rng.choice([0, 0.33, 0.5, 0.9, 0.95, 1, *rng.random(5)], n)
        right = rng.random(n) < 0.5
        found = score(said, right, seed=0, resamples=0)
        parts = found["reliability"] - found["resolution"] + found["uncertainty"]
        parts += found["within_variance"] - found["within_covariance"]
        assert found["brier"] == pytest.approx(parts, abs=1e-12)
        assert found["brier"] == pytest.approx(np.mean((said - right) ** 2), abs=1e-12)
        assert found["reliability"] >= 0 <= found["resolution"]


def test_missing_confidences_are_covered_by_no_metric_but_accuracy():
    said = [0.9, None, 0.2, np.nan, 0.4, 0.7]
    right = [1, 1, 0, 0, None, 1]
    found = score(said, right, seed=0, resamples=20)
    assert {name: found[name] for name in ("n", "n_ungraded", "n_confident", "n_wrong")} == {
        "n": 5, "n_ungraded": 1, "n_confident": 3, "n_wrong": 1,
    }  # fmt: skip
    assert found["coverage"] == pytest.approx(0.6)
    assert found["accuracy"] == pytest.approx(0.6)
    assert found["accuracy_covered"] == pytest.approx(2 / 3)
    alone = score([0.9, 0.2, 0.7], [1, 0, 1], seed=0, resamples=0)
    for name in set(METRICS) - {"coverage", "accuracy"}:
        assert found[name] == alone[name], name


@pytest.mark.parametrize(
    ("said", "right", "null"),
    [
        ([], [], dict.fromkeys(METRICS, "no_answers")),
        ([None], [None], dict.fromkeys(METRICS, "no_answers")),
        ([None, None], [1, 0], dict.fromkeys(set(METRICS) - {"coverage", "accuracy"}, "no_confidence")),
        ([0.5, 0.7], [1, 1], dict.fromkeys(("auroc", "strict_ranking", "mcip", "mcip_common"), "no_errors")),
        (
            [0.5, 0.7],
            [0, 0],
            dict.fromkeys(("auroc", "strict_ranking", "mccp"), "no_right_answers")
            | {"mcip_common": "no_common_errors"},
        ),
        ([0.5, 0.7], [0, 1], {"mcip_common": "no_common_errors"}),
    ],
)
def test_what_is_undefined_is_null_with_its_reason(said, right, null):
    found = score(said, right, seed=0, resamples=30)
    for name in METRICS:
        assert found[f"{name}_reason"] == null.get(name), name
        assert (found[name] is None) == (name in null)
        assert (found[f"{name}_low"] is None) == (name in null)


@pytest.mark.parametrize(
    ("said", "right", "words"),
    [
        ([0.5], [1, 0], "of one length"),
        ([1.5], [1], "within 0 and 1, not 1.5"),
        ([-0.1], [1], "within 0 and 1, not -0.1"),
        ([0.5], [2], "0 or 1, not 2"),
        ([90.0], [1], "within 0 and 1, not 90"),
    ],
)
def test_what_is_no_confidence_is_refused(said, right, words):
    with pytest.raises(ValueError, match=words):
        score(said, right, seed=0)


def test_an_answer_without_a_cluster_is_refused():
    with pytest.raises(ValueError, match="no cluster"):
        score([0.5, 0.6], [1, 0], seed=0, cluster=["q1", None])


def test_columns_of_a_table_are_taken_as_they_are():
    frame = pd.DataFrame(
        {"said": pd.array([0.9, None, 0.1], dtype="Float64"), "right": pd.array([True, False, None], dtype="boolean")}
    )
    found = score(frame["said"], frame["right"], seed=0, resamples=0)
    assert (found["n"], found["n_confident"], found["brier"]) == (2, 1, pytest.approx(0.01))


def test_mcip_on_the_questions_that_all_get_wrong():
    questions = [f"q{i}" for i in range(5)]
    verdicts = {
        "direct": pd.Series([0, 0, 1, 0, 0.0], questions),
        "prompted": pd.Series([0, 0, 0, 1, np.nan], questions),
        "trained": pd.Series([0, 0, 0, 0, 0.0], questions),
    }
    common = common_errors(verdicts)
    assert list(common) == ["q0", "q1"]
    said = np.array([0.8, 0.6, 0.4, 0.2, 0.0])
    found = score(said, verdicts["trained"], seed=0, common=pd.Index(questions).isin(common))
    assert found["mcip_common"] == pytest.approx(0.7)
    assert found["n_common"] == 2
    assert found["mcip"] == pytest.approx(0.4)
    # Of several trials all have to be wrong; a question that one configuration was not asked is none.
    verdicts["direct"] = pd.Series([0, 1, 0, 0], ["q0", "q0", "q1", "q1"])
    assert list(common_errors(verdicts)) == ["q1"]


def test_neither_order_of_rows_nor_names_of_clusters_move_anything():
    said, right = answerer("calibrated", 0, 300)
    names = np.array([f"q{i // 3:03d}" for i in range(300)])
    order = np.random.default_rng(0).permutation(300)
    one = score(said, right, seed=5, cluster=names, resamples=100)
    other = score(said[order], right[order], seed=5, cluster=names[order], resamples=100)
    assert one["n_clusters"] == 100
    assert {k: v for k, v in one.items() if v is not None} == pytest.approx(
        {k: v for k, v in other.items() if v is not None}, abs=1e-9
    )
    assert one != score(said, right, seed=6, cluster=names, resamples=100)


def test_trials_of_one_question_do_not_pass_for_independent_answers():
    said, right = answerer("calibrated", 1, 200)
    ten = score(np.repeat(said, 10), np.repeat(right, 10), seed=0, cluster=np.repeat(np.arange(200), 10))
    once = score(said, right, seed=0)
    apart = score(np.repeat(said, 10), np.repeat(right, 10), seed=0)
    for name in ("accuracy", "brier", "auroc", "mcip", "mean_confidence"):
        width, single, naive = (found[f"{name}_high"] - found[f"{name}_low"] for found in (ten, once, apart))
        assert width == pytest.approx(single, rel=0.1), name
        assert naive < 0.5 * width


def test_intervals_hold_the_truth_about_as_often_as_they_say():
    """Of the calibrated answerer: 150 sets of 150 answers; of a true 95 %, 0.91 to 0.98 are to be met."""
    truth = {"brier": 1 / 6, "mcip": 1 / 3, "auroc": 5 / 6, "accuracy": 0.5, "mean_confidence": 0.5, "ece_debiased": 0}
    held = dict.fromkeys(truth, 0)
    for seed in range(150):
        found = score(*answerer("calibrated", 1000 + seed, 150), seed=0, resamples=300)
        for name, value in truth.items():
            held[name] += found[f"{name}_low"] <= value <= found[f"{name}_high"]
    assert all(0.9 <= count / 150 <= 1 for count in held.values()), held


def test_every_interval_holds_its_estimate():
    rng = np.random.default_rng(3)
    for n in (1, 2, 5, 40):
        found = score(rng.choice([0, 0.5, 0.9, 1], n), rng.random(n) < 0.6, seed=0, resamples=100)
        for name in METRICS:
            if found[name] is not None:
                assert found[f"{name}_low"] <= found[name] + 1e-12, (n, name)
                assert found[name] - 1e-12 <= found[f"{name}_high"], (n, name)


def test_ten_thousand_answers_with_all_intervals_take_seconds():
    said, right = answerer("calibrated", 0, 10_000)
    start = time.process_time()
    found = score(said, right, seed=0)
    assert time.process_time() - start < 30
    assert all(found[f"{name}_low"] is not None for name in METRICS if name != "mcip_common")
