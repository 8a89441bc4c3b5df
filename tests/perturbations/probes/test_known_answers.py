"""The probes on policies whose answers are known, all cases; the figures of the table in issue D."""

from __future__ import annotations

import pytest

from tests.conftest import CATEGORIES
from tests.perturbations.probes.runs import run
from toolcal.models.policies import DO_NOT_CALL, MAKE_A_CALL
from toolcal.perturbations.probes import cri, sri

pytestmark = pytest.mark.slow

MISS_49 = "multi_turn_miss_func_49"


def rate(cases):
    return len(cases) / 200


def test_the_policies_look_for_words_that_stand_in_the_texts():
    assert MAKE_A_CALL in sri.wording()["message"]["rule"].lower()
    assert DO_NOT_CALL in cri.wording()["retry"].lower()
    others = [sri.wording()["message"][part] for part in ("header", "earlier", "current", "state", "no_state")]
    assert not any(MAKE_A_CALL in text.lower() for text in others)


def test_halts_early_fails_everywhere_without_the_probe(bfcl, bfcl_cases):
    found = run(bfcl, bfcl_cases["base"], "halts_early")
    assert found.passed == set()
    assert found.events.empty


@pytest.mark.parametrize(("variant", "acc"), [("full", 1.0), ("no_state", 1.0), ("state_only", 0.0)])
def test_halts_early_goes_on_where_the_text_says_so(variant, acc, bfcl, bfcl_cases):
    """734 turns end in a halt, and in each the probe acts once; `state_only` asks for nothing."""
    found = run(bfcl, bfcl_cases["base"], "halts_early", "sri", variant=variant)
    assert rate(found.passed) == acc
    assert len(found.triggers) == len(found.triggers.drop_duplicates(["case_id", "turn"])) == 734
    assert set(found.events["reason"]) == {"no_call", "once_a_turn"}


def test_calls_held_out_without_a_probe(bfcl, bfcl_cases):
    found = run(bfcl, bfcl_cases["miss_func"], "calls_held_out")
    assert rate(found.passed) == 0.795
    assert found.gold_at_decisive == set()
    held_out = found.trajectories[found.trajectories["held_out"]]
    assert held_out["case_id"].nunique() == 200


def test_bypass_keeps_what_it_cannot_make_right(bfcl, bfcl_cases):
    """The abstention is no emission of the model. The trigger of case 49 at turn 1 is suppressed, and still there."""
    found = run(bfcl, bfcl_cases["miss_func"], "calls_held_out", "cri", variant="bypass")
    decisive = {case.case_id: case.decisive_turn for case in bfcl_cases["miss_func"]}
    assert rate(found.passed) == 1.0
    assert found.gold_at_decisive == set()
    assert len(found.triggers) == 200
    assert (found.triggers["turn"] == found.triggers["case_id"].map(decisive)).all()
    of_49 = found.events[found.events["case_id"] == MISS_49]
    assert [tuple(row) for row in of_49[["turn", "reason"]].to_numpy()][1:3] == [(1, "not_decisive"), (2, "mc")]


def test_retry_with_mc_alone_misses_the_case_whose_trigger_is_spent(bfcl, bfcl_cases):
    found = run(bfcl, bfcl_cases["miss_func"], "calls_held_out", "cri", detectors=["mc"])
    everyone = {case.case_id for case in bfcl_cases["miss_func"]}
    assert everyone - found.gold_at_decisive == everyone - found.passed == {MISS_49}


def test_retry_with_both_detectors_spends_its_trigger_on_false_alarms(bfcl, bfcl_cases):
    """71 cases by UR, and 49 by MC as before: 128 of 200 are left, which abstain and pass."""
    found = run(bfcl, bfcl_cases["miss_func"], "calls_held_out", "cri")
    everyone = {case.case_id for case in bfcl_cases["miss_func"]}
    assert len(found.triggered("ur")) == 71
    assert found.gold_at_decisive == found.passed == everyone - found.triggered("ur") - {MISS_49}
    assert rate(found.passed) == 0.64


FALSE_ALARMS = {"base": (170, 114), "long_context": (171, 113), "miss_func": (71, 41), "miss_param": (170, 114)}


@pytest.mark.parametrize("category", CATEGORIES)
def test_what_cri_does_to_the_oracle(category, bfcl, bfcl_cases):
    """It abstains in the turn of a false alarm, and so fails that case; all others pass."""
    cases = bfcl_cases[category]
    found = run(bfcl, cases, "oracle", "cri")
    verbatim, refined = FALSE_ALARMS[category]
    assert len(found.triggered("ur")) == verbatim
    assert found.triggered("mc", "mc+ur") == ({MISS_49} if category == "miss_func" else set())
    assert len(found.triggers) == len(found.triggered("ur", "mc"))
    assert found.passed == {case.case_id for case in cases} - set(found.triggers["case_id"])
    again = run(bfcl, cases, "oracle", "cri", detectors=["ur"], ur="refined")
    assert len(again.triggered("ur")) == refined


def test_what_the_alarm_of_case_49_is(bfcl, bfcl_cases):
    case = next(case for case in bfcl_cases["miss_func"] if case.case_id == MISS_49)
    [trigger] = run(bfcl, [case], "oracle", "cri").triggers.to_dict("records")
    assert (trigger["turn"], trigger["reason"], trigger["detector"]) == (1, "mc", '{"mc":"tail"}')


@pytest.mark.parametrize(("category", "turns"), [("base", 734), ("miss_param", 934)])
def test_sri_does_nothing_to_an_oracle_that_has_nothing_left_to_call(category, turns, bfcl, bfcl_cases):
    found = run(bfcl, bfcl_cases[category], "oracle", "sri")
    assert (rate(found.passed), len(found.triggers)) == (1.0, turns)


@pytest.mark.parametrize("category", CATEGORIES)
def test_bypass_never_acts_on_the_oracle(category, bfcl, bfcl_cases):
    found = run(bfcl, bfcl_cases[category][::4], "oracle", "cri", variant="bypass")
    assert found.triggers.empty
    assert not found.events.empty
