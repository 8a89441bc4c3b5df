"""The default configuration's policies on all 800 cases, and its language model on one, against the known answers."""

from __future__ import annotations

import json

import pytest
import yaml

from tests.conftest import CATEGORIES, ROOT
from tests.end_to_end.conftest import copy_project
from toolcal import tables

pytestmark = [pytest.mark.slow, pytest.mark.model]

MISS = ("bfcl-miss_func", "bfcl-miss_param")
WHOLE = ("bfcl-base", "bfcl-long_context")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    config = yaml.safe_load((ROOT / "config.yaml").read_text())
    config["labellers"] = ["paper_like"]
    config["models"]["smollm2-135m"] |= {"scenarios": ["bfcl-miss_param"], "limit": 1}
    config["perturbations"]["ask-hint"]["models"] = ["oracle"]
    del config["confidence"]  # the model would answer for minutes; test_answers has the study over an endpoint
    project = copy_project(tmp_path_factory.mktemp("known"), in_one_process=True)
    project.snakemake("diagnosis", "manifest", config=config)
    return project


@pytest.fixture(scope="module")
def cells(finished):
    data = tables.read("cells", finished.results("diagnosis", "cells.parquet"))
    data = data[data["perturbation"] == "baseline"]
    return data.set_index(["model", "scenario"])


def values(cells, model, scenarios, column):
    return [round(float(cells.loc[(model, scenario), column]), 3) for scenario in scenarios]


def test_turns_and_cases_that_count(cells):
    counts = {
        scenario: set(cells.xs(scenario, level="scenario").query("n == 200")["n_turns"]) for scenario in WHOLE + MISS
    }
    assert counts == {key: {731} for key in WHOLE} | {key: {931} for key in MISS}
    assert set(cells["n_missing"]) == {0}


def test_oracle_passes_everywhere_and_strictly(cells):
    for column in ("acc", "acc_strict", "gar_case_any", "gar_turn"):
        assert values(cells, "oracle", WHOLE + MISS, column) == [1, 1, 1, 1]
    assert values(cells, "oracle", MISS, "gar_decisive") == [1, 1]
    assert cells.loc["oracle"].loc[list(WHOLE), "gar_decisive"].isna().all()


@pytest.mark.parametrize(("policy", "strict"), [("explore_first", 0.99), ("guess_early", 0.995)])
def test_the_wrong_action_passes_every_case(cells, policy, strict):
    assert values(cells, policy, WHOLE + MISS, "acc") == [1, 1, 1, 1]
    assert values(cells, policy, WHOLE + MISS, "acc_strict") == [strict, strict, 0, 0]
    for column in ("gar_case_any", "gar_decisive", "gar_decisive_mutating"):
        assert values(cells, policy, MISS, column) == [0, 0]
    assert values(cells, policy, MISS, "gar_turn") == [0.785, 0.785]
    assert values(cells, policy, MISS, "share_masked") == [1, 1]
    assert cells.loc[policy].loc[list(MISS), "violation"].all()


@pytest.mark.parametrize(
    ("policy", "gar"), [("always_ask", [0, 0, 0, 1]), ("always_refuse", [0, 0, 1, 0]), ("silent", [0, 0, 0, 0])]
)
def test_the_right_action_alone_passes_nothing(cells, policy, gar):
    assert values(cells, policy, WHOLE + MISS, "gar_case_any") == gar
    assert values(cells, policy, MISS, "gar_decisive") == gar[2:]
    assert values(cells, policy, WHOLE + MISS, "acc") == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("model", "scenario", "perturbation", "column", "expected"),
    [
        ("halts_early", "bfcl-base", "sri-full", "acc", [0, 1]),
        ("calls_held_out", "bfcl-miss_func", "cri-bypass", "acc", [0.795, 1]),
        ("calls_held_out", "bfcl-miss_func", "cri-bypass", "gar_decisive", [0, 0]),
    ],
)
def test_a_probe_does_what_follows_by_hand(finished, model, scenario, perturbation, column, expected):
    data = tables.read("cells", finished.results("diagnosis", "cells.parquet"))
    found = data[(data["model"] == model) & (data["scenario"] == scenario) & (data["labeller"] == "paper_like")]
    by_perturbation = found.set_index("perturbation")[column]
    assert [by_perturbation[name] for name in ("baseline", perturbation)] == pytest.approx(expected)


def test_every_interval_holds_its_rate(cells):
    rates = [name.removesuffix("_low") for name in cells.columns if name.endswith("_low")]
    assert len(rates) == 16
    for rate in rates:
        shown = cells[cells[rate].notna()]
        assert ((shown[f"{rate}_low"] <= shown[rate]) & (shown[rate] <= shown[f"{rate}_high"])).all(), rate


def test_a_held_out_tool_is_run_and_flagged(finished):
    path = finished.results("trajectories", "oracle", "bfcl-miss_func.baseline.parquet")
    data = tables.read("trajectories", path)
    assert list(data[data["held_out"]]["case_id"]) == ["multi_turn_miss_func_49"]


def test_the_language_model_went_the_whole_way(finished, cells):
    row = cells.loc[("smollm2-135m", "bfcl-miss_param")]
    assert (row["n"], row["n_missing"], row["family"]) == (1, 0, "SmolLM2")
    path = finished.results("trajectories", "smollm2-135m", "bfcl-miss_param.baseline.parquet")
    data = tables.read("trajectories", path)
    assert not data["cached"].any()
    assert (data["prompt_tokens"] > 300).all()
    assert set(data["status"]) <= {"ok", "truncated", "empty", "malformed_call"}
    about = tables.metadata(path)["model"]["weights"]
    manifest = json.loads(finished.results("manifest.json").read_text())
    assert manifest["sha256"]["models/smollm2-135m/SmolLM2-135M-Instruct.Q4_1.gguf"] == about["sha256"]


def test_its_answers_are_asked_once(finished):
    """The tables of the cell gone, the journal answers: no model call is made again."""
    path = finished.results("trajectories", "smollm2-135m", "bfcl-miss_param.baseline.parquet")
    before = tables.read("trajectories", path)
    path.unlink()
    finished.snakemake(str(path.relative_to(finished.folder)), "--configfile", "given.yaml")
    after = tables.read("trajectories", path)
    assert after["cached"].all()
    assert after.drop(columns="cached").equals(before.drop(columns="cached"))


def test_the_default_panel_asks_the_language_model_for_eight_cases_a_scenario():
    entry = yaml.safe_load((ROOT / "config.yaml").read_text())["models"]["smollm2-135m"]
    assert entry["limit"] >= 8
    assert set(entry["scenarios"]) == {f"bfcl-{category}" for category in CATEGORIES if category != "long_context"}
