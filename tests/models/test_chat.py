"""The chat model over a stand-in endpoint: what is sent, what comes back, what the journal keeps."""

import asyncio
import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.models.test_json_mode import CASE, TOOLS
from toolcal.journal import Journal
from toolcal.models.chat import Chat
from toolcal.models.protocol import Request

OVERFLOW = {
    "error": {
        "code": 400,
        "message": "request (9031 tokens) exceeds the available context size (8192 tokens), try increasing it",
        "type": "exceed_context_size_error",
    }
}


def completion(content, **message):
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [
            {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content, **message}}
        ],
        "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
    }


class Endpoint:
    """What a stand-in endpoint was sent, and what it answers: (HTTP status, body)."""

    def __init__(self, answer: Callable[[dict], tuple[int, object]]):
        self.bodies: list[dict] = []
        self.answer = answer
        self.url = ""


@contextmanager
def endpoint(answer) -> Iterator[Endpoint]:
    state = Endpoint(answer)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state.bodies.append(body)
            status, value = state.answer(body)
            data = value if isinstance(value, bytes) else json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        state.url = f"http://127.0.0.1:{server.server_port}/v1"
        yield state
    finally:
        server.shutdown()
        server.server_close()


def request(content="Hello", step=0, tools=TOOLS):
    return Request(CASE, 0, 1, step, 0, ({"role": "user", "content": content},), 0, tools, 5)


def ask(path, url, *requests, **settings):
    """Each request's reply, one after the other, from a chat model with the journal at `path`."""
    settings = {"identity": {"sha256": "ab"}, "api_base": url, "tool_mode": "json", **settings}

    async def run():
        with Journal(path) as journal:
            chat = Chat("openai/m", journal=journal, **settings)
            return [await chat.respond(one) for one in requests]

    return asyncio.run(run())


def test_an_answer_is_decoded_recorded_and_replayed(tmp_path):
    with endpoint(lambda _: (200, completion('{"action": "status"}'))) as server:
        parameters = {"temperature": 0.0, "max_tokens": 96}
        (reply,) = ask(tmp_path / "j", server.url, request(), parameters=parameters)
        (again,) = ask(tmp_path / "j", server.url, request(), parameters=parameters)
        ask(tmp_path / "j", server.url, request(), parameters={**parameters, "temperature": 0.5})
    assert reply.message["tool_calls"][0]["id"] == "call_1_0"
    assert reply.message["tool_calls"][0]["function"] == {"name": "status", "arguments": "{}"}
    assert reply.raw["content"] == '{"action": "status"}'
    assert (reply.finish_reason, reply.prompt_tokens, reply.completion_tokens) == ("stop", 7, 3)
    assert (reply.failure, reply.cost, reply.cached) == (None, None, False)
    assert again.cached
    assert (again.latency, again.message, again.raw) == (reply.latency, reply.message, reply.raw)
    first, changed = server.bodies
    assert (first["temperature"], first["max_tokens"], first["seed"], first["model"]) == (0.0, 96, 5, "m")
    assert first["response_format"]["type"] == "json_schema"
    assert "tools" not in first
    assert changed["temperature"] == 0.5


def test_a_repeated_prompt_is_asked_again(tmp_path):
    with endpoint(lambda _: (200, completion('{"action": "done", "text": "ok"}'))) as server:
        replies = ask(tmp_path / "j", server.url, request(step=0), request(step=1))
    assert [reply.cached for reply in replies] == [False, False]
    assert len(server.bodies) == 2


def test_a_null_parameter_is_not_sent(tmp_path):
    with endpoint(lambda _: (200, completion("hi"))) as server:
        ask(tmp_path / "j", server.url, request(), parameters={"seed": None, "temperature": 0.3})
    assert "seed" not in server.bodies[0]


def test_native_tools_go_along_and_come_back(tmp_path):
    made = [{"id": "a", "type": "function", "function": {"name": "status", "arguments": "{broken"}}]
    with endpoint(lambda _: (200, completion(None, tool_calls=made, reasoning_content="hm"))) as server:
        (reply,) = ask(tmp_path / "j", server.url, request(), tool_mode="native")
    assert server.bodies[0]["tools"] == list(TOOLS)
    assert "response_format" not in server.bodies[0]
    assert reply.message["tool_calls"] == made
    assert reply.message["reasoning_content"] == "hm"


def test_a_context_overflow_is_the_models_and_kept(tmp_path):
    with endpoint(lambda _: (400, OVERFLOW)) as server:
        (reply,) = ask(tmp_path / "j", server.url, request())
        (again,) = ask(tmp_path / "j", server.url, request())
    assert reply.failure == again.failure == "context_exceeded"
    assert "available context size" in reply.raw
    assert reply.message["content"] is None
    assert again.cached
    assert len(server.bodies) == 1


@pytest.mark.parametrize(
    "answer",
    [(500, {"error": {"message": "boom"}}), (429, {"error": {"message": "slow"}}), (200, b"<html>"), (200, {})],
    ids=["500", "429", "html", "empty"],
)
def test_a_fault_is_asked_once_and_not_kept(tmp_path, answer):
    with endpoint(lambda _: answer) as server:
        (reply,) = ask(tmp_path / "j", server.url, request())
        assert reply.failure == "infra_error"
        assert len(server.bodies) == 1
        server.answer = lambda _: (200, completion('{"action": "status"}'))
        (reply,) = ask(tmp_path / "j", server.url, request())
    assert reply.failure is None
    assert not reply.cached


def test_no_endpoint_is_an_infrastructure_error(tmp_path):
    with endpoint(lambda _: (200, {})) as server:
        pass
    (reply,) = ask(tmp_path / "j", server.url, request())
    assert reply.failure == "infra_error"


def test_a_hanging_endpoint_ends_at_the_timeout(tmp_path):
    hang = threading.Event()
    with endpoint(lambda _: (hang.wait(20), (200, {}))[1]) as server:
        (reply,) = ask(tmp_path / "j", server.url, request(), timeout=0.5)
        hang.set()
    assert reply.failure == "infra_error"
    assert reply.latency < 15


def test_keys_are_masked_in_errors_and_stay_out_of_the_journal(tmp_path, monkeypatch):
    monkeypatch.setenv("OTHER_API_KEY", "another-secret")
    said = {"error": {"message": "bad key topsecret-123,\n also another-secret"}}
    with endpoint(lambda _: (401, said)) as server:
        (reply,) = ask(tmp_path / "j", server.url, request(), api_key="topsecret-123")
        assert reply.failure == "infra_error"
        server.answer = lambda _: (200, completion("hi"))
        ask(tmp_path / "j", server.url, request(), api_key="topsecret-123")
    assert "secret" not in reply.raw
    assert "bad key ***, also ***" in reply.raw
    assert "secret" not in (tmp_path / "j").read_text()


def test_loopback_calls_pass_by_a_proxy(tmp_path, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with endpoint(lambda _: (200, completion("hi"))) as server:
        (reply,) = ask(tmp_path / "j", server.url, request())
    assert reply.failure is None
    assert "127.0.0.1" in os.environ["no_proxy"]


def test_a_lone_surrogate_can_be_sent(tmp_path):
    with endpoint(lambda _: (200, completion("hi"))) as server:
        (reply,) = ask(tmp_path / "j", server.url, request("odd \ud800 text"))
    assert reply.failure is None
    assert server.bodies[0]["messages"][-1]["content"] == "odd ? text"


def test_the_client_prints_nothing(tmp_path, capfd):
    with endpoint(lambda _: (500, {"error": {"message": "boom"}})) as server:
        ask(tmp_path / "j", server.url, request())
    printed = capfd.readouterr()
    assert printed.out == printed.err == ""
