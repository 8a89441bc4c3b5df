"""Confidences after the turns of a conversation with tau2's user: asked after each message to it, and never seen."""

from __future__ import annotations

import asyncio
import json

import pandas as pd
import pytest

from tests.live.speaking import Script, called, roles, talk, text
from tests.live.test_conversation import BROKEN, DETAILS, RESERVATION, sri
from toolcal import tables
from toolcal.cells import Cell
from toolcal.confidence.turn import TurnQuestion
from toolcal.confidence.turn_plan import BESIDE
from toolcal.live.cell import hold_cell
from toolcal.perturbations.context import baseline

QUESTION = TurnQuestion("unit")
REPLIES = (
    called(DETAILS),
    text("What is the number?"),
    called(RESERVATION),
    text("Is there anything else?"),
    text("Bye."),
)

SURE = (text("Confidence: 0.8"),)


class Sure(Script):
    """Answers the question after a turn with the next of `sure`, the last one again and again."""

    def __init__(self, *replies, sure=SURE):
        super().__init__(*replies)
        self.beside = Script(*sure)

    def __call__(self, request):
        return self.beside(request) if request.beside else super().__call__(request)


@pytest.mark.parametrize("probed", [False, True])
def test_the_conversation_is_the_same_with_and_without_the_question(probed, airline):
    case = airline["2"]
    held = {
        asked: talk(case, Sure(*REPLIES), context=sri(case) if probed else None, question=asked)
        for asked in (None, QUESTION)
    }
    plain, asked = ([{**said, "measured": None} for said in one.run.messages] for one in held.values())
    assert plain == asked  # but for the time of day
    assert held[None].run.verdict == held[QUESTION].run.verdict
    assert held[None].rows == held[QUESTION].rows
    assert held[None].events == held[QUESTION].events
    assert held[None].confidences == []
    assert len(held[QUESTION].confidences) == (1 if probed else 2)


def test_it_is_asked_after_each_message_to_the_user_and_not_after_calls(airline):
    agent = Sure(*REPLIES)
    held = talk(airline["2"], agent, question=QUESTION)
    to_the_user = [row["turn"] for row in held.rows if row["origin"] == "model" and not row["executed"]]
    assert [row["turn"] for row in held.confidences] == to_the_user
    assert [row["confidence"] for row in held.confidences] == [0.8] * len(to_the_user)
    first, second = agent.beside.asked[:2]
    assert (first.beside, first.turn, second.turn) == (BESIDE, 0, 1)
    assert roles(first.messages) == "suatau"
    assert roles(second.messages) == "suatauatau"
    assert first.tools == agent.asked[0].tools
    assert "before we go on" not in json.dumps([request.messages for request in agent.asked])
    seeds = [request.seed for request in (*agent.asked, *agent.beside.asked)]
    assert len(set(seeds)) == len(seeds)


def test_a_broken_form_is_asked_again_and_a_failure_ends_nothing(airline):
    held = talk(airline["2"], Sure(*REPLIES, sure=(text("Sure."), text("Confidence: 0.3"), BROKEN)), question=QUESTION)
    assert [(row["confidence"], row["status"], row["reasked"]) for row in held.confidences[:2]] == [
        (0.3, "ok", True),
        (None, "infra_error", False),
    ]
    assert held.run.verdict.status == "done"
    assert "infra_error" not in {row["status"] for row in held.rows}


def test_a_cell_has_the_table(airline):
    class Model:
        execute_leaked = False
        concurrency = 3

        async def respond(self, request):
            return text("Confidence: 0.5" if request.beside else "Done.")

    cases = list(airline.values())[:3]
    contexts = {case.case_id: baseline(case) for case in cases}
    made, plain = (
        asyncio.run(hold_cell(Cell("m", "tau2-airline", "b"), cases, contexts, Model(), None, question=question))
        for question in (QUESTION, None)
    )
    tables.check("turn_confidence", made.turn_confidence)
    assert set(made.turn_confidence["case_id"]) == {case.case_id for case in cases}
    assert plain.turn_confidence.empty
    for left, right in zip(made[:-1], plain[:-1], strict=True):
        pd.testing.assert_frame_equal(left, right)
