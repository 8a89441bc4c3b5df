"""Runs over an endpoint: killed, throttled, short of money, out of order, and what none of them may show."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import threading
import time
from collections import Counter
from functools import partial

import pandas as pd
import pytest

from tests.end_to_end import forks
from tests.end_to_end.conftest import copy_project, scripts_in
from tests.standins.endpoint import endpoint
from tests.standins.faults import error
from tests.timing import until
from toolcal import tables

KEY = "sk-standin-0123456789abcdef"
CONCURRENCY = 4
PRICES = {"input": 10, "output": 100}
UNLIKE = ["latency", "cached"]
TARGETS = [f"results/trajectories/m1/bfcl-{name}.baseline.parquet" for name in ("base", "miss_func")]


def over(
    server, *, limit=5, models=("m1",), scenarios=("base", "miss_func"), endpoint=None, prices=None, **config
) -> dict:
    """A configuration of models at the stand-in endpoint."""
    entry = {"source": "api", "family": "f", "endpoint": "standin", "parameters": {"max_tokens": 500}}
    if prices:
        entry["prices"] = prices
    return {
        "seed": 0,
        "labellers": ["paper_like"],
        "scenarios": {f"bfcl-{name}": {"limit": limit} for name in scenarios},
        "endpoints": {
            "standin": {"api_base": server.url, "concurrency": CONCURRENCY, "attempts": 2, **(endpoint or {})}
        },
        "models": {name: {**entry, "model": f"openai/{name}"} for name in models},
    } | config


def trajectories(project, model="m1", scenarios=("base", "miss_func")):
    paths = [project.results("trajectories", model, f"bfcl-{name}.baseline.parquet") for name in scenarios]
    return tables.read("trajectories", *paths)


def journal_keys(project, name="*"):
    lines = [
        line for path in project.results("journal").rglob(f"{name}.jsonl") for line in path.read_text().splitlines()
    ]
    return [json.loads(line)["key"] for line in lines]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """A project that has its cases, and has asked nobody yet."""
    project = copy_project(tmp_path_factory.mktemp("prepared"), in_one_process=True)
    with endpoint() as server:
        contexts = [target.replace("trajectories/m1", "contexts") for target in TARGETS]
        project.snakemake(*contexts, config=over(server))
        assert not server.seen
    return project


@pytest.fixture(scope="module")
def whole(prepared, tmp_path_factory):
    """A project in which all was asked that a run of eight cases asks for, and which nothing befell."""
    project = prepared.copy(tmp_path_factory.mktemp("whole"), in_one_process=True)
    with endpoint() as server:
        project.snakemake(*TARGETS, config=over(server, limit=8, prices=PRICES))
        assert len(server.seen) == len(journal_keys(project))
    return project


@pytest.mark.slow
def test_twenty_kills_lose_no_more_than_the_calls_under_way(prepared, tmp_path_factory):
    """The first two by way of Snakemake; then of the job itself, which Snakemake's script for it starts again."""
    whole, killed = (prepared.copy(tmp_path_factory.mktemp(name), in_one_process=name == "whole") for name in "wk")
    chance = random.Random(20)
    with endpoint(latency=0.1) as server:
        config = over(server, limit=50, scenarios=("base",))
        whole.snakemake(TARGETS[0], config=config)
        asked = len(server.seen)
        server.seen.clear()
        for number in range(20):
            begun = len(server.seen)
            if number < 2:
                run = killed.start(TARGETS[0], config=config)
                ended, kill = run.poll, partial(os.kill if number % 2 else os.killpg, run.pid, signal.SIGKILL)
            else:
                [script, *_] = (killed.folder / ".snakemake/scripts").glob("*.trajectories.py")
                run = forks.script(killed.folder, script)
                ended, kill = partial(getattr, run, "exitcode"), run.kill
            until(lambda: len(server.seen) > begun or ended() is not None)  # noqa: B023
            time.sleep(chance.uniform(0, 0.4))
            assert ended() is None, f"the run was over before kill {number}"
            # The run alone, whose jobs must then end by themselves; or all of it, as a scheduler does.
            kill()
            until(lambda: ended() is not None)  # noqa: B023
            until(lambda: not scripts_in(killed.folder))
            again = Counter(seen.key for seen in server.seen)
            assert sum(again.values()) - len(again) <= (number + 1) * CONCURRENCY
        killed.in_one_process = True
        killed.snakemake(TARGETS[0], config=config)
    repeated = Counter(seen.key for seen in server.seen)
    assert len(repeated) == asked
    assert sum(repeated.values()) - asked <= 20 * CONCURRENCY
    keys = journal_keys(killed)
    assert len(keys) == len(set(keys)) == asked
    tables_of = [trajectories(project, scenarios=("base",)).drop(columns=UNLIKE) for project in (killed, whole)]
    pd.testing.assert_frame_equal(*tables_of)


@pytest.mark.slow
def test_infrastructure_errors_are_no_failures_and_their_cells_alone_run_again_once_a_run(prepared, tmp_path):
    project = prepared.copy(tmp_path, in_one_process=True)
    broken = {"on": True}
    conversations = []

    def faults(body, nth):
        begins = body["messages"][0]["content"]
        if body["model"] == "m1" and begins not in conversations:
            conversations.append(begins)
        refused = broken["on"] and body["model"] == "m1" and begins in conversations[:2]
        return error(400, "no such thing") if refused else None

    with endpoint(faults=faults) as server:
        config = over(server, models=("m1", "m2"), scenarios=("base",))
        said = project.snakemake("diagnosis", config=config)
        cells = tables.read("cells", project.results("diagnosis/cells.parquet")).set_index("model")
        assert cells[["n", "n_missing"]].to_numpy().tolist() == [[3, 2], [5, 0]]
        assert "2 of 10 planned case-trials have no answer (m1 2);" in " ".join(said.split())
        assert "toolcal: 2 cases of m1 in bfcl-base.baseline have no answer, which is no failure of the model" in said
        plan = project.plan("diagnosis", config=config)
        assert (plan["trajectories"], plan["actions"], plan["grades"]) == (1, 1, 1)
        begun = len(server.seen)
        project.snakemake(*TARGETS[:1], config=config)
        assert len(server.seen) - begun == 2  # asked once more each, and refused
        broken["on"] = False
        project.snakemake("diagnosis", config=config)
        cells = tables.read("cells", project.results("diagnosis/cells.parquet"))
        assert cells["n_missing"].sum() == 0
        assert project.plan("diagnosis", config=config) == {}


@pytest.mark.slow
def test_a_run_stops_before_the_call_that_would_pass_its_limit_and_goes_on_with_a_higher_one(prepared, whole, tmp_path):
    short, asked, whole_cost = prepared.copy(tmp_path), len(journal_keys(whole)), trajectories(whole)["cost"].sum()
    with endpoint() as server:
        config = over(server, limit=8, prices=PRICES)
        config["limits"] = {"max_usd": float(whole_cost / 2)}
        short.in_one_process = True
        said = short.snakemake(*TARGETS, config=config)
        assert "limits.max_usd of " in said
        some = trajectories(short)
        assert 0 < some["cost"].sum() <= whole_cost / 2
        assert (some["status"] == "infra_error").any()
        config["limits"] = {"max_usd": float(whole_cost * 3)}
        short.snakemake(*TARGETS, config=config)
    assert len(server.seen) == asked
    pd.testing.assert_frame_equal(trajectories(short).drop(columns=UNLIKE), trajectories(whole).drop(columns=UNLIKE))


@pytest.mark.slow
def test_a_key_is_found_in_no_file_and_no_process_list(prepared, tmp_path, monkeypatch):
    """Also where the endpoint sends it back, in an answer and in an error."""
    project = prepared.copy(tmp_path)
    monkeypatch.setenv("STANDIN_API_KEY", KEY)
    seen, over_now = set(), threading.Event()

    def answer(body):
        return error(401, f"bad key {KEY}") if body["model"] == "m2" else (200, told(body))

    def told(body):
        message = {"role": "assistant", "content": f"Your key is {KEY}."}
        return {"model": body["model"], "choices": [{"index": 0, "finish_reason": "stop", "message": message}]}

    def watch():
        while not over_now.wait(0.2):  # a job and the shell that starts it live for seconds
            seen.update(subprocess.run(["ps", "-ewwo", "args"], capture_output=True, text=True).stdout.splitlines())

    watching = threading.Thread(target=watch)
    with endpoint(answer) as server:
        config = over(
            server, limit=2, models=("m1", "m2"), scenarios=("base",), endpoint={"api_key_env": "STANDIN_API_KEY"}
        )
        watching.start()
        models = [f"results/trajectories/{name}/bfcl-base.baseline.parquet" for name in ("m1", "m2")]
        said = project.snakemake(*models, config=config)  # the jobs that know the key
        over_now.set()
        watching.join()
        project.in_one_process = True
        said += project.snakemake(config=config)
    assert {one.authorization for one in server.seen} == {f"Bearer {KEY}"}
    assert any("trajectories.py" in line for line in seen)
    assert not any(KEY in line for line in seen)
    assert KEY not in said
    assert "bad key ***" in said
    texts = [path for path in project.folder.rglob("*") if path.is_file()]
    assert sum("journal" in path.parts for path in texts) > 0
    assert [path for path in texts if KEY.encode() in path.read_bytes()] == []
    assert "Your key is ***." in set(trajectories(project, scenarios=("base",))["content"])


def test_a_key_that_is_not_set_is_told_by_its_name(prepared, tmp_path, monkeypatch):
    project = prepared.copy(tmp_path)
    monkeypatch.delenv("STANDIN_API_KEY", raising=False)
    with endpoint() as server:
        config = over(server, limit=1, endpoint={"api_key_env": "STANDIN_API_KEY"})
        said = project.snakemake(*TARGETS[:1], config=config, check=False)
    assert "toolcal: models.m1: the environment variable STANDIN_API_KEY (endpoints.standin.api_key_env) is not" in said
    assert not server.seen


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 1 MB, to be grown."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], capture_output=True)
    if mounted.returncode:
        pytest.skip(f"no small file system can be mounted here: {mounted.stderr.decode().strip()}")
    yield folder
    subprocess.run(["umount", folder], check=True)


@pytest.mark.slow
def test_a_full_disk_stops_the_run_in_one_sentence_and_all_so_far_is_kept(whole, project, small_disk):
    target = small_disk / "results/trajectories/m1/bfcl-base.baseline.parquet"
    asked = len(journal_keys(whole, "bfcl-base.baseline"))
    with endpoint() as server:
        config = over(server, limit=8, scenarios=("base",), prices=PRICES, results=str(small_disk / "results"))
        project.in_one_process = True
        project.snakemake(str(small_disk / "results/contexts/bfcl-base.baseline.parquet"), config=config)
        project.in_one_process = False
        filler = small_disk / "filler"
        free = os.statvfs(small_disk).f_bavail * os.statvfs(small_disk).f_frsize
        filler.write_bytes(bytes(free - 12 * 4096))
        said = project.snakemake(str(target), config=config, check=False)
        assert (
            len(re.findall("^toolcal: the disk is full.*mend that and run again, all so far is kept", said, re.M)) == 1
        )
        assert "Traceback" not in said
        journal = small_disk / "results/journal/m1/bfcl-base.baseline.jsonl"
        kept = journal.read_text().splitlines()
        assert kept
        assert all(json.loads(line) for line in kept)
        filler.unlink()
        project.in_one_process = True
        project.snakemake(str(target), config=config)
    assert asked <= len(server.seen) <= asked + CONCURRENCY
    assert len(journal.read_text().splitlines()) == asked
    found = tables.read("trajectories", target)
    expected = trajectories(whole, scenarios=("base",))
    pd.testing.assert_frame_equal(found.drop(columns=UNLIKE), expected.drop(columns=UNLIKE))
