"""JSON mode: what is sent, and what an answer is read as."""

import itertools
import json

import jsonschema
import pytest

from toolcal.benchmarks.protocol import Case
from toolcal.models import json_mode
from toolcal.models.protocol import Request


def tool(name, properties=None, required=(), description="Does a thing. And more."):
    parameters = {"type": "object", "properties": properties or {}, "required": list(required)}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


TOOLS = (
    tool(
        "book",
        {
            "city": {"type": "string", "description": "where"},
            "nights": {"type": "integer", "default": 1},
            "rooms": {"type": "array", "items": {"type": "string"}},
            "class": {"type": "string", "enum": ["low", "high"]},
            "guest": {"type": "object", "properties": {"age": {"type": "number"}}, "required": ["age"]},
            "extras": {"type": "object"},
            "quiet": {"type": "boolean"},
        },
        ["city"],
        "This tool belongs to the hotels. Tool description: Book a\nroom. Mind the price.",
    ),
    tool("status"),
)
ASKED = "\nIs the request done now?"
FINE = {"role": "tool", "tool_call_id": "x", "content": "fine"}
CASE = Case("b", "s", "r", "c", "0", (), (), {}, (), (), None)


def request(messages=({"role": "user", "content": "Hello"},), tools=TOOLS, turn_start=0):
    return Request(CASE, 0, 1, 2, 0, tuple(messages), turn_start, tuple(tools), 0)


def call(name, arguments, call_id="x"):
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": call_id, "type": "function", "function": function}],
    }


def schema_of(tools):
    _, response_format = json_mode.prompt(request(tools=tools))
    schema = response_format["json_schema"]["schema"]
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def called(content, tools=TOOLS):
    (made,) = json_mode.decode(content, tools)["tool_calls"]
    return made["function"]["name"], json.loads(made["function"]["arguments"])


def test_tools_are_signatures_with_a_sentence():
    (system, *_), _ = json_mode.prompt(request())
    assert (
        'book(city: str, nights?: int, rooms?: list[str], class?: "low"|"high", guest?: dict, extras?: dict, '
        "quiet?: bool): Book a room."
    ) in system["content"].splitlines()
    assert "status(): Does a thing." in system["content"].splitlines()


def test_every_kind_of_action_has_an_example_with_invented_tools():
    messages, _ = json_mode.prompt(request())
    actions = [json.loads(m["content"])["action"] for m in messages if m["role"] == "assistant"]
    assert {"ask", "refuse", "done", "current_song"} < set(actions)
    assert ("set_alarm", "switch_lamp") in itertools.pairwise(actions)
    assert not set(actions) & {t["function"]["name"] for t in TOOLS}


def test_the_prefix_does_not_change_within_a_turn():
    before, _ = json_mode.prompt(request())
    after, _ = json_mode.prompt(
        request(
            [
                {"role": "user", "content": "Hello"},
                call("status", {}),
                {"role": "tool", "tool_call_id": "x", "content": "fine"},
            ]
        )
    )
    assert after[: len(before)] == before
    assert [m["content"] for m in after[len(before) :]] == ['{"action": "status"}', f"Result: fine{ASKED}"]


def test_a_call_repeated_with_the_same_result_is_shown_once():
    again = [call("status", {}, "y"), FINE | {"tool_call_id": "y"}]
    other = [call("status", {}, "z"), FINE | {"tool_call_id": "z", "content": "broken"}]
    sent, _ = json_mode.prompt(
        request([{"role": "user", "content": "Hello"}, call("status", {}), FINE, *again, *other])
    )
    assert [m["content"] for m in sent[-4:]] == [
        '{"action": "status"}',
        f"Result: fine{ASKED}",
        '{"action": "status"}',
        f"Result: broken{ASKED}",
    ]
    assert sent[-5]["content"] == "Hello"


def test_history_is_the_turn_or_the_conversation():
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "first"},
        {"role": "assistant", "content": "Which one?"},
        {"role": "user", "content": "second"},
    ]
    turn, _ = json_mode.prompt(request(messages, turn_start=3))
    conversation, _ = json_mode.prompt(request(messages, turn_start=3), history="conversation")
    assert turn[-1] == conversation[-1] == {"role": "user", "content": "second"}
    assert [m["content"] for m in conversation[-3:]] == ["first", "Which one?", "second"]
    assert "first" not in json.dumps(turn)
    for sent in (turn, conversation):
        assert sent[0]["content"].endswith("Be brief.")
        assert [m["role"] for m in sent].count("system") == 1


def test_long_results_are_cut_and_say_so():
    messages = [
        {"role": "user", "content": "x"},
        call("status", {}),
        {"role": "tool", "tool_call_id": "x", "content": "y" * 9000},
    ]
    sent, _ = json_mode.prompt(request(messages))
    assert sent[-1]["content"] == f"Result: {'y' * json_mode.RESULT_LENGTH} [cut: 9000 characters]{ASKED}"
    sent, _ = json_mode.prompt(request(messages), result_length=9000)
    assert sent[-1]["content"] == f"Result: {'y' * 9000}{ASKED}"


@pytest.mark.parametrize(
    ("action", "valid"),
    [
        ({"action": "status"}, True),
        ({"action": "status", "more": 1}, False),
        ({"action": "book", "city": "Bonn"}, True),
        ({"action": "book"}, False),
        ({"action": "book", "city": "Bonn", "nights": 2, "rooms": ["1"], "class": "low", "quiet": True}, True),
        ({"action": "book", "city": "Bonn", "guest": {"age": 1.5}, "extras": {"any": [1]}}, True),
        ({"action": "book", "city": "Bonn", "guest": {}}, False),
        ({"action": "book", "city": "Bonn", "class": "middle"}, False),
        ({"action": "book", "city": "Bonn", "nights": "2"}, False),
        ({"action": "fly"}, False),
        ({"action": "ask", "text": "Where?"}, True),
        ({"action": "done"}, False),
        ({"action": "done", "text": "x" * 201}, False),
    ],
)
def test_the_schema_holds_the_answer_to_this_turns_tools(action, valid):
    assert schema_of(TOOLS).is_valid(action) is valid


def test_a_call_becomes_a_tool_call():
    message = json_mode.decode('{"action": "book", "city": "Bonn", "nights": 2}', TOOLS, "call_1_2")
    assert message["role"] == "assistant"
    assert message["content"] is None
    assert message["tool_calls"][0]["id"] == "call_1_2"
    assert called('{"action": "book", "city": "Bonn", "nights": 2}') == ("book", {"city": "Bonn", "nights": 2})
    assert called('{"action": "status"}') == ("status", {})


@pytest.mark.parametrize("action", json_mode.TEXT_ACTIONS)
def test_a_text_action_becomes_its_text(action):
    message = json_mode.decode(json.dumps({"action": action, "text": "So it is."}), TOOLS)
    assert message == {"role": "assistant", "content": "So it is."}


def test_a_tool_outside_the_list_is_still_a_call():
    assert called('{"action": "cancel", "id": 3}') == ("cancel", {"id": 3})


@pytest.mark.parametrize("name", json_mode.TEXT_ACTIONS)
def test_a_tool_named_as_a_text_action_is_told_apart(name):
    tools = (tool(name, {"text": {"type": "string"}}, ["text"]), tool(f"{name}_tool"))
    schema = schema_of(tools)
    answer = {"action": f"{name}_tool", "text": "hi"}
    assert schema.is_valid(answer)
    assert called(json.dumps(answer), tools) == (name, {"text": "hi"})
    assert called(json.dumps({"action": f"{name}_tool_tool"}), tools) == (f"{name}_tool", {})
    assert json_mode.decode(json.dumps({"action": name, "text": "hi"}), tools)["content"] == "hi"
    shown, _ = json_mode.prompt(request([{"role": "user", "content": "x"}, call(name, {"text": "hi"}), FINE], tools))
    assert json.loads(shown[-2]["content"]) == answer


def test_an_argument_named_action_goes_under_arguments():
    tools = (tool("log", {"action": {"type": "string"}, "arguments": {"type": "integer"}}, ["action"]),)
    answer = {"action": "log", "arguments": {"action": "stop", "arguments": 1}}
    assert schema_of(tools).is_valid(answer)
    assert called(json.dumps(answer), tools) == ("log", {"action": "stop", "arguments": 1})
    shown, _ = json_mode.prompt(
        request([{"role": "user", "content": "x"}, call("log", {"action": "stop", "arguments": 1}), FINE], tools)
    )
    assert json.loads(shown[-2]["content"]) == answer
    assert json_mode.decode('{"action": "log", "action_": 1}', tools)["content"] is not None


@pytest.mark.parametrize(
    "content",
    [
        None,
        "",
        "Hello.",
        '{"action": "book", "city": "Bo',
        "[]",
        "null",
        "{}",
        '{"action": null}',
        '{"action": ["book"]}',
        '{"action": "rm -rf /; import os"}',
        '{"action": ""}',
        '{"action": "ask"}',
        '{"action": "ask", "text": {"a": 1}}',
        '{"action": "book", "nights": NaN}',
        '{"action": "book", "nights": ' + "9" * 5000 + "}",
        '{"action": "book", "guest": ' + "[" * 100_000 + "]" * 100_000 + "}",
        '{"action": "book", "city": "' + "x" * 1_000_000,
        '\x00\x1b{"action": "status"}',
        '{"action": "status"} {"action": "status"}',
    ],
)
def test_what_is_no_action_stays_text(content):
    assert json_mode.decode(content, TOOLS) == {"role": "assistant", "content": content}


@pytest.mark.parametrize("depth", range(100, 1000, 50))
def test_deep_arguments_do_not_break_the_reader(depth):
    content = '{"action": "book", "guest": ' + "[" * depth + "]" * depth + "}"
    assert json_mode.decode(content, TOOLS)["role"] == "assistant"


def test_odd_text_survives():
    name, arguments = called('{"action": "book", "city": "\\ud800 \\u0000 é\\n"}')
    assert (name, arguments) == ("book", {"city": "\ud800 \x00 é\n"})


def test_a_tool_without_parameters_or_description_is_fine():
    tools = ({"type": "function", "function": {"name": "ping"}},)
    assert schema_of(tools).is_valid({"action": "ping"})


def test_no_tools_leave_the_text_actions():
    assert schema_of(()).is_valid({"action": "refuse", "text": "No."})


@pytest.mark.parametrize("history", ["turn", "conversation"])
def test_a_system_message_further_down_stays_where_it_is(history):
    messages = (
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Book."},
        {"role": "system", "content": "Look at the state."},
    )
    sent, _ = json_mode.prompt(request(messages, turn_start=1), history=history)
    assert sent[0]["content"].endswith("Be brief.")
    assert [message["content"] for message in sent[-2:]] == ["Book.", "Look at the state."]
    assert sent[-1]["role"] == "system"
