"""What a judge has still to be asked, and that a run then asks just that."""

from __future__ import annotations

import pytest

from tests.judging.invented import asserted, cancelling, items_of
from tests.judging.test_judge import BOTH, YES, judged, says
from tests.standins.endpoint import endpoint
from toolcal.estimate.judge import ANSWER_TOKENS, judge_line
from toolcal.estimate.table import shown

ENTRY = {"model": "openai/j", "endpoint": "standin", "parameters": {}, "prices": {"input": 1, "output": 10}}
TALKS = [cancelling(f"c{n}", f"#{n}") for n in range(4)]


def line(folder, seed=0, items=(), **changed):
    journal = folder / "journal/judge/m.jsonl"
    endpoints = {"standin": {"api_base": "http://127.0.0.1:9/v1", "concurrency": 2}}
    return judge_line(ENTRY | changed, [(items or items_of(*TALKS), journal)], seed, endpoints)


def test_without_a_journal_all_is_open_and_nothing_is_made(tmp_path):
    found = line(tmp_path)
    assert (found.planned, found.left, found.work.calls) == (4, 4, 4)
    assert found.work.answer_tokens == 4 * ANSWER_TOKENS
    assert found.cost == pytest.approx((found.work.prompt_tokens + 10 * 4 * ANSWER_TOKENS) / 1e6)
    assert found.seconds is None
    assert list(tmp_path.iterdir()) == []
    text = shown([], ["oracle"], max_usd=0.001, spent=0, judge=found)
    assert "The judge has 4 of 4 calls to make: " in text
    assert "to be held" not in text
    assert "is still to be made: a, b." in shown([], [], max_usd=None, spent=0, judge=found, unheld=["a", "b"])
    assert "it would stop before its end" in text
    assert "case-trials (one case" not in text


def test_what_the_journal_holds_is_done_unless_something_changed(tmp_path):
    with endpoint(says(YES)) as server:
        judged(tmp_path, server.url, *TALKS[:3])
    (tmp_path / "journal/judge/m.jsonl").open("a").write('{"key": "cut')
    found = line(tmp_path)
    assert (found.planned, found.left) == (4, 1)
    assert found.seconds > 0
    sent = len(server.bodies[0]["messages"][0]["content"]) + len(server.bodies[0]["messages"][1]["content"])
    assert found.work.prompt_tokens == sent / 4
    assert [line(tmp_path, seed=1).left, line(tmp_path, revision="r").left] == [4, 4]
    with endpoint(says(YES)) as server:
        judged(tmp_path, server.url, *TALKS)
    done = line(tmp_path)
    assert (len(server.bodies), done.left, done.cost, done.seconds) == (1, 0, 0, 0)


def test_a_run_with_assertions_is_a_call(tmp_path):
    both = [*items_of(*TALKS), *asserted(*TALKS)]
    found = line(tmp_path, items=both)
    assert (found.planned, found.left, found.work.calls) == (8, 8, 8)
    apart = [line(tmp_path, items=items).work.prompt_tokens for items in (both[:4], both[4:])]
    assert found.work.prompt_tokens == pytest.approx(sum(apart))
    with endpoint(says(BOTH)) as server:
        judged(tmp_path, server.url, *TALKS[:3], asked=asserted)
    assert len(server.bodies) == 3
    assert line(tmp_path, items=both).left == 5
