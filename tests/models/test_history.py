"""What goes back into the history: everything an endpoint wants, nothing that one would refuse."""

import json

import pytest

from tests.conftest import ROOT
from toolcal import calls
from toolcal.models import history

EMISSIONS = [json.loads(line) for line in (ROOT / "tests/data/emissions.jsonl").read_text().splitlines()]


def call(arguments, name="cd", **fields):
    return {"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}, **fields}


def said(message, finish_reason="tool_calls", run=lambda parsed: parsed.calls, names=("cd", "ls")):
    parsed = calls.parse(message, finish_reason, names)
    results = [{"name": one.name, "arguments": one.arguments, "result": f"ran {one.name}"} for one in run(parsed)]
    return history.said(message, parsed, results, "call_0_0")


def test_calls_keep_their_ids_and_every_one_has_its_answer():
    message = {"content": "On it.", "tool_calls": [call('{"folder": "a"}'), call("{}", "ls") | {"id": "c2"}]}
    assistant, *answers = said(message)
    assert [one["id"] for one in assistant["tool_calls"]] == ["c1", "c2"]
    assert assistant["content"] == "On it."
    assert [(one["tool_call_id"], one["content"]) for one in answers] == [("c1", "ran cd"), ("c2", "ran ls")]


@pytest.mark.parametrize("ids", [("c1", "c1"), (None, None), ("", 7)])
def test_ids_that_are_missing_or_double_are_made_distinct(ids):
    message = {"tool_calls": [{**call("{}"), "id": id} for id in ids]}
    assistant, *answers = said(message)
    made = [one["id"] for one in assistant["tool_calls"]]
    assert len(set(made)) == 2
    assert all(isinstance(id, str) and id for id in made)
    assert [one["tool_call_id"] for one in answers] == made


@pytest.mark.parametrize(
    ("arguments", "replayed"),
    [
        ('{"folder": "a"}{"folder": "b"}', {"unreadable": '{"folder": "a"}{"folder": "b"}'}),
        ("[1, 2]", {"unreadable": "[1, 2]"}),
        ('{"a": NaN}', {"unreadable": '{"a": NaN}'}),
        (17, {"unreadable": "17"}),
    ],
)
def test_bad_arguments_go_back_as_an_object_beside_the_error_and_the_record_is_not_touched(arguments, replayed):
    message = {"content": None, "tool_calls": [call(arguments)]}
    before = json.dumps(message)
    assistant, answer = said(message)
    assert json.loads(assistant["tool_calls"][0]["function"]["arguments"]) == replayed
    assert answer["role"] == "tool"
    assert answer["content"].startswith("Error: the call could not be read")
    assert json.dumps(message) == before


def test_signatures_and_thinking_blocks_go_back_and_the_clients_own_notes_do_not():
    thinking = [{"type": "thinking", "thinking": "hm", "signature": "abc"}]
    signed = call("{}", provider_specific_fields={"thought_signature": "sig"}, extra_content={"google": {"x": 1}})
    message = {
        "content": "x",
        "thinking_blocks": thinking,
        "reasoning_content": "hm",
        "provider_specific_fields": {"reasoning": "hm", "citations": None},
        "annotations": [],
        "tool_calls": [signed],
    }
    assistant, _ = said(message)
    assert assistant["thinking_blocks"] == thinking
    assert assistant["reasoning_content"] == "hm"
    assert "provider_specific_fields" not in assistant
    assert "annotations" not in assistant
    assert assistant["tool_calls"][0]["provider_specific_fields"] == {"thought_signature": "sig"}
    assert assistant["tool_calls"][0]["extra_content"] == {"google": {"x": 1}}


def test_leaked_calls_that_were_executed_are_shown_once():
    message = {"content": "Right away.\n[cd(folder='x')]"}
    assistant, answer = said(message, "stop")
    assert "cd(" not in assistant["content"]
    assert assistant["tool_calls"][0]["function"] == {"name": "cd", "arguments": '{"folder":"x"}'}
    assert answer["content"] == "ran cd"
    (kept,) = said(message, "stop", run=lambda parsed: ())
    assert kept == {"role": "assistant", "content": message["content"]}


def test_a_truncated_call_leaves_its_text_alone():
    message = {"content": "I will", "tool_calls": [call('{"fold')]}
    assert said(message, "length", run=lambda parsed: ()) == [{"role": "assistant", "content": "I will"}]


@pytest.mark.parametrize("emission", EMISSIONS, ids=lambda emission: emission["id"])
def test_whatever_a_model_emits_every_call_has_a_valid_form_and_an_answer(emission):
    """The form that OpenAI's API checks: ids, names, arguments that hold a JSON object, one tool message a call."""
    run = (lambda parsed: ()) if emission["expect"]["leaked"] else (lambda parsed: parsed.calls)
    messages = said(emission["message"], emission["finish_reason"], run, emission["tools"])
    json.dumps(messages, allow_nan=False)
    made = messages[0].get("tool_calls", [])
    for one in made:
        assert isinstance(json.loads(one["function"]["arguments"]), dict)
        assert 0 < len(one["function"]["name"]) <= 64
    assert [one["tool_call_id"] for one in messages[1:]] == [one["id"] for one in made]
