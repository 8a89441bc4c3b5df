"""What real files are known to go wrong with: one clear line each, and the rest is there."""

from __future__ import annotations

import copy
import json
import re
import tracemalloc

import pytest

from toolcal import tables
from toolcal.benchmarks import case_table, write_tools
from toolcal.cells import BASELINE, Cell
from toolcal.recordings import grades, openai, rows, stream, tau1, tau2
from toolcal.recordings.run import ended
from toolcal.recordings.stream import CutOff, RecordingError


@pytest.fixture(scope="module")
def results(recorded):
    """A Results file of five simulations, as Python values."""
    whole = json.loads((recorded / "tau2/gpt-4o-2024-11-20_airline_50.json").read_text())
    whole["simulations"] = whole["simulations"][:5]
    return whole


@pytest.fixture
def given(results):
    return copy.deepcopy(results)


def read(path, value):
    path.write_text(json.dumps(value))
    return tau2.read(path, "airline")


def first(simulation, role, calls=None):
    """Index of the first message of a role, with or without calls."""
    return next(
        at
        for at, message in enumerate(simulation["messages"])
        if message["role"] == role and calls in (None, bool(message.get("tool_calls")))
    )


def no_reward(simulation):
    del simulation["reward_info"]


def null_reward(simulation):
    simulation["reward_info"] = None


def bare_result(simulation):
    simulation["messages"][first(simulation, "tool")]["id"] = "nobody"


def result_too_early(simulation):
    result = simulation["messages"].pop(first(simulation, "tool"))
    simulation["messages"].insert(1, result)


def lost_result(simulation):
    del simulation["messages"][first(simulation, "tool")]


def silence(simulation):
    simulation["messages"][first(simulation, "assistant", calls=False) + 2].update(content=None, tool_calls=None)


def text_for_messages(simulation):
    simulation["messages"] = "none"


def number_for_content(simulation):
    simulation["messages"][1]["content"] = 7


def text_for_arguments(simulation):
    at = first(simulation, "assistant", calls=True)
    simulation["messages"][at]["tool_calls"][0]["arguments"] = "{}"


def text_for_reward(simulation):
    simulation["reward_info"]["reward"] = "1.0"


def number_for_check(simulation):
    simulation["reward_info"]["db_check"]["db_match"] = 1


def unknown_role(simulation):
    simulation["messages"][1]["role"] = "narrator"


def unknown_task(simulation):
    simulation["task_id"] = "900"


def list_for_trial(simulation):
    simulation["trial"] = [0]


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (no_reward, "reward_info: is missing"),
        (null_reward, "reward_info: is missing"),
        (bare_result, r"messages\[\d+\]: a tool result without a call \(id 'nobody'\)"),
        (result_too_early, r"messages\[1\]: a tool result without a call"),
        (lost_result, r"messages\[\d+\]: comes before the result of get_"),
        (silence, r"messages\[2\]: neither content nor calls"),
        (text_for_messages, "messages: not a list of messages"),
        (number_for_content, r"messages\[1\]\.content: a number where text is due"),
        (text_for_arguments, r"messages\[\d+\]\.tool_calls\[0\]\.arguments: text where an object is due"),
        (text_for_reward, r"reward_info\.reward: text where a number is due"),
        (number_for_check, r"reward_info\.db_check\.db_match: neither true nor false"),
        (unknown_role, r"messages\[1\]\.role: 'narrator' is no role"),
        (unknown_task, "task_id: no usable task 900"),
        (list_for_trial, "trial: a list where a count is due"),
    ],
)
def test_a_broken_simulation_is_named_and_the_rest_is_read(spoil, words, given, tmp_path):
    broken = given["simulations"][1]
    spoil(broken)
    recording = read(tmp_path / "run.json", given)
    (line,) = recording.problems
    assert re.fullmatch(rf"{tmp_path}/run\.json, simulations\[1\] \(task {broken['task_id']}\), .*{words}.*", line)
    kept = [simulation["task_id"] for at, simulation in enumerate(given["simulations"]) if at != 1]
    assert [run.case_id for run in recording.runs] == kept


@pytest.mark.parametrize("record", [None, 3, "text", [], True])
def test_what_is_no_simulation(record, given, tmp_path):
    given["simulations"][2] = record
    recording = read(tmp_path / "run.json", given)
    (line,) = recording.problems
    assert "simulations[2], the record: " in line
    assert len(recording.runs) == 4


def test_two_records_with_one_key(given, tmp_path):
    given["simulations"].append(copy.deepcopy(given["simulations"][0]))
    other = copy.deepcopy(given["simulations"][0]) | {"trial": 1}
    given["simulations"].append(other)
    recording = read(tmp_path / "run.json", given)
    (line,) = recording.problems
    assert re.search(r"simulations\[5\]: case \d+, trial 0 is there a second time; the first is kept", line)
    assert len(recording.runs) == 6
    assert recording.runs[-1].trial == 1


@pytest.mark.parametrize("share", [0.3, 0.5, 0.8, 0.99])
def test_a_cut_file_gives_what_came_before(share, given, tmp_path):
    text = json.dumps(given)
    start = text.index('"simulations"')
    path = tmp_path / "cut.json"
    path.write_text(text[: start + int(share * (len(text) - start))])
    recording = tau2.read(path, "airline")
    (line,) = recording.problems
    assert line == f"{path}: cut off after {len(recording.runs)} good simulations"
    assert len(recording.runs) < 5
    assert recording.runs or share == 0.3
    assert len(recording.cases) == 50


def test_a_file_without_tasks_cannot_judge(given, tmp_path):
    del given["tasks"]
    with pytest.raises(RecordingError, match=r"run\.json: has no tasks to judge by"):
        read(tmp_path / "run.json", given)


def test_tasks_may_follow_the_simulations(given, tmp_path):
    recording = read(tmp_path / "run.json", {key: given[key] for key in ("info", "simulations", "tasks")})
    assert len(recording.runs) == 5
    assert recording.problems == []


def test_a_broken_task_is_named_and_its_run_left_out(given, tmp_path):
    task_id = given["simulations"][0]["task_id"]
    at, task = next((at, task) for at, task in enumerate(given["tasks"]) if task["id"] == task_id)
    task["evaluation_criteria"]["actions"] = [{"name": "f", "arguments": "none"}]
    recording = read(tmp_path / "run.json", given)
    assert f"tasks[{at}], evaluation_criteria.actions[0].arguments: not an object" in recording.problems[0]
    assert len(recording.problems) == 2
    assert len(recording.runs) == 4


def test_other_tasks_are_another_revision(given, tmp_path):
    before = next(iter(read(tmp_path / "a.json", given).cases.values())).revision
    given["tasks"].reverse()
    assert next(iter(read(tmp_path / "b.json", given).cases.values())).revision == before
    given["tasks"][0]["evaluation_criteria"]["actions"] = []
    assert next(iter(read(tmp_path / "c.json", given).cases.values())).revision != before


def test_a_database_check_that_differs_is_flagged(given, tmp_path):
    given["simulations"][0]["reward_info"]["db_check"]["db_match"] ^= True
    recording = read(tmp_path / "run.json", given)
    data = grades.to_frame(Cell("m", "tau2-airline", BASELINE), recording.runs, recording.cases)
    flagged = data[data["regrade_differs"].astype(bool)]
    assert list(flagged["case_id"]) == [given["simulations"][0]["task_id"]]
    assert flagged["detail"].iloc[0].startswith("the database's check: recorded ")


def test_a_write_that_failed_only_there_is_flagged(given, tmp_path):
    for simulation in given["simulations"]:
        for message in simulation["messages"]:
            for call in message.get("tool_calls") or ():
                call["name"] = "send_certificate"  # with arguments of another tool, it cannot have succeeded
    recording = read(tmp_path / "run.json", given)
    data = grades.to_frame(Cell("m", "tau2-airline", BASELINE), recording.runs, recording.cases)
    assert data["detail"].str.contains("send_certificate: recorded as executed, fails here").any()


@pytest.mark.parametrize(
    ("termination", "reward", "status", "passed"),
    [
        ("user_stop", 1.0, "done", True),
        ("agent_stop", 0.0, "done", False),
        (None, 0.9999999, "done", True),
        ("user_stop", 0.5, "done", False),
        ("max_steps", 0.0, "step_limit", False),
        ("too_many_errors", None, "premature", False),
        ("agent_error", 0.0, "premature", False),
        ("user_error", 0.0, "premature", False),
        ("infrastructure_error", 0.0, "infra_error", None),
    ],
)
def test_ends_are_told_apart(termination, reward, status, passed):
    verdict = ended(termination, reward)
    assert (verdict.status, verdict.passed) == (status, passed)
    assert verdict.reason == (None if status == "done" else termination)


def test_infrastructure_errors_are_rows_without_a_verdict(given, tmp_path):
    given["simulations"][0].update(termination_reason="infrastructure_error", reward_info=None)
    recording = read(tmp_path / "run.json", given)
    cell = Cell("m", "tau2-airline", BASELINE)
    data = rows.to_frame(cell, recording.runs, recording.cases)
    assert list(data.loc[data["status"] == "infra_error", "case_id"]) == [given["simulations"][0]["task_id"]]
    graded = grades.to_frame(cell, recording.runs, recording.cases)
    assert graded["passed"].isna().sum() == 1


def test_large_files_stream(tmp_path):
    path = tmp_path / "large.json"
    record = json.dumps({"text": "x" * 200_000})
    path.write_text(f'{{"a": 1, "list": [{", ".join([record] * 300)}], "z": [null, 1.5, -20]}}')
    tracemalloc.start()
    found = [(key, index) for key, index, _ in stream.items(path)]
    assert tracemalloc.get_traced_memory()[1] < 12e6 < path.stat().st_size
    tracemalloc.stop()
    assert found == [("a", None), *(("list", at) for at in range(300)), ("z", 0), ("z", 1), ("z", 2)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[1, 2", "cut off"),
        ('["a', "cut off"),
        ("[1 2]", "not JSON"),
        ("[1] x", "text after"),
        ("[1, nope]", "not JSON"),
    ],
)
def test_where_json_stops(text, words, tmp_path):
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(CutOff, match=words):
        list(stream.items(tmp_path / "x.json"))


def test_what_is_no_json_at_all(tmp_path):
    (tmp_path / "x.json").write_bytes(b"\xff\xfe")
    with pytest.raises(CutOff, match="not UTF-8"):
        list(stream.items(tmp_path / "x.json"))
    (tmp_path / "x.json").write_text("hello")
    with pytest.raises(RecordingError, match="neither a JSON object nor a list"):
        list(stream.items(tmp_path / "x.json"))
    with pytest.raises(RecordingError, match="cannot be read"):
        list(stream.items(tmp_path / "missing.json"))


def test_tau1_records(recorded, tmp_path):
    whole = json.loads((recorded / "tau1/gpt-4o_airline_50.json").read_text())[:6]
    whole[0]["traj"][3]["content"] = None
    whole[1]["reward"] = "1"
    whole[2]["info"] = {"error": "RateLimitError: 429\nmore", "traceback": "..."}
    whole[3]["info"]["task"]["actions"] = {}
    whole.append(copy.deepcopy(whole[4]))
    path = tmp_path / "tau1.json"
    path.write_text(json.dumps(whole))
    recording = tau1.read(path, "airline")
    assert [run.case_id for run in recording.runs] == ["4", "5"]
    assert [line.removeprefix(f"{path}") for line in recording.problems] == [
        ", record 0 (task 0), traj[3]: neither content nor calls",
        ", record 1 (task 1), reward: is missing, so that nobody knows whether the run passed",
        ", record 3 (task 3), info.task.actions: an object where a list is due",
        ", record 6: case 4, trial 0 is there a second time; the first is kept",
        " (task 2), info.task: is missing, so that its gold is unknown",
    ]


def test_an_infrastructure_error_of_tau1_counts_where_its_task_is_known(recorded, tmp_path):
    good = json.loads((recorded / "tau1/gpt-4o_airline_50.json").read_text())[0]
    broken = {
        "task_id": good["task_id"],
        "reward": 0.0,
        "info": {"error": "429: slow down\nmore"},
        "traj": [],
        "trial": 1,
    }
    path = tmp_path / "tau1.json"
    path.write_text(json.dumps([good, broken]))
    recording = tau1.read(path, "airline")
    assert recording.problems == []
    graded = grades.to_frame(Cell("m", "tau1-airline", BASELINE), recording.runs, recording.cases)
    assert list(graded["status"]) == ["done", "infra_error"]
    assert graded["reason"].iloc[1] == "429: slow down"


def conversation(**more):
    call = {"id": "c1", "type": "function", "function": {"name": "refund", "arguments": '{"order": 1}'}}
    messages = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Refund my order."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "done", "state_changed": True},
        {"role": "assistant", "content": "It is refunded."},
    ]
    return {"case_id": "a", "messages": messages, "passed": True, "gold_actions": ["TOOL_CALL"]} | more


def lines(path, *records):
    path.write_text("".join((record if isinstance(record, str) else json.dumps(record)) + "\n" for record in records))
    return openai.read(path, "openai-support")


def test_plain_runs_become_rows(tmp_path):
    failed = conversation(case_id="b", passed=None, reward=0.0, ended="max_steps")
    recording = lines(tmp_path / "runs.jsonl", conversation(), failed, conversation(trial=1, passed=None))
    assert recording.problems == []
    cell = Cell("m", "openai-support", BASELINE)
    data = rows.to_frame(cell, recording.runs, recording.cases)
    assert list(data["case_id"]) == ["a", "a", "a", "a", "b", "b"]
    assert list(data["state_changed"])[:2] == [True, False]
    graded = grades.to_frame(cell, recording.runs, recording.cases)
    assert list(graded["status"]) == ["done", "not_graded", "step_limit"]
    assert recording.cases["a"].gold_actions == ("TOOL_CALL",)


def test_broken_plain_runs_are_named_by_line(tmp_path):
    spoilt = conversation(case_id="c")
    del spoilt["messages"][2]
    empty = conversation(case_id="d")
    empty["messages"][4]["content"] = None
    recording = lines(
        tmp_path / "runs.jsonl",
        conversation(),
        conversation(),
        spoilt,
        empty,
        "[]",
        '{"case_id": "e", "mess',
        conversation(case_id="f", passed="yes"),
        conversation(case_id="g", gold_actions=["PRAY"]),
        conversation(case_id="h"),
    )
    assert [run.case_id for run in recording.runs] == ["a", "h"]
    assert [line.removeprefix(f"{tmp_path}/runs.jsonl, ") for line in recording.problems] == [
        "line 2: case a, trial 0 is there a second time; the first is kept",
        "line 3, messages[2]: a tool result without a call (id 'c1')",
        "line 4, messages[4]: neither content nor calls",
        "line 5, the record: a list where an object is due",
        "line 6, the record: not JSON",
        "line 7, passed: text where true or false is due",
        "line 8, gold_actions: not a list of TOOL_CALL, REFUSE, ASK, CONFIRM, OTHER",
    ]


def test_halves_of_characters_are_in_no_id_and_stop_no_table(tmp_path):
    half = "\ud800"
    odd = conversation(ended=half, passed=False, cluster_id=half, write_tools=[half])
    odd["messages"][2]["tool_calls"][0]["function"] |= {"name": half}
    odd["messages"][4] |= {"finish_reason": half, "content": half}
    recording = lines(tmp_path / "runs.jsonl", odd, *(conversation(case_id=id) for id in ("b" + half, "c\0", " ")))
    assert [line.rpartition(", ")[2] for line in recording.problems] == [
        f"case_id: {shown} where an id of characters is due" for shown in (r"'b\ud800'", r"'c\x00'", "' '")
    ]
    cell = Cell("m", "openai-support", BASELINE)
    data = rows.to_frame(cell, recording.runs, recording.cases)
    tables.write("trajectories", data, tmp_path / "trajectories.parquet")
    tables.write("cases", case_table.to_frame([*recording.cases.values()], 0), tmp_path / "cases.parquet")
    assert tables.read("trajectories", tmp_path / "trajectories.parquet")["finish_reason"].dropna().tolist() == ["?"]


@pytest.mark.parametrize("named", [None, "refund", {"refund": True}, [1], ["refund", None], [["refund"]], True])
def test_tools_that_write_are_names(named, tmp_path):
    recording = lines(tmp_path / "runs.jsonl", conversation(write_tools=named), conversation(case_id="b"))
    assert recording.problems == [f"{tmp_path}/runs.jsonl, line 1, write_tools: not a list of names of tools"]
    assert [run.case_id for run in recording.runs] == ["b"]


def test_tools_that_write_belong_to_the_case(tmp_path):
    known = conversation(write_tools=["refund"])
    recording = lines(
        tmp_path / "runs.jsonl",
        known,
        known | {"trial": 1},
        known | {"trial": 2, "write_tools": []},
        conversation(case_id="b"),
    )
    (line,) = recording.problems
    assert line.endswith(
        "line 3, tools, write_tools, gold_actions or cluster_id: not those of an earlier record of this case_id"
    )
    assert {case_id: write_tools.of_case(case) for case_id, case in recording.cases.items()} == {
        "a": (frozenset({"refund"}), frozenset({"refund"})),
        "b": (frozenset(), frozenset()),
    }
    assert len(recording.runs) == 3
