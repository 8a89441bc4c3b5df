"""The designs against method B2: what each pays, its margin and optimum, and what is masked."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import yaml
from scipy.optimize import minimize_scalar

from tests.conftest import ROOT
from toolcal.configuration import ConfigError, load_schema, validated
from toolcal.training import designs
from toolcal.training.rewards import (
    design_of,
    expected_reward,
    group_advantages,
    margin,
    optimal_confidence,
    parts,
    reward,
)

CONFIG = yaml.safe_load((ROOT / "config.yaml").read_text())
SCHEMA = load_schema(ROOT / "schemas/config.schema.yaml")
Q = np.linspace(0, 1, 1001)
P = np.linspace(0, 1, 41)


def made(formula, format_weight=0.0, **parameters):
    return design_of("d", {"formula": formula, "format_weight": format_weight, **parameters})


LAMBDAS = (0.05, 0.3, 1.0)
WEIGHTS = ((1.0, 1.0), (0.5, 2.0), (3.0, 0.1))
TABLE = [
    (made("accuracy"), 1 + 0 * Q, 0 * Q, 1.0),
    (made("rlcr"), 1 - (1 - Q) ** 2, -(Q**2), 0.0),
    *((made("weighted_brier", **{"lambda": w}), 1 - w * (1 - Q) ** 2, -w * Q**2, 1 - w) for w in LAMBDAS),
    *((made("mscr", b1=b1, b2=b2), 1 + b1 * (1 - (1 - Q) ** 2), -b2 * Q**2, 1.0) for b1, b2 in WEIGHTS),
]
LOG = [made("log_score", **{"lambda": w}) for w in LAMBDAS]
ALL = [row[0] for row in TABLE] + LOG


@pytest.mark.parametrize(("design", "right", "wrong", "gap"), TABLE)
def test_the_table_of_the_method(design, right, wrong, gap):
    np.testing.assert_allclose(reward(design, 1, Q, True), right, rtol=0, atol=1e-12)
    np.testing.assert_allclose(reward(design, 0, Q, True), wrong, rtol=0, atol=1e-12)
    assert margin(design) == pytest.approx(gap, abs=1e-12)


@pytest.mark.parametrize("design", ALL)
def test_a_right_answer_is_never_paid_less_than_the_margin_above_a_wrong_one(design):
    found = reward(design, 1, Q, True).min() - reward(design, 0, Q, True).max()
    assert found == pytest.approx(margin(design), abs=1e-12)
    assert found >= 0


@pytest.mark.parametrize("design", ALL[1:])
def test_no_confidence_is_paid_better_than_the_stated_optimum(design):
    best = optimal_confidence(design, P)
    for p, q in zip(P, best, strict=True):
        found = minimize_scalar(lambda x, p=p: -float(expected_reward(design, p, x)), bounds=(0, 1), method="bounded")
        at_optimum = float(expected_reward(design, p, q))
        # The search looks inside of the bounds; the grid has the ends.
        assert max(-found.fun, expected_reward(design, p, Q).max()) <= at_optimum + 1e-12
        if 0.02 < p < 0.98:
            assert found.x == pytest.approx(q, abs=1e-4)


def test_accuracy_has_no_optimum():
    assert np.isnan(optimal_confidence(ALL[0], P)).all()
    assert np.ptp(expected_reward(ALL[0], 0.3, Q)) == 0


def test_the_log_score_is_that_of_the_logarithm_within_its_floor():
    design = made("log_score", **{"lambda": 0.5}, floor=0.01)
    q = np.array([0.2, 0.5, 0.9])
    # Differences of an affine function of ln q keep their ratios.
    paid, logs = reward(design, 1, q, True), np.log(q)
    assert (paid[1] - paid[0]) / (paid[2] - paid[1]) == pytest.approx((logs[1] - logs[0]) / (logs[2] - logs[1]))
    assert reward(design, 1, [0, 0.01, 0.99, 1], True).tolist() == pytest.approx([0.5, 0.5, 1, 1])
    assert reward(design, 0, [0, 0.01, 0.99, 1], True).tolist() == pytest.approx([0, 0, -0.5, -0.5])


@pytest.mark.parametrize("b", [0.1, 1, 4])
def test_mscr_of_equal_weights_is_weighted_brier_scaled(b):
    mscr, brier = made("mscr", b1=b, b2=b), made("weighted_brier", **{"lambda": b / (1 + b)})
    for c in (0, 1):
        np.testing.assert_allclose(
            reward(mscr, c, Q, True), (1 + b) * reward(brier, c, Q, True), rtol=0, atol=1e-12 * (1 + b)
        )


@pytest.mark.parametrize("design", ALL)
def test_parts_sum_to_the_reward_and_form_gates_all(design):
    weighted = design_of("d", {"formula": design.formula, **_entry(design), "format_weight": 0.2})
    correct, confidence = np.array([[1], [0], [np.nan]]), np.array([0, 0.4, 1, np.nan])
    for formatted in (True, False):
        terms = parts(weighted, correct, confidence, formatted)
        whole = reward(weighted, correct, confidence, formatted)
        np.testing.assert_array_equal(sum(terms.values()), whole)
        assert np.isnan(whole[2]).all()
        assert not np.isnan(whole[:2]).any()
        assert (terms["format"][:2, :3] == (0.2 if formatted else 0)).all()
        assert formatted or (whole[:2] == 0).all()
        # Missing: no term of calibration, none of form.
        assert (terms["calibration"][:2, 3] == 0).all()
        assert (terms["format"][:2, 3] == 0).all()
    np.testing.assert_allclose(
        reward(weighted, correct, confidence[:3], True)[:2] - 0.2,
        reward(design, correct, confidence[:3], True)[:2],
        atol=1e-12,
    )


def test_a_missing_confidence_is_not_a_low_one_and_never_pays_better_than_the_best():
    for design in ALL:
        weighted = design_of("d", {"formula": design.formula, **_entry(design), "format_weight": 0.1})
        assert (reward(weighted, [1, 0], 0.0, True) > reward(weighted, [1, 0], None, True)).all()
        best = np.nan_to_num(optimal_confidence(weighted, P))
        unstated = P * reward(weighted, 1, np.nan, True) + (1 - P) * reward(weighted, 0, np.nan, True)
        assert (expected_reward(weighted, P, best) > unstated).all()


def _entry(design):
    own = {key.rstrip("_"): value for key, value in design.parameters.items()}
    return {key: own[key] for key in designs.FORMULAS[design.formula]}


@pytest.mark.parametrize(
    ("correct", "confidence", "said"),
    [(2, 0.5, "a verdict must be 0 or 1, not 2"), (1, 1.2, "a confidence must be within 0 and 1, not 1.2")],
)
def test_what_is_no_verdict_or_confidence_is_refused(correct, confidence, said):
    with pytest.raises(ValueError, match=said):
        reward(ALL[1], correct, confidence, True)


def test_advantages_mask_what_was_not_graded():
    rewards = [[1, 0, None, 0], [0.3, 0.3, 0.3, 0.3], [None, None, 5, None], [None] * 4]
    plain, scaled = group_advantages(rewards, scale=False), group_advantages(rewards, scale=True)
    np.testing.assert_allclose(plain[0], [2 / 3, -1 / 3, 0, -1 / 3])
    np.testing.assert_allclose(scaled[0], plain[0] / np.std([1, 0, 0], ddof=1))
    assert (plain[1:] == 0).all()
    assert (scaled[1:] == 0).all()
    alike = np.full((1, 3), 0.1) * [[1, 1, 1 + 2e-16]]
    assert (group_advantages(alike, scale=True) == 0).all(), "rounding is no difference"


def test_scaled_advantages_do_not_see_scale_or_offset():
    drawn = np.random.default_rng(0).random((5, 8))
    np.testing.assert_allclose(group_advantages(drawn * 3 + 2, scale=True), group_advantages(drawn, scale=True))
    np.testing.assert_allclose(group_advantages(drawn, scale=True).std(axis=1, ddof=1), 1)


MISTAKES = [
    ({"formula": "brier"}, "formula: found 'brier'"),
    ({"formula": "weighted_brier"}, "lambda"),
    ({"formula": "weighted_brier", "lambda": 1.1}, "lambda: found 1.1, allowed: "),
    ({"formula": "weighted_brier", "lambda": 0}, "lambda: found 0, allowed: more than 0"),
    ({"formula": "mscr", "b1": 1, "b2": 0}, "b2: found 0, allowed: more than 0"),
    ({"formula": "mscr", "b1": -1, "b2": 1}, "b1: found -1, allowed: more than 0"),
    ({"formula": "log_score", "lambda": 1, "floor": 0.5}, "floor: found 0.5, allowed: "),
    ({"formula": "rlcr", "lambda": 0.5}, "lambda: unknown key, allowed here: "),
    ({"formula": "accuracy", "format_weight": -1}, "format_weight: found -1, allowed: 0 or more"),
    ({"formula": "mscr", "b1": float("nan"), "b2": 1}, "b1: found nan, allowed: "),
    ({"formula": "mscr", "b1": True, "b2": 1}, "b1: found True, allowed: "),
]


@pytest.mark.parametrize(("entry", "said"), MISTAKES)
def test_configuration_and_code_refuse_the_same_designs(entry, said):
    for refused, check in (
        (ValueError, lambda: design_of("mine", entry)),
        (ConfigError, lambda: validated(CONFIG | {"rewards": {"mine": copy.deepcopy(entry)}}, SCHEMA)),
    ):
        with pytest.raises(refused) as error:
            check()
        assert str(error.value).startswith("rewards.mine")
        assert said in str(error.value)
        assert "\n" not in str(error.value)


def test_the_default_configuration_has_seven_designs():
    checked = validated(CONFIG, SCHEMA)["rewards"]
    found = {name: design_of(name, entry) for name, entry in checked.items()}
    assert len(found) == 7
    assert {design.formula for design in found.values()} == set(designs.FORMULAS)
    assert found == {name: design_of(name, entry) for name, entry in CONFIG["rewards"].items()}, "the same defaults"
    assert {tuple(d.parameters.values())[1:] for d in found.values() if d.formula == "mscr"} == {(1.0, 1.0), (1.0, 2.0)}
