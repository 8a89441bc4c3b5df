"""Faults of the simulated user in published runs, as `grades` has them: the half that rules may be tuned on."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from toolcal import tables
from toolcal.benchmarks.protocol import Case
from toolcal.cells import BASELINE, Cell
from toolcal.recordings import grades, tau1, tau2
from toolcal.recordings.run import Run, Verdict
from toolcal.validity.conversations import read_all
from toolcal.validity.draw import SEED, _halves

EXPECTED = {
    "tau2/gpt-4o-2024-11-20_airline_50.json": (25, {"stops_at_confirmation": 7, "out_of_scope": 2}, 9),
    "tau2/gpt-4.1_retail_40.json": (20, {}, 0),
    "tau2/qwen2.5-7b_airline_50.json": (25, {"unknown_fact": 4}, 2),
    "tau1/gpt-4o_airline_50.json": (25, {"unknown_fact": 1}, 1),
}
"""File -> runs, faults by name, runs with a fault."""


@pytest.fixture(scope="module")
def halves(recorded):
    return _halves(read_all(recorded, EXPECTED), SEED)


@pytest.mark.parametrize("file", EXPECTED)
def test_faults_in_published_runs(recorded, halves, file):
    module = tau2 if file.startswith("tau2") else tau1
    recording = module.read(recorded / file, module.domain_of(recorded / file))
    runs = [run for run in recording.runs if halves[file, run.case_id] == "dev"]
    cell = Cell("m", f"{file[:4]}-airline", BASELINE)
    data = grades.to_frame(cell, runs, recording.cases)
    tables.check("grades", data)
    told = [json.loads(text) for text in data["user_faults"]]
    found = Counter(fault["fault"] for faults in told for fault in faults)
    assert (len(told), dict(found), sum(map(bool, told))) == EXPECTED[file]
    spoken = {run.case_id: run.messages for run in runs}
    for case_id, faults in zip(data["case_id"], told, strict=True):
        for fault in faults:
            message = spoken[case_id][fault["place"]]
            assert message["role"] == "user"
            assert fault["words"] in message["content"]


def graded(case):
    messages = ({"role": "user", "content": "I am ada_moor_4120. ###STOP###"}, {"role": "assistant", "content": "Hi"})
    run = Run("a", 0, messages, Verdict("infra_error", None, "down"))
    data = grades.to_frame(Cell("m", case.scenario, BASELINE), [run], {"a": case})
    tables.check("grades", data)
    return tables.records(data)[0]


def test_a_run_without_a_verdict_is_looked_at_too():
    task = {"instruction": "You are somebody.", "actions": []}
    case = Case("tau1", "tau1-airline", "r", "a", "a", (), (), {"domain": "airline", "task": task}, ((),), (), None)
    assert graded(case)["user_faults"] == (
        '[{"fault":"ends_at_once","place":0,"words":"I am ada_moor_4120. ###STOP###"},'
        '{"fault":"unknown_fact","place":0,"words":"ada_moor_4120"}]'
    )


def test_where_no_scenario_is_known_it_is_null():
    assert (
        graded(Case("openai", "openai-x", "r", "a", "a", (), (), {"write_tools": []}, (), (), None))["user_faults"]
        is None
    )
