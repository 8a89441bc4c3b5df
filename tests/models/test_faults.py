"""Faults of an endpoint: each ends in a bounded number of tries and in a run that can be taken up.

Every test counts what the stand-in endpoint saw.
"""

import itertools
import json
import logging
import subprocess
import sys
import time
from collections import Counter
from itertools import count
from pathlib import Path

import pandas as pd
import pytest

from tests.models.asking import KEY, TOOL_NAMES, ask, hello, request, warm, with_chat  # noqa: F401
from tests.standins.endpoint import at_a_rate, endpoint
from tests.standins.faults import (
    ECHOES,
    FLOODING,
    LASTING,
    OVERFLOWS,
    STALLING,
    TRANSIENT,
    date_in,
    error,
    throttled,
)
from tests.timing import best_of, wall
from toolcal import perturbations, rollout, tables
from toolcal.cells import BASELINE, Cell

ROOT = Path(__file__).parents[2]


def always(fault):
    return lambda body, nth: fault()


def first(count, fault):
    return lambda body, nth: fault() if nth < count else None


def kept(path):
    return [json.loads(line)["record"] for line in path.read_text().splitlines()]


def gaps(server):
    times = [seen.time for seen in server.seen]
    return [later - earlier for earlier, later in itertools.pairwise(times)]


@pytest.mark.parametrize("kind", TRANSIENT)
def test_a_transient_fault_is_tried_again_then_given_up_and_taken_up_by_the_next_run(tmp_path, kind):
    number = count()

    def work():
        path = tmp_path / str(next(number)) / "j"
        with endpoint(hello, faults=always(TRANSIENT[kind])) as server:
            (reply,) = ask(path, server.url, request())
            assert (reply.failure, len(server.seen)) == ("infra_error", 3)
            assert reply.raw
            assert kept(path) == []
            server.faults = lambda body, nth: TRANSIENT[kind]() if nth == 3 else None
            reply, again = ask(path, server.url, request(), request())
            assert (reply.failure, reply.cached, len(server.seen)) == (None, False, 5)
            assert reply.message["content"] == "Hello."
            assert again.cached
        assert len({seen.key for seen in server.seen}) == 1

    assert best_of(lambda: wall(work), 10) < 10


@pytest.mark.parametrize("kind", STALLING)
def test_a_stalling_endpoint_ends_at_the_timeout_of_each_try(tmp_path, kind):
    with endpoint(hello, faults=always(STALLING[kind])) as server:

        def work():
            server.seen.clear()
            (reply,) = ask(tmp_path / "j", server.url, request(), timeout=0.3, attempts=2)
            assert (reply.failure, len(server.seen)) == ("infra_error", 2)

        assert 0.6 <= best_of(lambda: wall(work), 4) < 4
        assert kept(tmp_path / "j") == []
        server.faults = None
        (reply,) = ask(tmp_path / "j", server.url, request())
    assert reply.failure is None


FLOOD = """
import json, resource, sys, time
resource.setrlimit(resource.RLIMIT_AS, (3 * 2**30, 3 * 2**30))  # a failure must not take the machine along
from pathlib import Path
from tests.models.test_faults import ask, request
def peak():  # not ru_maxrss, which begins with the memory of the process that started this one
    return next(int(line.split()[1]) // 1024 for line in open("/proc/self/status") if line.startswith("VmHWM"))
url, path, *kinds = sys.argv[1:]
ask(Path(path), url, request("warm"), attempts=1)
before, found = peak(), {}
for kind in kinds:
    started = time.monotonic()
    (reply,) = ask(Path(path), url, request(kind), attempts=1)
    found[kind] = [reply.failure, peak() - before, time.monotonic() - started]
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def floods(tmp_path_factory):
    """Kind of flood -> how its call failed, peak memory (MB) beyond a usual call's, seconds; in a process apart."""
    path = tmp_path_factory.mktemp("floods") / "j"

    def script(body, nth):
        flood = FLOODING.get(body["messages"][0]["content"])
        return flood() if flood else None

    with endpoint(hello, faults=script) as server:
        made = [sys.executable, "-W", "ignore", "-c", FLOOD, server.url, str(path), *FLOODING]
        ended = subprocess.run(made, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr[-2000:]
    assert len(server.seen) == 1 + len(FLOODING)
    assert len(kept(path)) == 1
    return json.loads(ended.stdout)


@pytest.mark.parametrize("kind", FLOODING)
def test_an_endless_answer_is_cut_off_before_it_fills_the_memory(floods, kind):
    failure, megabytes, seconds = floods[kind]
    assert failure == "infra_error"
    assert megabytes < 400
    assert seconds < 15  # the timeout of a try is 20


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


def test_a_422_is_sent_once_whatever_else_in_the_process_set_litellm(tmp_path, monkeypatch):
    import litellm

    monkeypatch.setattr(litellm, "drop_params", True)  # as importing tau2's user simulator does
    with endpoint(hello, faults=always(LASTING["422"])) as server:
        (reply,) = ask(tmp_path / "j", server.url, request("a"))
    assert (reply.failure, len(server.seen)) == ("infra_error", 1)
    assert "valid string" in reply.raw  # the endpoint's own words


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
    number = count()

    def waited():
        with endpoint(hello, faults=first(1, fault)) as server:
            (reply,) = ask(tmp_path / str(next(number)) / "j", server.url, request())
        assert reply.failure is None
        (gap,) = gaps(server)
        return gap

    assert least <= best_of(waited, least + 2) < least + 2


@pytest.mark.parametrize(
    "value",
    [
        "soon",
        "-5",
        "nan",
        "inf",
        "",
        "1e9",
        "Mon, 99 Foo 2026 99:99:99 GMT",
        "Mon, 01 Jan 99999 00:00:00 GMT",
        pytest.param(date_in(-99), id="past"),  # the time of day in a test's name would differ between workers
    ],
)
def test_a_retry_after_that_says_nothing_is_no_reason_to_wait(tmp_path, value):
    number = count()

    def waited():
        with endpoint(hello, faults=first(1, lambda: throttled(retry_after=value))) as server:
            (reply,) = ask(tmp_path / str(next(number)) / "j", server.url, request())
        assert (reply.failure, len(server.seen)) == (None, 2)
        return gaps(server)[0]

    assert best_of(waited, 1) < 1


@pytest.mark.parametrize("parameters", [{"response_format": 5}, {"extra_body": 5}, {"stop": {"a": 1}}])
def test_what_the_client_itself_refuses_is_not_tried_again(tmp_path, parameters):
    number = count()
    with endpoint(hello) as server:

        def work():
            path = tmp_path / str(next(number)) / "j"
            (reply,) = ask(path, server.url, request(), parameters=parameters, backoff=5)
            assert reply.failure in ("infra_error", None)

        assert best_of(lambda: wall(work), 2) < 2


@pytest.mark.parametrize("value", ["3600", "999999999", date_in(3600)], ids=["hour", "decades", "date"])
def test_a_retry_after_beyond_the_longest_wait_gives_up_at_once(tmp_path, value):
    with endpoint(hello, faults=always(lambda: throttled(retry_after=value))) as server:

        def work():
            server.seen.clear()
            (reply,) = ask(tmp_path / "j", server.url, request())
            assert (reply.failure, len(server.seen)) == ("infra_error", 1)

        assert best_of(lambda: wall(work), 3) < 3
    assert kept(tmp_path / "j") == []


def test_waits_grow_are_bounded_and_differ(tmp_path):
    asked = Counter()

    def script(body, nth):
        said = body["messages"][0]["content"]
        asked[said] += 1
        return TRANSIENT["500"]() if asked[said] < 4 else None

    number = count()
    waits = []

    def longest():
        """The longest wait beyond its bound by chance; what the calls themselves take is in it."""
        asked.clear()
        with endpoint(faults=script) as server:
            path = tmp_path / str(next(number)) / "j"
            ask(path, server.url, *map(request, "abcdefgh"), attempts=4, backoff=0.1, together=True)
        assert set(asked.values()) == {4}
        times = {seen.key: [other.time for other in server.seen if other.key == seen.key] for seen in server.seen}
        waits[:] = [[later - earlier for earlier, later in itertools.pairwise(each)] for each in times.values()]
        return max(wait - 0.1 * 2**n for each in waits for n, wait in enumerate(each))

    assert best_of(longest, 0.5) < 0.5
    assert max(each[2] for each in waits) > 0.1  # eight draws from 0 to 0.4: all below by a chance of 1 in 65,000
    assert len({round(each[2], 2) for each in waits}) > 2


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


@pytest.mark.parametrize("kind", ECHOES)
@pytest.mark.parametrize("way", ["given", "environment"])
def test_a_key_that_is_sent_back_is_kept_nowhere(tmp_path, kind, way, monkeypatch, caplog, capfd):
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with endpoint(faults=always(ECHOES[kind])) as server:
        replies = ask(tmp_path / "j", server.url, request("a"), request("b"), key=KEY if way == "given" else None)
    assert server.seen[0].authorization == f"Bearer {KEY}"
    assert all(reply.raw for reply in replies)
    printed = capfd.readouterr()
    for text in (repr(replies), (tmp_path / "j").read_text(), caplog.text, printed.out, printed.err):
        assert KEY not in text


def trajectories(path, url, bfcl, cases, **settings):
    cell = Cell("m", cases[0].scenario, BASELINE)
    contexts = {case.case_id: perturbations.baseline(case) for case in cases}

    async def work(chat):
        return (await rollout.run_cell(cell, cases, contexts, chat, bfcl)).trajectories

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
