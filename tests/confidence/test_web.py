"""Web search against a stand-in on the loopback address; the key must turn up nowhere but in the request."""

from __future__ import annotations

import json
import logging
import threading
import time
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from toolcal.confidence.hits import NOTHING
from toolcal.confidence.tools import ToolError
from toolcal.confidence.web import KeyMissing, WebSearch

KEY = "tvly-secret-0123456789"
RESULTS = {
    "serper": {
        "organic": [{"title": "A  title", "link": "https://a.example/x", "snippet": "word " * 100}, {"title": "B"}]
    },
    "tavily": {
        "results": [{"title": "A  title", "url": "https://a.example/x", "content": "word " * 100}, {"title": "B"}]
    },
}


class Service:
    """Answers with a status and a body, or as a function on the handler; keeps what it was asked."""

    def __init__(self):
        self.status, self.body, self.play, self.seen = 200, b"{}", None, []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.seen.append((self.path, dict(self.headers), body))
                if outer.play:
                    return outer.play(self)
                self.send_response(outer.status)
                self.send_header("Content-Length", str(len(outer.body)))
                self.end_headers()
                self.wfile.write(outer.body)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}/search"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()


@pytest.fixture
def service():
    running = Service()
    yield running
    running.server.shutdown()
    running.server.server_close()


@pytest.fixture(autouse=True)
def keys(monkeypatch, caplog):
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    for name in ("SERPER_API_KEY", "TAVILY_API_KEY"):
        monkeypatch.setenv(name, KEY)
    yield
    assert KEY not in caplog.text


def fault_of(search, query="x"):
    with pytest.raises(ToolError) as caught:
        search.run({"query": query})
    assert KEY not in "".join(traceback.format_exception(caught.value)) + repr(caught.value) + repr(vars(search))
    assert caught.value.fault == "service"
    return caught.value


@pytest.mark.parametrize(("name", "query", "count"), [("serper", "q", "num"), ("tavily", "query", "max_results")])
def test_results_have_the_shape_of_search(service, name, query, count):
    service.body = json.dumps(RESULTS[name]).encode()
    search = WebSearch(name, k=3, length=20, url=service.url)
    assert search.run({"query": "wörd \ud800"}) == (
        "[1] A title (https://a.example/x)\nword word word word…\n\n[2] B\n"
    )
    ((path, headers, body),) = service.seen
    assert (path, body) == ("/search", {query: "wörd ?", count: 3})
    sent = headers.get("X-API-KEY") or headers.get("Authorization")
    assert sent == {"serper": KEY, "tavily": f"Bearer {KEY}"}[name]
    assert KEY not in repr(search) + repr(vars(search))


def test_no_more_than_k_are_shown(service):
    service.body = json.dumps({"results": [{"title": str(n), "url": "u", "content": "c"} for n in range(9)]}).encode()
    assert [hit.title for hit in WebSearch("tavily", k=2, url=service.url).find("x")] == ["0", "1"]


@pytest.mark.parametrize("body", [{}, {"results": []}, {"results": None}, {"results": [None, 3, {}, {"title": 4}]}])
def test_no_results_are_no_fault(service, body):
    service.body = json.dumps(body).encode()
    assert WebSearch("tavily", url=service.url).run({"query": "x"}) == NOTHING


@pytest.mark.parametrize(
    ("status", "retryable", "word"),
    [
        (400, False, "refused"),
        (401, False, "TAVILY_API_KEY"),
        (403, False, "TAVILY_API_KEY"),
        (402, False, "no searches left"),
        (432, False, "no searches left"),
        (422, False, "refused"),
        (301, False, "refused"),
        (408, True, "not available"),
        (429, True, "not available"),
        (500, True, "not available"),
        (503, True, "not available"),
    ],
)
def test_refusals_passing_and_lasting(service, status, retryable, word):
    service.status, service.body = status, f"your key {KEY} is bad".encode()
    error = fault_of(WebSearch("tavily", url=service.url))
    assert error.retryable is retryable
    assert word in str(error)
    assert str(status) in str(error)


@pytest.mark.parametrize(
    ("body", "retryable"),
    [(b"<html>busy</html>", True), (b"[1]", True), (b"\xff", True), (b"[" * 9999, True), (b'{"results": 5}', False)],
)
def test_answers_that_are_none(service, body, retryable):
    service.body = body
    assert fault_of(WebSearch("tavily", url=service.url)).retryable is retryable


def test_silence_ends_at_the_timeout(service):
    service.play = lambda handler: time.sleep(1)
    started = time.monotonic()
    error = fault_of(WebSearch("serper", url=service.url, timeout=0.2))
    assert error.retryable
    assert time.monotonic() - started < 0.9


def drip(handler):
    handler.send_response(200)
    handler.end_headers()
    for _ in range(30):
        handler.wfile.write(b" ")
        time.sleep(0.05)


def test_an_answer_that_drips_ends_at_the_timeout(service):
    service.play = drip
    started = time.monotonic()
    assert fault_of(WebSearch("serper", url=service.url, timeout=0.3)).retryable
    assert time.monotonic() - started < 1


def flood(handler):
    handler.send_response(200)
    handler.end_headers()
    for _ in range(1000):
        handler.wfile.write(b" " * 100_000)


def test_an_endless_answer_is_not_read_to_its_end(service):
    service.play = flood
    assert not fault_of(WebSearch("serper", url=service.url)).retryable


def test_nobody_there(service):
    error = fault_of(WebSearch("serper", url="http://127.0.0.1:9/search"))
    assert (error.retryable, "could not be reached" in str(error)) == (True, True)
    error = fault_of(WebSearch("serper", url="ftp://127.0.0.1/search"))
    assert error.retryable is False


@pytest.mark.parametrize("key", ["", "  ", "schlüssel", "a\nb"])
def test_a_key_that_is_none_is_told_before_the_start_by_the_variables_name(monkeypatch, key):
    monkeypatch.setenv("MY_KEY", key)
    with pytest.raises(KeyMissing, match="MY_KEY") as caught:
        WebSearch("serper", key_variable="MY_KEY")
    assert not key.strip() or key not in str(caught.value)


def test_a_missing_query_is_not_sent(service):
    with pytest.raises(ToolError) as caught:
        WebSearch("serper", url=service.url).run({"query": " "})
    assert (caught.value.fault, service.seen) == ("arguments", [])
