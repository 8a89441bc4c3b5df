from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.proportion import proportion_confint

from tests.diagnosis.panel import ASK, CALL, EMPTY, NOW, REFUSE, E, Panel, random_panel, typed
from toolcal import tables
from toolcal.diagnosis.cells import check_identity
from toolcal.diagnosis.statistics import cluster_bootstrap


def four_outcomes(*, each=1):
    """One case of each outcome in the case_any view (by default), and what is missing."""
    panel = Panel()
    ids = [f"{kind}{i}" for kind in ("calibrated", "masked", "slack", "failed") for i in range(each)]
    for case_id in [*ids, "infra", "missing"]:
        panel.case(case_id, decisive=1)
    panel.planned(*ids, "infra", "missing")
    for case_id in ids:
        gold, passed = case_id.startswith(("calibrated", "slack")), case_id.startswith(("calibrated", "masked"))
        panel.run(
            case_id,
            [[CALL], [REFUSE if gold else ASK]],
            passed,
            strict=case_id.startswith("calibrated"),
            reason=None if passed else "state",
        )
    panel.run("infra", [[CALL], [REFUSE]], True, reason="state", status="infra_error")
    return panel


def test_four_outcomes_and_what_is_missing():
    found = four_outcomes().diagnose()
    outcomes = found["outcomes"].set_index("case_id")
    for kind in tables.OUTCOMES:
        assert outcomes.loc[f"{kind}0", ["outcome_case_any", "outcome_decisive"]].tolist() == [kind, kind]
    assert outcomes.loc[["infra", "missing"], "status"].tolist() == ["infra_error", "missing"]
    nulls = [c for c in outcomes if c.startswith(("emitted", "outcome", "passed", "reason"))]
    assert len(nulls) == 8
    assert outcomes.loc[["infra", "missing"], nulls].isna().all(axis=None)
    cell = found["cells"].iloc[0]
    assert cell[["n", "n_missing", "n_turns", "n_undecodable"]].tolist() == [4, 2, 8, 0]
    assert cell[["family", "benchmark"]].tolist() == ["family", "bfcl"]
    for name in (
        "share_calibrated",
        "share_masked",
        "share_slack",
        "share_failed",
        "share_masked_decisive",
        "acc_strict",
    ):
        assert cell[[name, f"{name}_low", f"{name}_high"]].tolist() == pytest.approx(
            [0.25, *proportion_confint(1, 4, method="wilson")], abs=1e-12
        )
    assert cell[["acc", "gar_case_any", "gar_decisive", "gap", "gap_decisive"]].tolist() == [0.5, 0.5, 0.5, 0, 0]
    assert cell[["gap_low", "gap_high"]].tolist() == list(
        cluster_bootstrap([0, 0, 1, -1], [1, 1, 1, 1], seed=0, bounds=(-1, 1))
    )
    assert not cell["violation"]


def test_the_views_differ_where_the_gold_action_came_elsewhere():
    panel = Panel()
    panel.case("c", decisive=1)
    panel.planned("c")
    panel.run("c", [[REFUSE], [CALL]], True)
    found = panel.diagnose()
    assert found["outcomes"][["outcome_case_any", "outcome_decisive"]].to_numpy().tolist() == [["calibrated", "masked"]]
    assert found["cells"][["violation", "violation_decisive", "gap", "gap_decisive"]].to_numpy().tolist() == [
        [False, True, 0.0, 1.0]
    ]


def test_a_cell_with_nothing_keeps_its_row():
    panel = Panel()
    panel.case("c", decisive=1)
    panel.planned("c", trials=3)
    found = panel.diagnose()
    assert found["outcomes"]["status"].tolist() == ["missing"] * 3
    cell = found["cells"].iloc[0]
    assert cell[["n", "n_missing", "n_turns", "n_undecodable"]].tolist() == [0, 3, 0, 0]
    rates = [c for c, spec in tables.TABLES["cells"].columns.items() if spec.type in ("float", "bool")]
    assert cell[rates].isna().all()
    for name in ("turns", "confusion", "slack_reasons"):
        assert found[name].empty
    family = found["families"].iloc[0]
    assert family[["n_models", "n"]].tolist() == [0, 0]
    assert family[["acc", "acc_low", "rank_acc", "rank_gar"]].isna().all()


def test_an_empty_plan_gives_empty_tables():
    found = Panel().diagnose()
    assert all(frame.empty for frame in found.values())


def test_cut_short_is_a_verdict():
    panel = Panel()
    for case_id in "abc":
        panel.case(case_id, decisive=1)
    panel.planned(*"abc")
    panel.run("a", [[CALL], [REFUSE]], True, status="step_limit")
    panel.run("b", [[CALL]], False, status="context_exceeded")
    panel.run("c", [[CALL], [REFUSE]], None, status="context_exceeded")  # not looked at by the grader: failed
    found = panel.diagnose()
    cell = found["cells"].iloc[0]
    assert cell[["n", "n_missing", "n_context_exceeded", "n_step_limit"]].tolist() == [3, 0, 2, 1]
    assert found["outcomes"]["outcome_case_any"].tolist() == ["calibrated", "failed", "slack"]
    assert found["outcomes"]["passed"].tolist() == [True, False, False]


def test_undecodable_emissions_are_counted_where_they_stand():
    panel = Panel()
    for case_id in "ab":
        panel.case(case_id, decisive=1)
    panel.planned(*"ab")
    bad = [EMPTY, E(None, "truncated"), E(None, "malformed_call")]
    panel.run("a", [bad, [E(None, "context_exceeded")]], False, status="context_exceeded")
    panel.run("b", [bad, [E(None, "infra_error")]], None, status="infra_error")
    assert panel.diagnose()["cells"]["n_undecodable"].tolist() == [3]


def test_several_trials_are_bootstrapped_by_cluster():
    panel = Panel()
    results = {"a": (True, False), "b": (True, True), "c": (False, False)}
    for case_id in results:
        panel.case(case_id, decisive=1)
    panel.planned(*results, trials=2)
    for case_id, passes in results.items():
        for trial, passed in enumerate(passes):
            panel.run(case_id, [[CALL], [ASK]], passed, trial=trial)
    found = panel.diagnose(seed=7)
    cell = found["cells"].iloc[0]
    assert (cell["n"], cell["acc"]) == (6, 0.5)
    assert (cell["acc_low"], cell["acc_high"]) == cluster_bootstrap([1, 2, 0], [2, 2, 2], seed=7)
    # All clusters agree on a recall of 0: three clusters, not six trials.
    assert cell["gar_case_any_high"] == pytest.approx(proportion_confint(0, 3, method="wilson")[1])


def test_gar_turn_is_clustered_by_case():
    panel = Panel()
    for case_id in "abc":
        panel.case(case_id, decisive=1)
    panel.planned(*"abc")
    panel.run("a", [[CALL], [REFUSE]], True)
    panel.run("b", [[CALL], [CALL]], True)
    panel.run("c", [[ASK], [CALL]], True)
    cell = panel.diagnose(seed=2)["cells"].iloc[0]
    assert (cell["gar_turn_low"], cell["gar_turn_high"]) == cluster_bootstrap([2, 1, 0], [2, 2, 2], seed=2)


def test_slack_reasons():
    panel = Panel()
    reasons = ["state", "state", "response", None, None]
    for i, reason in enumerate(reasons):
        panel.case(f"c{i}", decisive=1)
        status = "step_limit" if i == 4 else "done"
        panel.run(f"c{i}", [[CALL], [REFUSE]], False, reason=reason, status=status)
    panel.case("masked", decisive=1)
    panel.run("masked", [[CALL], [CALL]], True)
    panel.case("failed", decisive=1)
    panel.run("failed", [[CALL], [CALL]], False, reason="elsewhere")
    panel.planned(*(f"c{i}" for i in range(5)), "masked", "failed")
    found = panel.diagnose()["slack_reasons"]
    got = {r.reason: (r.n, r.share, r.share_low, r.share_high) for r in found.itertuples()}
    expected = {
        name: (k, k / 5, *proportion_confint(k, 5, method="wilson"))
        for name, k in {"state": 2, "response": 1, "unstated": 1, "step_limit": 1}.items()
    }
    assert got == {name: pytest.approx(values, abs=1e-12) for name, values in expected.items()}


def test_without_slack_there_are_no_reasons():
    panel = Panel()
    panel.case("c", decisive=1)
    panel.planned("c")
    panel.run("c", [[CALL], [REFUSE]], True)
    found = panel.diagnose()["slack_reasons"]
    assert found.empty
    assert list(found.columns) == list(tables.TABLES["slack_reasons"].columns)


def family_panel():
    """m1 and m2 of family x, m3 of y, m4 of z, m5 of z without a run; acc 1/4, 3/4, 1/2, 1/2; gar 1, 0, 1/4, 0."""
    panel = Panel(families={"m1": "x", "m2": "x", "m3": "y", "m4": "z", "m5": "z"})
    ids = [f"c{i}" for i in range(4)]
    for case_id in ids:
        panel.case(case_id, decisive=1)
    counts = {"m1": (1, 4), "m2": (3, 0), "m3": (2, 1), "m4": (2, 0)}
    for model in panel.families:
        panel.planned(*ids, cell=(model, *NOW[1:]))
        for i, case_id in enumerate(ids if model in counts else []):
            passes, golds = counts[model]
            panel.run(case_id, [[CALL], [REFUSE if i < golds else ASK]], i < passes, cell=(model, *NOW[1:]))
    return panel


def test_families_by_hand():
    found = family_panel().diagnose()["families"].set_index("family")
    columns = ["n_models", "n", "acc", "gar_case_any", "share_masked", "rank_acc", "rank_gar"]
    assert found.loc["x", columns].tolist() == [2, 8, 0.5, 0.5, 3 / 8, 2, 1]
    assert found.loc["y", columns].tolist() == [1, 4, 0.5, 0.25, 0.25, 2, 2]
    assert found.loc["z", columns].tolist() == [1, 4, 0.5, 0.0, 0.5, 2, 3]


def test_families_tie_whatever_the_last_bit_of_their_means():
    panel = Panel(families={"m1": "x", "m2": "x", "m3": "y"})
    ids = [f"c{i}" for i in range(10)]
    for case_id in ids:
        panel.case(case_id, decisive=1)
    for model, passes in {"m1": 1, "m2": 7, "m3": 4}.items():
        panel.planned(*ids, cell=(model, *NOW[1:]))
        for i, case_id in enumerate(ids):
            panel.run(case_id, [[CALL], [ASK]], i < passes, cell=(model, *NOW[1:]))
    found = panel.diagnose()["families"]
    assert found["acc"].nunique() == 2  # 0.4 and 0.39999999999999997
    assert found["rank_acc"].tolist() == [1.5, 1.5]


def test_a_family_is_resampled_together():
    found = family_panel().diagnose(seed=3)["families"].set_index("family")
    # Both models of x have one row a cluster, so its mean is the mean of the clusters' sums.
    ends = cluster_bootstrap([2, 1, 1, 0], [2, 2, 2, 2], seed=3)
    assert found.loc["x", ["acc_low", "acc_high"]].tolist() == pytest.approx(list(ends), abs=1e-12)
    # In x every cluster has one recall of two (m1 always, m2 never): agreed, and yet not certain.
    assert found.loc["x", "gar_case_any_low"] < 0.5 < found.loc["x", "gar_case_any_high"]


@pytest.mark.parametrize("seed", range(6))
def test_identity_and_contract_on_random_panels(seed):
    found = random_panel(seed).diagnose(seed)
    cells, outcomes = found["cells"], found["outcomes"]
    for suffix, view in (("", "case_any"), ("_decisive", "decisive")):
        lost = cells[f"share_masked{suffix}"] - cells[f"share_slack{suffix}"]
        gap = cells[f"gap{suffix}"]
        assert lost.notna().sum() >= (12 if view == "case_any" else 10)
        np.testing.assert_allclose(cells["acc"] - cells[f"gar_{view}"], lost, atol=1e-12)
        np.testing.assert_allclose(gap, lost, atol=1e-12)
        shares = sum(cells[f"share_{o}{suffix}"] for o in tables.OUTCOMES)
        np.testing.assert_allclose(shares.dropna(), 1, atol=1e-12)
        violated = cells[f"violation{suffix}"]
        assert (violated.dropna() == (lost.dropna() > 0)).all()
    # Fixed denominators: every planned run is there, with a verdict or missing.
    assert (cells["n"] + cells["n_missing"]).sum() == len(outcomes)
    assert outcomes["passed"].isna().sum() == cells["n_missing"].sum() > 0
    for name, frame in found.items():
        spec = tables.TABLES[name].columns
        for rate in (c for c in spec if f"{c}_low" in spec):
            known = frame.dropna(subset=rate)
            assert (known[f"{rate}_low"] <= known[rate] + 1e-12).all(), (name, rate)
            assert (known[rate] <= known[f"{rate}_high"] + 1e-12).all(), (name, rate)
            assert (known[f"{rate}_low"] >= (-1 if "gap" in rate else 0)).all()
            assert (known[f"{rate}_high"] <= 1).all()
    total = found["confusion"].groupby([*tables.CELL, "labeller", "gold_action"])["share"].sum()
    np.testing.assert_allclose(total, 1)


def test_a_broken_identity_names_the_cell():
    table = pd.DataFrame(
        {
            **dict(zip([*tables.CELL, "gold_action", "labeller"], [["m"], ["s"], ["p"], ["ASK"], ["l"]], strict=True)),
            **{"acc_in_case_any": 0.5, "gar_case_any": 0.25, "share_masked": 0.25, "share_slack": 0.0},
            **{
                "acc_in_decisive": 0.5,
                "gar_decisive": 0.25,
                "share_masked_decisive": 0.25,
                "share_slack_decisive": 0.0,
            },
        }
    )
    check_identity(table)
    for change in ({"share_slack_decisive": 0.01}, {"share_slack_decisive": np.nan}):
        with pytest.raises(ValueError, match=r"identity .* decisive view of \{'model': 'm', 'scenario': 's'"):
            check_identity(table.assign(**change))
    with pytest.raises(ValueError, match="case_any view"):
        check_identity(table.assign(gar_case_any=0.3))


def same(left, right):
    for name in left:
        pd.testing.assert_frame_equal(left[name], right[name], check_exact=True, obj=name)


def test_the_order_of_rows_moves_nothing():
    panel = random_panel(3)
    given = {name: frame.sample(frac=1, random_state=5) for name, frame in panel.tables().items()}
    same(panel.diagnose(), panel.diagnose(**given, plan=panel.plan[::-1]))


def test_another_model_moves_nothing():
    panel = random_panel(4, models=3)
    both = panel.diagnose()
    alone = panel.diagnose(plan=[cell for cell in panel.plan if cell.model == "m1"])
    for name in ("outcomes", "turns", "confusion", "cells", "slack_reasons"):
        mine = both[name][both[name]["model"] == "m1"].reset_index(drop=True)
        pd.testing.assert_frame_equal(mine, alone[name], check_exact=True, obj=name)
    # m1 is all of its family; only its ranks may move.
    kept = [c for c in both["families"] if not c.startswith("rank")]
    mine = both["families"].query("family == 'f1'").reset_index(drop=True)
    pd.testing.assert_frame_equal(mine[kept], alone["families"][kept], check_exact=True)


def test_the_seed_moves_intervals_only():
    panel = random_panel(5)
    left, right = panel.diagnose(0)["cells"], panel.diagnose(1)["cells"]
    ends = [c for c in left if c.endswith(("_low", "_high"))]
    pd.testing.assert_frame_equal(left.drop(columns=ends), right.drop(columns=ends), check_exact=True)
    assert not left[ends].equals(right[ends])


def test_tables_read_back_from_parquet_give_the_same(tmp_path):
    panel = random_panel(6, models=1, cases=4)
    given = {}
    for name, frame in panel.tables().items():
        tables.write(name, frame, tmp_path / f"{name}.parquet")
        given[name] = tables.read(name, tmp_path / f"{name}.parquet")
    same(panel.diagnose(), panel.diagnose(**given))


def test_tables_without_rows_as_read():
    panel = four_outcomes()
    none = {name: tables.frame(name, []) for name in ("trajectories", "actions", "grades")}
    assert panel.diagnose(**none)["cells"]["n_missing"].tolist() == [6]


def test_rows_outside_the_plan_are_not_looked_at():
    panel = four_outcomes()
    panel.run("stranger", [[CALL]], True)
    same(four_outcomes().diagnose(), panel.diagnose())


def test_each_cell_is_judged_by_the_revision_it_was_planned_with():
    panel = four_outcomes()
    given = panel.tables()
    other = given["cases"].assign(revision="r2", gold_actions='["TOOL_CALL"]')
    cases = pd.concat([given["cases"], other])
    (cell,) = panel.plan
    for revision, gold in ((given["cases"]["revision"].iloc[0], "REFUSE"), ("r2", "TOOL_CALL")):
        found = panel.diagnose(cases=cases, plan=[replace(cell, revision=revision)])
        assert set(found["cells"]["gold_action"]) == {gold}


def test_contradictions_are_refused():
    panel = four_outcomes()
    given = panel.tables()
    with pytest.raises(ValueError, match=r"planned, but not in the table cases.*'masked0'"):
        panel.diagnose(cases=given["cases"].query("case_id != 'masked0'"))
    with pytest.raises(ValueError, match=r"planned twice.*'calibrated0'"):
        panel.diagnose(plan=panel.plan * 2)
    with pytest.raises(ValueError, match="more than one revision in the table cases: bfcl-miss_func"):
        panel.diagnose(cases=pd.concat([given["cases"], given["cases"].assign(revision="r2")]))
    with pytest.raises(ValueError, match="models without a family: \\['model'\\]"):
        panel.diagnose(families={})
    unclear = typed("grades", [r | {"passed": None} for r in panel.rows["grades"]])
    with pytest.raises(ValueError, match="done, but neither passed nor failed"):
        panel.diagnose(grades=unclear)
