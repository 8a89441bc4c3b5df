"""Answers of odd or broken form: what a model said is read as it was sent, and never taken for a fault."""

import dataclasses
import json
from pathlib import Path

import pytest

from tests.models.asking import TOOL_NAMES, ask, request, warm  # noqa: F401
from tests.models.test_faults import always
from tests.standins.endpoint import endpoint
from tests.standins.faults import HARMLESS, Answer
from tests.standins.player import completion
from toolcal import calls

EMISSIONS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data/emissions.jsonl").read_text(encoding="utf-8").splitlines()
]


@pytest.mark.parametrize("kind", HARMLESS)
def test_an_odd_answer_is_an_answer(tmp_path, kind):
    with endpoint(faults=always(HARMLESS[kind])) as server:
        reply, again = ask(tmp_path / "j", server.url, request(), request())
    assert (reply.failure, len(server.seen), again.cached) == (None, 1, True)
    assert reply.message["content"] == "Hello."
    told = (reply.prompt_tokens, reply.completion_tokens)
    if kind.startswith("usage"):  # what is not told is null, and not zero
        assert told == ((7, 3) if kind == "usage of strings" else (None, None))
    else:
        assert all(type(count) is int and count > 0 for count in told)


def broken(**function):
    return [{"id": "c1", "type": "function", "function": {"name": "cd", "arguments": "{}"} | function}]


BROKEN = {
    "name null": broken(name=None),
    "name empty": broken(name=""),
    "name a number": broken(name=7),
    "name with spaces": broken(name="cd home; rm"),
    "arguments null": broken(arguments=None),
    "arguments a number": broken(arguments=7),
    "arguments a list": broken(arguments=[1, 2]),
    "arguments false": broken(arguments=False),
    "arguments a string of a string": broken(arguments='"{\\"folder\\": \\"x\\"}"'),
    "arguments NaN": broken(arguments='{"folder": NaN}'),
    "arguments of Python": broken(arguments="{'folder': True}"),
    "arguments deep": broken(arguments='{"a":' * 90 + "1" + "}" * 90),
    "arguments with a lone surrogate": broken(arguments='{"folder": "\\ud800"}'),
    "arguments missing": [{"id": "c1", "type": "function", "function": {"name": "cd"}}],
    "name missing": [{"id": "c1", "type": "function", "function": {"arguments": "{}"}}],
    "function null": [{"id": "c1", "type": "function", "function": None}],
    "function a string": [{"id": "c1", "type": "function", "function": "cd"}],
    "function missing": [{"id": "c1", "type": "function"}],
    "flat": [{"id": "c1", "name": "cd", "arguments": {"folder": "x"}}],
    "no id": [{"type": "function", "function": {"name": "ls", "arguments": "{}"}}],
    "id null": [{"id": None, "type": "function", "function": {"name": "ls", "arguments": "{}"}}],
    "id a number": [{"id": 1, "type": "function", "function": {"name": "ls", "arguments": "{}"}}],
    "no type": [{"id": "c1", "function": {"name": "ls", "arguments": "{}"}}],
    "type unknown": [{"id": "c1", "type": "tool", "function": {"name": "ls", "arguments": "{}"}}],
    "type custom": [{"id": "c1", "type": "custom", "custom": {"name": "ls", "input": "x"}}],
    "index a string": [{"index": "0", **broken()[0]}],
    "one id twice": broken() + broken(name="ls"),
    "one good, one broken": broken() + broken(arguments="{"),
    "a list of null": [None],
    "a list of strings": ["cd"],
    "a string": "cd()",
    "an object": broken()[0],
    "a number": 7,
}


def parsed(message, finish_reason):
    return calls.parse(message, finish_reason, TOOL_NAMES)


def through(tmp_path, message, finish_reason):
    """A message as it is read after it has come over the wire."""
    value = completion({}, message)
    value["choices"][0]["finish_reason"] = finish_reason
    with endpoint(lambda _: value) as server:
        reply, again = ask(tmp_path / "j", server.url, request(), request())
    assert (reply.failure, len(server.seen)) == (None, 1)
    assert (again.cached, again.message) == (True, reply.message)
    return parsed(reply.message, reply.finish_reason)


@pytest.mark.parametrize("emission", EMISSIONS, ids=[emission["id"] for emission in EMISSIONS])
def test_an_emission_is_read_over_the_wire_as_the_case_file_says(tmp_path, emission):
    read = through(tmp_path, emission["message"], emission["finish_reason"])
    expected = emission["expect"]
    assert (read.status, read.leaked) == (expected["status"], expected["leaked"])
    assert [[call.name, call.arguments] for call in read.calls] == expected["calls"]
    assert read == parsed(emission["message"], emission["finish_reason"])


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_tool_call_is_the_models_not_the_endpoints(tmp_path, kind):
    message = {"role": "assistant", "content": None, "tool_calls": BROKEN[kind]}
    read = through(tmp_path, message, "tool_calls")
    expected = parsed(message, "tool_calls")
    assert (read.status, [(c.name, c.arguments) for c in read.calls]) == (
        expected.status,
        [(c.name, c.arguments) for c in expected.calls],
    )


@pytest.mark.parametrize(
    "message",
    [
        {"content": [{"type": "text", "text": "Hello."}]},
        {"content": None, "refusal": "I can't do that."},
        {"content": None, "function_call": {"name": "ls", "arguments": "{}"}},
        {"content": 7},
        {"content": {"text": "Hello."}},
        {},
        {"content": "Hello.", "tool_calls": None},
        {"content": "Hello.", "tool_calls": {}},
        {"content": "<think>hm</think>Hello."},
        {"content": "a\u0000b \U0001f600"},
    ],
    ids=["parts", "refusal", "function_call", "number", "object", "bare", "null", "no calls", "thinking", "NUL"],
)
def test_a_message_of_odd_form_is_read_as_it_came(tmp_path, message):
    assert through(tmp_path, message, "stop") == parsed({"role": "assistant", **message}, "stop")


@pytest.mark.parametrize(
    ("finish_reason", "status"),
    [("length", "truncated"), ("max_tokens", "truncated"), ("model_length", "truncated"), ("eos", "ok"), (None, "ok")],
)
def test_the_endpoints_reason_to_finish_is_kept(tmp_path, finish_reason, status):
    value = completion({}, {"content": "Hello."})
    value["choices"][0]["finish_reason"] = finish_reason
    with endpoint(lambda _: value) as server:
        (reply,) = ask(tmp_path / "j", server.url, request())
    assert reply.finish_reason == finish_reason
    assert calls.parse(reply.message, reply.finish_reason, TOOL_NAMES).status == status


def test_a_call_without_an_id_reads_the_same_whenever_it_is_asked(tmp_path):
    made = completion({}, {"tool_calls": BROKEN["no id"]})
    with endpoint(lambda _: made) as server:
        (one,) = ask(tmp_path / "one", server.url, request())
        (other,) = ask(tmp_path / "other", server.url, request())
    assert one.message == other.message
    assert one.raw == other.raw


def answering(choice=None, **body):
    """A plain answer with some of its parts replaced, as JSON text that may hold NaN."""

    def answer(asked):
        whole = completion(asked, {"content": "Hello."})
        whole["choices"][0] |= choice or {}
        return Answer(200, json.dumps(whole | body).encode())

    return answer


@pytest.mark.parametrize(
    "usage",
    [{"tps": float("nan")}, {"prompt_tokens": 2**63, "completion_tokens": 10**30}, {"prompt_tokens": float("inf")}],
    ids=["nan", "too many", "infinite"],
)
def test_a_usage_that_no_table_can_hold_is_null(tmp_path, usage):
    with endpoint(answering(usage=usage)) as server:
        reply, again = ask(tmp_path / "j", server.url, request(), request())
    assert (reply.message["content"], reply.prompt_tokens, reply.failure) == ("Hello.", None, None)
    assert again.cached


@pytest.mark.parametrize("reason", [5, True, 1.5, ["stop"], {}, "\ud800", None])
def test_a_finish_reason_of_odd_type_is_text(tmp_path, reason):
    with endpoint(answering({"finish_reason": reason})) as server:
        reply, again = ask(tmp_path / "j", server.url, request(), request())
    assert reply.finish_reason is None if reason is None else isinstance(reply.finish_reason, str)
    assert again == dataclasses.replace(reply, cached=True)
    (reply.finish_reason or "").encode()


def test_nan_in_arguments_that_are_an_object_makes_the_call_malformed(tmp_path):
    call = {"id": "c", "type": "function", "function": {"name": "cd", "arguments": {"folder": float("nan")}}}
    message = {"role": "assistant", "content": None, "tool_calls": [call], "score": float("inf")}
    with endpoint(answering({"message": message})) as server:
        (reply,) = ask(tmp_path / "j", server.url, request())
    assert calls.parse(reply.message, reply.finish_reason, TOOL_NAMES).status == "malformed_call"
    assert reply.message["tool_calls"][0]["function"]["arguments"] == '{"folder": NaN}'


@pytest.mark.parametrize("key", ["ls", "1", "null", "message", "token"])
def test_a_key_that_is_a_plain_word_takes_nothing_out_of_the_record(tmp_path, key):
    call = {"id": "c", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    message = {"role": "assistant", "content": f"1 {key}", "tool_calls": [call]}
    with endpoint(answering({"message": message})) as server:
        reply, again = ask(tmp_path / "j", server.url, request(), request(), key=key)
    assert (reply.message["content"], reply.message["tool_calls"]) == (f"1 {key}", [call])
    assert again.cached
