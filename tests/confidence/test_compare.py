"""Paired comparison of two configurations: by hand, calibrated p, clusters, and what cannot be compared."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest, kstest

from toolcal.confidence.compare import COMPARED, compare
from toolcal.confidence.metrics import score
from toolcal.confidence.scorer import Scorer


def answers(confidence, correct, questions=None, trials=None):
    n = len(confidence)
    return pd.DataFrame(
        {
            "question_id": questions if questions is not None else [f"q{i:04d}" for i in range(n)],
            "trial": trials if trials is not None else [0] * n,
            "confidence": pd.array(np.asarray(confidence, object), dtype="Float64"),
            "correct": pd.array(np.asarray(correct, object), dtype="Float64"),
        }
    )


def drawn(rng, n, shift=0.0):
    said = rng.random(n)
    return answers(said, rng.random(n) < np.clip(said - shift, 0, 1))


def table(*args, **more):
    return compare(*args, **{"seed": 0, "resamples": 200, "swaps": 499} | more).set_index("metric")


def test_by_hand():
    first = answers([0.9, 0.8, 0.7, 0.6], [1, 1, 0, 0])
    second = answers([0.5, 0.8, 0.3, 0.6], [1, 0, 0, 1])
    found = table(first, second)
    assert list(found.index) == list(COMPARED)
    assert (found["n"] == 4).all()
    assert found.loc["accuracy", ["first", "second", "delta", "p", "test"]].tolist() == [
        0.5,
        0.5,
        0,
        1,
        "mcnemar_exact",
    ]
    assert found.loc["mean_confidence", ["first", "second", "delta"]].tolist() == pytest.approx([0.75, 0.55, -0.2])
    assert found.loc["mcip", ["first", "second", "delta"]].tolist() == pytest.approx([0.65, 0.55, -0.1])
    # Two questions have one confidence in both: of the four swaps of the others, two are as far apart.
    assert found.loc["mean_confidence", "p"] == pytest.approx(0.5, abs=0.1)


def test_first_and_second_are_what_score_says():
    rng = np.random.default_rng(1)
    first, second = drawn(rng, 120), drawn(rng, 120, 0.2)
    found = table(first, second)
    for end, frame in (("first", first), ("second", second)):
        alone = score(frame["confidence"], frame["correct"], seed=0, resamples=0)
        assert all(found.loc[name, end] == pytest.approx(alone[name]) for name in COMPARED)
    assert (found["delta_low"] <= found["delta"]).all()
    assert (found["delta"] <= found["delta_high"]).all()


def test_a_difference_is_found_and_has_its_sign():
    rng = np.random.default_rng(2)
    found = table(drawn(rng, 400), drawn(rng, 400, 0.25))
    for name in ("ece10", "ece_debiased", "brier", "mcip"):
        assert found.loc[name, "delta"] > 0
        assert found.loc[name, "delta_low"] > 0
        assert found.loc[name, "p"] <= 0.02
    assert found.loc["accuracy", "delta"] < 0
    other = table(drawn(np.random.default_rng(2), 400, 0.25), drawn(np.random.default_rng(2), 400))
    assert other.loc["ece10", "delta"] < 0


def test_accuracy_is_tested_exactly():
    first = answers([0.5] * 30, [1] * 10 + [0] * 20)
    second = answers([0.5] * 30, [0] * 2 + [1] * 8 + [1] * 9 + [0] * 11)
    found = table(first, second).loc["accuracy"]
    assert found["p"] == pytest.approx(binomtest(9, 11).pvalue)
    assert found["delta"] == pytest.approx(7 / 30)


def test_p_is_uniform_where_nothing_differs():
    rng = np.random.default_rng(3)
    found = pd.DataFrame([table(drawn(rng, 40), drawn(rng, 40), swaps=99, resamples=2)["p"] for _ in range(120)])
    for name in ("mean_confidence", "brier", "ece10", "ece_debiased", "auroc", "mcip"):
        assert kstest(found[name].astype(float), "uniform").pvalue > 0.001, name


def test_only_what_both_have_is_compared():
    first = answers([0.9, None, 0.7, 0.6, 0.2], [1, 1, 0, None, 0])
    second = answers([0.5, 0.8, 0.3, 0.6], [1, 0, 0, 1])
    found = table(first, second)
    assert found.loc["accuracy", "n"] == 3
    assert set(found["n"].drop("accuracy")) == {2}


def test_trials_of_one_question_stand_together():
    rng = np.random.default_rng(4)
    n = 60
    one, other = drawn(rng, n), drawn(rng, n, 0.1)
    repeated = [
        pd.concat([frame.assign(trial=trial) for trial in range(5)], ignore_index=True) for frame in (one, other)
    ]
    once, five = table(one, other), table(*repeated)
    assert five.loc["accuracy", "test"] == "permutation_clustered"
    assert (five["n"] == 5 * n).all()
    assert (five["n_questions"] == n).all()
    for name in COMPARED:
        assert five.loc[name, "delta"] == pytest.approx(once.loc[name, "delta"], abs=1e-9)
    for name in ("accuracy", "brier", "mean_confidence"):
        assert five.loc[name, "p"] == pytest.approx(once.loc[name, "p"], abs=0.06)
        assert five.loc[name, "delta_low"] == pytest.approx(once.loc[name, "delta_low"], abs=0.03)


def test_what_is_undefined_is_null():
    found = table(answers([0.9, 0.8], [1, 1]), answers([0.7, 0.8], [1, 1]))
    assert found.loc[["auroc", "mcip"], ["delta", "delta_low", "p"]].isna().all(axis=None)
    assert np.isnan(found.loc["accuracy", "p"])
    assert found.loc["brier", "p"] == 1
    same = answers([0.9, 0.8], [1, 0])
    assert table(same, same)["p"].isna().all()
    assert (table(same, same)["delta"] == 0).all()


def test_nothing_in_common():
    found = table(answers([0.9], [1], ["a"]), answers([0.9], [1], ["b"]))
    assert (found["n"] == 0).all()
    assert found[["first", "second", "delta", "p"]].isna().all(axis=None)


def test_an_answer_that_is_there_twice_is_refused():
    twice = answers([0.9, 0.8], [1, 1], ["a", "a"])
    with pytest.raises(pd.errors.MergeError):
        table(twice, answers([0.9], [1], ["a"]))


def test_swapped_labels_are_weightings_of_either_half():
    rng = np.random.default_rng(5)
    n, said = 150, np.round(rng.random(300), 2)
    scorer = Scorer(said, (rng.random(2 * n) < said).astype(float), np.arange(2 * n), 2 * n, np.zeros(2 * n, bool))
    swaps = rng.random((n, 20)) < 0.5
    swaps[:, 0] = False
    one, other = 1.0 - swaps.T, 1.0 * swaps.T
    for found, weights in zip(scorer.swapped(swaps), ((one, other), (other, one)), strict=True):
        expected = scorer.scores(np.hstack(weights))
        assert set(found) == set(expected)
        for name, values in expected.items():
            np.testing.assert_allclose(found[name], values, atol=1e-12, err_msg=name)
