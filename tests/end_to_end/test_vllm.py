"""Runs of models that vLLM serves, with the stand-in executable: how often a server is started, and what ends it."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import sys

import pandas as pd
import pytest

from tests.conftest import ROOT
from tests.end_to_end.conftest import copy_project, scripts_in
from tests.models.test_vllm import gone, lives, processes
from tests.timing import best_of, until, wall
from toolcal import tables

pytestmark = pytest.mark.slow

MODEL = "Qwen3-0.6b+x@1.0_a"  # all that an id may hold
SCENARIOS = ("base", "miss_func")
UNLIKE = ["latency", "cached"]
# The stand-in, with answers that take a moment, and its times of start and end in a file.
VLLM = f"""#!{sys.executable}
import http.server, json, os, runpy, time

class Slow(http.server.BaseHTTPRequestHandler):
    def handle_one_request(self):
        time.sleep(float(os.environ.get("STANDIN_VLLM_LATENCY", 0)))
        super().handle_one_request()

http.server.BaseHTTPRequestHandler = Slow
begin = time.time()
runpy.run_path({str(ROOT / "tests/standins/vllm")!r}, run_name="__main__")
with open("served.jsonl", "a") as file:
    print(json.dumps([begin, time.time()]), file=file)
"""


@pytest.fixture(scope="module")
def executable(tmp_path_factory):
    path = tmp_path_factory.mktemp("bin") / "vllm"
    path.write_text(VLLM)
    path.chmod(0o755)
    return str(path)


@pytest.fixture(scope="module")
def served_by(executable):
    """Makes a configuration of models that vLLM serves."""

    def make(*names, scenarios=SCENARIOS, limit=3, **entry):
        entry = {
            "source": "vllm",
            "family": "Qwen3",
            "model": "Qwen/Qwen3-0.6B",
            "executable": executable,
            "tool_parser": "hermes",
            "start_timeout": 30,
            "attempts": 2,
            "parameters": {"max_tokens": 200},
        } | entry
        return {
            "seed": 0,
            "labellers": ["paper_like"],
            "scenarios": {f"bfcl-{name}": {"limit": limit} for name in scenarios},
            "models": dict.fromkeys(names or (MODEL,), entry),
        }

    return make


def targets(*scenarios, model=MODEL):
    return [f"results/trajectories/{model}/bfcl-{name}.baseline.parquet" for name in scenarios]


def trajectories(project, *scenarios):
    return tables.read("trajectories", *(project.folder / path for path in targets(*scenarios or SCENARIOS)))


def starts(project):
    path = project.folder / "starts.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture(scope="module")
def finished(tmp_path_factory, served_by):
    """A project in which the model has run."""
    project = copy_project(tmp_path_factory.mktemp("finished"), in_one_process=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STANDIN_VLLM_STARTS", "starts.jsonl")
        project.said = project.snakemake(*targets(*SCENARIOS), config=served_by())
    return project


@pytest.fixture
def again(finished, tmp_path, monkeypatch):
    """A copy of it as it stands, to be changed."""
    monkeypatch.setenv("STANDIN_VLLM_STARTS", "starts.jsonl")
    return finished.copy(tmp_path)


@pytest.fixture
def unasked(again):
    """A copy of it in which the model has not run."""
    for part in ("trajectories", "journal", "logs/trajectories"):
        shutil.rmtree(again.results(part))
    (again.folder / "starts.jsonl").unlink()
    return again


def test_one_start_serves_all_cells(finished, served_by):
    [start] = starts(finished)
    assert gone(processes(start), 0)
    data = trajectories(finished)
    assert data.groupby("scenario")["case_id"].nunique().to_dict() == {"bfcl-base": 3, "bfcl-miss_func": 3}
    assert set(data["status"]) == {"ok"}
    assert data["executed"].sum() > 0
    assert not data["cached"].any()
    assert finished.plan(*targets(*SCENARIOS), config=served_by()) == {}


def test_a_scenario_more_is_one_start_more_and_asks_for_its_own_cell_only(again, served_by):
    more = (*SCENARIOS, "miss_param")
    again.in_one_process = True
    again.snakemake(*targets(*more), config=served_by(scenarios=more))
    assert len(starts(again)) == 2
    cached = trajectories(again, *more).groupby("scenario")["cached"].agg(["min", "max"])
    assert cached.T.to_dict("list") == {
        "bfcl-base": [True, True],
        "bfcl-miss_func": [True, True],
        "bfcl-miss_param": [False, False],
    }


def test_what_is_in_the_journal_needs_no_start(again, finished, served_by):
    shutil.rmtree(again.results("trajectories"))
    again.in_one_process = True
    again.snakemake(*targets(*SCENARIOS), config=served_by(executable="no-such-vllm"))
    assert len(starts(again)) == 1
    data = trajectories(again)
    assert data["cached"].all()
    pd.testing.assert_frame_equal(data.drop(columns="cached"), trajectories(finished).drop(columns="cached"))


def test_a_server_that_dies_and_a_run_that_is_killed_cost_nothing_that_was_answered(
    unasked, finished, served_by, monkeypatch
):
    project, config = unasked, served_by(concurrency=2)
    monkeypatch.setenv("STANDIN_VLLM", "dies-after=10")
    project.in_one_process = True
    said = project.snakemake(*targets(*SCENARIOS), config=config)
    project.in_one_process = False
    monkeypatch.delenv("STANDIN_VLLM")
    lines = [line for line in said.splitlines() if "have no answer" in line and line.startswith("toolcal: ")]
    why = re.escape(
        f"models.{MODEL}: its vLLM server ended with exit code 1: torch.AcceleratorError: CUDA error: an illegal memory"
    )
    assert len(lines) == len(SCENARIOS)
    for line, name in zip(lines, SCENARIOS, strict=True):
        told = f"toolcal: [123] cases of {re.escape(MODEL)} in bfcl-{name}.baseline have no answer"
        assert re.fullmatch(f"{told}, which is no failure of the model; the first: .*{why}.*; run again to go on", line)
    assert "Traceback" not in said
    assert len(starts(project)) == 1
    data = trajectories(project)
    assert set(data["status"]) == {"ok", "infra_error"}
    assert set(data["status"] == "infra_error") == {True, False}

    def killed():
        """Seconds until nothing is left of a run whose main process was killed."""
        kept, begun = calls_in_journal(project), len(starts(project))
        run = project.start(*targets(*SCENARIOS), config=config)
        until(lambda: calls_in_journal(project) >= kept + 3 or run.poll() is not None)
        assert len(starts(project)) == begun + 1
        jobs = scripts_in(project.folder)
        assert jobs
        left = [*processes(starts(project)[-1]), *jobs]
        assert all(map(lives, left))
        os.kill(run.pid, signal.SIGKILL)
        took = wall(lambda: until(lambda: not any(map(lives, left))))
        run.communicate()
        assert kept < calls_in_journal(project) < len(trajectories(finished))
        return took

    monkeypatch.setenv("STANDIN_VLLM_LATENCY", "0.15")
    assert best_of(killed, 6, repeats=3) < 6
    monkeypatch.delenv("STANDIN_VLLM_LATENCY")

    begun = len(starts(project))
    project.snakemake(*targets(*SCENARIOS), config=config)
    assert len(starts(project)) == begun + 1
    data = trajectories(project)
    assert set(data["cached"]) == {True, False}
    pd.testing.assert_frame_equal(data.drop(columns=UNLIKE), trajectories(finished).drop(columns=UNLIKE))
    assert project.plan(*targets(*SCENARIOS), config=config) == {}


def calls_in_journal(project):
    return sum(path.read_bytes().count(b"\n") for path in project.results("journal").rglob("*.jsonl"))


def test_servers_of_two_models_never_run_at_once_and_a_missing_command_is_told(unasked, served_by):
    config = served_by("a", "b", scenarios=("base",), limit=1)
    config["models"]["c"] = config["models"]["a"] | {"executable": "no-such-vllm"}
    said = unasked.snakemake(*(targets("base", model=model)[0] for model in "abc"), config=config, check=False)
    assert len(starts(unasked)) == 2
    served = sorted(json.loads(line) for line in (unasked.folder / "served.jsonl").read_text().splitlines())
    assert served[0][1] <= served[1][0]
    [line] = [line for line in said.splitlines() if "no-such-vllm" in line]
    assert line.startswith(
        "toolcal: models.c: no command no-such-vllm here: `pip install vllm` on a machine with a GPU"
    )
    assert "Traceback" not in said
    assert not unasked.results("trajectories/c/bfcl-base.baseline.parquet").exists()
