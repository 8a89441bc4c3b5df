"""The bench: what the designs ask for, found numerically, and what agents trained by them end with."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import yaml

from tests.conftest import ROOT
from toolcal import tables
from toolcal.configuration import load_schema, validated
from toolcal.training.reward_analysis import analyse
from toolcal.training.reward_bench import bench
from toolcal.training.rewards import design_of
from toolcal.training.tabular_agent import CONFIDENCES, POPULATIONS, Training, sample, train

CONFIG = validated(yaml.safe_load((ROOT / "config.yaml").read_text()), load_schema(ROOT / "schemas/config.schema.yaml"))
DESIGNS = {name: design_of(name, entry) for name, entry in CONFIG["rewards"].items()}
SHORT = Training(seeds=2, steps=30, questions=3, group_size=4, learning_rate=1)
SPREAD = np.array(POPULATIONS["spread"])


@pytest.fixture(scope="module")
def asked() -> dict[str, pd.DataFrame]:
    return analyse(list(DESIGNS.values()))


@pytest.fixture(scope="module")
def ended() -> dict[str, pd.DataFrame]:
    """Three designs, trained as the default configuration says."""
    chosen = [DESIGNS[name] for name in ("accuracy", "rlcr", "brier-0_3")]
    return bench(chosen, Training(**CONFIG["reward_bench"]), seed=CONFIG["seed"])


def test_margins_and_optima_are_found_where_the_formulas_say(asked: dict[str, pd.DataFrame]) -> None:
    designs, optima = asked["reward_designs"], asked["reward_optima"]
    np.testing.assert_allclose(designs["margin_found"], designs["margin"], atol=1e-12)
    found = optima.dropna(subset="optimum")
    assert set(optima[optima["optimum"].isna()]["design"]) == {"accuracy"}
    np.testing.assert_allclose(found["optimum_found"], found["optimum"], atol=1e-5)
    assert (optima[["cost_at_0", "cost_at_1", "cost_at_p"]].min() > -1e-12).all()
    improper = set(optima[optima["cost_at_p"] > 1e-9]["design"])
    assert improper == {"mscr-1-2"}


def test_misreporting_costs_the_weighted_square_of_the_distance(asked: dict[str, pd.DataFrame]) -> None:
    curves = asked["reward_curves"]
    rows = curves[curves["design"] == "brier-0_7"]
    np.testing.assert_allclose(rows["cost"], 0.7 * (rows["q"] - rows["p"]) ** 2, atol=1e-12)


def test_without_pay_for_confidence_advantages_do_not_tell_of_it(asked: dict[str, pd.DataFrame]) -> None:
    signal = asked["reward_optima"].set_index(["design", "p"])["signal"]
    assert signal["accuracy"].abs().max() < 1e-12
    assert (signal["brier-0_7"] > signal["brier-0_3"]).all()
    # A scale is divided out: MSCR of equal weights pulls as weighted Brier of lambda 1/2 does, between these two.
    assert (signal["brier-0_7"] > signal["mscr-1-1"]).all()
    assert (signal["mscr-1-1"] > signal["brier-0_3"]).all()


def outcome(tables: dict[str, pd.DataFrame], design: str, population: str, metric: str, scaled: bool = False) -> float:
    rows = tables["tabular_summary"].set_index(["design", "population", "scaled", "metric"])
    return float(rows.loc[(design, population, scaled, metric), "mean"])


@pytest.mark.slow
def test_proper_designs_end_calibrated_and_accuracy_alone_does_not(ended: dict[str, pd.DataFrame]) -> None:
    for design in ("rlcr", "brier-0_3"):
        assert abs(outcome(ended, design, "spread", "ece_debiased")) <= 0.03
        assert outcome(ended, design, "spread", "auroc") > 0.75
    assert outcome(ended, "accuracy", "spread", "ece_debiased") > 0.2
    for design in ("accuracy", "rlcr", "brier-0_3"):
        assert outcome(ended, design, "spread", "accuracy") == pytest.approx(0.5, abs=0.02)


@pytest.mark.slow
def test_one_difficulty_collapses_confidence_to_its_chance(ended: dict[str, pd.DataFrame]) -> None:
    stated = ended["tabular_confidences"].set_index(["design", "population", "scaled", "confidence"])["share"]
    for design in ("rlcr", "brier-0_3"):
        assert stated[design, "uniform", False].idxmax() == 0.5
        spread, uniform = (outcome(ended, design, population, "sd_confidence") for population in POPULATIONS)
        assert uniform < spread / 3
        assert outcome(ended, design, "uniform", "auroc") == pytest.approx(0.5, abs=0.03)


@pytest.mark.slow
def test_dividing_by_the_deviation_of_small_groups_pulls_confidence_to_the_ends(ended: dict[str, pd.DataFrame]) -> None:
    kinds = ended["tabular_kinds"].set_index(["design", "population", "scaled", "p"])["confidence"]
    for design in ("rlcr", "brier-0_3"):
        for p, sign in ((0.1, -1), (0.9, 1)):
            plain, scaled = (kinds[design, "spread", how, p] for how in (False, True))
            assert sign * (scaled - p) > 0.05
            assert abs(plain - p) < abs(scaled - p)
        assert outcome(ended, design, "spread", "ece_debiased", scaled=True) > 0.03


def test_equal_seeds_give_equal_tables_that_keep_the_contract() -> None:
    chosen = [DESIGNS["mscr-1-2"]]
    first, second, other = (bench(chosen, SHORT, seed=seed) for seed in (1, 1, 2))
    for name, data in first.items():
        pd.testing.assert_frame_equal(data, second[name])
        tables.check(name, data)
    assert not first["tabular_kinds"].equals(other["tabular_kinds"])


def test_equal_weights_train_as_weighted_brier_does_once_scale_is_divided_out() -> None:
    brier = design_of("brier", {"formula": "weighted_brier", "lambda": 0.5})
    policies = [train(design, SPREAD, SHORT, scale=True, seed=3) for design in (DESIGNS["mscr-1-1"], brier)]
    np.testing.assert_allclose(*policies, atol=1e-9)


def test_samples_follow_the_policy_and_the_chances() -> None:
    policy = np.zeros((2, 3, len(CONFIDENCES)))
    policy[0, 0, 8] = 0.75  # A, at 0.8
    policy[0, 2, 0] = 0.25  # abstains, at 0
    policy[1, 1, 3] = 1.0  # B, at 0.3
    confidence, correct, answered = (
        part.reshape(2, -1) for part in sample(policy, np.array([0.6, 0.6]), 40_000, seed=0)
    )
    assert answered.mean(axis=1) == pytest.approx([0.75, 1], abs=0.01)
    assert correct[0][answered[0] == 1].mean() == pytest.approx(0.6, abs=0.01)
    assert correct[0][answered[0] == 0].max() == 0
    assert correct[1].mean() == pytest.approx(0.3, abs=0.01)
    assert set(confidence[0][answered[0] == 1]) == {0.8}
    assert set(confidence[1]) == {0.3}


def test_an_agent_that_always_abstains_has_no_calibration() -> None:
    from toolcal.training import reward_bench

    policy = np.zeros((1, 3, len(CONFIDENCES)))
    policy[0, 2, 0] = 1.0
    found = reward_bench._judged(policy, np.array([0.5]), 0)
    assert (found["abstention"], found["n_answered"], found["accuracy"]) == (1, 0, 0)
    assert [found[name] for name in ("ece_debiased", "auroc", "sd_confidence", "modal_share")] == [None] * 4
