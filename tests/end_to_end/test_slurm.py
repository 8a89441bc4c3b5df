"""The workflow through a real Slurm: killed, one of its jobs cancelled, and finished with the tables of a local run."""

from __future__ import annotations

import importlib.util
import os
import re
import signal

import pandas as pd
import pytest

from tests.end_to_end.conftest import copy_project, policies
from tests.standins.cluster import cluster, missing
from tests.standins.endpoint import endpoint
from tests.standins.player import play
from tests.timing import until

PLUGIN = importlib.util.find_spec("snakemake_executor_plugin_slurm")
WHY_NOT = missing() if PLUGIN else "no snakemake-executor-plugin-slurm: uv sync --extra slurm"
KEY = "sk-standin-0123456789abcdef"
# As in the profile, but for what a cluster of one quiet node does not need.
PROFILE = (
    *("--workflow-profile", "profiles/slurm", "--retries", "0", "--latency-wait", "5"),
    *("--slurm-init-seconds-before-status-checks", "5"),
)

ASKED = [f"results/trajectories/{model}/bfcl-base.baseline.parquet" for model in ("oracle", "m1")]

pytestmark = [pytest.mark.slow, pytest.mark.slurm, pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)]


@pytest.fixture
def slurm(tmp_path, monkeypatch):
    folder = tmp_path / "slurm"
    folder.mkdir()
    with cluster(folder) as found:
        monkeypatch.setenv("SLURM_CONF", found.environment["SLURM_CONF"])
        yield found


def configuration(server):
    config = policies("oracle", limit=2, scenarios=("base",))
    config["endpoints"] = {"standin": {"api_base": server.url, "concurrency": 1, "api_key_env": "STANDIN_API_KEY"}}
    config["models"]["m1"] = {
        **{"source": "api", "family": "f", "model": "openai/m1", "endpoint": "standin"},
        "parameters": {"max_tokens": 500},
    }
    return config


def tables_of(project):
    paths = project.results().rglob("*.parquet")
    return {
        str(path.relative_to(project.results())): pd.read_parquet(path).drop(
            columns=["latency", "cached", "cost"], errors="ignore"
        )
        for path in paths
    }


def test_the_workflow_through_slurm_killed_cancelled_and_finished_equals_a_local_run(slurm, tmp_path, monkeypatch):
    monkeypatch.setenv("STANDIN_API_KEY", KEY)
    (tmp_path / "there").mkdir()
    project = copy_project(tmp_path / "there")
    answered = []

    def answer(body):
        answered.append(body)
        return play(body)

    def asking():
        return [job for job in slurm.jobs() if job.comment.startswith("rule_trajectories_wildcards_m1")]

    with endpoint(answer) as server:
        config = configuration(server)
        server.latency = 1.0  # so that there is time to interfere

        killed = project.start(*ASKED, *PROFILE, config=config)
        until(lambda: server.seen)
        os.killpg(killed.pid, signal.SIGKILL)
        killed.communicate()
        until(lambda: asking()[-1].state not in ("RUNNING", "COMPLETING"))
        assert asking()[-1].state == "FAILED"  # by itself, as its run was gone

        begun = len(server.seen)
        cancelled = project.start(*ASKED, *PROFILE, config=config)
        until(lambda: len(server.seen) > begun)
        slurm.ask("scancel", asking()[-1].number)
        said, _ = cancelled.communicate(timeout=300)
        assert cancelled.returncode == 1
        assert f"SLURM-job '{asking()[-1].number}' failed, SLURM status is: 'CANCELLED'" in said
        assert [project.results().parent.joinpath(path).is_file() for path in ASKED] == [True, False]

        server.latency = 0.0
        said = project.snakemake(*PROFILE, config=config)
        assert project.plan(*PROFILE, config=config) == {}
        submitted = re.findall(r"has been submitted with SLURM jobid (\d+)", said)
        jobs = {job.number: job for job in slurm.jobs()}
        assert {jobs[number].state for number in submitted} == {"COMPLETED"}
        done = {job.comment for job in jobs.values() if job.state == "COMPLETED"}
        assert done == {
            *(f"rule_trajectories_wildcards_{model}_bfcl-base_baseline" for model in ("oracle", "m1")),
            *(f"rule_{rule}_wildcards_{model}" for rule in ("actions", "grades") for model in ("oracle", "m1")),
            "rule_diagnosis",
        }
        assert [job.state for job in asking()] == ["FAILED", "CANCELLED", "COMPLETED"]
        # Each call was asked once, but for the one that was under way when its job ended.
        assert len(answered) - len({str(body) for body in answered}) <= 2

        (tmp_path / "here").mkdir()
        local = copy_project(tmp_path / "here", in_one_process=True)
        local.snakemake("diagnosis", config=config)
    there, here = tables_of(project), tables_of(local)
    assert there.keys() == here.keys()
    for name, table in here.items():
        pd.testing.assert_frame_equal(there[name], table, obj=name)
    kept = [path for path in project.folder.rglob("*") if path.is_file()]
    assert any("slurm_logs" in path.parts for path in kept)  # of the jobs that failed
    assert [path for path in kept if KEY.encode() in path.read_bytes()] == []
