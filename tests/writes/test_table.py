"""The table of writes, from an invented recorded conversation: which calls have a row, and what stands in it."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from toolcal import tables
from toolcal.benchmarks import case_table
from toolcal.cells import BASELINE, Cell
from toolcal.recordings import grades, openai, rows
from toolcal.writes import table
from toolcal.writes.consent import Decision

CELL = Cell("m", "openai-shop", BASELINE)
TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}
    for name in ("find_order", "cancel_order", "send_letter")
]


def user(text):
    return {"role": "user", "content": text}


def agent(text, *calls):
    made = [
        {"id": identity, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for identity, name, arguments in calls
    ]
    return {"role": "assistant", "content": text} | ({"tool_calls": made} if made else {})


def result(identity, text):
    return {"role": "tool", "tool_call_id": identity, "content": text}


ORDER = {"order_id": "W77"}
AGREED = (
    {"role": "system", "content": "Ask before you cancel."},
    user("Please cancel my order W77, I ordered it by mistake."),
    agent(None, ("c1", "find_order", ORDER)),
    result("c1", '{"order_id": "W77", "status": "pending"}'),
    agent("I will cancel order W77, with the reason 'ordered by mistake'. Do you want me to go ahead (yes/no)?"),
    user("Yes, please cancel it."),
    agent(
        None, ("c2", "find_order", ORDER), ("c3", "cancel_order", {**ORDER, "reason": "ordered by mistake"}),
    ),
    result("c2", '{"order_id": "W77", "status": "pending"}'),
    result("c3", "cancelled"),
    agent("It is cancelled."),
)  # fmt: skip
UNASKED = (
    user("Where is my order W78?"),
    agent(None, ("c1", "cancel_order", {"order_id": "W78"}), ("c2", "cancel_order", {"order_id": "W79"})),
    result("c1", "Error: it was delivered"),
    result("c2", "cancelled"),
    agent("It is cancelled."),
)


def record(case_id, messages, **more):
    return {
        "case_id": case_id, "messages": list(messages), "tools": TOOLS, "write_tools": ["cancel_order", "send_letter"],
        "cluster_id": "shop", "passed": True, **more,
    }  # fmt: skip


@pytest.fixture
def written(tmp_path):
    """Makes the table from records, over the files of the earlier stages."""

    def write(*records, benchmark=None, initial_state=None):
        source = tmp_path / "shop.jsonl"
        source.write_text("".join(json.dumps(each) + "\n" for each in records))
        recording = openai.read(source, CELL.scenario)
        assert recording.problems == []
        cases = list(recording.cases.values())
        stages = {
            "trajectories": rows.to_frame(CELL, recording.runs, recording.cases),
            "user_messages": rows.user_messages(CELL, recording.runs),
            "grades": grades.to_frame(CELL, recording.runs, recording.cases),
            "cases": case_table.to_frame(cases, seed=0),
        }
        for name, data in stages.items():
            tables.write(name, data, tmp_path / name)
        read = {name: tables.read(name, tmp_path / name) for name in stages}
        if benchmark:
            read["cases"] = read["cases"].assign(benchmark=benchmark, initial_state=json.dumps(initial_state))
        known = {case.case_id: case for case in case_table.from_frame(read["cases"])}
        found = table.to_frame(read["trajectories"], read["user_messages"], known, read["grades"])
        tables.write("writes", found, tmp_path / "writes")
        return tables.read("writes", tmp_path / "writes")

    return write


def test_each_write_has_a_row_with_what_decided_it(written):
    found = written(record("a", AGREED), record("b", UNASKED, passed=False))
    confirmed, *others = tables.records(found)
    assert {name: confirmed[name] for name in ("case_id", "turn", "step", "attempt", "call", "place", "tool")} == {
        "case_id": "a", "turn": 1, "step": 0, "attempt": 0, "call": 1, "place": 6, "tool": "cancel_order",
    }  # fmt: skip
    assert json.loads(confirmed["arguments"]) == {"order_id": "W77", "reason": "ordered by mistake"}
    assert (confirmed["proposed"], confirmed["agreed"], confirmed["confirmed"]) == (True, True, True)
    assert (confirmed["deciding_place"], confirmed["deciding_text"]) == (5, "Yes, please cancel it.")
    assert (confirmed["executed"], confirmed["passed"], confirmed["cluster_id"]) == (True, True, "shop")
    assert [(row["case_id"], row["place"], row["call"], row["executed"]) for row in others] == [
        ("b", 1, 0, False),
        ("b", 1, 1, True),
    ]
    for row in others:
        assert (row["proposed"], row["agreed"], row["confirmed"], row["passed"]) == (False, False, False, False)
        assert (row["deciding_place"], row["deciding_text"]) == (None, None)
        assert row["why"]


def test_the_rule_sees_the_conversation_and_the_calls_place_in_it(written, monkeypatch):
    asked = []

    def noted(messages, at, call):
        made = messages[at]["tool_calls"][call]["function"]
        asked.append(([message["role"] for message in messages], at, call, made["name"]))
        return Decision(True, False, 4, "invented")

    monkeypatch.setattr(table, "decide", noted)
    (row,) = tables.records(written(record("a", AGREED)))
    assert asked == [([message["role"] for message in AGREED], 6, 1, "cancel_order")]
    assert (row["proposed"], row["agreed"], row["confirmed"], row["why"]) == (True, False, False, "invented")
    assert row["deciding_text"] == AGREED[4]["content"]


def test_runs_of_one_case_are_kept_apart(written):
    talk = UNASKED[0], UNASKED[-1]
    found = written(
        record("a", UNASKED), record("a", AGREED, trial=1, passed=None), record("a", talk, trial=2, passed=False)
    )
    assert list(zip(found["trial"], found["confirmed"], strict=True)) == [(0, False), (0, False), (1, True)]
    assert found["passed"].isna().tolist() == [False, False, True]


def test_a_call_without_a_result_was_not_executed(written):
    (row,) = tables.records(written(record("a", AGREED[:7], passed=None, reward=0.0, ended="max_steps")))
    assert (row["executed"], row["passed"], row["confirmed"]) == (False, False, True)


def test_arguments_that_are_no_object_are_none(written):
    messages = json.loads(json.dumps(UNASKED))
    messages[1]["tool_calls"][0]["function"]["arguments"] = "[1"
    assert [row["arguments"] for row in tables.records(written(record("a", messages)))] == ["{}", '{"order_id":"W79"}']


def test_without_named_tools_there_are_no_writes(written):
    assert len(written(record("a", AGREED, write_tools=[]))) == 0


def test_in_tau_bench_the_toolkit_says_which_calls_write(written):
    messages = (
        user("A letter and a cancellation."),
        agent(None, ("c1", "get_user_details", {}), ("c2", "send_certificate", {}), ("c3", "cancel_reservation", {})),
        result("c1", "{}"),
        result("c2", "sent"),
        result("c3", "cancelled"),
        agent("Done."),
    )
    found = written(record("a", messages), benchmark="tau1", initial_state={"domain": "airline"})
    assert list(zip(found["call"], found["tool"], found["to_be_confirmed"], strict=True)) == [
        (1, "send_certificate", False),
        (2, "cancel_reservation", True),
    ]


def test_cells_with_and_without_writes_go_into_one_file(written, tmp_path):
    none, some = written(record("a", AGREED, write_tools=[])), written(record("a", AGREED), record("b", UNASKED))
    tables.write("writes", pd.concat([none, some]), tmp_path / "all")
    assert len(tables.read("writes", tmp_path / "all")) == 3
