"""Runs over an endpoint: killed, throttled, short of money, out of order, and what none of them may show."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections import Counter

import pandas as pd
import pytest

from tests.end_to_end.conftest import copy_project
from tests.standins.endpoint import endpoint
from toolcal import tables

KEY = "sk-standin-0123456789abcdef"
CONCURRENCY = 4
UNLIKE = ["latency", "cached"]
TARGETS = [f"results/trajectories/m1/bfcl-{name}.baseline.parquet" for name in ("base", "miss_func")]


def over(server, *, limit=5, models=("m1",), scenarios=("base", "miss_func"), endpoint=None, **config) -> dict:
    """A configuration of models at the stand-in endpoint."""
    entry = {"source": "api", "family": "f", "endpoint": "standin", "parameters": {"max_tokens": 500}}
    return {
        "seed": 0,
        "scenarios": {f"bfcl-{name}": {"limit": limit} for name in scenarios},
        "endpoints": {
            "standin": {"api_base": server.url, "concurrency": CONCURRENCY, "attempts": 2, **(endpoint or {})}
        },
        "models": {name: {**entry, "model": f"openai/{name}"} for name in models},
    } | config


def trajectories(project, model="m1", scenarios=("base", "miss_func")):
    paths = [project.results("trajectories", model, f"bfcl-{name}.baseline.parquet") for name in scenarios]
    return tables.read("trajectories", *paths)


def journal_keys(project):
    lines = [line for path in project.results("journal").rglob("*.jsonl") for line in path.read_text().splitlines()]
    return [json.loads(line)["key"] for line in lines]


@pytest.mark.slow
def test_twenty_kills_lose_no_more_than_the_calls_under_way(tmp_path_factory):
    whole, killed = (copy_project(tmp_path_factory.mktemp(name)) for name in ("whole", "killed"))
    chance = random.Random(20)
    with endpoint(latency=0.1) as server:
        config = over(server, limit=50, scenarios=("base",))
        whole.snakemake(TARGETS[0], config=config)
        asked = len(server.seen)
        server.seen.clear()
        for number in range(20):
            begun = len(server.seen)
            run = killed.start(TARGETS[0], config=config)
            while len(server.seen) == begun and run.poll() is None:
                time.sleep(0.01)
            time.sleep(chance.uniform(0, 0.4))
            assert run.poll() is None, f"the run was over before kill {number}"
            # The run alone, whose jobs must then end by themselves; or all of it, as a scheduler does.
            (os.kill if number % 2 else os.killpg)(run.pid, signal.SIGKILL)
            run.wait()
            time.sleep(1.5 * (number % 2))
            again = Counter(seen.key for seen in server.seen)
            assert sum(again.values()) - len(again) <= (number + 1) * CONCURRENCY
        killed.snakemake(TARGETS[0], config=config)
    repeated = Counter(seen.key for seen in server.seen)
    assert len(repeated) == asked
    assert sum(repeated.values()) - asked <= 20 * CONCURRENCY
    keys = journal_keys(killed)
    assert len(keys) == len(set(keys)) == asked
    tables_of = [trajectories(project, scenarios=("base",)).drop(columns=UNLIKE) for project in (killed, whole)]
    pd.testing.assert_frame_equal(*tables_of)
