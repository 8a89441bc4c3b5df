"""How one question is answered: calls, the final form, the one re-ask, and what becomes of odd output."""

from __future__ import annotations

import asyncio
import json

import pytest

from toolcal.calls import Call
from toolcal.confidence import elicit
from toolcal.confidence.answering import Way, answer
from toolcal.confidence.causes import cause
from toolcal.confidence.cell import answer_cell
from toolcal.confidence.plan import StudyCell
from toolcal.confidence.questions import Passage, Question
from toolcal.confidence.search import Search
from toolcal.confidence.tools import ToolError
from toolcal.confidence.using import ServiceDown, Used, Using
from toolcal.journal import Journal
from toolcal.models.protocol import Reply

QUESTION = Question("q1", "Who led Ovenbird Mills in 2014?", ("Mara Lindt",), "text", "one_fact", ("p1",))
PASSAGES = [Passage("p1", "Ovenbird Mills", "In 2014 Mara Lindt led Ovenbird Mills."), Passage("p2", "Tern", "A boat.")]
SEARCH = Search(PASSAGES)
FORM = "Answer: Mara Lindt\nConfidence: 80"


def said(text, finish="stop"):
    return Reply({"role": "assistant", "content": text}, finish)


def called(name, arguments, text=None):
    function = {"name": name, "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments)}
    return Reply(
        {"role": "assistant", "content": text, "tool_calls": [{"id": "c", "type": "function", "function": function}]}
    )


class Scripted:
    concurrency = 4
    execute_leaked = False

    def __init__(self, *replies):
        self._replies = replies
        self.asked = []

    async def respond(self, request):
        self.asked.append(request)
        return self._replies[min(len(self.asked), len(self._replies)) - 1]


def way(**changed):
    return Way(
        **(
            {"agent": "prompted", "wording": elicit.wordings()["plain"], "scale": "percent", "json_mode": False}
            | changed
        )
    )


def ask(model, tool=SEARCH, question=QUESTION, **changed):
    using = None if tool is None else Using(tool)

    async def use(call, number):
        return await using.use(question.question_id, 0, call, number)

    agent = {"agent": "direct"} if tool is None else {}
    schema = None if tool is None else tool.schema
    return asyncio.run(answer(question, way(**agent, **changed), schema, use, model, trial=0, seed=0))


def test_search_then_answer():
    model = Scripted(called("search", {"query": "Ovenbird Mills 2014"}), said(f"It says so.\n{FORM}"))
    found = ask(model)
    assert (found.status, found.answer, found.confidence.value) == ("ok", "Mara Lindt", 0.8)
    assert [one.found for one in found.used] == [("p1",)]
    assert "Mara Lindt led" in model.asked[1].messages[-1]["content"]
    assert [message["role"] for message in found.messages] == ["system", "user", "assistant", "tool", "assistant"]
    assert not found.reasked


def test_a_direct_answer_has_no_tools():
    model = Scripted(said(FORM))
    assert ask(model, tool=None).answer == "Mara Lindt"
    assert model.asked[0].tools == ()
    assert "tool" not in model.asked[0].messages[0]["content"]


@pytest.mark.parametrize(
    "broken", ["Mara Lindt", "Answer: Mara Lindt", "Confidence: 80", "Answer: Mara Lindt\nConfidence: high", ""]
)
def test_a_broken_form_is_asked_for_once_more(broken):
    model = Scripted(said(broken), said(FORM))
    found = ask(model)
    assert (found.answer, found.confidence.value, found.reasked, len(model.asked)) == ("Mara Lindt", 0.8, True, 2)
    assert [request.attempt for request in model.asked] == [0, 1]
    assert "Answer:" in model.asked[1].messages[-1]["content"]


def test_a_form_that_stays_broken_is_missing_and_not_made_up():
    found = ask(Scripted(said("I think it is Mara Lindt, 80 % sure.")))
    assert (found.status, found.answer, found.confidence.value) == ("broken_form", None, None)
    assert found.confidence.reason == "absent"


def test_what_the_second_form_lacks_the_first_may_have():
    found = ask(Scripted(said("Answer: Mara Lindt"), said("Confidence: 70")))
    assert (found.status, found.answer, found.confidence.value) == ("ok", "Mara Lindt", 0.7)


def test_after_so_many_calls_the_answer_is_asked_for():
    model = Scripted(called("search", {"query": "Mills"}))
    found = ask(model, steps=2)
    assert len(found.used) == 2
    assert (found.status, found.reasked, len(model.asked)) == ("broken_form", True, 4)


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (called("browse", {"query": "x"}), "Error: there is no tool 'browse'"),
        (called("search", {}), "Error: `query` is missing"),
        (called("search", {"query": 7}), "Error: `query` is no text"),
    ],
)
def test_a_call_that_comes_to_nothing_is_told_and_counted(made, told):
    model = Scripted(made, said(FORM))
    found = ask(model)
    assert found.used == [Used(told, failed=True)]
    assert model.asked[1].messages[-1]["content"] == told


@pytest.mark.parametrize(
    "made", [called("search", "{"), called("answer", "{"), called("answer", '{"answer": "x", "confidence": NaN}')]
)
def test_a_call_that_cannot_be_read_is_no_answer(made):
    found = ask(Scripted(made, said(FORM)))
    assert (found.answer, found.reasked, found.used) == ("Mara Lindt", True, [])


@pytest.mark.parametrize("failure", ["infra_error", "context_exceeded"])
def test_a_failure_ends_the_question(failure):
    found = ask(Scripted(Reply({"role": "assistant", "content": None}, raw="x", failure=failure)))
    assert (found.status, found.answer, found.confidence.value) == (failure, None, None)


NOTHING = {failure: Reply({"role": "assistant"}, failure=failure) for failure in ("infra_error", "context_exceeded")}


def test_an_answer_outlives_a_context_that_ran_out_after_it():
    for name in ("plain", "two_stage"):
        model = Scripted(said("Answer: Mara Lindt"), NOTHING["context_exceeded"])
        found = ask(model, wording=elicit.wordings()[name])
        assert (found.status, found.answer, found.confidence.reason) == ("ok", "Mara Lindt", "absent")
    found = ask(Scripted(said("Confidence: 80"), NOTHING["context_exceeded"]))
    assert (found.status, found.answer, found.confidence.value) == ("context_exceeded", None, 0.8)


def test_a_question_that_broke_off_has_no_answer_to_judge():
    for wording in ("plain", "two_stage"):
        found = ask(Scripted(said("Answer: Mara Lindt"), NOTHING["infra_error"]), wording=elicit.wordings()[wording])
        assert (found.status, found.answer, found.confidence.raw) == ("infra_error", None, None)


def test_json_mode_ends_with_a_call():
    model = Scripted(called("search", {"query": "Mills"}), called("answer", {"answer": "Mara Lindt", "confidence": 80}))
    found = ask(model, json_mode=True)
    assert (found.answer, found.confidence.value, found.status) == ("Mara Lindt", 0.8, "ok")
    names = [[tool["function"]["name"] for tool in request.tools] for request in model.asked]
    assert names == [["search"], ["search", "answer"]]  # the answer is held back until a tool was called
    assert model.asked[0].messages[0]["role"] == "user"
    assert model.asked[0].guide is not None


def test_json_mode_is_asked_once_more_by_its_user():
    model = Scripted(said('{"action": "search", "query": "cut of'), called("answer", {"answer": "x", "confidence": 5}))
    found = ask(model, json_mode=True)
    assert (found.answer, found.reasked) == ("x", True)
    assert model.asked[1].messages[-1] == {"role": "user", "content": elicit.again_in_json()}
    assert [tool["function"]["name"] for tool in model.asked[1].tools] == ["answer"]


@pytest.mark.parametrize(("name", "fresh"), [("two_stage", False), ("self_probing", True)])
def test_a_confidence_that_is_asked_for_afterwards(name, fresh):
    model = Scripted(said("Answer: Mara Lindt"), said("Confidence: 60"))
    found = ask(model, tool=None, wording=elicit.wordings()[name])
    assert (found.answer, found.confidence.value) == ("Mara Lindt", 0.6)
    assert [request.turn for request in model.asked] == [0, 1]
    assert len(model.asked[1].messages) == (1 if fresh else 4)
    assert len(found.messages) == 5


def test_a_service_that_comes_back_costs_nothing_and_one_that_does_not_ends_the_question():
    class Shaky(Search):
        def __init__(self, failures):
            super().__init__(PASSAGES)
            self.failures = failures

        def find(self, query):
            if self.failures:
                self.failures -= 1
                raise ToolError("the service is down", "service", retryable=True)
            return super().find(query)

    call = Call("search", {"query": "Mills"})
    assert asyncio.run(Using(Shaky(3), wait=0).use("q", 0, call, 0)).found == ("p1",)
    with pytest.raises(ServiceDown, match="the service is down"):
        asyncio.run(Using(Shaky(4), wait=0).use("q", 0, call, 0))
    cell = StudyCell("m", "s", "prompted", "search", 0.0)
    model = Scripted(called("search", {"query": "Mills"}), said(FORM))
    rows = asyncio.run(answer_cell(cell, [QUESTION], {}, way(), Using(Shaky(9), wait=0), SEARCH.schema, model))
    assert rows[["status"]].iloc[0].tolist() == ["infra_error"]
    assert rows[["correct", "confidence", "cause"]].isna().all().all()


def test_what_the_web_said_is_kept(tmp_path):
    class Counting(Search):
        asked = 0

        def find(self, query):
            Counting.asked += 1
            return super().find(query)

    call = Call("search", {"query": "Mills"})
    for _ in range(2):
        with Journal(tmp_path / "found.jsonl") as kept:
            used = asyncio.run(Using(Counting(PASSAGES), kept).use("q", 0, call, 0))
        assert used.found == ("p1",)
    assert Counting.asked == 1


def test_rows_of_a_cell():
    right = Scripted(called("search", {"query": "Mills 2014"}), said(FORM))
    cell = StudyCell("m", "s", "prompted", "search", 0.5)
    rows = asyncio.run(
        answer_cell(cell, [QUESTION], {"q1": "outdated"}, way(), Using(SEARCH), SEARCH.schema, right, trials=2)
    )
    assert rows["trial"].tolist() == [0, 1]
    row = rows.iloc[0]
    assert (row["correct"], row["score"], row["done"], row["gold_seen"], row["calls"]) == (
        True,
        1.0,
        "outdated",
        True,
        1,
    )
    assert rows["cause"].isna().all()


@pytest.mark.parametrize(
    ("tool", "done", "answered", "used", "seen", "expected"),
    [
        ("search", "outdated", "x", [Used("t")], True, "outdated"),
        ("none", "outdated", "x", [], None, "unknown"),
        ("search", "none", None, [Used("t")], True, "no_answer"),
        ("search", "none", "x", [], False, "no_call"),
        ("python", "none", "x", [Used("t", failed=True)], None, "tool_failed"),
        ("search", "none", "x", [Used("t")], False, "not_found"),
        ("search", "none", "x", [Used("t")], True, "misread"),
        ("search", "none", "x", [Used("t")], None, "unknown"),
        ("python", "none", "x", [Used("t")], None, "misread"),
    ],
)
def test_the_cause_of_a_wrong_answer(tool, done, answered, used, seen, expected):
    told = {"calls": len(used), "calls_failed": sum(one.failed for one in used), "gold_seen": seen}
    row = {"tool": tool, "done": done, "answer": answered, "correct": False, **told}
    assert cause(row) == expected
    assert cause(row | {"correct": True}) is None
    assert cause(row | {"correct": None}) is None
