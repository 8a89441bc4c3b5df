"""Conversations of tau2 over an endpoint that plays both parties: killed half-way, without an answer, as they are."""

from __future__ import annotations

import json
import os
import signal
import time
from collections import Counter

import pandas as pd
import pytest

from tests.end_to_end.conftest import copy_project
from tests.standins.endpoint import endpoint
from tests.standins.faults import error
from toolcal import tables

AGENT, USER, CONCURRENCY = "openai/agent", "openai/user", 2
CELL = "m/tau2-airline.baseline.parquet"
MADE = ("trajectories", "probe_events", "user_messages", "grades")
UNLIKE = ["latency", "cached"]


def both(body):
    """The user asks, answers twice and ends; the agent looks up, asks, proposes, and reports."""
    said = sum(message["role"] == "assistant" for message in body["messages"])
    if body["model"] == "user":
        words = ("My id is noah_muller_9847, I need help.", "SDZQKO.", "Yes.", "###STOP###")[min(said, 3)]
        message = {"role": "assistant", "content": words}
    elif said == 0:
        function = {"name": "get_user_details", "arguments": json.dumps({"user_id": "noah_muller_9847"})}
        message = {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c", "type": "function", "function": function}],
        }
    else:
        words = ("Which reservation is it?", "I would cancel SDZQKO. Shall I?", "It is done.")[min(said - 1, 2)]
        message = {"role": "assistant", "content": words}
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    return {
        "id": "x",
        "object": "chat.completion",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": usage,
    }


def over(server, **changed):
    entry = {"source": "api", "family": "f", "endpoint": "standin", "prices": {"input": 1, "output": 1}}
    return {
        "seed": 0,
        "labellers": ["refined"],
        "scenarios": {"tau2-airline": {"limit": 5}},
        "endpoints": {"standin": {"api_base": server.url, "concurrency": CONCURRENCY, "attempts": 1}},
        "conversations": {"user": "u"},
        "models": {"m": entry | {"model": AGENT}, "u": entry | {"model": USER, "scenarios": []}},
    } | changed


def read(project):
    return {name: tables.read(name, project.results(name, CELL)).drop(columns=UNLIKE, errors="ignore") for name in MADE}


@pytest.mark.slow
def test_a_run_killed_half_way_goes_on_without_a_repeated_call(tmp_path_factory):
    whole = copy_project(tmp_path_factory.mktemp("whole"), in_one_process=True)
    killed = copy_project(tmp_path_factory.mktemp("killed"))
    target = f"results/trajectories/{CELL}"
    with endpoint(both) as server:
        whole.snakemake(target, config=over(server))
        asked = len(server.seen)
        assert asked == 5 * (4 + 4)
        server.seen.clear()
        server.latency = 0.3
        run = killed.start(target, config=over(server))
        while len(server.seen) < asked // 2 and run.poll() is None:
            time.sleep(0.01)
        assert run.poll() is None
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()
        time.sleep(1.5)
        assert len(server.seen) < asked
        server.latency = 0
        killed.in_one_process = True
        killed.snakemake(target, config=over(server))
        repeated = Counter(seen.key for seen in server.seen)
        assert len(repeated) == asked
        assert sum(repeated.values()) - asked <= CONCURRENCY
        begun = len(server.seen)
        killed.snakemake(target, "--forcerun", "conversations", config=over(server))
        assert len(server.seen) == begun
    for (name, one), other in zip(read(killed).items(), read(whole).values(), strict=True):
        pd.testing.assert_frame_equal(one, other, obj=name)
    kept = read(whole)
    assert kept["grades"]["status"].tolist() == ["done"] * 5
    assert kept["user_messages"]["content"].str.contains("SDZQKO").sum() == 5


@pytest.mark.slow
def test_a_run_over_an_endpoint_is_diagnosed_and_what_has_no_answer_is_asked_again(project):
    project.in_one_process = True
    broken = {"on": True}

    def faults(body, nth):
        last = body["messages"][-1]["content"]
        return (
            error(500, "down")
            if broken["on"] and body["model"] == "user" and last == "Which reservation is it?"
            else None
        )

    with endpoint(both, faults=faults) as server:
        endpoints = {"standin": {"api_base": server.url, "concurrency": 1, "attempts": 1}}
        hint = {
            "kind": "static",
            "edit": "system_hint",
            "parameters": {"text": "Ask first."},
            "rationale": "for this test",
        }
        config = over(
            server, endpoints=endpoints, perturbations={"hint": hint}, scenarios={"tau2-airline": {"limit": 2}}
        )
        said = project.snakemake("diagnosis", config=config)
        assert "cases of m in tau2-airline.baseline have no answer, which is no failure of the model" in " ".join(
            said.split()
        )
        assert set(read(project)["grades"]["status"]) == {"infra_error"}
        broken["on"] = False
        project.snakemake("diagnosis", config=config)
        cells = tables.read("cells", project.results("diagnosis/cells.parquet"))
        assert cells["n_missing"].sum() == 0
        assert set(cells["perturbation"]) == {"baseline", "hint"}
        assert cells["n"].sum() >= 4
        assert project.plan("diagnosis", config=config) == {}
        writes = tables.read("writes", project.results("writes/m.parquet"))
        assert writes.empty  # the agent only talks
        assert "u as user of m" in project.snakemake("estimate", config=config)
