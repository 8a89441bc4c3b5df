from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from tests.diagnosis.panel import ASK, CALL, REFUSE, UNKNOWN, Panel, random_panel, row
from toolcal import tables
from toolcal.cells import BASELINE
from toolcal.diagnosis.paired_tests import permutation, permutation_of_fractions
from toolcal.diagnosis.statistics import cluster_bootstrap, percentile_interval, resample

SCENARIO = "bfcl-miss_func"
GOLD, WRONG = [[CALL], [REFUSE]], [[CALL], [ASK]]
PASSED = "acc"


def panel_of(verdicts, *, families=None, scenario=SCENARIO, decisive=1, gold="REFUSE", clusters=None):
    """{(model, perturbation): a list (cases) of a verdict, or of one a trial; None: no row}.

    A passed run shows the gold action, a failed one does not.
    """
    models = list(dict.fromkeys(model for model, _ in verdicts))
    panel = Panel(families=families or dict.fromkeys(models, "family"))
    count = max(len(found) for found in verdicts.values())
    for i in range(count):
        panel.case(
            f"c{i:03}", scenario=scenario, decisive=decisive, gold=(gold,), cluster=clusters and str(clusters[i])
        )
    for (model, perturbation), found in verdicts.items():
        cell = (model, scenario, perturbation)
        by_trial = [one if isinstance(one, tuple) else (one,) for one in found]
        panel.planned(*(f"c{i:03}" for i in range(len(found))), cell=cell, trials=max(map(len, by_trial)))
        for i, trials in enumerate(by_trial):
            for trial, passed in enumerate(trials):
                if passed is not None:
                    panel.run(f"c{i:03}", GOLD if passed else WRONG, passed, trial=trial, cell=cell)
    return panel


T, F = True, False


def test_identical_runs():
    """All deltas 0, intervals hold 0, p null with the reason, for every measure, model and family."""
    verdicts = [i % 3 > 0 for i in range(30)]
    found = panel_of({("m", BASELINE): verdicts, ("m", "hint"): verdicts}).diagnose()
    for name in ("effects", "family_effects"):
        data = found[name]
        assert data["measure"].tolist() == sorted(tables.MEASURES)
        assert (data["n"] == 30).all()
        assert (data["delta"] == 0).all()
        assert (data["baseline"] == data["perturbed"]).all()
        assert ((data["delta_low"] < 0) & (data["delta_high"] > 0)).all()
        assert (data["gained"] == 0).all()
        assert (data["lost"] == 0).all()
        assert (data["p_reason"] == "no_discordant_pairs").all()
        assert data[["p", "p_holm", "test"]].isna().all(axis=None)
    # Agreed throughout: `percentile_interval` says how far off the mean could be.
    unlike = proportion_confint(0, 30, method="wilson")[1]
    assert row(found["effects"], measure="acc")[["delta_low", "delta_high"]].tolist() == [
        pytest.approx(-unlike, abs=1e-12),
        pytest.approx(unlike, abs=1e-12),
    ]


def test_by_hand():
    """Ten pairs: 4 gained, 1 lost; one case without a verdict under the perturbation, one that it leaves out."""
    before = [F, F, F, F, T, T, T, F, F, T, T, T]
    after = [T, T, T, T, F, T, T, F, F, T, None]
    panel = panel_of({("m", BASELINE): before, ("m", "hint"): after})
    panel.families["m"] = "mine"
    found = row(panel.diagnose()["effects"], measure="acc")
    assert found[["model", "scenario", "perturbation", "gold_action", "labeller", "family"]].tolist() == [
        *("m", SCENARIO, "hint", "REFUSE", "paper_like", "mine")
    ]
    assert found[["n", "n_unpaired", "n_left_out", "gained", "lost", "comparisons"]].tolist() == [10, 1, 1, 4, 1, 1]
    assert found[["baseline", "perturbed"]].tolist() == [0.4, 0.7]
    assert found["delta"] == pytest.approx(0.3, abs=1e-12)
    assert (found["delta_low"], found["delta_high"]) == cluster_bootstrap(
        [1, 1, 1, 1, -1, 0, 0, 0, 0, 0], np.ones(10), seed=0, bounds=(-1, 1)
    )
    assert found["test"] == "mcnemar_exact"
    assert found["p"] == pytest.approx(2 * binom.cdf(1, 5, 0.5), abs=1e-12)
    assert found["p_holm"] == found["p"]
    assert pd.isna(found["p_reason"])


def test_measures_are_those_of_cells():
    """Where every run has a verdict, baseline and perturbed are the rates of `cells`, measure by measure."""
    panel = two_cells(random_panel(1, models=2, cases=10, trials=1))
    judged = {(one["model"], one["case_id"]) for one in panel.rows["grades"] if one["passed"] is not None}
    panel.plan = [
        replace(cell, case_ids=tuple(case for case in cell.case_ids if (cell.model, case) in judged))
        for cell in panel.plan
    ]
    found = panel.diagnose()
    whole = found["effects"].dropna(subset="delta")
    assert len(whole) > 20
    cells = found["cells"].set_index([*tables.CELL, "gold_action", "labeller"])
    for one in whole.itertuples():
        place = one.gold_action, one.labeller
        assert one.baseline == pytest.approx(cells.loc[(one.model, one.scenario, BASELINE, *place), one.measure])
        assert one.perturbed == pytest.approx(
            cells.loc[(one.model, one.scenario, one.perturbation, *place), one.measure]
        )
        assert one.delta == pytest.approx(one.perturbed - one.baseline, abs=1e-12)


def two_cells(panel, *, seed=0):
    """The random panel's cells as baselines, and a perturbed one each with others' grades."""
    rng = np.random.default_rng(seed)
    for name in ("trajectories", "actions", "grades"):
        old = [one | {"perturbation": BASELINE} for one in panel.rows[name]]
        new = [one | {"perturbation": "hint"} for one in panel.rows[name]]
        if name == "grades":
            swapped = rng.permutation([one["passed"] for one in new if one["status"] == "done"]).tolist()
            for one in new:
                if one["status"] == "done":
                    one["passed"] = bool(swapped.pop())
                    one["passed_strict"] = one["passed"] and one["passed_strict"]
        panel.rows[name] = old + new
    panel.plan = [
        replace(cell, perturbation=perturbation) for cell in panel.plan for perturbation in (BASELINE, "hint")
    ]
    return panel


def test_a_gold_action_lost_shows_in_gar_and_shares():
    panel = Panel()
    for i in range(6):
        panel.case(f"c{i}", decisive=1)
    for perturbation, turns in (BASELINE, GOLD), ("hint", WRONG):
        cell = ("model", SCENARIO, perturbation)
        panel.planned(*(f"c{i}" for i in range(6)), cell=cell)
        for i in range(6):
            panel.run(f"c{i}", turns, i < 3, cell=cell)
    found = panel.diagnose()["effects"].set_index("measure")
    expected = dict.fromkeys(tables.MEASURES, 0.0) | {"gar_case_any": -1.0, "gar_decisive": -1.0}
    for view in ("", "_decisive"):
        expected |= {f"share_calibrated{view}": -0.5, f"share_slack{view}": -0.5}
        expected |= {f"share_masked{view}": 0.5, f"share_failed{view}": 0.5}
    assert found["delta"].to_dict() == expected
    assert found.loc["gar_case_any", ["gained", "lost", "p"]].tolist() == [0, 6, 2 / 64]
    assert found.loc["acc", "p_reason"] == "no_discordant_pairs"


def test_holm_is_over_the_models_and_scenarios_of_one_perturbation_and_measure():
    gains = {"m1": 12, "m2": 8, "m3": 0}
    verdicts = {(model, BASELINE): [F] * 20 for model in gains}
    verdicts |= {(model, "hint"): [i < gain for i in range(20)] for model, gain in gains.items()}
    verdicts |= {("m1", "shout"): [i < 9 for i in range(20)]}
    found = panel_of(verdicts).diagnose()["effects"].query("measure == 'acc'").set_index(["perturbation", "model"])
    # m3 moves nothing: it was compared nevertheless.
    expected = multipletests([2 / 2**12, 2 / 2**8, 1.0], method="holm")[1]
    assert found.loc["hint", "p_holm"].tolist() == pytest.approx([*expected[:2], np.nan], nan_ok=True, abs=1e-12)
    assert found.loc["hint", "comparisons"].tolist() == [3, 3, 3]
    assert found.loc[("shout", "m1"), ["p_holm", "comparisons"]].tolist() == [2 / 2**9, 1]


def test_several_trials_are_tested_by_cluster():
    before = [(F, F, F), (F, F, T), (T, T, T), (F, T, F), (F, F, F)]
    after = [(T, T, T), (T, F, T), (T, T, F), (T, T, F), (F, F, T)]
    found = row(panel_of({("m", BASELINE): before, ("m", "hint"): after}).diagnose(5)["effects"], measure="acc")
    sums = [3, 1, -1, 1, 1]
    assert found[["n", "gained", "lost"]].tolist() == [15, 6, 1]
    assert (found["test"], found["p"]) == ("permutation_clustered", pytest.approx(permutation(sums), abs=1e-12))
    assert (found["delta_low"], found["delta_high"]) == cluster_bootstrap(sums, [3] * 5, seed=5, bounds=(-1, 1))


def test_cases_of_one_cluster_are_not_independent():
    before, after = [F] * 8, [T] * 8
    found = row(panel_of({("m", BASELINE): before, ("m", "hint"): after}, clusters=[0, 0, 1, 1, 2, 2, 3, 3]).diagnose()[
        "effects"
    ], measure="acc")  # fmt: skip
    assert (found["test"], found["p"]) == ("permutation_clustered", 2 / 2**4)


def family_panel():
    """m1 and m2 of family x, m3 of y; m2 lacks a verdict."""
    verdicts = {(model, BASELINE): [F, F, F, F, T, T] for model in ("m1", "m2", "m3")}
    verdicts[("m1", "hint")] = [T, T, T, F, T, T]
    verdicts[("m2", "hint")] = [T, T, F, F, T, None]
    verdicts[("m3", "hint")] = [F, F, F, F, F, F]
    return panel_of(verdicts, families={"m1": "x", "m2": "x", "m3": "y"})


def test_a_family_is_the_mean_of_its_models():
    found = family_panel().diagnose(seed=2)
    family = row(found["family_effects"], measure="acc", family="x")
    assert family[["n_models", "n", "n_unpaired", "gained", "lost"]].tolist() == [2, 11, 1, 5, 0]
    assert family["delta"] == pytest.approx((3 / 6 + 2 / 5) / 2, abs=1e-12)
    above = np.array([[1, 1], [1, 1], [1, 0], [0, 0], [0, 0], [0, 0]], float)
    below = np.ones((6, 2))
    below[5, 1] = 0
    replicates = resample(above, below, seed=2).mean(axis=1)
    ends = percentile_interval(replicates, 6, bounds=(-1, 1))
    assert family[["delta_low", "delta_high"]].tolist() == pytest.approx(list(ends), abs=1e-12)
    # Unequal denominators: swapped as parts of the mean; three clusters differ.
    parts = above[:, 0] / 6 + above[:, 1] / 5
    assert family["test"] == "permutation_clustered"
    assert family["p"] == permutation_of_fractions(parts, seed=2) == 2 / 2**3


def test_a_family_of_one_model_is_that_model():
    found = family_panel().diagnose(seed=3)
    shared = [c for c in tables.TABLES["effects"].columns if c not in ("model", "family", "p_holm", "comparisons")]
    mine = found["effects"].query("model == 'm3'")[shared].reset_index(drop=True)
    families = found["family_effects"].query("family == 'y'")[shared].reset_index(drop=True)
    pd.testing.assert_frame_equal(mine, families, check_exact=True)


def test_a_model_without_pairs_is_in_no_mean():
    verdicts = {
        ("m1", BASELINE): [T, F],
        ("m1", "hint"): [T, T],
        ("m2", BASELINE): [T, F],
        ("m2", "hint"): [None, None],
    }
    found = panel_of(verdicts).diagnose()
    alone = row(found["effects"], model="m2", measure="acc")
    assert alone[["n", "n_unpaired", "p_reason", "comparisons"]].tolist() == [0, 2, "no_pairs", 1]
    assert alone[["baseline", "perturbed", "delta", "delta_low", "gained", "test"]].isna().all()
    family = row(found["family_effects"], measure="acc")
    assert family[["n_models", "n", "n_unpaired", "delta"]].tolist() == [1, 2, 2, 0.5]


def test_what_a_scenario_or_benchmark_does_not_have_is_not_defined():
    verdicts = [T, F, T]
    panel = panel_of(
        {("m", BASELINE): verdicts, ("m", "hint"): verdicts}, scenario="bfcl-base", decisive=None, gold="TOOL_CALL"
    )
    for one in panel.rows["grades"]:
        one["passed_strict"] = None
    found = panel.diagnose()["effects"].set_index("measure")
    missing = {name for name in tables.MEASURES if name.endswith("_decisive")} | {"acc_strict"}
    assert set(found.index[found["p_reason"] == "not_defined"]) == missing
    assert (found.loc[list(missing), ["n", "n_unpaired"]] == 0).all(axis=None)
    assert found.loc["acc", "comparisons"] == 1
    assert found.loc["acc_strict", "comparisons"] == 0


def test_what_is_not_recorded_of_one_pair_leaves_the_measure_null():
    panel = Panel()
    for i in range(3):
        panel.case(f"c{i}", decisive=1)
    for perturbation in (BASELINE, "hint"):
        cell = ("model", SCENARIO, perturbation)
        panel.planned("c0", "c1", "c2", cell=cell)
        for i in range(3):
            told = [[CALL], [UNKNOWN]] if i == 0 and perturbation == "hint" else GOLD
            panel.run(f"c{i}", told, perturbation == "hint", cell=cell)
    found = panel.diagnose()
    for name in ("effects", "family_effects"):
        gar = row(found[name], measure="gar_case_any")
        assert gar[["n", "p_reason"]].tolist() == [3, "not_recorded"]
        assert gar[["delta", "delta_low", "baseline", "gained", "lost"]].isna().all()
        assert row(found[name], measure="acc")["delta"] == 1.0


def test_a_baseline_alone_has_no_effects():
    found = panel_of({("m", BASELINE): [T, F]}).diagnose()
    for name in ("effects", "family_effects", "heterogeneity", "probe_rates"):
        assert found[name].empty
        tables.check(name, found[name])


@pytest.mark.parametrize("seed", range(2))
def test_neither_order_nor_other_models_move_an_effect(seed):
    panel = two_cells(random_panel(seed, models=3, cases=8), seed=seed)
    given = {name: frame.sample(frac=1, random_state=5) for name, frame in panel.tables().items()}
    whole, shuffled = panel.diagnose(), panel.diagnose(**given, plan=panel.plan[::-1])
    for name in ("effects", "family_effects", "heterogeneity"):
        pd.testing.assert_frame_equal(whole[name], shuffled[name], check_exact=True)
    alone = panel.diagnose(plan=[cell for cell in panel.plan if cell.model == "m1"])["effects"]
    mine = whole["effects"].query("model == 'm1'").reset_index(drop=True)
    kept = [c for c in mine if c not in ("p_holm", "comparisons")]
    pd.testing.assert_frame_equal(mine[kept], alone[kept], check_exact=True)
    known = whole["effects"].dropna(subset="delta")
    assert (known["delta_low"] <= known["delta"] + 1e-12).all()
    assert (known["delta"] <= known["delta_high"] + 1e-12).all()
    assert (known["p"].isna() == (known["gained"] + known["lost"] == 0)).all()
    assert (known["p_holm"].dropna() >= known["p"].dropna()).all()
