"""Recorded conversations beside a scripted policy, through the workflow."""

from __future__ import annotations

import pytest

from tests.end_to_end.conftest import policies
from toolcal import tables


@pytest.mark.slow
def test_runs_with_tasks_of_their_own_stand_beside_others(project, recorded):
    project.in_one_process = True
    config = policies("oracle", limit=2, scenarios=("miss_func",))
    config["scenarios"] |= {"tau2-airline": {"ask_tasks": "published"}, "tau1-airline": None}
    for name, path, form in (
        ("gpt-4o", "tau2/gpt-4o-2024-11-20_airline_50.json", "tau2"),
        ("qwen", "tau2/qwen2.5-7b_airline_50.json", "tau2"),
        ("old", "tau1", "tau1"),
    ):
        config["models"][name] = {"source": "recorded", "format": form, "family": name, "results": str(recorded / path)}
    output = project.snakemake(config=config)
    assert "regrade_differs" not in output
    cells = tables.read("cells", project.results("diagnosis/cells.parquet"))
    acc = cells.groupby(["model", "scenario"]).apply(lambda rows: rows.set_index("gold_action")["n"].to_dict())
    assert acc["gpt-4o", "tau2-airline"] == {"ASK": 8, "REFUSE": 7, "TOOL_CALL": 43}
    assert acc["old", "tau1-airline"] == {"REFUSE": 7, "TOOL_CALL": 43}
    assert ("oracle", "bfcl-miss_func") in acc
    assert ("oracle", "tau2-airline") not in acc
    gar = cells.set_index(["model", "gold_action"])["gar_case_any"]
    assert gar["gpt-4o"].to_dict() == {"ASK": 1.0, "REFUSE": pytest.approx(6 / 7), "TOOL_CALL": pytest.approx(20 / 43)}
    assert gar["old"].isna().to_dict() == {"REFUSE": False, "TOOL_CALL": True}
    free = cells[cells["scenario"].str.startswith("tau")]
    assert free[["acc_strict", "gar_turn", "gar_decisive"]].isna().all(axis=None)
    grades = tables.read("grades", *project.results("grades").rglob("*.parquet"))
    assert grades.groupby("model")["passed"].mean().to_dict() == {
        "gpt-4o": 0.46,
        "old": 0.42,
        "oracle": 1,
        "qwen": 0.18,
    }
    assert project.plan(config=config) == {}
    assert project.plan("estimate", config=config)["recordings"] == 0
