"""Conversations at once: their tables, and what happens to the others when one fails."""

from __future__ import annotations

import asyncio
import threading

import pandas as pd
import pytest

from tests.live.speaking import called, text
from toolcal.cells import Cell
from toolcal.live.cell import hold_cell
from toolcal.perturbations.context import baseline

CELL = Cell("m", "tau2-airline", "baseline")


class Model:
    """Answers after an instant, and counts how many wait at once; fails on one case."""

    execute_leaked = False

    def __init__(self, concurrency=4, fails_on=None):
        self.concurrency = concurrency
        self.most = self._now = 0
        self._fails_on = fails_on

    async def respond(self, request):
        self._now += 1
        self.most = max(self.most, self._now)
        await asyncio.sleep(0.01)
        self._now -= 1
        if request.case.case_id == self._fails_on:
            raise OSError("disk full")
        if request.step == 1:
            return called(("get_user_details", {"user_id": "noah_muller_9847"}))
        return text("Done.")


def held(cases, model, **settings):
    contexts = {case.case_id: baseline(case) for case in cases}
    return asyncio.run(hold_cell(CELL, cases, contexts, model, None, **settings))


def test_tables_do_not_depend_on_who_was_first(airline):
    cases = list(airline.values())[:8]
    one, many = Model(concurrency=1), Model(concurrency=8)
    alone, together = (held(cases, model, trials=2) for model in (one, many))
    assert (one.most, many.most > 1) == (1, True)
    assert len(alone.grades) == 16
    for left, right in zip(alone, together, strict=True):
        pd.testing.assert_frame_equal(left, right)


def test_what_ends_one_conversation_ends_all_and_leaves_no_thread(airline):
    before = threading.active_count()
    with pytest.raises(OSError, match="disk full"):
        held(list(airline.values())[:8], Model(concurrency=8, fails_on="3"))
    assert threading.active_count() == before


def test_cases_that_a_perturbation_leaves_out_are_not_run(airline):
    cases = list(airline.values())[:2]
    contexts = {case.case_id: baseline(case) for case in cases}
    contexts["1"] = type(contexts["1"])(**{**contexts["1"].__dict__, "left_out": "for this test"})
    made = asyncio.run(hold_cell(CELL, cases, contexts, Model(), None))
    assert made.grades["case_id"].tolist() == ["0"]
