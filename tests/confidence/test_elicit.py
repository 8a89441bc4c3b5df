from __future__ import annotations

import itertools
import json

import jsonschema
import pytest

from toolcal.benchmarks.protocol import Case
from toolcal.calls import parse
from toolcal.confidence import elicit
from toolcal.confidence.final_form import Final, read, read_emission
from toolcal.confidence.tools import PYTHON, SEARCH, function
from toolcal.models import json_mode
from toolcal.models.protocol import Request

SCALES = ("unit", "percent")
WORDINGS = elicit.wordings()
TOOLS = {
    SEARCH: function(SEARCH, "Searches", "query", "words"),
    PYTHON: function(PYTHON, "Runs Python", "code", "a program"),
}


def test_wordings_have_their_sources():
    assert {"plain", "top_k", "self_probing"} <= set(WORDINGS)
    assert all("arXiv" in wording.source for wording in WORDINGS.values())
    assert elicit.version() >= 1


@pytest.mark.parametrize(("name", "scale"), list(itertools.product(WORDINGS, SCALES)))
def test_the_system_message_ends_with_the_form_and_names_the_scale(name, scale):
    wording = WORDINGS[name]
    messages = {agent: elicit.system(agent, wording, scale) for agent in ("direct", "prompted", "trained")}
    for text in messages.values():
        assert text.endswith(elicit.form(scale, wording.parts))
        assert ("from 0 to 100" in text) is (scale == "percent" and wording.later is None)
        assert "{" not in text
        assert read(text) == Final(None, None)  # a model that repeats it has not answered
    assert "tool" not in messages["direct"]
    assert "tool" in messages["prompted"]
    assert messages["prompted"] == messages["trained"]


@pytest.mark.parametrize(("name", "scale"), list(itertools.product(WORDINGS, SCALES)))
def test_a_confidence_that_is_asked_for_later_is_not_asked_for_at_once(name, scale):
    wording = WORDINGS[name]
    asked = elicit.later(wording, scale, "What is {x}? {answer}", "a {brace}")
    assert (asked is None) is ("Confidence:" in elicit.system("direct", wording, scale))
    if asked is not None:
        assert asked.endswith(elicit.form(scale, ("confidence",)))
        assert ("a {brace}" in asked) is wording.fresh


@pytest.mark.parametrize("scale", SCALES)
def test_the_second_request_names_what_is_missing_and_shows_the_form(scale):
    assert "the line `Confidence:` is missing" in elicit.again(["confidence"], scale)
    assert "the line `Answer:` and the line `Confidence:` are missing" in elicit.again(["answer", "confidence"], scale)
    assert elicit.again(["answer"], scale).endswith(elicit.form(scale))
    assert elicit.again(["answer"], scale, ("answer",)).endswith(elicit.form(scale, ("answer",)))


def asked(agent, wording, scale, tools):
    given = (*(TOOLS[name] for name in tools), elicit.answer_tool(scale, wording.parts))
    case = Case("confidence", "world", "1", "q", "q", (), (), {}, (), (), None)
    guide = elicit.guide(agent, wording, scale, tools)
    messages = ({"role": "user", "content": "Where is Alder?"},)
    return Request(case, 0, 0, 0, 0, messages, 0, given, 0, guide=guide)


@pytest.mark.parametrize(
    ("name", "scale", "tools"),
    list(itertools.product(("plain", "self_probing"), SCALES, ((), (SEARCH,), (PYTHON,), (SEARCH, PYTHON)))),
)
def test_json_mode_offers_the_tools_and_the_answer_and_nothing_else(name, scale, tools):
    wording = WORDINGS[name]
    request = asked("prompted" if tools else "direct", wording, scale, tools)
    messages, response_format = json_mode.prompt(request)
    schema = response_format["json_schema"]["schema"]
    jsonschema.Draft202012Validator.check_schema(schema)
    assert [branch["properties"]["action"]["const"] for branch in schema["anyOf"]] == [*tools, "answer"]
    shown = [json.loads(message["content"]) for message in messages if message["role"] == "assistant"]
    assert {example["action"] for example in shown} == {*tools, "answer"}
    for example in shown:
        jsonschema.validate(example, schema)
    assert messages[-1] == {"role": "user", "content": "Where is Alder?"}
    decoded = json_mode.decode(json.dumps(shown[-1]), request.tools, "x", request.guide)
    final = read_emission(parse(decoded, "stop"), elicit.ANSWER)
    assert final.missing(wording.parts) == []


def test_json_mode_holds_the_answer_back_until_a_tool_was_called():
    def names(tools, **state):
        return [tool["function"]["name"] for tool in elicit.offered(tools, "unit", **state)]

    tools = list(TOOLS.values())
    assert names(tools, called=False, last=False) == ["search", "python"]
    assert names(tools, called=True, last=False) == ["search", "python", "answer"]
    assert names(tools, called=True, last=True) == names(tools, called=False, last=True) == ["answer"]
    assert names((), called=False, last=False) == ["answer"]


def test_json_mode_says_after_a_result_what_the_guide_says():
    request = asked("prompted", WORDINGS["plain"], "percent", (SEARCH,))
    call = {"id": "c", "type": "function", "function": {"name": SEARCH, "arguments": '{"query": "Alder"}'}}
    history = (
        *request.messages,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "In Brenton."},
    )
    messages, _ = json_mode.prompt(Request(request.case, 0, 0, 1, 0, history, 0, request.tools, 0, guide=request.guide))
    assert [message["content"] for message in messages[-2:]] == [
        '{"action": "search", "query": "Alder"}',
        "Result: In Brenton.\nCan you answer now?",
    ]


def test_the_words_of_benchmarks_are_no_actions_of_the_study():
    request = asked("direct", WORDINGS["plain"], "unit", ())
    text = json.dumps({"action": "done", "text": "Paris"})
    assert json_mode.decode(text, request.tools)["content"] == "Paris"
    decoded = json_mode.decode(text, request.tools, "x", request.guide)
    assert read_emission(parse(decoded, "stop"), elicit.ANSWER) == Final(None, None)
