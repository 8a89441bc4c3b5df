"""The confidence study over an endpoint: killed half-way and gone on with, and what the journals save."""

from __future__ import annotations

import json
import os
import signal
import time
from collections import Counter

import pandas as pd
import pytest

from tests.end_to_end.conftest import copy_project
from tests.standins.endpoint import Endpoint, endpoint
from toolcal import tables

CONCURRENCY = 2
UNLIKE = ["latency", "cached"]
CELLS = [f"m/world.{name}.parquet" for name in ("direct.none.0", "prompted.search.0", "prompted.python.0.5")]


def answering(body):
    """Looks once, then answers with what it was told; says no confidence in the python cell's first form."""
    tools = [tool["function"]["name"] for tool in body.get("tools") or []]
    said = [message for message in body["messages"] if message["role"] == "assistant"]
    message = {"role": "assistant", "content": "Answer: 7\nConfidence: 60"}
    if tools and not said:
        arguments = {"search": {"query": "revenue staff chief"}, "python": {"code": "print(6 * 7)"}}[tools[0]]
        function = {"name": tools[0], "arguments": json.dumps(arguments)}
        message = {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c", "type": "function", "function": function}],
        }
    elif tools == ["python"] and len(said) == 1:
        message = {"role": "assistant", "content": "Answer: 42"}
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    return {
        "id": "x",
        "object": "chat.completion",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": usage,
    }


def over(server):
    entry = {"source": "api", "family": "f", "endpoint": "standin", "model": "openai/m", "scenarios": []}
    return {
        "seed": 0,
        "labellers": ["refined"],
        "scenarios": {"bfcl-base": {"limit": 1}},
        "endpoints": {"standin": {"api_base": server.url, "concurrency": CONCURRENCY, "attempts": 1}},
        "models": {"silent": {"source": "policy", "policy": "silent", "family": "policy/silent"}, "m": entry},
        "confidence": {
            "models": ["m"],
            "sets": {"world": {"source": "world", "questions": 12, "noise": [0, 0.5], "limit": 6}},
        },
    }


def read(project):
    return {cell: tables.read("answers", project.results("answers", cell)).drop(columns=UNLIKE) for cell in CELLS}


def judging(body):
    """Plays the judge too, who takes 7 for right whatever the question."""
    if body["model"] != "judge":
        return answering(body)
    right = '"7"' in body["messages"][-1]["content"]
    message = {"role": "assistant", "content": json.dumps({"reason": "it says so", "right": right})}
    return answering(body) | {"choices": [{"index": 0, "finish_reason": "stop", "message": message}]}


@pytest.mark.slow
def test_the_study_graded_by_a_judge(project):
    project.in_one_process = True
    with endpoint(judging) as server:
        config = over(server)
        config["judge"] = {"model": "openai/judge", "endpoint": "standin"}
        config["confidence"] |= {"graded_by": "judge"}
        project.snakemake("calibration", config=config)
        asked = len(server.seen)
        assert "m (its answers)" not in project.snakemake("estimate", config=config)
        assert len(server.seen) == asked
    agreement = tables.read("answer_agreement", project.results("confidence/answer_agreement.parquet"))
    assert len(agreement) == 5
    assert agreement[["n", "n_undecided", "right_by_judge_only"]].to_numpy().tolist() == [[6, 0, 6]] * 5
    found = tables.read("calibration", project.results("confidence/calibration.parquet"))
    whole = found[(found["difficulty"] == "all") & (found["post_hoc"] == "none") & (found["questions"] == "all")]
    assert whole["accuracy"].tolist() == [1.0] * 5


@pytest.mark.slow
def test_a_set_whose_file_was_edited_is_read_anew(tmp_path):
    project = copy_project(tmp_path, in_one_process=True)
    file = tmp_path / "aime.jsonl"
    rows = [{"problem": f"Find $x = {n}$.", "answer": str(n), "id": str(n)} for n in (1, 2)]
    file.write_text(json.dumps(rows[0]) + "\n")
    config = over(Endpoint(url="http://127.0.0.1:9/v1"))
    config["confidence"]["sets"] = {"aime": {"source": "aime_2025", "path": "aime.jsonl"}}
    target = "results/questions/aime.0.parquet"
    project.snakemake(target, config=config)
    assert project.plan(target, config=config) == {}
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    project.snakemake(target, config=config)
    assert len(tables.read("questions", project.results("questions/aime.0.parquet"))) == 2


@pytest.mark.slow
def test_a_study_killed_half_way_goes_on_without_an_answer_asked_twice(tmp_path_factory):
    whole = copy_project(tmp_path_factory.mktemp("whole"), in_one_process=True)
    killed = copy_project(tmp_path_factory.mktemp("killed"))
    targets = [f"results/answers/{cell}" for cell in CELLS]
    with endpoint(answering) as server:
        assert "m in the confidence study" in whole.snakemake("estimate", config=over(server))
        whole.snakemake(*targets, config=over(server))
        asked = len(server.seen)
        assert asked == 6 * 1 + 6 * 2 + 6 * 3
        server.seen.clear()
        server.latency = 0.3
        run = killed.start(*targets, config=over(server))
        while len(server.seen) < asked // 2 and run.poll() is None:
            time.sleep(0.01)
        assert run.poll() is None
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()
        time.sleep(1.5)
        server.latency = 0
        killed.in_one_process = True
        killed.snakemake(*targets, config=over(server))
        repeated = Counter(seen.key for seen in server.seen)
        assert sum(repeated.values()) - asked <= CONCURRENCY
    left, right = read(killed), read(whole)
    for cell in CELLS:
        pd.testing.assert_frame_equal(left[cell], right[cell], obj=cell)
    python = right[CELLS[2]]
    assert python["reasked"].all()
    assert (python["answer"] == "7").all()  # the second form's, which was whole
    assert python["confidence"].tolist() == [0.6] * 6
    assert (python["done"] != "none").sum() == 3
    assert right[CELLS[1]]["calls"].tolist() == [1] * 6
