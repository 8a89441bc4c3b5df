"""Faults of an endpoint: each ends in a bounded number of tries, or in an answer of the right status, and can be mended.

Every test counts what the stand-in endpoint saw. `with_chat` alone knows how a chat model is put together.
"""

import asyncio
import itertools
import json
import logging
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from tests.models.test_json_mode import CASE
from tests.standins.endpoint import at_a_rate, endpoint
from tests.standins.faults import (
    ECHOES,
    FLOODING,
    HARMLESS,
    LASTING,
    OVERFLOWS,
    STALLING,
    TRANSIENT,
    date_in,
    error,
    throttled,
)
from tests.standins.player import completion
from toolcal import calls, perturbations, rollout, tables
from toolcal.cells import BASELINE, Cell
from toolcal.journal import Journal
from toolcal.models.calling import Caller, Connection
from toolcal.models.chat import Chat
from toolcal.models.pace import Pace
from toolcal.models.protocol import Request

ROOT = Path(__file__).parents[2]
KEY = "sk-standin-0123456789abcdef"
EMISSIONS = [
    json.loads(line) for line in (ROOT / "tests/data/emissions.jsonl").read_text(encoding="utf-8").splitlines()
]
TOOL_NAMES = EMISSIONS[0]["tools"]
TOOLS = tuple(
    {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}
    for name in TOOL_NAMES
)


def request(content="Hello", turn=0):
    return Request(CASE, 0, turn, 0, 0, ({"role": "user", "content": content},), 0, TOOLS, 5)


def with_chat(path, url, work, *, key=KEY, **settings):
    """What `work(chat)` returns, for a chat model with the journal at `path`."""
    settings = {"attempts": 3, "timeout": 20.0, "max_wait": 10.0, "backoff": 0.001, "concurrency": 8, **settings}
    pace = Pace(None, concurrency=settings.pop("concurrency"))

    async def connect():
        return Connection(url, key)

    async def run():
        caller = Caller("openai/m", connect, pace=pace, **settings)
        try:
            with Journal(path) as journal:
                return await work(Chat(identity={"name": "openai/m"}, journal=journal, caller=caller))
        finally:
            await caller.close()

    return asyncio.run(run())


def ask(path, url, *requests, together=False, **settings):
    """Each request's reply, one after the other or all together."""

    async def work(chat):
        if together:
            return await asyncio.gather(*map(chat.respond, requests))
        return [await chat.respond(one) for one in requests]

    return with_chat(path, url, work, **settings)


def always(fault):
    return lambda body, nth: fault()


def first(count, fault):
    return lambda body, nth: fault() if nth < count else None


def kept(path):
    return [json.loads(line)["record"] for line in path.read_text().splitlines()]


def gaps(server):
    times = [seen.time for seen in server.seen]
    return [later - earlier for earlier, later in itertools.pairwise(times)]


def hello(body):
    return completion(body, {"content": "Hello."})


@pytest.mark.parametrize("kind", TRANSIENT)
def test_a_transient_fault_is_tried_again_then_given_up_and_taken_up_by_the_next_run(tmp_path, kind):
    started = time.monotonic()
    with endpoint(hello, faults=always(TRANSIENT[kind])) as server:
        (reply,) = ask(tmp_path / "j", server.url, request())
        assert (reply.failure, len(server.seen)) == ("infra_error", 3)
        assert reply.raw
        assert kept(tmp_path / "j") == []
        server.faults = lambda body, nth: TRANSIENT[kind]() if nth == 3 else None
        (reply,) = ask(tmp_path / "j", server.url, request())
        assert (reply.failure, len(server.seen)) == (None, 5)
        assert reply.message["content"] == "Hello."
        assert not reply.cached
        (reply,) = ask(tmp_path / "j", server.url, request())
        assert (reply.cached, len(server.seen)) == (True, 5)
    assert len({seen.key for seen in server.seen}) == 1
    assert time.monotonic() - started < 8


@pytest.mark.parametrize("kind", STALLING)
def test_a_stalling_endpoint_ends_at_the_timeout_of_each_try(tmp_path, kind):
    with endpoint(hello, faults=always(STALLING[kind])) as server:
        ask(tmp_path / "warm", server.url, request(), timeout=0.01, attempts=1)
        server.seen.clear()
        started = time.monotonic()
        (reply,) = ask(tmp_path / "j", server.url, request(), timeout=0.3, attempts=2)
        assert 0.6 <= time.monotonic() - started < 3
        assert (reply.failure, len(server.seen)) == ("infra_error", 2)
        assert kept(tmp_path / "j") == []
        server.faults = None
        (reply,) = ask(tmp_path / "j", server.url, request())
    assert reply.failure is None


FLOOD = """
import json, resource, sys, time
resource.setrlimit(resource.RLIMIT_AS, (6 * 2**30, 6 * 2**30))  # a failure must not take the machine along
from pathlib import Path
from tests.models.test_faults import ask, request
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
url, path = sys.argv[1:]
ask(Path(path) / "warm", url, request("warm"), attempts=1)
before, started = peak(), time.monotonic()
(reply,) = ask(Path(path) / "j", url, request("flood"), attempts=2)
print(json.dumps([reply.failure, peak() - before, time.monotonic() - started]))
"""


@pytest.mark.parametrize("kind", FLOODING)
def test_an_endless_answer_is_cut_off_before_it_fills_the_memory(tmp_path, kind):
    def flood(body, nth):
        return FLOODING[kind]() if body["messages"][0]["content"] == "flood" else None

    with endpoint(hello, faults=flood) as server:
        made = [sys.executable, "-c", FLOOD, server.url, str(tmp_path)]
        ended = subprocess.run(made, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr[-2000:]
    failure, megabytes, seconds = json.loads(ended.stdout)
    assert (failure, len(server.seen)) == ("infra_error", 3)
    assert megabytes < 400
    assert seconds < 20
    assert len(kept(tmp_path / "j")) == 0


@pytest.mark.parametrize("kind", LASTING)
def test_a_lasting_fault_is_tried_once_and_not_kept(tmp_path, kind):
    closes = kind not in ("400", "422")
    with endpoint(hello, faults=always(LASTING[kind])) as server:
        replies = ask(tmp_path / "j", server.url, request("a"), request("b"), request("c"))
        assert [reply.failure for reply in replies] == ["infra_error"] * 3
        assert len(server.seen) == (1 if closes else 3)
        assert kept(tmp_path / "j") == []
        if closes:
            assert all("not asked" in reply.raw and replies[0].raw in reply.raw for reply in replies[1:])
        server.faults = None
        replies = ask(tmp_path / "j", server.url, request("a"), request("b"))
    assert [reply.failure for reply in replies] == [None, None]


@pytest.mark.parametrize("kind", ["500", "close before", "html"])
def test_after_three_calls_in_a_row_that_failed_all_tries_no_more_are_made(tmp_path, kind):
    with endpoint(hello, faults=always(TRANSIENT[kind])) as server:
        replies = ask(tmp_path / "j", server.url, *map(request, "abcde"), attempts=2)
        assert len(server.seen) == 6
    assert [reply.failure for reply in replies] == ["infra_error"] * 5
    assert ["not asked" in reply.raw for reply in replies] == [False, False, False, True, True]


def test_an_answer_in_between_starts_the_count_anew(tmp_path):
    def script(body, nth):
        return None if body["messages"][0]["content"] in "cf" else TRANSIENT["500"]()

    with endpoint(hello, faults=script) as server:
        replies = ask(tmp_path / "j", server.url, *map(request, "abcdef"), attempts=2)
    assert [reply.failure for reply in replies] == ["infra_error", "infra_error", None] * 2
    assert len(server.seen) == 10


@pytest.mark.parametrize("kind", OVERFLOWS)
def test_a_prompt_that_is_too_long_is_the_models_end_and_kept(tmp_path, kind):
    with endpoint(hello, faults=always(OVERFLOWS[kind])) as server:
        replies = ask(tmp_path / "j", server.url, *map(request, "abcd"))
        (again,) = ask(tmp_path / "j", server.url, request("a"))
    assert [reply.failure for reply in replies] == ["context_exceeded"] * 4
    assert len(server.seen) == 4
    assert again.cached
    assert again.failure == "context_exceeded"
    assert again.raw == replies[0].raw


@pytest.mark.parametrize("kind", HARMLESS)
def test_an_odd_answer_is_an_answer(tmp_path, kind):
    with endpoint(faults=always(HARMLESS[kind])) as server:
        (reply,) = ask(tmp_path / "j", server.url, request())
        (again,) = ask(tmp_path / "j", server.url, request())
    assert (reply.failure, len(server.seen), again.cached) == (None, 1, True)
    assert reply.message["content"] == "Hello."
    told = (reply.prompt_tokens, reply.completion_tokens)
    assert all(type(count) is int for count in told) or told == (None, None)
    assert ("usage" in kind and "strings" not in kind) <= (told == (None, None))  # unknown is null, not zero


@pytest.mark.parametrize(
    ("fault", "least"),
    [
        (lambda: throttled(retry_after="0.4"), 0.4),
        (lambda: throttled(retry_after="1"), 1.0),
        (lambda: throttled(retry_after_ms="400"), 0.4),
        (lambda: throttled(retry_after_ms="400", retry_after="9"), 0.4),
        (lambda: throttled(retry_after=date_in(2)), 1.0),
        (lambda: error(503, "Overloaded", {"Retry-After": "0.4"}), 0.4),
        (lambda: error(529, "Overloaded", {"Retry-After": "0.4"}), 0.4),
        (lambda: error(500, "Oops", {"Retry-After": "0.4"}), 0.4),
    ],
    ids=["seconds", "second", "ms", "ms first", "date", "503", "529", "500"],
)
def test_retry_after_is_waited_for(tmp_path, fault, least):
    with endpoint(hello, faults=first(1, fault)) as server:
        (reply,) = ask(tmp_path / "j", server.url, request())
    assert reply.failure is None
    (gap,) = gaps(server)
    assert least <= gap < least + 2


@pytest.mark.parametrize(
    "value", ["soon", "-5", "nan", "inf", "", "1e9", "Mon, 99 Foo 2026 99:99:99 GMT", date_in(-99)]
)
def test_a_retry_after_that_says_nothing_is_no_reason_to_wait(tmp_path, value):
    with endpoint(hello, faults=first(1, lambda: throttled(retry_after=value))) as server:
        (reply,) = ask(tmp_path / "j", server.url, request())
    assert (reply.failure, len(server.seen)) == (None, 2)
    assert gaps(server)[0] < 1


@pytest.mark.parametrize("value", ["3600", "999999999", date_in(3600)], ids=["hour", "decades", "date"])
def test_a_retry_after_beyond_the_longest_wait_gives_up_at_once(tmp_path, value):
    with endpoint(hello, faults=always(lambda: throttled(retry_after=value))) as server:
        started = time.monotonic()
        (reply,) = ask(tmp_path / "j", server.url, request())
        assert time.monotonic() - started < 3
    assert (reply.failure, len(server.seen)) == ("infra_error", 1)
    assert kept(tmp_path / "j") == []


def test_waits_grow_are_bounded_and_differ(tmp_path):
    with endpoint(faults=always(TRANSIENT["500"])) as server:
        ask(tmp_path / "j", server.url, *map(request, "abcdefgh"), attempts=4, backoff=0.1, together=True)
    by_call = {}
    for seen in server.seen:
        by_call.setdefault(seen.key, []).append(seen.time)
    assert sorted(map(len, by_call.values())) == [4] * 8
    waits = [[b - a for a, b in itertools.pairwise(times)] for times in by_call.values()]
    assert all(wait < 0.1 * 2**n + 0.5 for call in waits for n, wait in enumerate(call))
    assert max(call[2] for call in waits) > 0.1  # eight draws from 0 to 0.4: all below by a chance of 1 in 65,000
    assert len({round(call[2], 2) for call in waits}) > 2


@pytest.mark.parametrize("headers", [{"retry_after": "1"}, {}], ids=["retry-after", "without"])
def test_a_storm_of_429_passes_and_all_are_answered(tmp_path, headers):
    length = 1.0 if headers else 0.4
    begun = []

    def storm(body, nth):
        begun.append(time.monotonic())
        return throttled(**headers) if begun[-1] - begun[0] < length else None

    with endpoint(faults=storm) as server:
        many = [request(f"Request {n}") for n in range(30)]
        replies = ask(tmp_path / "j", server.url, *many, together=True, concurrency=8, attempts=10, backoff=0.05)
    assert [reply.failure for reply in replies] == [None] * 30
    assert server.most_at_once <= 8
    # With Retry-After nobody knocks while the storm lasts, but for those already under way.
    assert len(server.seen) <= 30 + (16 if headers else 8 * 10)
    assert begun[-1] - begun[0] < 10
    assert len(kept(tmp_path / "j")) == 30


def test_faults_of_all_kinds_at_a_rate_leave_no_trace_in_the_answers(tmp_path):
    quick = [kind for kind in TRANSIENT if "retry-after" not in kind]
    many = [request(f"Move file 'f{n}'.") for n in range(60)]
    with endpoint() as server:
        plain = ask(tmp_path / "plain", server.url, *many, together=True)
    with endpoint(faults=at_a_rate(0.4, quick, seed=7, at_most=4)) as server:
        replies = ask(tmp_path / "j", server.url, *many, together=True, attempts=6, concurrency=16)
    assert [reply.message for reply in replies] == [reply.message for reply in plain]
    failed = sum(seen.outcome != "ok" for seen in server.seen)
    assert failed > 15
    assert len(server.seen) == 60 + failed


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
        (reply,) = ask(tmp_path / "j", server.url, request())
        (again,) = ask(tmp_path / "j", server.url, request())
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
        {"content": "a\u0000b \ud83d\ude00"},
    ],
    ids=["parts", "refusal", "function_call", "number", "object", "bare", "null", "no calls", "thinking", "NUL"],
)
def test_a_message_of_odd_form_is_read_as_it_came(tmp_path, message):
    assert through(tmp_path, message, "stop") == parsed({"role": "assistant", **message}, "stop")


@pytest.mark.parametrize("kind", ECHOES)
@pytest.mark.parametrize("way", ["given", "environment"])
def test_a_key_that_is_sent_back_is_kept_nowhere(tmp_path, kind, way, monkeypatch, caplog, capfd):
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with endpoint(faults=always(ECHOES[kind])) as server:
        replies = ask(tmp_path / "j", server.url, request("a"), request("b"), key=KEY if way == "given" else None)
    assert server.seen[0].authorization == f"Bearer {KEY}"
    assert all(reply.raw for reply in replies)
    assert "***" in repr(replies)
    printed = capfd.readouterr()
    for text in (repr(replies), (tmp_path / "j").read_text(), caplog.text, printed.out, printed.err):
        assert KEY not in text


def trajectories(path, url, bfcl, cases, **settings):
    cell = Cell("m", cases[0].scenario, BASELINE)
    contexts = {case.case_id: perturbations.baseline(case) for case in cases}

    async def work(chat):
        return await rollout.run_cell(cell, cases, contexts, chat, bfcl, concurrency=4)

    data = with_chat(path, url, work, **settings)
    tables.check("trajectories", data)
    return data


def test_a_run_over_faults_is_taken_up_and_ends_as_one_without(tmp_path, bfcl, bfcl_cases):
    cases = bfcl_cases["base"][:6]
    with endpoint() as server:
        plain = trajectories(tmp_path / "plain", server.url, bfcl, cases)
        asked = len(server.seen)
    # Two in five requests fail, which a call outlives half the time; the endpoint is not given up for that.
    with endpoint(faults=at_a_rate(0.4, ["500", "close in body", "html", "400"], seed=3, at_most=2)) as server:
        runs = [trajectories(tmp_path / "j", server.url, bfcl, cases, attempts=2)]
        while (runs[-1].status == "infra_error").any() and len(runs) < 20:
            runs.append(trajectories(tmp_path / "j", server.url, bfcl, cases, attempts=2))
    assert len(runs) > 1
    assert set(runs[0].status) == {"ok", "infra_error"}
    ended = runs[0][runs[0].status == "infra_error"]
    assert ended.case_id.is_unique  # a case stops at its infrastructure error
    differ = ["latency", "cached"]
    pd.testing.assert_frame_equal(runs[-1].drop(columns=differ), plain.drop(columns=differ))
    answered = [seen.key for seen in server.seen if seen.outcome == "ok"]
    assert len(answered) == len(set(answered)) == asked  # no answer was asked for twice
