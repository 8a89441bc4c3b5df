"""An endpoint's limits: in one job, on a clock of the test's own; over several jobs, by measured starts."""

import asyncio
import json
import multiprocessing
import os
import random
import signal
import time
from bisect import bisect_left, bisect_right
from itertools import count, pairwise

import pytest

from tests.timing import PATIENCE, best_of, cpu
from toolcal.models import pace
from toolcal.models.pace import Pace

MINUTE = 60.25
"""A minute as it is kept: starts may be late by a quarter of a second."""


class Clock:
    """Time that passes only where something sleeps."""

    def __init__(self):
        self.now = 1_000_000.0

    def time(self):
        return self.now

    async def sleep(self, seconds):
        self.now += seconds


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(pace.time, "time", clock.time)
    monkeypatch.setattr(pace.asyncio, "sleep", clock.sleep)
    return clock


async def starts(limits, clock, tokens):
    """When calls of so many tokens start, one after the other."""
    found = []
    for amount in tokens:
        async with limits.turn(amount):
            found.append(clock.now)
    return found


def jobs(work, *arguments):
    """Processes that do `work(*arguments, queue)`, started together, and what they put."""
    spawn = multiprocessing.get_context("spawn")
    queue = spawn.SimpleQueue()
    started = [spawn.Process(target=work, args=(*one, queue)) for one in arguments]
    for job in started:
        job.start()
    return started, queue


def results(work, *arguments):
    started, queue = jobs(work, *arguments)
    found = [queue.get() for _ in started]
    for job in started:
        job.join(PATIENCE)
        assert job.exitcode == 0
    return found


def busiest(times, seconds):
    """The most starts within a stretch of so many seconds."""
    times = sorted(times)
    return max(bisect_left(times, first + seconds) - index for index, first in enumerate(times))


@pytest.mark.parametrize("folder", [True, False], ids=["shared", "alone"])
def test_no_minute_holds_more_requests_than_the_limit(tmp_path, clock, folder):
    limits = Pace(tmp_path if folder else None, concurrency=4, requests=120)
    chance = random.Random(5)

    async def work():
        found = []
        for _ in range(150):
            found += await starts(limits, clock, [0])
            clock.now += chance.choice([0, 0, 0.1, 0.6, 5])
        return found

    found = asyncio.run(work())
    assert busiest(found, 60) <= 121
    crowded = asyncio.run(starts(limits, clock, [0] * 241))
    assert crowded[-1] - crowded[0] == pytest.approx(2 * MINUTE, abs=0.3)


def test_tokens_are_corrected_by_what_was_used_upwards_and_downwards(tmp_path, clock):
    limits = Pace(tmp_path, concurrency=1, tokens=6000)

    async def work(actual):
        found = []
        for _ in range(40):
            found += await starts(limits, clock, [100])
            limits.used(100, actual)
        return (found[-1] - found[9]) / 30

    for actual in (100, 10, 300):
        clock.now += 1000
        assert asyncio.run(work(actual)) == pytest.approx(actual * MINUTE / 6000, rel=0.02)


def test_the_scarcer_of_both_limits_counts(clock):
    limits = Pace(None, concurrency=1, requests=60, tokens=6000)
    times = asyncio.run(starts(limits, clock, [10, 10, 1000, 10]))
    assert [later - earlier for earlier, later in pairwise(times)] == pytest.approx([0.75, 1.0, 10.0], abs=0.3)


def test_a_clock_that_is_set_back_stops_nothing(tmp_path, clock):
    limits = Pace(tmp_path, concurrency=1, requests=60)
    asyncio.run(starts(limits, clock, [0, 0]))
    clock.now -= 86_400
    before = clock.now
    assert asyncio.run(starts(limits, clock, [0, 0, 0]))[-1] - before < 4


@pytest.mark.parametrize(
    "content", [b"", b'{"requests": 17', b"[]", b"7", b'{"requests": null}', b'{"requests": "soon"}', b"\xff\x00"]
)
def test_a_broken_file_is_begun_anew(tmp_path, clock, content):
    limits = Pace(tmp_path, concurrency=1, requests=60)
    (tmp_path / "pace.json").write_bytes(content)
    first, *_, last = asyncio.run(starts(limits, clock, [0] * 11))
    assert first == 1_000_000
    assert last - first == pytest.approx(10, abs=0.5)
    assert json.loads((tmp_path / "pace.json").read_text())["requests"] > last


def test_a_hold_counts_for_other_jobs_and_for_those_that_wait_already(tmp_path):
    async def work():
        async def start():
            async with waiting.turn(0):
                return time.monotonic()

        begun = time.monotonic()
        early = [asyncio.create_task(start()) for _ in range(3)]  # due after 0, 0.25 and 0.75 seconds
        await asyncio.sleep(0.1)
        held = time.monotonic() - begun
        asking.hold(0.8)
        return held, [at - begun for at in await asyncio.gather(*early, start())]

    for attempt in range(10):
        asking, waiting = (Pace(tmp_path / str(attempt), concurrency=8, requests=120) for _ in range(2))
        held, (first, *others) = asyncio.run(work())
        if first < 0.1 and held < 0.2 and max(others) < 3:
            break  # else this process was kept from its work meanwhile
    assert first < 0.1
    assert held < 0.2
    assert min(others) >= 0.89
    assert max(others) < 3


def test_a_hold_without_other_limits_spreads_the_calls_after_it(clock):
    limits = Pace(None, concurrency=4)

    async def after_a_hold():
        limits.hold(10)
        held_at = clock.now
        (start,) = await starts(limits, clock, [0])
        return start - held_at

    waits = [asyncio.run(after_a_hold()) for _ in range(20)]
    assert min(waits) >= 10
    assert max(waits) <= 11
    assert max(waits) - min(waits) > 0.2


def test_a_call_that_is_given_up_leaves_its_place(tmp_path):
    limits = Pace(tmp_path, concurrency=1)

    async def forever():
        async with limits.turn(0):
            await asyncio.sleep(60)

    async def work():
        tasks = [asyncio.create_task(forever()) for _ in range(3)]
        await asyncio.sleep(0.05)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        async with asyncio.timeout(PATIENCE), Pace(tmp_path, concurrency=1).turn(0):  # as another job would
            return True

    assert asyncio.run(work())


def places(folder, seed, queue):
    limits = Pace(folder, concurrency=3)
    chance = random.Random(seed)

    async def work():
        spans = []

        async def one():
            for _ in range(4):
                async with limits.turn(0):
                    begun = time.monotonic()
                    await asyncio.sleep(chance.uniform(0.005, 0.03))
                    spans.append((begun, time.monotonic()))

        await asyncio.gather(*(one() for _ in range(5)))
        return spans

    queue.put(asyncio.run(work()))


def test_places_are_kept_over_jobs(tmp_path):
    spans = [span for found in results(places, *((tmp_path, seed) for seed in range(3))) for span in found]
    assert len(spans) == 3 * 5 * 4
    begun, ended = (sorted(times) for times in zip(*spans, strict=True))
    under_way = [index + 1 - bisect_right(ended, at) for index, at in enumerate(begun)]
    assert max(under_way) == 3


def hog(folder, queue):
    limits = Pace(folder, concurrency=2, requests=120)

    async def work():
        async def one():
            async with limits.turn(0):
                queue.put(os.getpid())
                await asyncio.sleep(60)

        await asyncio.gather(*(one() for _ in range(40)))

    asyncio.run(work())


def after_a_kill(folder):
    """Seconds from the kill of a job that held both places to the starts of the next two calls."""
    (job,), queue = jobs(hog, (folder,))
    queue.get(), queue.get()
    limits = Pace(folder, concurrency=2, requests=120)

    async def work():
        async def start():
            async with limits.turn(0):
                return time.monotonic()

        waiting = asyncio.create_task(start())
        await asyncio.sleep(0.3)
        assert not waiting.done()
        os.kill(job.pid, signal.SIGKILL)
        killed = time.monotonic()
        return [await waiting - killed, await start() - killed]

    found = asyncio.run(work())
    job.join()
    return found


def test_a_killed_job_frees_its_places_at_once_and_leaves_no_gap(tmp_path):
    def late():
        first, second = after_a_kill(tmp_path / str(next(number)))
        return max(first / 0.8, second / 1.5)

    number = count()
    assert best_of(late, 1) < 1


def starting(folder, limit, actual, start, queue):
    limits = Pace(folder, concurrency=8, **limit)

    async def work():
        found = []

        async def one():
            while time.monotonic() < until:
                async with limits.turn(100):
                    found.append(time.monotonic())
                limits.used(100, actual)

        await asyncio.gather(*(one() for _ in range(4)))
        return found

    start.wait(PATIENCE)
    until = time.monotonic() + 1.2
    queue.put(asyncio.run(work()))


@pytest.mark.parametrize(
    ("limit", "actual", "a_second"),
    [({"requests": 1800}, 100, 30), ({"tokens": 120_000}, 100, 20), ({"tokens": 60_000}, 25, 40)],
    ids=["requests", "tokens", "fewer tokens"],
)
def test_rates_are_kept_over_jobs(tmp_path, limit, actual, a_second):
    def share_unused():
        start = multiprocessing.get_context("spawn").Barrier(3)
        folder = tmp_path / str(next(number))
        found = results(starting, *((folder, limit, actual, start) for _ in range(3)))
        times = sorted(time for one in found for time in one)
        slack = 0.25 * a_second + 4  # what may be late, and the calls whose tokens are not corrected yet
        for seconds in (0.5, 1.0):
            assert busiest(times, seconds) <= seconds * a_second + slack
        return 1 - len(times) / (a_second * (times[-1] - times[0]))

    number = count()
    assert best_of(share_unused, 0.6) <= 0.6


def test_without_limits_a_turn_costs_less_than_a_millisecond(tmp_path):
    limits = Pace(tmp_path, concurrency=128)

    async def work():
        async def one():
            async with limits.turn(0):
                await asyncio.sleep(0)

        await asyncio.gather(*(one() for _ in range(128)))

    assert best_of(lambda: cpu(lambda: asyncio.run(work())) / 128, 0.001, repeats=20) < 0.001
