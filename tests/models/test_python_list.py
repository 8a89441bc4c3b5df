"""Python-list mode: what is sent, and what an answer is read as."""

import json
from pathlib import Path

import pytest

from tests.conftest import CATEGORIES
from toolcal import calls
from toolcal.benchmarks.protocol import Case
from toolcal.models import python_list
from toolcal.models.protocol import Request

EMISSIONS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data/emissions.jsonl").read_text(encoding="utf-8").splitlines()
]
CASE = Case("b", "s", "r", "c", "0", (), (), {}, (), (), None)
HELLO = {"role": "user", "content": "Hello"}


def tool(name, **properties):
    parameters = {"type": "object", "properties": properties, "required": []}
    return {"type": "function", "function": {"name": name, "description": "Für dich.", "parameters": parameters}}


TOOLS = (tool("cd", folder={"type": "string"}), tool("ls"))


def request(messages=(HELLO,), tools=TOOLS, case=CASE, turn=1):
    return Request(case, 0, turn, 2, 0, tuple(messages), 0, tuple(tools), 0)


def called(*made, content=None):
    tool_calls = [
        {"id": f"call_{index}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for index, (name, arguments) in enumerate(made)
    ]
    return {"role": "assistant", "content": content, "tool_calls": tool_calls}


def result(index, content):
    return {"role": "tool", "tool_call_id": f"call_{index}", "content": content}


def shown(*messages):
    """Roles and contents after the system message."""
    system, *rest = python_list.prompt(request(messages))
    assert system["role"] == "system"
    assert all(message.keys() == {"role", "content"} and isinstance(message["content"], str) for message in rest)
    return [(message["role"], message["content"]) for message in rest]


def decoded(content, tools=TOOLS):
    """Names and arguments of the calls in an answer, and its content."""
    message = python_list.decode(content, tools, "call_1_2")
    assert message["role"] == "assistant"
    made = message.get("tool_calls", [])
    assert [call["id"] for call in made] == [f"call_1_2_{index}" for index in range(len(made))]
    return [(call["function"]["name"], json.loads(call["function"]["arguments"])) for call in made], message["content"]


def untouched(content):
    return python_list.decode(content, TOOLS) == {"role": "assistant", "content": content}


# The prompt


def test_the_system_message_has_instructions_tools_and_the_benchmarks_text():
    (system, user) = python_list.prompt(request([{"role": "system", "content": "Be brief."}, HELLO]))
    instructions, _, listed = system["content"].partition("\n\nTools:\n")
    assert "[first_tool(name=" in instructions
    assert listed.endswith("\n\nBe brief.")
    assert json.loads(listed.removesuffix("Be brief.")) == [offered["function"] for offered in TOOLS]
    assert "Für dich." in listed
    assert user == HELLO


def test_the_instructions_example_is_in_the_modes_own_form():
    (example,) = [line for line in python_list.prompt(request())[0]["content"].splitlines() if "first_tool(" in line]
    assert decoded(example) == ([("first_tool", {"name": "value", "count": 2}), ("second_tool", {})], None)


def test_a_turn_is_shown_as_lists_and_results():
    assert shown(
        HELLO,
        called(("cd", {"folder": "a's"}), ("ls", {})),
        result(0, '{"cwd": "a"}'),
        result(1, "no such\nfile"),
        called(("ls", {}), content="Once more."),
        result(0, "[]"),
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "Thanks"},
    ) == [
        ("user", "Hello"),
        ("assistant", """[cd(folder="a's"), ls()]"""),
        ("user", '[{"call": "cd", "result": {"cwd": "a"}},\n{"call": "ls", "result": "no such\\nfile"}]'),
        ("assistant", "Once more.\n[ls()]"),
        ("user", '[{"call": "ls", "result": []}]'),
        ("assistant", "Done."),
        ("user", "Thanks"),
    ]


@pytest.mark.parametrize("text", ["", "NaN", "{'a': 1}", "[" * 100_000, "1 2", "Ünlü \ud800"])
def test_results_are_one_json_list_whatever_they_hold(text):
    ((_, content),) = shown(called(("ls", {})), result(0, text))[1:]
    assert json.loads(content) == [{"call": "ls", "result": text}]


def test_neighbours_of_one_role_are_one_message_and_silence_is_left_out():
    silent = {"role": "assistant", "content": " "}
    assert shown(HELLO, silent, called(("ls", {})), result(0, "1"), HELLO, HELLO) == [
        ("user", "Hello"),
        ("assistant", "[ls()]"),
        ("user", '[{"call": "ls", "result": 1}]\n\nHello\n\nHello'),
    ]


def test_a_later_system_message_keeps_its_place():
    system = {"role": "system", "content": "Look again."}
    assert shown(HELLO, system, system, HELLO) == [
        ("user", "Hello"),
        ("system", "Look again."),
        ("system", "Look again."),
        ("user", "Hello"),
    ]


@pytest.mark.parametrize(
    "call",
    [
        {"id": "call_0", "function": {"name": "cd", "arguments": "{broken"}},
        {"id": "call_0", "function": {"name": "cd", "arguments": None}},
        {"id": "call_0", "function": {"name": "cd"}},
    ],
)
def test_a_past_call_with_unreadable_arguments_is_shown_without_any(call):
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    assert shown(message, result(0, "x")) == [
        ("assistant", "[cd()]"),
        ("user", '[{"call": "cd", "result": "x"}]'),
    ]


def test_odd_history_does_not_raise():
    odd = [{"role": "assistant", "tool_calls": [None, {"function": 3}]}, {"role": "tool"}, {"role": "user"}]
    roles = [role for role, _ in shown(*odd)]
    assert roles == ["assistant", "user"]


# Answers


@pytest.mark.parametrize("case", EMISSIONS, ids=lambda case: case["id"])
def test_shared_cases(case):
    """The Python list becomes native calls with the expected arguments; no other emission changes its meaning."""
    content, tools = case["message"].get("content"), [tool(name) for name in case["tools"]]
    before = calls.parse({"role": "assistant", "content": content}, case["finish_reason"], case["tools"])
    message = python_list.decode(content, tools)
    after = calls.parse(message, case["finish_reason"], case["tools"])
    assert (after.status, [call.arguments for call in after.calls]) == (
        before.status,
        [call.arguments for call in before.calls],
    )
    own = case["expect"]["leaked"] and "Python list" in case["about"]
    assert ("tool_calls" in message) is own
    if own:
        assert [[call.name, call.arguments] for call in after.calls] == case["expect"]["calls"]
        assert not after.leaked
    else:
        assert message["content"] == content


def test_the_shared_cases_hold_a_python_list():
    assert [case["id"] for case in EMISSIONS if "Python list" in case["about"]]


CD_LS = [("cd", {"folder": "x"}), ("ls", {})]


@pytest.mark.parametrize(
    "content",
    [
        "[cd(folder='x'), ls()]",
        '  [cd(folder="x"),\n  ls()]\n',
        "```python\n[cd(folder='x'), ls()]\n```",
        "`[cd(folder='x'), ls()]`",
        "```[cd(folder='x'), ls()]```",
        "<think>First [ls()], then?</think>\n[cd(folder='x'), ls()]",
        "[cd(folder='x')]\n[ls()]",
        "[cd({'folder': 'x'}), ls()]",
        "cd(folder='x'), ls()",
        "cd(folder='x')\nls()",
        "```python\ncd(folder='x')\nls()\n```",
        [{"type": "text", "text": "[cd(folder='x'), ls()]"}],
    ],
)
def test_the_modes_own_form(content):
    assert decoded(content) == (CD_LS, None)


def test_prose_beside_the_list_is_the_content():
    content = "I look there.\n```python\n[cd(folder='x'), ls()]\n```\nOne moment."
    made, prose = decoded(content)
    assert made == CD_LS
    assert prose.split("\n\n") == ["I look there.", "One moment."]


def test_unknown_and_dotted_names_are_calls():
    assert decoded("[math.sum(values=[1, -2.5e3], exact=true), fly()]") == (
        [("math.sum", {"values": [1, -2500.0], "exact": True}), ("fly", {})],
        None,
    )


@pytest.mark.parametrize(
    "content",
    [
        None,
        "",
        " \n",
        "Which folder?",
        "I can't: there is no tool such as ls() for that.",
        "[1, 2]",
        "[]",
        '<tool_call>{"name": "ls", "arguments": {}}</tool_call>',
        '[{"name": "ls", "arguments": {}}]',
        '{"name": "ls", "arguments": {}}',
        "<|python_tag|>[ls()]",
        "<think>[ls()]",
        7,
        ["ls"],
        {"ls": {}},
        "\x00\x1b\ud800",
    ],
)
def test_other_answers_are_untouched(content):
    assert untouched(content)


@pytest.mark.parametrize(
    "content",
    [
        "[cd(folder='x'), ls(",
        "[cd(folder='x'), ls()",
        "[cd(folder='x",
        "[cd('x')]",
        "[cd(folder=__import__('os').getcwd())]",
        "[cd(folder=ls())]",
        "[cd(**{'folder': 'x'})]",
        "[cd(folder='x', folder='y')]",
        "[cd(folder=1e999)]",
        "[cd(folder='x'), 3]",
        "[cd(folder=" + "[" * 300 + "]" * 300 + ")]",
        "[cd(folder='" + "x" * 200_000 + "')]",
        "[cd(" + "f(" * 100_000,
    ],
    ids=lambda content: content[:30],
)
def test_broken_lists_are_untouched_and_malformed(content):
    assert untouched(content)
    assert calls.parse(python_list.decode(content, TOOLS), "stop", ("cd", "ls")).status == "malformed_call"


# There and back


VALUES = [
    "",
    "it's \"quoted\" '''thrice''' \\ ] ) } [ ls() #",
    "two\nlines\ttab\r\0\x1b\u2028",
    "Grüße, 世界 🚀",
    "\ud800 alone",
    "true",
    0,
    -3,
    10**40,
    0.1,
    -2.5e-300,
    1e22,
    -0.0,
    True,
    False,
    None,
    [],
    {},
    [1, [2.5, [None, "x"]], {"a": []}],
    {"a b": {"c'd": [True, {"": None}]}, "é": "é"},
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: repr(value)[:20])
def test_what_was_called_comes_back(value):
    made = [("cd", {"folder": value, "deep": {"er": [value]}}), ("ls", {}), ("a.b", {"x": value})]
    ((_, text),) = shown(called(*made))
    read, content = decoded(text)
    assert json.dumps(read) == json.dumps(made)  # 0.0 and -0.0, 1 and True differ here
    assert content is None


@pytest.mark.parametrize("name", ["class", "None", "two words", "a-b", "é", "\ufb01", "1st", "", "__debug__", "print"])
def test_arguments_that_python_cannot_name_come_back(name):
    made = [("cd", {name: "x", "folder": 1}), ("ls", {})]
    ((_, text),) = shown(called(*made))
    assert decoded(text)[0] == made


def test_prose_beside_a_call_comes_back():
    ((_, text),) = shown(called(*CD_LS, content="I look there."))
    assert decoded(text) == (CD_LS, "I look there.")


@pytest.mark.parametrize("category", CATEGORIES)
def test_real_cases(bfcl_cases, category):
    """BFCL's reference calls survive the way into the prompt and back; roles alternate; tools are the turn's own."""
    read_back = 0
    for case in bfcl_cases[category][::10]:
        messages = []
        for turn, user in enumerate(case.turns):
            messages += user
            tools = case.tools_at(turn)
            sent = python_list.prompt(request(messages, tools, case, turn))
            assert sent == python_list.prompt(request(messages, tools, case, turn))
            assert json.loads(sent[0]["content"].partition("Tools:\n")[2]) == [offered["function"] for offered in tools]
            assert sent[0]["role"] == "system"
            roles = [message["role"] for message in sent[1:]]
            assert roles == [("user", "assistant")[index % 2] for index in range(len(roles))]
            assert roles[-1] == "user"
            made = reference(case, turn)
            if made:
                assert json.dumps(decoded(python_list.call_list(made), tools)) == json.dumps((made, None))
                messages += [called(*made), *(result(index, '{"n": 1}') for index in range(len(made)))]
                read_back += len(made)
            messages.append({"role": "assistant", "content": "Done."})
    assert read_back > 100


def reference(case, turn):
    """Names and arguments of the turn's reference calls; a few are positional, which no mode can read."""
    names = {offered["function"]["name"] for _, offered in case.tools}
    parsed = [calls.parse({"content": f"[{text}]"}, "stop", names) for text in case.gold[turn]]
    assert all(one.calls or "positional" in one.error for one in parsed)
    return [(call.name, call.arguments) for one in parsed for call in one.calls]


def test_a_tool_that_arrives_later_is_listed_from_then_on(bfcl_cases):
    case = bfcl_cases["miss_func"][0]
    arrives, late = next((turn, late) for turn, late in case.tools if turn)
    line = json.dumps(late["function"], ensure_ascii=False)
    for turn in range(len(case.turns)):
        (system, *_) = python_list.prompt(request((HELLO,), case.tools_at(turn), case, turn))
        assert (line in system["content"]) is (turn >= arrives)
