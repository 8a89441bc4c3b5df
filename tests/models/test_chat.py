"""The chat model over a stand-in endpoint: what is sent in each mode, what comes back, what the journal keeps."""

import dataclasses
import json
import os
import socket
import subprocess
import sys

import pytest

from tests.conftest import ROOT
from tests.models import test_json_mode
from tests.models.asking import TOOLS, ask, hello, request
from tests.standins.endpoint import endpoint
from tests.standins.player import completion
from toolcal.models import python_list

CALL = {"id": "abc", "type": "function", "function": {"name": "ls", "arguments": '{"a": true}'}}


def saying(content, **message):
    return lambda body: completion(body, {"content": content, **message})


def in_json(content="Hello", step=0):
    return dataclasses.replace(request(content), step=step, tools=test_json_mode.TOOLS)


def test_an_answer_is_decoded_recorded_and_replayed(tmp_path):
    settings = {"tool_mode": "json", "parameters": {"temperature": 0.0, "max_tokens": 96}}
    with endpoint(saying('{"action": "status"}')) as server:
        (reply,) = ask(tmp_path / "j", server.url, in_json(), **settings)
        (again,) = ask(tmp_path / "j", server.url, in_json(), **settings)
        ask(tmp_path / "j", server.url, in_json(), tool_mode="json", parameters={"temperature": 0.5, "max_tokens": 96})
    assert reply.message["tool_calls"][0]["id"] == "call_0_0"
    assert reply.message["tool_calls"][0]["function"] == {"name": "status", "arguments": "{}"}
    assert reply.raw["content"] == '{"action": "status"}'
    assert (reply.finish_reason, reply.failure, reply.cost, reply.cached) == ("stop", None, None, False)
    assert reply.prompt_tokens > reply.completion_tokens > 0
    assert again == dataclasses.replace(reply, cached=True)
    first, changed = server.bodies
    assert (first["temperature"], first["max_tokens"], first["seed"], first["model"]) == (0.0, 96, 5, "m")
    assert first["response_format"]["type"] == "json_schema"
    assert "tools" not in first
    assert changed["temperature"] == 0.5


def test_native_tools_go_along_and_come_back(tmp_path):
    with endpoint(saying("On it.", tool_calls=[CALL], reasoning_content="hm")) as server:
        (reply,) = ask(tmp_path / "j", server.url, request())
    assert server.bodies[0]["tools"] == list(TOOLS)
    assert "response_format" not in server.bodies[0]
    assert reply.message["tool_calls"] == [CALL]
    assert (reply.message["content"], reply.message["reasoning_content"]) == ("On it.", "hm")


def test_a_python_list_comes_back_as_calls_and_no_tools_are_sent(tmp_path):
    with endpoint(saying("[ls(a=True)]")) as server:
        (reply,) = ask(tmp_path / "j", server.url, request(), tool_mode="python_list")
    assert "tools" not in server.bodies[0]
    assert server.bodies[0]["messages"] == python_list.prompt(request())
    (call,) = reply.message["tool_calls"]
    assert (call["function"]["name"], json.loads(call["function"]["arguments"])) == ("ls", {"a": True})


def test_a_repeated_prompt_is_asked_again(tmp_path):
    with endpoint(hello) as server:
        replies = ask(tmp_path / "j", server.url, in_json(step=0), in_json(step=1))
    assert [reply.cached for reply in replies] == [False, False]
    assert len(server.bodies) == 2


def test_a_null_parameter_is_not_sent(tmp_path):
    with endpoint(hello) as server:
        ask(tmp_path / "j", server.url, request(), parameters={"seed": None, "temperature": 0.3})
    assert "seed" not in server.bodies[0]
    assert server.bodies[0]["temperature"] == 0.3


def test_what_was_sent_and_what_the_provider_does_not_take_is_recorded(tmp_path):
    parameters = {"temperature": 0.3, "max_tokens": 77, "top_k": 5}
    with endpoint(hello) as server:
        (plain,) = ask(tmp_path / "a", server.url, request(), parameters=parameters)
        (gpt_5,) = ask(tmp_path / "b", server.url, request(), parameters=parameters, model="openai/gpt-5")
    assert plain.sent["dropped"] == []
    assert {name: plain.sent["body"][name] for name in parameters} == parameters
    assert plain.sent["body"]["messages"].startswith("sha256:")
    assert "temperature" not in server.bodies[1]
    assert gpt_5.sent["dropped"] == ["temperature"]
    assert gpt_5.sent["body"]["max_completion_tokens"] == 77
    assert plain.served_by == "m fp_standin"


def test_reasoning_goes_back_by_setting_and_signed_thinking_always(tmp_path):
    thinking = [{"type": "thinking", "thinking": "hm", "signature": "abc"}]
    said = {"role": "assistant", "content": "Yes.", "reasoning_content": "hm", "thinking_blocks": thinking}
    messages = ({"role": "user", "content": "Hi"}, said, {"role": "user", "content": "So?"})
    with endpoint(hello) as server:
        for number, names in enumerate(((), ("reasoning_content",), ("reasoning_content", "reasoning"))):
            one = dataclasses.replace(request(), messages=messages, step=number)
            ask(tmp_path / "j", server.url, one, return_reasoning=names)
    sent = [body["messages"][1] for body in server.bodies]
    assert [sorted({"reasoning", "reasoning_content"} & set(message)) for message in sent] == [
        [],
        ["reasoning_content"],
        ["reasoning", "reasoning_content"],
    ]
    assert all(message["thinking_blocks"] == thinking for message in sent)
    assert said["reasoning_content"] == "hm"


def test_what_the_journal_holds_needs_neither_endpoint_nor_client(tmp_path):
    with endpoint(hello) as server:
        ask(tmp_path / "j", server.url, request())
    code = (
        "import sys; from pathlib import Path; from tests.models.asking import ask, request\n"
        f"(reply,) = ask(Path({str(tmp_path / 'j')!r}), 'http://127.0.0.1:9/v1', request())\n"
        "assert reply.cached and reply.failure is None\n"
        "assert 'litellm' not in sys.modules and 'openai' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


def test_loopback_calls_pass_by_a_proxy(tmp_path, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with endpoint(hello) as server:
        (reply,) = ask(tmp_path / "j", server.url, request())
    assert reply.failure is None
    assert "127.0.0.1" in os.environ["no_proxy"]


def test_no_endpoint_is_an_infrastructure_error(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as free:
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    (reply,) = ask(tmp_path / "j", url, request())
    assert reply.failure == "infra_error"


def test_a_lone_surrogate_can_be_sent(tmp_path):
    with endpoint(hello) as server:
        (reply,) = ask(tmp_path / "j", server.url, request("odd \ud800 text"))
    assert reply.failure is None
    assert server.bodies[0]["messages"][-1]["content"] == "odd ? text"


@pytest.mark.parametrize("status", [200, 500])
def test_the_client_prints_nothing(tmp_path, capfd, status):
    with endpoint(lambda body: (status, hello(body) if status == 200 else {"error": {"message": "boom"}})) as server:
        ask(tmp_path / "j", server.url, request(), attempts=1)
    printed = capfd.readouterr()
    assert printed.out == printed.err == ""
    assert json.loads((tmp_path / "j").read_text() or "{}").keys() in ({"key", "call", "record"}, set())
