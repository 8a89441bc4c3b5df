"""What models and users can say gets into a log of Inspect, and out of it again."""

from __future__ import annotations

import hashlib
import json

import pytest
from inspect_ai.log import read_eval_log

from toolcal.cells import Cell
from toolcal.exports.inspect_log import cell_log, write
from toolcal.exports.runs import Exported
from toolcal.exports.transcript import transcript

CELL = Cell("m", "bfcl-miss_func", "baseline")
CONTEXT = {
    "system": "be good",
    "turns": json.dumps([[{"role": "user", "content": n}] for n in ("one", "two", "three")]),
}
HOSTILE = "</script><img onerror=x> \x1b[31m \u202e {{x}} " + "a" * 10_000


def emission(turn, step=0, attempt=0, **changed):
    row = {"turn": turn, "step": step, "attempt": attempt, "content": "said", "tool_calls": "[]", "tool_results": "[]"}
    return row | {"status": "ok", "origin": "model", "retracted": False} | changed


def call(name, arguments, id="c1"):
    return json.dumps([{"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}])


def result(text, executed=True):
    return json.dumps([{"result": text, "executed": executed, "error": None if executed else text}])


def exported(*rows, case_id="case", user_messages=(), grade=None, outcomes=()):
    told = transcript(rows, user_messages, CONTEXT)
    labels = {(0, 0, 0): {"refined": "ASK"}}
    return Exported(case_id, 0, ["REFUSE"], {"status": "done"}, told, labels, grade or {"passed": True}, outcomes)


def read_back(tmp_path, *runs):
    path = tmp_path / "log.eval"
    write(cell_log(CELL, runs, [], family="a/b"), path)
    assert list(tmp_path.iterdir()) == [path]
    return read_eval_log(str(path)), hashlib.sha256(path.read_bytes()).hexdigest()


def test_the_conversation_turn_by_turn_without_what_was_taken_back(tmp_path):
    rows = [
        emission(0, content=HOSTILE),
        emission(1, content="gone", retracted=True),
        emission(1, attempt=1, tool_calls=call("ls", '{"a": true}'), tool_results=result("x")),
        emission(1, step=1, content=None, tool_calls=call("rm", "not JSON \ud800"), tool_results=result("no", False)),
    ]
    log, checksum = read_back(tmp_path, exported(*rows))
    (sample,) = log.samples
    assert [(m.role, m.text) for m in sample.messages] == [
        ("system", "be good"),
        ("user", "one"),
        ("assistant", HOSTILE),
        ("user", "two"),
        ("assistant", "said"),
        ("tool", "x"),
        ("assistant", ""),
        ("tool", "no"),
    ]
    assert sample.messages[2].metadata["labels"] == {"refined": "ASK"}
    assert sample.messages[4].tool_calls[0].arguments == {"a": True}
    assert sample.messages[6].tool_calls[0].parse_error == "no JSON object: not JSON ?"
    assert (sample.messages[5].error, sample.messages[7].error.message) == (None, "no")
    assert [row["content"] for row in sample.metadata["taken_back"]] == ["gone"]
    assert read_back(tmp_path, exported(*rows))[1] == checksum


def test_a_user_who_calls_tools_and_a_call_that_leaked(tmp_path):
    said = [
        {"place": 0, "role": "user", "content": "hi", "tool_calls": "[]", "tool_call_id": None},
        {"place": 3, "role": "user", "content": None, "tool_calls": call("pay", "{}"), "tool_call_id": None},
        {"place": 4, "role": "tool", "content": "paid", "tool_calls": "[]", "tool_call_id": "c1"},
    ]
    log, _ = read_back(tmp_path, exported(emission(0, content="[ls()]", tool_results=result("x")), user_messages=said))
    messages = log.samples[0].messages
    assert [(m.role, m.text) for m in messages[1:]] == [
        ("user", "hi"),
        ("assistant", "[ls()]"),
        ("tool", "x"),
        ("user", "pay({})"),
        ("tool", "paid"),
    ]


@pytest.mark.parametrize(("passed", "letters"), [(True, {"passed": "C"}), (False, {"passed": "I"}), (None, {})])
def test_what_is_not_known_has_no_score(tmp_path, passed, letters):
    outcome = {"gold_action": "REFUSE", "labeller": "refined", "emitted_case_any": None, "outcome_case_any": None}
    run = exported(emission(0), grade={"passed": passed, "passed_strict": None}, outcomes=[outcome])
    log, _ = read_back(tmp_path, run)
    assert {name: score.value for name, score in log.samples[0].scores.items()} == letters
    assert log.results.completed_samples == len(letters)


def test_a_run_of_which_only_the_error_was_kept(tmp_path):
    log, _ = read_back(tmp_path, exported(emission(0, content=None, status="infra_error"), grade={"passed": None}))
    assert [m.role for m in log.samples[0].messages] == ["system", "user"]
    assert log.eval.model == "a-b/m"


def test_no_id_leads_out_of_the_archive_or_is_lost(tmp_path):
    ids = ["../../x", "/y", "a\\b", "z%2F", "\0", "<b> \u202e", "__proto__"]
    log, _ = read_back(tmp_path, *(exported(emission(0), case_id=id) for id in ids))
    shown = {"..%2F..%2Fx", "%2Fy", "a%5Cb", "z%252F", "%00", "<b> \u202e", "__proto__"}
    assert {sample.id for sample in log.samples} == shown
