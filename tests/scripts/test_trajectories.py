from __future__ import annotations

import json
import runpy
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest

from tests.conftest import ROOT
from tests.standins.endpoint import endpoint
from toolcal import configuration, perturbations, tables, unfinished
from toolcal.benchmarks import case_table
from toolcal.benchmarks.grades import grade_trajectories
from toolcal.models import policies
from toolcal.models.protocol import Reply
from toolcal.perturbations import registry

MAIN = runpy.run_path(str(ROOT / "scripts/trajectories.py"))["main"]


def journal_of(smk):
    return smk.params.cells[0]["journal"]


class Names(SimpleNamespace):
    """Snakemake's named values: by attribute and by key."""


@pytest.fixture
def smk(bfcl_cases, tmp_path):
    found = bfcl_cases["miss_param"][:3]
    tables.write("cases", case_table.to_frame(found, 0), tmp_path / "cases.parquet")
    tables.write("contexts", perturbations.to_frame(found, "baseline"), tmp_path / "contexts.parquet")
    return SimpleNamespace(
        input=Names(cases=[tmp_path / "cases.parquet"], contexts=[tmp_path / "contexts.parquet"]),
        output=Names(trajectories=[tmp_path / "t.parquet"], probe_events=[tmp_path / "e.parquet"]),
        config={
            "results": str(tmp_path),
            "endpoints": {},
            "limits": {},
            "models": {"m": {"source": "policy", "policy": "oracle", "family": "f"}},
        },
        params=Names(
            model="m",
            answers={"source": "policy", "policy": "oracle"},
            cells=[
                {
                    "scenario": "bfcl-miss_param",
                    "perturbation": "baseline",
                    "journal": str(tmp_path / "journal.jsonl"),
                    "replay": None,
                    "selection": {"limit": None, "case_ids": None},
                    "trials": 2,
                    "seed": 1,
                    "unfinished": 0,
                }
            ],
            code="abc",
        ),
        log=[str(tmp_path / "log")],
    )


def test_every_case_is_run_as_often_as_asked(smk):
    MAIN(smk)
    data = tables.read("trajectories", smk.output.trajectories[0])
    assert data.groupby("trial")["case_id"].nunique().to_dict() == {0: 3, 1: 3}
    assert unfinished.count(journal_of(smk)) == 0
    assert tables.metadata(smk.output.trajectories[0])["run"]["trials"] == 2


def test_a_cell_without_a_probe_has_no_events_and_one_with_a_probe_has_its_decisions(smk, bfcl_cases):
    MAIN(smk)
    assert tables.read("probe_events", smk.output.probe_events[0]).empty
    found = bfcl_cases["miss_param"][:3]
    spec = {"name": "p", "kind": "probe", "probe": "sri", "parameters": {"variant": "full"}}
    contexts = [registry.apply(case, spec, 0) for case in found]
    tables.write("contexts", perturbations.to_frame(found, "p", contexts), smk.input.contexts[0])
    smk.params.cells[0]["perturbation"] = "p"
    MAIN(smk)
    events = tables.read("probe_events", smk.output.probe_events[0])
    turns = sum(len(case.turns) for case in found)
    assert events["triggered"].sum() == 2 * turns
    assert set(events["perturbation"]) == {"p"}
    assert tables.metadata(smk.output.probe_events[0])["run"]["trials"] == 2


def test_a_case_that_is_left_out_is_not_run(smk, bfcl_cases):
    found = bfcl_cases["miss_param"][:3]
    contexts = [perturbations.baseline(case) for case in found]
    contexts[1] = replace(contexts[1], left_out="no tool to rename")
    tables.write("contexts", perturbations.to_frame(found, "p", contexts), smk.input.contexts[0])
    MAIN(smk)
    data = tables.read("trajectories", smk.output.trajectories[0])
    assert set(data["case_id"]) == {found[0].case_id, found[2].case_id}


def test_an_infrastructure_error_is_told_kept_apart_and_counted_once_a_run(smk, monkeypatch, capsys):
    whole = policies.Policy.respond

    async def broken(self, request):
        if request.case.case_id.endswith("_1") and request.turn == 1:
            return Reply({}, raw="connection refused", failure="infra_error")
        return await whole(self, request)

    monkeypatch.setattr(policies.Policy, "respond", broken)
    MAIN(smk)
    data = tables.read("trajectories", smk.output.trajectories[0])
    assert data["status"].value_counts()["infra_error"] == 2
    grades = grade_trajectories(data, tables.read("cases", smk.input.cases[0])).set_index("case_id")
    assert grades.loc["multi_turn_miss_param_1", "passed"].isna().all()
    assert grades.loc["multi_turn_miss_param_0", "passed"].all()
    assert unfinished.count(journal_of(smk)) == 1
    assert "toolcal: 2 cases of m in bfcl-miss_param.baseline have no answer" in capsys.readouterr().err
    monkeypatch.setattr(policies.Policy, "respond", whole)
    MAIN(smk)
    assert unfinished.count(journal_of(smk)) == 1


def test_a_run_that_asks_after_turns_leaves_every_other_file_as_it_is(smk, tmp_path, monkeypatch):
    """Byte by byte; and a question without an answer has the cell taken up again."""
    kept = [smk.output.trajectories[0], smk.output.probe_events[0]]
    MAIN(smk)
    without = [path.read_bytes() for path in kept]
    whole = policies.Policy.respond

    async def sure(self, request):
        if not request.beside:
            return await whole(self, request)
        if request.turn == 1:
            return Reply({}, raw="no route", failure="infra_error")
        return Reply({"role": "assistant", "content": "Confidence: 70"}, "stop")

    monkeypatch.setattr(policies.Policy, "respond", sure)
    monkeypatch.setattr("toolcal.confidence.turn_plan._CALLED", ("policy",))
    smk.config["turn_confidence"] = {"scale": "percent"}
    smk.output.turn_confidence = [tmp_path / "c.parquet"]
    MAIN(smk)
    assert [path.read_bytes() for path in kept] == without
    found = tables.read("turn_confidence", smk.output.turn_confidence[0])
    assert found["confidence"].dropna().unique().tolist() == [0.7]
    assert (found["status"] == "infra_error").sum() == 6
    assert tables.metadata(smk.output.turn_confidence[0])["question"] == {"scale": "percent", "version": 1}
    assert unfinished.count(journal_of(smk)) == 1


MEASURED = """
import runpy, sys, json
from types import SimpleNamespace
smk = SimpleNamespace(**json.loads(sys.argv[1]))
smk.input, smk.output, smk.params = (SimpleNamespace(**given) for given in (smk.input, smk.output, smk.params))
runpy.run_path(sys.argv[2])["main"](smk)
# Not ru_maxrss, which begins with the memory of the process that started this one.
print(next(int(line.split()[1]) // 1024 for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


@pytest.mark.slow
def test_a_query_cell_of_200_long_cases_and_128_calls_at_once_takes_little_memory(bfcl_cases, tmp_path):
    found = bfcl_cases["long_context"]
    tables.write("cases", case_table.to_frame(found, 0), tmp_path / "cases.parquet")
    tables.write("contexts", perturbations.to_frame(found, "baseline"), tmp_path / "contexts.parquet")
    model = {"source": "api", "family": "f", "model": "openai/m", "endpoint": "e"}
    run = {"selection": {"limit": None, "case_ids": None}, "trials": 1, "seed": 1, "unfinished": 0}
    with endpoint(latency=0.05) as server:
        config = {
            "scenarios": {"bfcl-long_context": None},
            "results": str(tmp_path),
            "endpoints": {"e": {"api_base": server.url, "concurrency": 128}},
            "models": {"m": model},
        }
        config = configuration.validated(config, configuration.load_schema(ROOT / "schemas/config.schema.yaml"))
        where = {
            "scenario": "bfcl-long_context",
            "perturbation": "baseline",
            "journal": f"{tmp_path}/journal/m/j.jsonl",
            "replay": None,
        }
        smk = {
            "input": {"cases": [f"{tmp_path}/cases.parquet"], "contexts": [f"{tmp_path}/contexts.parquet"]},
            "output": {"trajectories": [f"{tmp_path}/t.parquet"], "probe_events": [f"{tmp_path}/e.parquet"]},
            "config": config,
            "params": {"model": "m", "answers": {}, "cells": [where | run], "code": "abc"},
            "log": [f"{tmp_path}/log"],
        }
        command = [sys.executable, "-c", MEASURED, json.dumps(smk), str(ROOT / "scripts/trajectories.py")]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stderr[-3000:]
    data = tables.read("trajectories", tmp_path / "t.parquet")
    assert data["case_id"].nunique() == 200
    assert set(data["status"]) == {"ok"}
    assert server.most_at_once > 100
    assert int(ended.stdout) <= 600  # megabytes
