"""The limit on money: the ledger over several jobs, its repair from the journals, and a model's calls under it."""

import asyncio
import json
import multiprocessing
import os
import signal
import time
from itertools import count

import pytest

from tests.models.asking import ask, hello, request, warm  # noqa: F401  (warm: a fixture of the module)
from tests.models.spending import dying, record, spending
from tests.standins.endpoint import endpoint
from tests.timing import PATIENCE, best_of, cpu
from toolcal import journal
from toolcal.journal import Journal
from toolcal.models import budget
from toolcal.models.budget import Budget, BudgetReached, worst_cost
from toolcal.models.calling import ModelError
from toolcal.models.litellm_client import client
from toolcal.models.prices import Prices

PRICES = Prices(1e-6, 2e-6, 1e-6, 2e-6, own=True)


def spend(path, *costs):
    """A journal with calls of these costs, as of an earlier run that had no limit."""
    with Journal(path) as kept:
        for cost in costs:
            number = len(kept)
            kept.put(f"{path.name}{number}", ("case", number, 0, 0, 0), record(cost))
    return path


def ledger(folder):
    return json.loads((folder / ".spent.json").read_text())


def fits(folder, worst, limit, own=None):
    """Whether a call is let through, as the first one of a job."""
    own = own or spend(folder / "m" / "own.jsonl")

    async def work():
        async with asyncio.timeout(PATIENCE), Budget(folder, limit).hold(own, worst):
            return True

    try:
        return asyncio.run(work())
    except BudgetReached:
        return False


BODY = {"messages": [{"role": "user", "content": "Grüße, 世界 🌍!"}], "max_tokens": 100}


@pytest.mark.parametrize(
    ("changes", "longest", "answer"),
    [
        ({}, None, 100),
        ({"max_tokens": 100, "max_completion_tokens": 300}, None, 300),
        ({"max_tokens": 100.0}, None, 100),
        ({"max_tokens": -1}, 5000, 5000),
        ({"max_tokens": -1}, None, None),
        ({"max_tokens": "many"}, None, None),
        ({"max_tokens": None}, 700, 700),
    ],
)
def test_the_longest_answer(changes, longest, answer):
    found = worst_cost(BODY | changes, Prices(0.0, 0.0, 0.0, 3.0, longest))
    assert found == (None if answer is None else 3.0 * answer)


def test_a_prompt_has_no_more_tokens_than_bytes():
    encoding = client().encoding
    for text in ("Grüße, 世界 🌍! " * 50, "\n\t\"'{}[]" * 100, "a" * 999, "\U0001f9ff\u0f3a" * 300):
        tools = [{"type": "function", "function": {"name": "f", "description": text, "parameters": {}}}]
        body = {"messages": [{"role": "user", "content": text}] * 40, "tools": tools, "max_tokens": 1}
        bound = worst_cost(body, Prices(0.0, 0.0, 1.0, 0.0))
        shown = json.dumps(body, indent=4, ensure_ascii=False)
        assert bound >= len(encoding.encode(shown)) + 8 * 40


def test_what_journals_say_counts_at_the_first_call(tmp_path):
    spend(tmp_path / "m" / "one.jsonl", 1.0, None, 0.5)
    spend(tmp_path / "n" / "two.jsonl", 1.5)
    assert fits(tmp_path, 1.0, limit=4.0)
    assert not fits(tmp_path, 1.01, limit=4.0)
    assert fits(tmp_path, 1.01, limit=4.5)


WRONG = {
    "none": None,
    "empty": "",
    "cut": '{"m/one.jsonl": {"spent": 1',
    "a list": "[]",
    "a number": '{"m/one.jsonl": 2}',
    "null": '{"m/one.jsonl": {"spent": null, "bytes": 0, "held": 0}}',
    "a field less": '{"m/one.jsonl": {"spent": 1.0}}',
    "old": '{"m/one.jsonl": {"spent": 0, "bytes": 0, "held": 0}}',
    "of a longer journal": '{"m/one.jsonl": {"spent": 50, "bytes": 99999, "held": 0}}',
    "of another journal": '{"m/one.jsonl": {"spent": 50, "bytes": 7, "held": 0}}',
    "of a journal that is gone": '{"m/gone.jsonl": {"spent": 50, "bytes": 7, "held": 3}}',
    "of a killed job": '{"m/one.jsonl": {"spent": 0, "bytes": 0, "held": 3}}',
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_ledger_is_put_right_from_the_journals(tmp_path, wrong):
    one = spend(tmp_path / "m" / "one.jsonl", 1.0, 2.0)
    if WRONG[wrong] is not None:
        (tmp_path / ".spent.json").write_text(WRONG[wrong])
    assert fits(tmp_path, 1.0, limit=4.0)
    assert not fits(tmp_path, 1.0, limit=3.9)
    found = ledger(tmp_path)
    assert found["m/one.jsonl"] == {"spent": 3.0, "bytes": one.stat().st_size, "held": 0.0}
    assert found.keys() == {"m/one.jsonl", "m/own.jsonl"}


def test_a_line_that_was_cut_short_counts_once_it_is_whole(tmp_path):
    one = spend(tmp_path / "m" / "one.jsonl", 1.0, 2.0)
    whole = one.read_bytes()
    one.write_bytes(whole[:-5])
    assert fits(tmp_path, 3.0, limit=4.0)
    one.write_bytes(whole)
    assert not fits(tmp_path, 3.0, limit=4.0)


def test_the_journal_of_a_job_at_work_counts_before_that_jobs_first_call(tmp_path):
    with Journal(spend(tmp_path / "m" / "busy.jsonl", 3.0)):
        assert not fits(tmp_path, 1.0, limit=3.5)


def test_a_ledger_that_goes_during_a_call_comes_back(tmp_path):
    own = spend(tmp_path / "m" / "own.jsonl", 1.0)
    money = Budget(tmp_path, 10.0)

    async def work():
        async with money.hold(own, 4.0) as bill:
            (tmp_path / ".spent.json").unlink()
            async with money.hold(own, 5.0):
                assert ledger(tmp_path)["m/own.jsonl"]["held"] == 9.0
            bill.cost = 2.0
        assert ledger(tmp_path)["m/own.jsonl"]["held"] == 2.0  # until its record is in the journal
        spend(own, 2.0)
        money.leave(own)

    asyncio.run(work())
    assert ledger(tmp_path)["m/own.jsonl"] == {"spent": 3.0, "bytes": own.stat().st_size, "held": 0.0}


def test_a_call_waits_for_what_others_hold_and_stops_only_where_that_cannot_help(tmp_path):
    own, other = (spend(tmp_path / name / "a.jsonl") for name in "mn")

    async def work():
        money, others = Budget(tmp_path, 10.0), Budget(tmp_path, 10.0)
        with Journal(other) as kept:
            async with others.hold(other, 8.0) as bill:

                async def ask():
                    async with money.hold(own, 3.0):
                        return "made"

                waiting = asyncio.create_task(ask())
                await asyncio.sleep(0.4)
                assert not waiting.done()
                bill.cost = 7.5
            kept.put("a", ("c", 0, 0, 0, 0), record(7.5))
            with pytest.raises(BudgetReached, match=r"limits\.max_usd of 10 would be passed: 7\.5 US dollars"):
                async with Budget(tmp_path, 10.0).hold(own, 10.5):
                    pass
            assert not waiting.done()
            others.leave(other)
            with pytest.raises(BudgetReached) as reached:
                await waiting
            assert str(reached.value).count("\n") == 0

    asyncio.run(work())


def after_a_kill(folder):
    """Seconds from the kill of a job that held the money to the call that needs it."""
    spawn = multiprocessing.get_context("spawn")
    queue = spawn.SimpleQueue()
    job = spawn.Process(target=dying, args=(folder, queue))
    job.start()
    queue.get()
    own = spend(folder / "m" / "own.jsonl")

    async def work():
        async def ask():
            async with Budget(folder, 10.0).hold(own, 9.0):
                return time.monotonic()

        waiting = asyncio.create_task(ask())
        await asyncio.sleep(0.4)
        assert not waiting.done()
        os.kill(job.pid, signal.SIGKILL)
        killed = time.monotonic()
        return await waiting - killed

    found = asyncio.run(work())
    job.join()
    size = (folder / "n" / "dying.jsonl").stat().st_size
    assert ledger(folder)["n/dying.jsonl"] == {"spent": 0.5, "bytes": size, "held": 0.0}
    return found


def test_what_a_killed_job_held_is_free(tmp_path):
    number = count()
    assert best_of(lambda: after_a_kill(tmp_path / str(next(number))), 1.0) < 1.0


@pytest.mark.parametrize("seed", range(2))
def test_many_jobs_never_pass_the_limit_and_none_waits_for_ever(tmp_path, seed):
    spawn = multiprocessing.get_context("spawn")

    def run(limit, dying_jobs):
        start = spawn.Barrier(4)
        jobs = [
            spawn.Process(target=spending, args=(tmp_path, limit, 10 * seed + n, n < dying_jobs, start))
            for n in range(4)
        ]
        for job in jobs:
            job.start()
        for job in jobs:
            job.join(PATIENCE)
        killed = [job.exitcode == -signal.SIGKILL for job in jobs]  # a slow one may find the money spent before
        assert all(job.exitcode == 0 for job, dead in zip(jobs, killed, strict=True) if not dead)
        assert min(1, dying_jobs) <= sum(killed) <= dying_jobs
        spent = sum(map(journal.spent, tmp_path.rglob("*.jsonl")))
        assert limit - 0.2 < spent <= limit
        return spent

    spent = run(2.5, 2)
    assert run(3.2, 0) > spent  # taken up with a higher limit
    entries = ledger(tmp_path)
    for path in tmp_path.rglob("*.jsonl"):
        entry = entries[str(path.relative_to(tmp_path))]
        assert entry["spent"] == pytest.approx(journal.spent(path))
        assert entry["held"] == 0
        assert entry["bytes"] == path.stat().st_size


def test_a_call_under_a_limit_costs_few_milliseconds(tmp_path):
    for n in range(100):
        spend(tmp_path / f"m{n}" / "a.jsonl", 0.001)
    own = spend(tmp_path / "m" / "own.jsonl")
    money = Budget(tmp_path, 10.0)

    async def calls(count):
        for _ in range(count):
            async with money.hold(own, 0.001):
                pass

    asyncio.run(calls(1))
    assert best_of(lambda: cpu(lambda: asyncio.run(calls(100))) / 100, 0.005) < 0.005


def worst_of(tmp_path, **parameters):
    """The most that one of the calls below may cost, measured from what is sent."""
    with endpoint(hello) as server:
        ask(tmp_path / "probe.jsonl", server.url, request("0"), parameters=parameters)
    return worst_cost({key: value for key, value in server.bodies[0].items() if key != "model"}, PRICES)


def costs(path):
    return [json.loads(line)["record"]["cost"] for line in path.read_text().splitlines()]


@pytest.mark.parametrize("together", [False, True], ids=["in a row", "together"])
def test_a_run_stops_before_the_call_that_might_pass_the_limit_and_goes_on_with_more(tmp_path, together):
    parameters = {"max_tokens": 50}
    worst, requests = worst_of(tmp_path, **parameters), [request(str(n)) for n in range(9)]
    path = tmp_path / "journal" / "m" / "cell.jsonl"

    def answer(body):  # at half the bound
        return hello(body) | {"usage": {"prompt_tokens": int(0.5e6 * worst), "completion_tokens": 0}}

    def run(limit):
        money = Budget(tmp_path / "journal", limit)
        with endpoint(answer, latency=0.02) as server:
            replies = ask(
                path,
                server.url,
                *requests,
                together=together,
                parameters=parameters,
                prices=lambda: PRICES,
                budget=money,
            )
        return replies, server.bodies

    limit = 2.2 * worst
    replies, bodies = run(limit)
    made = [reply for reply in replies if reply.failure is None]
    stopped = [reply for reply in replies if reply.failure == "infra_error"]
    assert len(made) == len(bodies) == 3  # 0.5 and 0.5 are spent, 1 more fits; with 1.5 it does not
    assert len(stopped) == 6
    spent = journal.spent(path)
    assert limit - worst < spent <= limit
    assert spent == pytest.approx(sum(reply.cost for reply in made))
    assert all("limits.max_usd" in reply.raw and "\n" not in reply.raw for reply in stopped)

    replies, bodies = run(20 * worst)
    assert [reply.failure for reply in replies] == [None] * 9
    assert len(bodies) == len(stopped)


def test_an_answer_that_does_not_say_what_it_used_counts_with_its_bound(tmp_path):
    path = tmp_path / "journal" / "cell.jsonl"
    worst = worst_of(tmp_path, max_tokens=50)
    with endpoint(lambda body: {**hello(body), "usage": None}) as server:
        replies = ask(
            path,
            server.url,
            *(request(str(n)) for n in range(4)),
            parameters={"max_tokens": 50},
            prices=lambda: PRICES,
            budget=Budget(tmp_path / "journal", 2.5 * worst),
        )
    assert [reply.failure for reply in replies] == [None, None, "infra_error", "infra_error"]
    assert [reply.cost for reply in replies] == [None] * 4
    assert costs(path) == [None, None]
    assert not fits(tmp_path / "journal", worst, limit=2.5 * worst)


def test_a_failed_call_costs_nothing_and_its_money_is_free(tmp_path):
    path = tmp_path / "journal" / "cell.jsonl"
    money = Budget(tmp_path / "journal", 1.5 * worst_of(tmp_path, max_tokens=50))
    settings = {"parameters": {"max_tokens": 50}, "prices": lambda: PRICES, "budget": money, "attempts": 1}
    fail = [(500, {"error": {"message": "boom"}}), (400, {"error": {"message": "prompt is too long"}})]
    with endpoint(lambda body: fail.pop() if fail else hello(body)) as server:
        replies = ask(path, server.url, *(request(str(n)) for n in range(3)), **settings)
    assert [reply.failure for reply in replies] == ["context_exceeded", "infra_error", None]
    assert costs(path)[0] is None
    assert costs(path)[1] == replies[2].cost > 0


def test_unknown_prices_are_null_and_no_limit_is_kept_by_guessing(tmp_path):
    with endpoint(hello) as server:
        (reply,) = ask(tmp_path / "free.jsonl", server.url, request())
        assert reply.cost is None
        assert costs(tmp_path / "free.jsonl") == [None]
        for prices, wanted in ((None, "prices"), (PRICES, "max_tokens")):
            with pytest.raises(ModelError, match=rf"limits\.max_usd cannot be kept without {wanted}"):
                ask(
                    tmp_path / f"{wanted}.jsonl",
                    server.url,
                    request(),
                    prices=lambda prices=prices: prices,
                    budget=Budget(tmp_path, 1.0),
                )
    assert len(server.bodies) == 1


def test_a_price_of_nothing_that_the_user_gave_is_a_cost_of_nothing(tmp_path):
    with endpoint(hello) as server:
        (reply,) = ask(tmp_path / "j", server.url, request(), prices=lambda: Prices(0.0, 0.0, 0.0, 0.0, own=True))
    assert reply.cost == 0.0


def test_the_ledger_is_written_whole(tmp_path, monkeypatch):
    assert fits(tmp_path, 1.0, limit=2.0)
    before = (tmp_path / ".spent.json").read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(budget.Path, "write_text", full)
    with pytest.raises(OSError, match="No space"):
        fits(tmp_path, 1.0, limit=2.0, own=tmp_path / "m" / "own.jsonl")
    assert (tmp_path / ".spent.json").read_bytes() == before
