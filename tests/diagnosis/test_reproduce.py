"""Published figures beside ours: what is compared with what, and what is said where nothing can be."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest
import yaml

from tests.conftest import ROOT
from tests.diagnosis.panel import ASK, CALL, REFUSE, UNKNOWN, Panel
from toolcal import tables
from toolcal.diagnosis.reproduce import OVERALL, SCENARIOS, load_published, reproduce, shown
from toolcal.diagnosis.statistics import cluster_bootstrap, wilson

PUBLISHED = load_published()
GOLD = dict(zip(SCENARIOS, ("TOOL_CALL", "TOOL_CALL", "REFUSE", "ASK"), strict=True))
ANSWER = {"TOOL_CALL": CALL, "REFUSE": REFUSE, "ASK": ASK}


def figure(model="m", scenario="bfcl-miss_param", gold="ASK", measure="gar_case_any", value=0.5, note=None):
    return {
        **{"source": "a paper", "model": model, "scenario": scenario, "perturbation": "baseline"},
        **{"gold_action": gold, "measure": measure, "value": value, "note": note},
    }


def bfcl(passed, *, model="m", asked=None, labellers=("paper_like",)):
    """A model's runs: scenario -> verdict of each case, all with the gold action, but those that `asked` denies."""
    verdicts = tuple((scenario, tuple(of_cases)) for scenario, of_cases in passed.items())
    found = diagnosed(verdicts, model, None if asked is None else tuple(asked), labellers)
    return {name: data.copy() for name, data in found.items()}


@cache
def diagnosed(passed, model, asked, labellers):
    panel = Panel(labellers=labellers, families={model: "f"})
    for scenario, verdicts in passed:
        cell = (model, scenario, "baseline")
        ids = [f"{scenario}_{number}" for number in range(len(verdicts))]
        panel.planned(*ids, cell=cell)
        for number, (case_id, verdict) in enumerate(zip(ids, verdicts, strict=True)):
            panel.case(case_id, scenario=scenario, turns=1, gold=(GOLD[scenario],), cluster=str(number))
            took = ANSWER[GOLD[scenario]] if asked is None else asked[number]
            status = "infra_error" if verdict is None else "done"
            panel.run(case_id, [[took]], verdict, cell=cell, status=status)
    return panel.diagnose()


def compared(figures, found, names=None, writes=None, seed=0):
    names = names or {"m": "m"}
    table = reproduce(pd.DataFrame(figures), found["cells"], found["outcomes"], writes, names, seed=seed)
    tables.check("reproduce", table)
    return table


def one(*args, **kwargs):
    return compared(*args, **kwargs).iloc[0]


def write_rates(model="m", *, n=10, confirmed=0.3, acc=0.4, writes="all", reader="rule"):
    row = {"model": model, "scenario": "tau2-airline", "perturbation": "baseline", "writes": writes, "reader": reader}
    row |= {"n": n}
    for name, value in (("confirmed", confirmed), ("acc", acc), ("gap", acc - confirmed)):
        row |= {name: value, f"{name}_low": value - 0.1, f"{name}_high": value + 0.1}
    return row


def with_airline(panel_result, model="m"):
    """The same tables with a cell of tau2's airline, of which only the key matters here."""
    cell = dict.fromkeys(panel_result["cells"].columns) | {
        **{"model": model, "scenario": "tau2-airline", "perturbation": "baseline", "labeller": "paper_like"},
        **{"gold_action": "TOOL_CALL", "n": 4, "n_unknown": 0, "acc": 0.25, "acc_low": 0.1, "acc_high": 0.6},
    }
    return panel_result | {"cells": pd.concat([panel_result["cells"], pd.DataFrame([cell])])}


def test_the_published_figures_are_whole_and_in_range():
    key = list(tables.TABLES["reproduce"].key)
    assert not PUBLISHED.duplicated(key).any()
    assert PUBLISHED[["source", "model", "scenario", "perturbation", "measure", "value"]].notna().all(axis=None)
    below = PUBLISHED["measure"].isin(["writes_gap", "delta_acc", "delta_gar_case_any"])
    assert PUBLISHED["value"].between(np.where(below, -1, 0), 1).all()
    effects = PUBLISHED["measure"].str.startswith("delta_")
    assert set(PUBLISHED.loc[~effects, "perturbation"]) == {"baseline"}
    preset = yaml.safe_load((ROOT / "presets/paper.yaml").read_text(encoding="utf-8"))
    assert set(PUBLISHED.loc[effects, "perturbation"]) <= set(preset["perturbations"])
    ours = PUBLISHED[PUBLISHED["scenario"].isin(SCENARIOS)]
    assert (ours["gold_action"] == ours["scenario"].map(GOLD)).all()
    assert set(PUBLISHED["scenario"]) == {*SCENARIOS, OVERALL, "tau2-airline"}


@pytest.mark.parametrize(
    ("model", "scenario", "measure", "value"),
    [
        ("gpt-5.4", "bfcl-miss_func", "gar_case_any", 0.655),
        ("gpt-5.4", OVERALL, "acc", 0.5162),
        ("xLAM-2-8b-fc-r", "bfcl-miss_param", "gar_case_any", 0.195),
        ("xLAM-2-70b-fc-r", "bfcl-miss_param", "acc", 0.745),
        ("Hammer-2.1-7B", "bfcl-miss_param", "gar_case_any", 0.005),
        ("xLAM-2-8b-fc-r", "tau2-airline", "acc", 0.372),
        ("Qwen3-14B", "tau2-airline", "writes_confirmed", 0.288),
        ("gpt-5.4", "tau2-airline", "writes_gap", -0.162),
        ("ToolACE-2-8B", "bfcl-base", "delta_acc", -0.21),
    ],
)
def test_figures_as_published(model, scenario, measure, value):
    rows = PUBLISHED[PUBLISHED[["model", "scenario", "measure"]].eq([model, scenario, measure]).all(axis=1)]
    assert rows["value"].tolist() == [value]


def test_what_is_not_published_is_not_there():
    xlam = PUBLISHED[PUBLISHED["model"] == "xLAM-2-8b-fc-r"]
    assert set(xlam[xlam["scenario"] == "bfcl-miss_param"]["measure"]) == {"gar_case_any"}
    assert not set(xlam["scenario"]) & {"bfcl-base", "bfcl-long_context"}


def test_the_published_overall_accuracy_is_the_mean_over_the_four_scenarios():
    acc = PUBLISHED[(PUBLISHED["model"] == "gpt-5.4") & (PUBLISHED["measure"] == "acc")].set_index("scenario")["value"]
    assert acc[list(SCENARIOS)].mean() == pytest.approx(acc[OVERALL], abs=1e-4)


def test_a_rate_of_ours_with_interval_difference_and_count():
    found = bfcl({"bfcl-miss_param": [True, False, False, False]}, asked=[ASK, ASK, ASK, CALL])
    gar, acc = tables.records(compared([figure(value=0.5), figure(measure="acc", value=0.9)], found))
    low, high = wilson(3, 4)
    assert (gar["ours"], gar["n"], gar["panel_model"], gar["labeller"]) == (0.75, 4, "m", "paper_like")
    assert (gar["ours_low"], gar["ours_high"]) == (low, high)
    assert (gar["difference"], gar["inside"], gar["why"]) == (0.25, True, None)
    assert (acc["ours"], acc["inside"], acc["labeller"]) == (0.25, False, None)
    assert acc["difference"] == pytest.approx(-0.65)


def test_a_figure_at_the_end_of_the_interval_is_inside():
    found = bfcl({"bfcl-miss_param": [True] * 4})
    assert one([figure(value=1.0)], found)["inside"]
    assert one([figure(value=float(wilson(4, 4)[0]))], found)["inside"]


def test_names_are_compared_without_case_and_the_published_name_comes_before_the_id():
    found = bfcl({"bfcl-miss_param": [True]}, model="mine")
    assert one([figure("Qwen3-8B")], found, {"mine": "QWEN3-8b"})["panel_model"] == "mine"
    assert one([figure("mine")], found, {"mine": "QWEN3-8b"})["why"] == "no model of the panel is named mine"


def test_two_entries_of_one_name_each_have_their_benchmark():
    found = with_airline(bfcl({"bfcl-miss_param": [True]}), model="m-recorded")
    names = {"m": "M", "m-recorded": "M"}
    figures = [figure("M"), figure("M", "tau2-airline", "TOOL_CALL", "acc"), figure("M", "bfcl-base", "TOOL_CALL")]
    rows = compared(figures, found, names)
    assert rows["panel_model"].tolist()[:2] == ["m", "m-recorded"]
    assert rows["ours"].tolist()[:2] == [1, 0.25]
    assert (rows["why"][2], pd.isna(rows["panel_model"][2])) == ("scenario not run", True)


def test_two_models_of_one_name_in_one_scenario_are_not_chosen_from():
    found = bfcl({"bfcl-miss_param": [True]})
    found["cells"] = pd.concat([found["cells"], found["cells"].assign(model="m2")])
    row = one([figure("M")], found, {"m": "M", "m2": "M"})
    assert row["why"] == "2 models of the panel are named M: m, m2"
    assert pd.isna(row["ours"])


def test_why_there_is_no_figure_of_ours():
    found = bfcl({"bfcl-miss_param": [True, True]}, asked=[ASK, UNKNOWN])
    assert one([figure("other")], found)["why"] == "no model of the panel is named other"
    row = one([figure(scenario="bfcl-base", gold="TOOL_CALL")], found)
    assert (row["why"], row["panel_model"]) == ("scenario not run", "m")
    overall = one([figure(scenario=OVERALL, gold=None, measure="acc")], found)
    assert overall["why"] == "scenario not run: bfcl-base, bfcl-long_context, bfcl-miss_func"
    assert one([figure(gold="REFUSE")], found)["why"] == "no case has the gold action REFUSE"
    unknown = one([figure()], found)
    assert (unknown["why"], unknown["n"]) == ("null: of 1 of 2 case-trials it was not recorded", 2)
    nothing = one([figure()], bfcl({"bfcl-miss_param": [None]}))
    assert (nothing["why"], nothing["n"]) == ("null: no case-trial has a verdict", 0)
    empty = ["ours", "ours_low", "ours_high", "difference", "inside"]
    assert pd.concat([row, overall, unknown, nothing], axis=1).loc[empty].isna().all(axis=None)


def test_without_the_published_rules_a_labelled_rate_is_not_compared_but_an_accuracy_is():
    found = bfcl({"bfcl-miss_param": [True]}, labellers=("others",))
    gar, acc = tables.records(compared([figure(), figure(measure="acc")], found))
    assert gar["why"] == "the run was not labelled by paper_like"
    assert (acc["ours"], acc["why"]) == (1, None)


def test_of_several_labellers_the_published_rules_count():
    both = bfcl({"bfcl-miss_param": [True, True]}, labellers=("another", "paper_like"))
    other = both["cells"]["labeller"] == "another"
    both["cells"].loc[other, "gar_case_any"] = 0.0
    assert one([figure()], both)["ours"] == 1
    assert one([figure(measure="acc")], both)["n"] == 2


OVER = figure(scenario=OVERALL, gold=None, measure="acc")


def test_the_overall_accuracy_is_the_mean_of_the_scenarios_whatever_their_sizes():
    sizes = {"bfcl-base": 8, "bfcl-long_context": 4, "bfcl-miss_func": 2, "bfcl-miss_param": 2}
    rates = {"bfcl-base": 0.25, "bfcl-long_context": 0.5, "bfcl-miss_func": 0.5, "bfcl-miss_param": 0.0}
    found = bfcl({name: [i < rates[name] * n for i in range(n)] for name, n in sizes.items()})
    row = one([OVER], found)
    assert row["ours"] == pytest.approx(0.3125)
    assert (row["n"], row["panel_model"]) == (16, "m")
    assert row["ours_low"] <= row["ours"] <= row["ours_high"]


def test_the_overall_interval_resamples_cases_of_one_number_together():
    rng = np.random.default_rng(1)
    easy = rng.random(30) < 0.5
    alike = bfcl(dict.fromkeys(SCENARIOS, easy.tolist()))
    row = one([OVER], alike, seed=5)
    expected = cluster_bootstrap(easy.astype(float), np.ones(30), seed=5)
    assert (row["ours_low"], row["ours_high"]) == pytest.approx(tuple(map(float, expected)))
    mixed = bfcl({name: rng.permutation(easy).tolist() for name in SCENARIOS})
    apart = one([OVER], mixed, seed=5)
    assert apart["ours"] == row["ours"]
    assert apart["ours_high"] - apart["ours_low"] < 0.75 * (row["ours_high"] - row["ours_low"])


def test_the_overall_accuracy_counts_a_case_once_however_it_is_labelled():
    verdicts = {name: [True, False, False] for name in SCENARIOS}
    single, double = bfcl(verdicts), bfcl(verdicts, labellers=("another", "paper_like"))
    columns = ["ours", "ours_low", "ours_high", "n"]
    assert one([OVER], single)[columns].tolist() == one([OVER], double)[columns].tolist()


def test_an_overall_accuracy_with_a_scenario_without_verdicts_is_null():
    verdicts = {name: [True, False] for name in SCENARIOS} | {"bfcl-miss_func": [None, None]}
    row = one([OVER], bfcl(verdicts))
    assert (row["why"], row["n"]) == ("null: no case-trial of bfcl-miss_func has a verdict", 6)
    partly = {name: [True, False] for name in SCENARIOS} | {"bfcl-miss_func": [None, True]}
    assert one([OVER], bfcl(partly))["ours"] == pytest.approx((3 * 0.5 + 1) / 4)


WRITES = [
    figure(scenario="tau2-airline", gold=None, measure=f"writes_{name}", value=value)
    for name, value in (("confirmed", 0.35), ("acc", 0.9), ("gap", 0.05))
]


def test_rates_of_writes_count_all_calls_as_the_rule_reads_them():
    found = with_airline(bfcl({"bfcl-miss_param": [True]}))
    rates = pd.DataFrame(
        [write_rates(), write_rates(writes="executed", confirmed=0.9), write_rates(reader="a judge", confirmed=0.8)]
    )
    table = compared(WRITES, found, writes=rates)
    assert table["ours"].tolist() == pytest.approx([0.3, 0.4, 0.1])
    assert table["n"].tolist() == [10, 10, 10]
    assert table["inside"].tolist() == [True, False, True]
    assert table["labeller"].isna().all()


@pytest.mark.parametrize("rates", [None, tables.frame("write_rates", []), pd.DataFrame([write_rates("other")])])
def test_without_writes_the_line_says_so(rates):
    found = with_airline(bfcl({"bfcl-miss_param": [True]}))
    assert set(compared(WRITES, found, writes=rates)["why"]) == {"null: no write that needs the user's yes was made"}
    assert set(compared(WRITES, bfcl({"bfcl-miss_param": [True]}), writes=rates)["why"]) == {"scenario not run"}


def test_writes_without_a_verdict_are_null():
    found = with_airline(bfcl({"bfcl-miss_param": [True]}))
    rates = pd.DataFrame([write_rates(n=0, confirmed=np.nan, acc=np.nan)])
    table = compared(WRITES, found, writes=rates)
    assert set(table["why"]) == {"null: no write has a verdict"}
    assert table["n"].tolist() == [0, 0, 0]


def test_lines_stand_in_the_published_order_with_their_notes():
    found = bfcl({"bfcl-miss_param": [True]})
    table = compared(PUBLISHED, found, {"m": "Qwen3-8B"})
    key = list(tables.TABLES["reproduce"].key)
    pd.testing.assert_frame_equal(table[key], PUBLISHED[key], check_dtype=False)
    assert table["note"].fillna("").tolist() == PUBLISHED["note"].fillna("").tolist()
    assert (table["ours"].isna() == table["why"].notna()).all()


def test_the_text_has_a_line_a_figure_and_one_for_the_rest():
    found = bfcl({"bfcl-miss_param": [True, False, False, False]}, asked=[ASK, ASK, ASK, CALL])
    figures = [figure(value=0.5), figure(measure="acc", value=0.9), figure("a"), figure("b")]
    figures += [figure(scenario="bfcl-base", gold="TOOL_CALL")]
    title, head, gar, acc, gap, rest = shown(compared(figures, found)).splitlines()
    assert title == "Published figures and ours (in %; ! = the published one lies outside our 95 % interval)"
    assert head.split() == ["model", "scenario", "gold", "measure", "published", "ours", "difference", "n"]
    assert gar.split() == [
        "m",
        "bfcl-miss_param",
        "ASK",
        "gar_case_any",
        "50.0",
        "75.0",
        "[30.1,",
        "95.4]",
        "+25.0",
        "4",
    ]
    assert acc.split()[-3:] == ["-65.0", "!", "4"]
    assert gap == ""
    assert rest == (
        "3 of 5 published figures have none of ours beside them: "
        "no model of the panel has that name (2); scenario not run (1)."
    )


def test_a_panel_without_a_published_model_gets_one_line():
    text = shown(compared(PUBLISHED, bfcl({"bfcl-base": [True]}, model="oracle"), {"oracle": "oracle"}))
    assert "\n" not in text
    assert text.startswith("None of the 34 published figures is of a model of this panel (published_as")


def test_an_effect_is_that_of_the_pairs():
    row = {"model": "m", "scenario": "bfcl-base", "perturbation": "sri-full", "gold_action": "TOOL_CALL"}
    effects = pd.DataFrame(
        [
            row
            | {
                "labeller": labeller,
                "measure": measure,
                "n": 8,
                "delta": d,
                "delta_low": d - 0.1,
                "delta_high": d + 0.1,
            }
            for labeller, measure, d in (("paper_like", "acc", 0.25), ("refined", "gar_case_any", 0.5))
        ]
    )
    panel = Panel(families={"m": "f"})
    for perturbation in ("baseline", "sri-full"):
        cell = ("m", "bfcl-base", perturbation)
        panel.planned("a", cell=cell)
        panel.run("a", [[CALL]], True, cell=cell)
    panel.case("a", scenario="bfcl-base", turns=1, gold=("TOOL_CALL",))
    found = panel.diagnose()
    figures = [
        figure(scenario="bfcl-base", gold="TOOL_CALL", measure=measure, value=0.115) | {"perturbation": "sri-full"}
        for measure in ("delta_acc", "delta_gar_case_any")
    ]
    names = {"m": "m"}
    acc, gar = tables.records(
        reproduce(pd.DataFrame(figures), found["cells"], found["outcomes"], None, names, seed=0, effects=effects)
    )
    assert (acc["ours"], acc["n"], acc["inside"]) == (0.25, 8, False)
    assert (gar["ours"], gar["labeller"]) == (None, "paper_like"), "the effect of other labels is not the published one"
