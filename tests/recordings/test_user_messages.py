"""What reached a model besides the results of its calls, and a conversation put together again from the two tables."""

from __future__ import annotations

import json

import pytest

from toolcal import tables
from toolcal.benchmarks.protocol import Case
from toolcal.cells import BASELINE, Cell
from toolcal.recordings import rows, tau1, tau2
from toolcal.recordings.run import Run, Verdict
from toolcal.writes.conversation import conversation

FILES = (
    "tau2/gpt-4o-2024-11-20_airline_50.json",
    "tau2/gpt-4.1_retail_40.json",
    "tau2/qwen2.5-7b_airline_50.json",
    "tau1/gpt-4o_airline_50.json",
)
CELL = Cell("m", "openai-support", BASELINE)
CASE = Case("openai", "openai-support", "r1", "a", "a", (), (), {"write_tools": []}, (), (), None)
GREETING = {"role": "assistant", "content": "Hello, what can I do for you?", "canned": True}


def call(identity, name="look_up", **arguments):
    return {"id": identity, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def user(text):
    return {"role": "user", "content": text}


def agent(text, *calls):
    return {"role": "assistant", "content": text} | ({"tool_calls": list(calls)} if calls else {})


def answer(identity, text="{}", failed=False):
    return {"role": "tool", "tool_call_id": identity, "content": text, "failed": failed}


def run_of(*messages, verdict=None):
    return Run("a", 0, messages, verdict or Verdict("done", True))


def read_back(folder, cell, runs, cases):
    """The rows of both tables by run, as a later stage reads them."""
    found = []
    for name, data in (
        ("trajectories", rows.to_frame(cell, runs, cases)),
        ("user_messages", rows.user_messages(cell, runs)),
    ):
        path = folder / f"{name}.parquet"
        tables.write(name, data, path)
        by_run = {(run.case_id, run.trial): [] for run in runs}
        for row in tables.records(tables.read(name, path)):
            by_run[row["case_id"], row["trial"]].append(row)
        found.append(by_run)
    return found


def put_together(folder, run):
    emissions, others = read_back(folder, CELL, [run], {"a": CASE})
    return conversation(emissions["a", 0], others["a", 0])


def told(folder, run):
    """The run's rows of `user_messages`."""
    return read_back(folder, CELL, [run], {"a": CASE})[1]["a", 0]


def plain(message):
    """What the tables hold of a message; an answer without text has none, be it null or empty."""
    kept = {name: message[name] for name in ("role", "content", "tool_calls", "tool_call_id") if name in message}
    return kept | ({"content": message["content"] or None} if message["role"] == "assistant" else {})


@pytest.mark.parametrize("file", FILES)
def test_the_tables_give_back_every_recorded_conversation(file, recorded, tmp_path):
    reader = tau2 if file.startswith("tau2") else tau1
    domain = reader.domain_of(recorded / file)
    recording = reader.read(recorded / file, domain)
    cell = Cell("m", f"{reader.__name__.rsplit('.', 1)[1]}-{domain}", BASELINE)
    emissions, others = read_back(tmp_path, cell, recording.runs, recording.cases)
    for run in recording.runs:
        key = run.case_id, run.trial
        messages, places = conversation(emissions[key], others[key])
        assert [plain(message) for message in messages] == [plain(message) for message in run.messages], key
        of_model = [at for at, message in enumerate(run.messages) if message["role"] == "assistant"]
        assert list(places.values()) == of_model, key
        failed = [message["failed"] for message in run.messages if message["role"] == "tool"]
        assert [message["failed"] for message in messages if message["role"] == "tool"] == failed, key


def test_the_greeting_stands_before_the_first_user_message(tmp_path):
    run = run_of(GREETING, user("Where is my parcel?"), agent("Let me see."), user("Thanks."), agent("It is there."))
    assert [(row["place"], row["turn"], row["role"]) for row in told(tmp_path, run)] == [(1, 0, "user"), (3, 1, "user")]
    messages, places = put_together(tmp_path, run)
    assert [message["content"] for message in messages] == [message["content"] for message in run.messages]
    assert places == {(0, 0, 0): 0, (0, 1, 0): 2, (1, 0, 0): 4}


def test_a_system_message_belongs_to_the_first_turn(tmp_path):
    run = run_of({"role": "system", "content": "Be kind."}, user("Hi."), agent("Hello."))
    assert [(row["place"], row["turn"], row["role"]) for row in told(tmp_path, run)] == [
        (0, 0, "system"),
        (1, 0, "user"),
    ]
    assert [message["role"] for message in put_together(tmp_path, run)[0]] == ["system", "user", "assistant"]


def test_results_of_the_models_calls_are_not_among_what_was_told(tmp_path):
    run = run_of(
        user("Two parcels."),
        agent(None, call("c1", number=1), call("c2", number=2)),
        answer("c1", "lost", failed=True),
        answer("c2", "found"),
        agent("One is lost."),
    )
    assert [row["place"] for row in told(tmp_path, run)] == [0]
    messages, places = put_together(tmp_path, run)
    assert messages == [dict(message) for message in run.messages]
    assert places == {(0, 0, 0): 1, (0, 1, 0): 4}


def test_the_users_own_calls_and_their_answers_keep_their_places(tmp_path):
    run = run_of(
        user("My line is dead."),
        agent("Please restart it."),
        {"role": "user", "content": None, "tool_calls": [call("u1", "restart"), call("u2", "check")]},
        answer("u1", "restarted"),
        answer("u2", "still dead"),
        user("Still dead."),
        agent(None, call("c1")),
        answer("c1", "a fault"),
        agent("There is a fault."),
    )
    others = told(tmp_path, run)
    assert [(row["place"], row["turn"], row["role"], row["tool_call_id"]) for row in others] == [
        (0, 0, "user", None),
        (2, 0, "user", None),
        (3, 0, "tool", "u1"),
        (4, 0, "tool", "u2"),
        (5, 1, "user", None),
    ]
    assert [made["function"]["name"] for made in json.loads(others[1]["tool_calls"])] == ["restart", "check"]
    messages, places = put_together(tmp_path, run)
    assert [plain(message) for message in messages] == [plain(message) for message in run.messages]
    assert places == {(0, 0, 0): 1, (1, 0, 0): 6, (1, 1, 0): 8}


@pytest.mark.parametrize(
    "messages",
    [
        (),
        (user("Hi."),),
        (GREETING, user("Hi.")),
        (user("Hi."), agent("Hello.")),
        (user("Hi."), agent(None, call("c1")), answer("c1")),
    ],
)
def test_an_infrastructure_error_is_no_message(messages, tmp_path):
    run = run_of(*messages, verdict=Verdict("infra_error", None, "infrastructure_error"))
    emissions = read_back(tmp_path, CELL, [run], {"a": CASE})[0]["a", 0]
    assert [row["status"] for row in emissions][-1] == "infra_error"
    found, places = put_together(tmp_path, run)
    assert [plain(message) for message in found] == [plain(message) for message in messages]
    assert len(places) == len(emissions) - 1


def test_a_call_that_a_run_ended_with_has_no_result(tmp_path):
    run = run_of(user("Two."), agent(None, call("c1"), call("c2")), answer("c1"), verdict=Verdict("step_limit", False))
    messages, _ = put_together(tmp_path, run)
    assert messages == [dict(message) for message in run.messages]


def test_what_a_probe_took_back_was_not_part_of_the_conversation():
    kept = {"turn": 0, "step": 0, "attempt": 0, "retracted": False, "status": "ok", "tool_results": "[]"}
    kept |= {"content": "No.", "tool_calls": "[]"}
    other = kept | {"attempt": 1, "content": "Again: no."}
    others = [{"place": 0, "role": "user", "content": "Do it.", "tool_calls": "[]", "tool_call_id": None}]
    messages, places = conversation([kept | {"retracted": True}, other], others)
    assert [message["content"] for message in messages] == ["Do it.", "Again: no."]
    assert places == {(0, 0, 1): 1}


def test_what_no_file_can_hold_is_replaced(tmp_path):
    (row,) = told(tmp_path, run_of(user("a lone \ud800 surrogate")))
    assert row["content"] == "a lone ? surrogate"


def test_a_cell_without_runs_has_both_tables(tmp_path):
    assert read_back(tmp_path, CELL, [], {}) == [{}, {}]
