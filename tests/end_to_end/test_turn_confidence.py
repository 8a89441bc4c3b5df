"""Models asked after each turn, over an endpoint that plays along, in both benchmarks: tables, figure, what is off."""

from __future__ import annotations

import pytest

from tests.end_to_end.conftest import copy_project
from tests.standins.endpoint import endpoint
from tests.standins.player import completion, play
from toolcal import tables

CELLS = ("bfcl-miss_param", "tau2-airline")


def sure(body):
    if "before we go on" in str(body["messages"][-1]["content"]):
        return completion(body, {"content": f"Confidence: {50 + len(body['messages'])}"})
    return play(body)


def over(server, **changed):
    model = {"source": "api", "family": "f", "endpoint": "standin", "model": "openai/m", "deterministic": True}
    return {
        "seed": 1,
        "labellers": ["refined"],
        "scenarios": {name: {"limit": 3} for name in CELLS},
        "endpoints": {"standin": {"api_base": server.url, "concurrency": 8, "attempts": 1}},
        "models": {"m": model, "oracle": {"source": "policy", "policy": "oracle", "family": "policy/oracle"}},
    } | changed


@pytest.mark.slow
def test_the_option_adds_its_tables_and_figure_and_changes_no_other(tmp_path_factory):
    project = copy_project(tmp_path_factory.mktemp("sure"), in_one_process=True)
    with endpoint(sure) as server:
        project.snakemake(config=over(server))
        assert not project.results("turn_confidence").exists()
        assert not project.results("diagnosis/turn_calibration.parquet").exists()
        before = {name: tables.read(name, project.results(f"diagnosis/{name}.parquet")) for name in ("cells", "turns")}
        asked = len(server.seen)
        project.snakemake(config=over(server, turn_confidence={"scale": "percent"}))
        fresh = len(server.seen) - asked
    found = [
        tables.read("turn_confidence", project.results(f"turn_confidence/m/{name}.baseline.parquet")) for name in CELLS
    ]
    assert [len(rows) > 0 for rows in found] == [True, True]
    assert fresh == sum(map(len, found)), "the conversations came from the journals"
    assert all(rows["confidence"].between(0.5, 1).all() for rows in found)
    oracle = tables.read("turn_confidence", project.results("turn_confidence/oracle/bfcl-miss_param.baseline.parquet"))
    assert oracle.empty
    calibration = tables.read("turn_calibration", project.results("diagnosis/turn_calibration.parquet"))
    assert set(zip(calibration["model"], calibration["scenario"], strict=True)) == {("m", name) for name in CELLS}
    by_turn = calibration[calibration["question"] == "turn_gold"]
    assert set(by_turn["scenario"]) == {"bfcl-miss_param"}, "the user of the other speaks freely"
    assert project.results("figures/confidence_by_outcome.refined.svg").is_file()
    for name, rows in before.items():
        assert rows.equals(tables.read(name, project.results(f"diagnosis/{name}.parquet")))
    plan = project.plan(config=over(server, turn_confidence={"scale": "unit"}))
    assert plan["trajectories"] == plan["conversations"] == 1, "another scale asks anew where somebody is asked"
