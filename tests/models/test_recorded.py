"""Recorded runs, replayed: the published ones whole, then what real files are known to go wrong with."""

from __future__ import annotations

import asyncio
import json
import logging
import shutil
from types import SimpleNamespace

import pandas as pd
import pytest

from tests.conftest import CATEGORIES
from toolcal import perturbations, rollout, tables
from toolcal.actions.label import label_trajectories
from toolcal.benchmarks.bfcl.result_files import RecordingError, verdicts
from toolcal.benchmarks.case_table import to_frame
from toolcal.benchmarks.disagreement import disagreement
from toolcal.benchmarks.grades import grade_trajectories
from toolcal.cells import BASELINE, Cell
from toolcal.diagnosis.diagnose import diagnose
from toolcal.diagnosis.plan import PlannedCell
from toolcal.models.protocol import Request
from toolcal.models.recorded import Recorded

LABELLERS = ["paper_like"]
DONE = "The request is done."


def replay(bfcl, cases, entry, scenario="bfcl-miss_func", model="m"):
    """The model and the trajectories of all cases that it has a record of."""
    recorded = Recorded(entry, scenario)
    chosen = [case for case in cases if case.case_id in recorded.case_ids]
    contexts = {case.case_id: perturbations.baseline(case) for case in chosen}
    data, *_ = asyncio.run(rollout.run_cell(Cell(model, scenario, BASELINE), chosen, contexts, recorded, bfcl))
    tables.check("trajectories", data)
    return recorded, data


def labelled(data, cases):
    names = {
        (case.scenario, BASELINE, case.case_id): [(turn, tool["function"]["name"]) for turn, tool in case.tools]
        for case in cases
    }
    actions = label_trajectories(data, names, LABELLERS)
    tables.check("actions", actions)
    return actions


def panel(bfcl, bfcl_cases, entry):
    """All tables of a recorded run, as the workflow makes them."""
    models, parts, plan, published = {}, [], [], {}
    for category in CATEGORIES:
        scenario = f"bfcl-{category}"
        models[category], data = replay(bfcl, bfcl_cases[category], entry, scenario)
        parts.append(data)
        ids = sorted(models[category].case_ids)
        plan.append(PlannedCell("m", scenario, BASELINE, tuple(ids)))
        published |= {(scenario, case_id): passed for case_id, passed in verdicts(entry, scenario).items()}
    data = pd.concat(parts, ignore_index=True)
    used = [case for category in CATEGORIES for case in bfcl_cases[category]]
    frame = to_frame(used, 0)
    actions, grades = labelled(data, used), grade_trajectories(data, frame, published)
    tables.check("grades", grades)
    found = diagnose(frame, data, actions, grades, plan, {"m": "family"}, labellers=LABELLERS, seed=0)
    for name, table in found.items():
        tables.check(name, table)
    return SimpleNamespace(models=models, trajectories=data, actions=actions, grades=grades, **found)


def entry_of(folder, who, *, scores=True):
    root = folder / "bfcl"
    return {"format": "bfcl", "results": str(root / f"result_{who}")} | (
        {"scores": str(root / f"score_{who}")} if scores else {}
    )


@pytest.fixture(scope="module")
def deepseek(bfcl, bfcl_cases, recorded):
    return panel(bfcl, bfcl_cases, entry_of(recorded, "deepseek"))


@pytest.fixture(scope="module")
def claude(bfcl, bfcl_cases, recorded):
    return panel(bfcl, bfcl_cases, entry_of(recorded, "claude"))


def raw_records(folder, who):
    for path in sorted((folder / "bfcl" / f"result_{who}").rglob("*.json")):
        yield from map(json.loads, path.read_text().splitlines())


@pytest.mark.parametrize("who", ["deepseek", "claude"])
def test_every_recorded_step_is_replayed(who, recorded, request):
    found = request.getfixturevalue(who)
    rows = found.trajectories.set_index(["case_id", "turn", "step"])
    records = list(raw_records(recorded, who))
    assert len(rows) == sum(len(turn) for record in records for turn in record["result"]) > 100
    for record in records:
        for turn, steps in enumerate(record["result"]):
            for step, told in enumerate(steps):
                row = rows.loc[(record["id"], turn, step)]
                assert json.loads(row["raw"]) == told
                assert row["prompt_tokens"] == record["input_token_count"][turn][step]
                assert row["completion_tokens"] == record["output_token_count"][turn][step]
                assert row["latency"] == record["latency"][turn][step]
                calls = [call for item in told if isinstance(item, dict) for call in item.items()]
                made = [(r["name"], r["arguments"]) for r in json.loads(row["tool_results"])]
                assert made == [(name, json.loads(arguments)) for name, arguments in calls]
                if not calls:
                    assert row["content"] == (told if isinstance(told, str) else "\n".join(told))
                    assert row["text_recorded"]
    assert set(found.trajectories["status"]) == {"ok"}
    assert [left for model in found.models.values() for left in model.leftovers()] == []


def test_text_beside_calls_is_known_only_where_the_file_logged_the_conversation(deepseek, claude):
    for found, logged in ((deepseek, []), (claude, ["bfcl-miss_param"])):
        calling = found.trajectories[found.trajectories["executed"] > 0]
        known = calling[calling["text_recorded"]]
        assert sorted(known["scenario"].unique()) == logged
        assert len(known) == (calling["scenario"].isin(logged)).sum()
        assert known["content"].notna().sum() == (15 if logged else 0)
        assert calling.loc[~calling["text_recorded"], "content"].isna().all()
        labels = found.actions.merge(calling[[*tables.EMISSION, "text_recorded"]], on=list(tables.EMISSION))
        assert set(labels.loc[~labels["text_recorded"], "flags"]) <= {'["TOOL_CALL"]'}


def test_the_log_gives_the_text_of_its_own_step(claude):
    rows = claude.trajectories.set_index(["case_id", "turn", "step"])["content"]
    assert rows["multi_turn_miss_param_0", 0, 2] == "Now let me navigate to the document directory:"
    assert rows["multi_turn_miss_param_0", 4, 0].startswith("You're right, let me display the full contents")


def test_nine_of_ten_published_verdicts_agree(deepseek, claude):
    differing = {}
    for who, found in (("deepseek", deepseek), ("claude", claude)):
        compared = found.grades[found.grades["regrade_differs"].notna()]
        assert compared["recorded_passed"].notna().all()
        differing[who] = (len(compared), compared.loc[compared["regrade_differs"].astype(bool), "case_id"].tolist())
    assert differing == {"deepseek": (8, ["multi_turn_long_context_0"]), "claude": (2, [])}
    assert disagreement(claude.grades) is None
    assert disagreement(deepseek.grades) == (
        "1 of 8 recorded verdicts differ from the one found here (regrade_differs): multi_turn_long_context_0"
    )


def test_runs_with_all_their_text_have_every_rate(deepseek, claude):
    for found in (deepseek, claude):
        cells = found.cells.set_index("scenario")
        assert cells["n"].tolist() == [2] * 4
        assert cells[["n_unknown", "n_unknown_turn", "n_unknown_decisive"]].to_numpy().sum() == 0
        assert cells[["gar_case_any", "gar_turn", "gap", "share_masked"]].notna().all(axis=None)
        assert cells.loc[["bfcl-miss_func", "bfcl-miss_param"], "gar_decisive"].notna().all()


@pytest.fixture(scope="module")
def silenced(recorded, tmp_path_factory):
    """A copy of a recorded run as most are published: without a word of text."""
    folder = tmp_path_factory.mktemp("silenced") / "bfcl"
    shutil.copytree(recorded / "bfcl", folder)
    for path in folder.glob("result_*/multi_turn/*.json"):
        records = [json.loads(line) for line in path.read_text().splitlines()]
        for record in records:
            record.pop("inference_log", None)
            record["result"] = [
                [step if isinstance(step, list) and isinstance(step[0], dict) else [] for step in turn]
                for turn in record["result"]
            ]
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return folder.parent


@pytest.mark.parametrize("who", ["deepseek", "claude"])
def test_without_its_text_a_run_has_its_accuracy_and_no_invented_recall(
    who, bfcl, bfcl_cases, silenced, recorded, request
):
    whole = request.getfixturevalue(who)
    found = panel(bfcl, bfcl_cases, entry_of(silenced, who))
    before, after = whole.cells.set_index("scenario"), found.cells.set_index("scenario")
    pd.testing.assert_frame_equal(before[["n", "acc", "acc_strict"]], after[["n", "acc", "acc_strict"]])
    pd.testing.assert_frame_equal(whole.grades, found.grades)
    silent = found.trajectories["status"] == "not_recorded"
    assert silent.sum() == (whole.trajectories["executed"] == 0).sum() > 30
    assert found.actions.loc[silent.to_numpy(), "action"].isna().all()
    miss, calls = ["bfcl-miss_func", "bfcl-miss_param"], ["bfcl-base", "bfcl-long_context"]
    assert after.loc[calls, "gar_case_any"].tolist() == [1, 1]
    for column in ("gar_case_any", "share_masked", "share_slack", "gap", "violation"):
        assert after.loc[miss, column].isna().all()
    assert after.loc[miss, "n_unknown"].tolist() == [2, 2]
    # A decisive turn in which a call is known has its class without any text.
    decided = found.outcomes.set_index("case_id")["emitted_decisive"].dropna()
    assert len(decided) == (after.loc[miss, "n"] - after.loc[miss, "n_unknown_decisive"]).sum()
    assert not decided.astype(bool).any()
    # Claude made a call in every turn, so that the class of none is open; DeepSeek did not.
    assert (found.confusion.query("action == 'NOT_RECORDED'")["n"].sum() > 0) == (who == "deepseek")
    assert found.confusion.query("action == 'NOT_RECORDED'")["n"].sum() == after["n_unknown_turn"].sum()


# Odd files


def steps_of(case, first=("ls", "{}")):
    """A record's result: one call in the first turn, and text."""
    return [[[{first[0]: first[1]}], DONE], *([DONE] for _ in case.turns[1:])]


def write(folder, lines, name="BFCL_v4_multi_turn_miss_func_result.json"):
    path = folder / "m" / "multi_turn" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    path.write_text(text)
    return {"format": "bfcl", "results": str(folder / "m")}


def record(case, result=None, **more):
    return {"id": case.case_id, "result": steps_of(case) if result is None else result} | more


def test_odd_records_are_named_and_left_out(bfcl_cases, tmp_path, caplog, capsys):
    cases = bfcl_cases["miss_func"]
    whole = json.dumps(record(cases[9]))
    lines = [
        record(cases[0]),
        "not json",
        {"result": []},
        {"id": "multi_turn_base_3", "result": []},
        {"id": cases[1].case_id},
        record(cases[2], [[[3]]]),
        record(cases[3], [DONE]),
        record(cases[4], [[]]),
        record(cases[5], [[[{"ls": 3}]]]),
        record(cases[6], [[[{"ls": "{}"}, DONE]]]),
        record(cases[0], [[DONE]]),
        "",
        "[1]",
        record(cases[7], latency=[["soon", True], None], input_token_count=7),
        whole[: len(whole) // 2],
    ]
    entry = write(tmp_path, lines)
    with caplog.at_level(logging.WARNING):
        model = Recorded(entry, "bfcl-miss_func")
    assert model.case_ids == {cases[0].case_id, cases[7].case_id}
    told = [entry.message.partition(", line ")[2] for entry in caplog.records if "left out: " in entry.message]
    assert told == [
        "2, the record: not JSON",
        "3, id: 'None' is no id of multi_turn_miss_func",
        "4, id: 'multi_turn_base_3' is no id of multi_turn_miss_func",
        "5, result: not a list of turns (multi_turn_miss_func_1)",
        "6, result[0][0]: neither calls nor text (multi_turn_miss_func_2)",
        "7, result[0]: not a list of steps (multi_turn_miss_func_3)",
        "8, result[0]: not a list of steps (multi_turn_miss_func_4)",
        "9, result[0][0]: the arguments of ls are neither JSON text nor an object (multi_turn_miss_func_5)",
        "10, result[0][0]: neither calls nor text (multi_turn_miss_func_6)",
        "11, id: multi_turn_miss_func_0 is there a second time",
        "13, the record: not an object",
        "15, the record: not JSON, perhaps cut off",
    ]
    said = capsys.readouterr().err.strip().split("\n")
    assert len(said) == 1
    assert "12 records were left out, the first: " in said[0]
    first = ask(model, cases[0])
    assert first.message["tool_calls"][0]["function"] == {"name": "ls", "arguments": "{}"}
    odd = ask(model, cases[7])
    assert (odd.latency, odd.prompt_tokens, odd.completion_tokens) == (None, None, None)


def ask(model, case, turn=0, step=0, trial=0):
    return asyncio.run(model.respond(Request(case, trial, turn, step, 0, (), 0, tuple(case.tools_at(turn)), 0)))


def test_every_form_of_a_step(bfcl_cases, tmp_path):
    case = bfcl_cases["miss_func"][0]
    steps = [
        {"ls": {"a": True}},
        [{"ls": "{}", "pwd": "{}"}],
        [{"ls": "{broken"}],
        ["one", "two"],
        [],
        None,
        "",
    ]
    model = Recorded(
        write(tmp_path, [record(case, [[step] for step in steps], reasoning_content=[["hm"]])]), "bfcl-miss_func"
    )
    replies = [ask(model, case, turn) for turn in range(len(steps))]
    calls = [[tuple(c["function"].values()) for c in r.message.get("tool_calls", [])] for r in replies]
    assert calls[:3] == [[("ls", '{"a": true}')], [("ls", "{}"), ("pwd", "{}")], [("ls", "{broken")]]
    assert not any(calls[3:])
    assert [r.message["content"] for r in replies] == [None, None, None, "one\ntwo", None, None, ""]
    assert [r.text_recorded for r in replies] == [False, False, False, True, False, True, True]
    assert [r.message.get("reasoning_content") for r in replies[:2]] == ["hm", None]


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("Error during inference: This model's maximum context length is 32768 tokens.", "context_exceeded"),
        ("Error during inference: prompt is too long: 210000 tokens > 200000 maximum", "context_exceeded"),
        ("Error during inference: Error code: 429 - rate limit, 30000 tokens per min", "infra_error"),
        ("Error during inference: 'NoneType' object is not subscriptable", "infra_error"),
    ],
)
def test_an_error_in_place_of_a_result(bfcl, bfcl_cases, tmp_path, words, status):
    case = bfcl_cases["miss_func"][0]
    _, data = replay(bfcl, [case], write(tmp_path, [record(case, words, traceback="...")]))
    assert data[["status", "text_recorded"]].to_numpy().tolist() == [[status, False]]
    assert json.loads(data["raw"][0]) == words
    grades = grade_trajectories(data, to_frame([case], 0), {(case.scenario, case.case_id): False})
    assert grades["status"].tolist() == [status]
    assert grades["regrade_differs"].tolist() == [None if status == "infra_error" else False]


def test_where_the_recording_ends_the_case_has_no_verdict(bfcl, bfcl_cases, tmp_path):
    case = bfcl_cases["miss_func"][0]
    result = steps_of(case)
    result[1] = [[{"ls": "{}"}]]  # nothing came after the call
    model, data = replay(bfcl, [case], write(tmp_path, [record(case, result)]))
    assert data["status"].tolist() == ["ok", "ok", "ok", "infra_error"]
    assert json.loads(data["raw"][3]) == f"the recording of {case.case_id} ends before step 1 of turn 1"
    assert [row[:2] for row in model.leftovers()] == [(case.case_id, turn) for turn in range(2, len(result))]
    assert ask(model, case, trial=1).failure == "infra_error"
    assert ask(model, bfcl_cases["miss_func"][1]).failure == "infra_error"


def test_what_is_left_over_is_told(bfcl, bfcl_cases, tmp_path):
    case = bfcl_cases["miss_func"][0]
    result = steps_of(case)
    result[1] = ["I cannot.", [{"ls": "{}"}], DONE]  # the text was a call to BFCL, and is none to us
    model, data = replay(bfcl, [case], write(tmp_path, [record(case, result)]))
    assert model.leftovers() == [(case.case_id, 1, 3, 1)]
    assert set(data["status"]) == {"ok"}


CALLS_IN_TEXT = {
    "python list": "[ls(a=True), pwd()]",
    "xLAM": '[{"name": "ls", "arguments": {"a": true}}, {"name": "pwd", "arguments": {}}]',
    "Qwen": 'First a look.\n<tool_call>\n{"name": "ls", "arguments": {"a": true}}\n</tool_call>\n<tool_call>\n'
    '{"name": "pwd", "arguments": {}}\n</tool_call>',
}


@pytest.mark.parametrize("dialect", CALLS_IN_TEXT)
def test_calls_in_text_run_where_bfcl_ran_them(bfcl, bfcl_cases, tmp_path, dialect):
    """Most handlers of local models write the text as it is; only the last text of a turn was not run."""
    case = bfcl_cases["miss_func"][0]
    text = CALLS_IN_TEXT[dialect]
    result = [[text, text, DONE], [text], *([DONE] for _ in case.turns[2:])]
    model, data = replay(bfcl, [case], write(tmp_path, [record(case, result)]))
    assert data["executed"].tolist() == [2, 2, 0, 0] + [0] * (len(result) - 2)
    assert json.loads(data["tool_results"][0])[0]["arguments"] == {"a": True}
    assert data["text_recorded"].all()
    assert model.leftovers() == []
    actions = labelled(data, [case])
    assert actions["action"].tolist()[:4] == ["TOOL_CALL", "TOOL_CALL", "CONFIRM", "TOOL_CALL"]
    assert actions["leaked"].tolist()[:4] == [False, False, False, True]


def test_the_forced_end_of_a_case_is_replayed(bfcl, bfcl_cases, tmp_path):
    case = bfcl_cases["miss_func"][0]
    for step in ([{"ls": "{}"}], "[ls()]"):
        model, data = replay(bfcl, [case], write(tmp_path, [record(case, [[step] * 21])]))
        assert data["executed"].sum() == 21
        assert model.leftovers() == []
        assert grade_trajectories(data, to_frame([case], 0))["status"].tolist() == ["step_limit"]


def test_files_that_are_missing_or_doubled(bfcl_cases, tmp_path):
    line = record(bfcl_cases["miss_func"][0])
    entry = write(tmp_path, [line])
    with pytest.raises(RecordingError, match=r"no BFCL_v\*_multi_turn_base_result.json; results has to be the folder"):
        Recorded(entry, "bfcl-base")
    with pytest.raises(RecordingError, match="recorded runs of format bfcl are not of tau2-airline"):
        Recorded(entry, "tau2-airline")
    with pytest.raises(RecordingError, match="no such folder"):
        Recorded(entry | {"results": str(tmp_path / "nowhere")}, "bfcl-miss_func")
    write(tmp_path, [line], "BFCL_v3_multi_turn_miss_func_result.json")
    with pytest.raises(RecordingError, match=r"2 result files of miss_func, e\.g\. .*BFCL_v3.* and .*BFCL_v4"):
        Recorded(entry, "bfcl-miss_func")


def test_a_log_is_used_only_where_it_agrees(bfcl_cases, recorded, tmp_path):
    case = bfcl_cases["miss_param"][0]
    name = "BFCL_v4_multi_turn_miss_param_result.json"
    told = json.loads((recorded / "bfcl/result_claude/multi_turn" / name).read_text().splitlines()[0])

    def texts(change):
        odd = json.loads(json.dumps(told))
        change(odd)
        model = Recorded(write(tmp_path, [odd], name), "bfcl-miss_param")
        replies = [
            ask(model, case, turn, step) for turn, steps in enumerate(odd["result"]) for step in range(len(steps))
        ]
        return [reply.text_recorded for reply in replies]

    def history(odd):
        turn = [entry for entry in odd["inference_log"] if isinstance(entry, dict)][-1]
        return turn["step_1"][0]["content"]

    assert all(texts(lambda odd: None))
    calls = [isinstance(step[0], dict) for turn in told["result"] for step in turn]
    without = [not calling for calling in calls]
    assert texts(lambda odd: odd.pop("inference_log")) == without
    assert texts(lambda odd: history(odd).update(message="[__import__('os').system('touch pwned')]")) == without
    assert texts(lambda odd: history(odd).update(message="[" * 100_000)) == without
    assert texts(lambda odd: history(odd).update(message=history(odd)["message"] * 2)) == without
    assert texts(lambda odd: odd["result"][0].insert(0, [{"ls": "{}"}])) == [False, *without]
    other = texts(lambda odd: odd["result"].__setitem__(0, [[{"cat": "{}"}], *odd["result"][0][1:]]))
    assert other == [False, *[True] * (len(calls) - 1)]


OPENAI = """[
{'role': 'user', 'content': 'x'},
ChatCompletionMessage(content='Let me look.', refusal=None, role='assistant', tool_calls=[
    ChatCompletionMessageFunctionToolCall(
        id='c', function=Function(arguments='{"a": true}', name='ls'), type='function')]),
{'role': 'tool', 'content': '[]'},
{'role': 'assistant', 'content': None, 'tool_calls': [
    {'id': 'd', 'type': 'function', 'function': {'name': 'pwd', 'arguments': '{}'}}]},
{'role': 'tool', 'content': '/'}]"""


def test_a_log_in_openai_form(bfcl_cases, tmp_path):
    case = bfcl_cases["miss_func"][0]
    log = [{"step_0": [], "step_2": [{"role": "inference_input", "content": {"message": OPENAI}}]}]
    result = [[[{"ls": '{"a":true}'}], [{"pwd": "{}"}], DONE]]
    model = Recorded(write(tmp_path, [record(case, result, inference_log=log)]), "bfcl-miss_func")
    first, second = ask(model, case), ask(model, case, 0, 1)
    assert (first.message["content"], first.text_recorded) == ("Let me look.", True)
    # A plain dict may be a handler's own, without the text that was there.
    assert (second.message["content"], second.text_recorded) == (None, False)


# Verdicts


def scored(folder, lines, cases):
    write(folder, lines, "BFCL_v4_multi_turn_miss_func_score.json")
    return write(folder, [record(case) for case in cases]) | {"scores": str(folder / "m")}


def test_verdicts_are_null_where_the_scores_do_not_say(bfcl_cases, tmp_path, capsys):
    cases = bfcl_cases["miss_func"][:3]
    failed = {"id": cases[1].case_id, "valid": False}
    head = {"accuracy": 2 / 3, "correct_count": 2, "total_count": 3}
    fits = verdicts(scored(tmp_path / "a", [head, failed], cases), "bfcl-miss_func")
    assert fits == {case.case_id: case is not cases[1] for case in cases}
    assert verdicts(write(tmp_path / "b", [record(cases[0])]), "bfcl-miss_func") == {}
    assert capsys.readouterr().err == ""
    odd = {
        "no first line": [failed],
        "cut off": [head, '{"id": "multi'],
        "of other runs": [head | {"correct_count": 199, "total_count": 200}, failed],
        "of another file": [head, failed | {"id": "multi_turn_miss_func_99"}],
        "without a verdict": [head, {"id": cases[1].case_id}],
    }
    for name, lines in odd.items():
        found = verdicts(scored(tmp_path / name, lines, cases), "bfcl-miss_func")
        assert True not in found.values(), name
        assert "only the cases that are named have a recorded verdict" in capsys.readouterr().err, name
