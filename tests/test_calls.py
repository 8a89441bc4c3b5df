"""Calls out of messages: the shared cases, the kinds of fault they stand for, and hostile input."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.timing import best_of, cpu
from toolcal.calls import Call, Parsed, content_of, parse
from toolcal.callshapes import MAX_DEPTH

CASES = [
    json.loads(line)
    for line in (Path(__file__).parent / "data/emissions.jsonl").read_text(encoding="utf-8").splitlines()
]
TOOLS = ("ls", "cd", "mv", "get_stock_info", "startEngine")
CD = [("cd", {"folder": "x"})]
CD_LS = [("cd", {"folder": "x"}), ("ls", {})]


def read(content: Any, finish_reason: Any = "stop", tools: Any = TOOLS, **message: Any) -> Parsed:
    return parse({"role": "assistant", "content": content, **message}, finish_reason, tools)


def native(arguments: Any, name: Any = "cd", **call: Any) -> Parsed:
    return read(None, tool_calls=[{"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}}])


def pairs(parsed: Parsed) -> list[tuple[str, dict[str, Any]]]:
    return [(call.name, call.arguments) for call in parsed.calls]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_shared_cases(case: dict[str, Any]) -> None:
    parsed = parse(case["message"], case["finish_reason"], case["tools"])
    expect = case["expect"]
    assert parsed.status == expect["status"]
    assert parsed.leaked is expect["leaked"]
    assert pairs(parsed) == [tuple(call) for call in expect["calls"]]
    assert (parsed.error is None) is (parsed.status != "malformed_call")
    if expect["status"] == "ok" and parsed.calls:
        assert all(call.name not in case["tools"] for call in parsed.calls) is expect.get("unknown_tool", False)


# Native calls


@pytest.mark.parametrize("nothing", [None, "", "  \n", "{}", "null", {}, '""'])
def test_a_tool_without_arguments(nothing: Any) -> None:
    assert native(nothing).calls == (Call("cd", {}, "c1"),)


@pytest.mark.parametrize(
    "arguments",
    [
        "[1]",
        [1],
        "7",
        7,
        True,
        '"x"',
        "x",
        '{"a": 1',
        "{'a': 1}",
        '{"a": 1}{"a": 2}',
        '{"a": NaN}',
        '{"a": -Infinity}',
        '{"a": 1e999}',
        {"a": float("nan")},
        {"a": {1, 2}},
        '{"a": ' + "9" * 5000 + "}",
        '{"a": ' + "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1) + "}",
        '{"a": ' * 200_000,
        "[" * 200_000 + "]" * 200_000,
    ],
    ids=lambda value: str(value)[:20],
)
def test_arguments_that_are_no_json_object(arguments: Any) -> None:
    parsed = native(arguments)
    assert (parsed.status, parsed.calls) == ("malformed_call", ())
    assert "arguments" in (parsed.error or "")


def test_arguments_that_a_circle_makes_endless() -> None:
    circle: dict[str, Any] = {}
    circle["again"] = circle
    assert native(circle).status == "malformed_call"


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        (json.dumps(json.dumps({"a": 1})), {"a": 1}),  # encoded twice by the endpoint
        ('{"a": 1, "a": 2}', {"a": 2}),
        ('{"a": "line\nbreak\ttab"}', {"a": "line\nbreak\ttab"}),
        ('{"a": "\\ud800"}', {"a": "\ud800"}),
        ('{"a": "\\u0000"}', {"a": "\0"}),
        ('{"a": ' + "9" * 400 + "}", {"a": int("9" * 400)}),
        ({"a": (1, 2)}, {"a": [1, 2]}),
        ("{\"code\": \"__import__('os').system('x')\"}", {"code": "__import__('os').system('x')"}),
        ('{"a": "<tool_call>"}', {"a": "<tool_call>"}),
    ],
)
def test_odd_arguments_that_are_not_in_doubt(arguments: Any, value: dict[str, Any]) -> None:
    assert pairs(native(arguments)) == [("cd", value)]


def test_three_encodings_are_in_doubt() -> None:
    assert native(json.dumps(json.dumps(json.dumps({"a": 1})))).status == "malformed_call"


@pytest.mark.parametrize("name", [None, "", "  ", 3, ["cd"], {"name": "cd"}])
def test_a_call_without_a_name(name: Any) -> None:
    assert native("{}", name=name).status == "malformed_call"


def test_one_broken_call_takes_the_others_with_it() -> None:
    good = {"id": "a", "function": {"name": "ls", "arguments": "{}"}}
    parsed = read(None, tool_calls=[good, {"id": "b", "function": {"name": "cd", "arguments": "["}}])
    assert (parsed.status, parsed.calls) == ("malformed_call", ())


@pytest.mark.parametrize(
    "calls", ["ls()", {"function": {"name": "ls"}}, 5, [None], ["ls"], [[]], [{}], [{"function": None}]]
)
def test_tool_calls_of_a_wrong_type(calls: Any) -> None:
    assert read("text", tool_calls=calls).status == "malformed_call"


def test_the_legacy_field() -> None:
    parsed = read(None, function_call={"name": "cd", "arguments": '{"folder": "x"}'})
    assert (pairs(parsed), parsed.leaked) == (CD, False)


def test_native_calls_go_before_the_text() -> None:
    call = {"id": "c", "function": {"name": "ls", "arguments": "{}"}}
    parsed = read("<tool_call>{broken", tool_calls=[call])
    assert (pairs(parsed), parsed.leaked, parsed.dialect) == ([("ls", {})], False, "native tool call")


def test_names_are_kept_as_given() -> None:
    assert native("{}", name="GorillaFileSystem.cd ").calls[0].name == "GorillaFileSystem.cd "


# Status and text


@pytest.mark.parametrize("finish_reason", ["length", "max_tokens", "MAX_TOKENS"])
def test_a_cut_off_emission_has_no_calls(finish_reason: str) -> None:
    call = {"id": "c", "function": {"name": "ls", "arguments": "{}"}}
    assert read("[ls()]", finish_reason).status == "truncated"
    assert parse({"tool_calls": [call]}, finish_reason, TOOLS).calls == ()


@pytest.mark.parametrize(
    "content", [None, "", " \n", "\u200b", "\0", "<think>ls()</think>", "<think>never closed", [], {}, 7]
)
@pytest.mark.parametrize("finish_reason", ["stop", "content_filter", None, 3])
def test_nothing_visible_is_empty(content: Any, finish_reason: Any) -> None:
    assert read(content, finish_reason).status == "empty"


@pytest.mark.parametrize("message", [None, "ls()", 3, [], [{"content": "ls()"}], object()])
def test_a_message_that_is_none(message: Any) -> None:
    assert parse(message, "stop", TOOLS).status == "empty"


def test_content_in_parts() -> None:
    parts = [
        {"type": "thinking", "text": "hm"},
        {"type": "text", "text": "[ls"},
        "()]",
        None,
        {"type": "text", "text": 3},
    ]
    assert content_of({"content": parts}) == "[ls()]"
    assert pairs(read(parts)) == [("ls", {})]


def test_a_refusal_in_its_own_field_is_text() -> None:
    assert read(None, refusal="I cannot help.").text == "I cannot help."


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("<think>a?</think>Yes.", "Yes."),
        ("a?</think>\n\nYes.", "Yes."),  # the opening tag stood in the prompt
        ("<think>a <think> b</think> c</think> Yes.", "Yes."),
        ("a <think>b</think> c</think> Yes.", "Yes."),
        ("Yes.<think>a", "Yes."),
        ("[THINK]a[/THINK]Yes.", "Yes."),
        ("a < b, think of it", "a < b, think of it"),
    ],
)
def test_thinking_is_not_text(content: str, text: str) -> None:
    parsed = read(content)
    assert (parsed.text, parsed.calls) == (text, ())


# Calls in the text


@pytest.mark.parametrize(
    ("content", "calls"),
    [
        ("[cd(folder='x'), ls()]", CD_LS),
        ("Let me see.\n\n[cd(folder='x'), ls()]\n", CD_LS),
        ("```python\n[cd(folder='x'), ls()]\n```", CD_LS),
        ("`[cd(folder='x')]`", CD),
        ("cd(folder='x')", CD),
        ("cd(folder='x'); ls()", CD_LS),
        ("First this:\n```tool_code\ncd(folder='x')\nls()\n```\nThen more.", CD_LS),
        ("[fs.cd(folder='x')]", [("fs.cd", {"folder": "x"})]),
        ("[teleport(to='moon')]", [("teleport", {"to": "moon"})]),
        ("[cd({'folder': 'x'})]", CD),
        ("[mv(a=true, b=null, c=-1.5, d=(1, 'é'), e={'k': [False]})]",
         [("mv", {"a": True, "b": None, "c": -1.5, "d": [1, "é"], "e": {"k": [False]}})]),
        ("[mv(a=')]', b=\"it's [\")]", [("mv", {"a": ")]", "b": "it's ["})]),
        ("[mv(a='\\d+')]", [("mv", {"a": "\\d+"})]),
    ],
)  # fmt: skip
def test_python_calls(content: str, calls: list[Any]) -> None:
    parsed = read(content)
    assert (pairs(parsed), parsed.leaked, parsed.status) == (calls, True, "ok")


@pytest.mark.parametrize(
    "content",
    [
        '{"name": "cd", "arguments": {"folder": "x"}}',
        '{"name": "cd", "parameters": {"folder": "x"}}',
        '{"arguments": {"folder": "x"}, "name": "cd"}',
        '{"name": "cd", "arguments": "{\\"folder\\": \\"x\\"}"}',
        '{"function": "cd", "parameters": {"folder": "x"}}',
        '{"type": "function", "id": "1", "function": {"name": "cd", "arguments": "{\\"folder\\": \\"x\\"}"}}',
        '{"thought": "", "tool_calls": [{"name": "cd", "arguments": {"folder": "x"}}]}',
        '{"cd": {"folder": "x"}}',
        '[{"cd": {"folder": "x"}}]',
        "[{'name': 'cd', 'arguments': {'folder': 'x'}}]",
        'Sure:\n```json\n{\n  "name": "cd",\n  "arguments": {"folder": "x"}\n}\n```\nThat is it.',
        'A brace { in prose.\n{"name": "cd", "arguments": {"folder": "x"}}',
        '[1](a)\n{"note": 1}\n{"name": "cd", "arguments": {"folder": "x"}}',
        '{"name": "cd", "arguments": {"folder": "x"}}\n</tool_call>',
    ],
)
def test_json_calls(content: str) -> None:
    parsed = read(content)
    assert (pairs(parsed), parsed.leaked, parsed.dialect) == (CD, True, "json")


@pytest.mark.parametrize("between", ["\n", "; ", ", ", " ", "\n\nThen:\n"])
def test_json_calls_in_a_row(between: str) -> None:
    content = '{"name": "cd", "arguments": {"folder": "x"}}' + between + '{"name": "ls", "arguments": {}}'
    assert pairs(read(content)) == CD_LS


@pytest.mark.parametrize(
    ("content", "calls"),
    [
        ('<tool_call>\n{"name": "cd", "arguments": {"folder": "x"}}\n</tool_call>\n'
         '<tool_call>\n{"name": "ls", "arguments": {}}\n</tool_call>', CD_LS),
        ('<tool_call>{"name": "cd", "arguments": {"folder": "x"}}\n{"name": "ls"}</tool_call>', CD_LS),
        ('<tool_call>[{"name": "cd", "arguments": {"folder": "x"}}, {"name": "ls", "arguments": {}}]', CD_LS),
        ('I look.\n<tool_call>{"name": "cd", "arguments": {"folder": "x"}}', CD),
        ("<tool_call>```json\n{\"name\": \"cd\", \"arguments\": {\"folder\": \"x\"}}\n```</tool_call>", CD),
        ("<tool_call>{'name': 'cd', 'arguments': {'folder': 'x'}}</tool_call>", CD),
        ("<tool_call>\ncd(folder='x')\nls()\n</tool_call>", CD_LS),
        ('<tool_call>{"name": "cd", "arguments": {"folder": "</tool_call>"}}</tool_call>',
         [("cd", {"folder": "</tool_call>"})]),
        ('<function=cd>{"folder": "x"}</function>', CD),
        ("<tool_call>\n<function=cd>\n<parameter=folder>\nx\n</parameter>\n</function>\n</tool_call>", CD),
        ("<function=ls>\n</function>", [("ls", {})]),
        ('<function_calls><invoke name="cd"><parameter name="folder">x</parameter></invoke></function_calls>', CD),
        ("<function=mv><parameter=n>3</parameter><parameter=s>a\nb</parameter></function>",
         [("mv", {"n": 3, "s": "a\nb"})]),
        ("<tool_call>cd\n<arg_key>folder</arg_key>\n<arg_value>x</arg_value>\n</tool_call>", CD),
        ('<tool_call>\n<function>cd</function>\n{"folder": "x"}\n</tool_call>', CD),
        ('<|python_tag|>{"name": "cd", "parameters": {"folder": "x"}}; {"name": "ls", "parameters": {}}<|eom_id|>',
         CD_LS),
        ("<|python_start|>[cd(folder='x'), ls()]<|python_end|>", CD_LS),
        ('[TOOL_CALLS] [{"name": "cd", "arguments": {"folder": "x"}, "id": "a"}]', CD),
        ('[TOOL_CALLS]cd[ARGS]{"folder": "x"}[TOOL_CALLS]ls{}', CD_LS),
        ("<TOOLCALL>[cd(folder='x'), ls()]</TOOLCALL>", CD_LS),
        ('<|tool_call|>[{"name": "cd", "arguments": {"folder": "x"}}]<|/tool_call|>', CD),
        ("<|tool_call_start|>[cd(folder='x')]<|tool_call_end|>", CD),
        ('functools[{"name": "cd", "arguments": {"folder": "x"}}]', CD),
        ('<|channel|>commentary to=functions.cd <|constrain|>json<|message|>{"folder": "x"}<|call|>', CD),
        ('<|tool_calls_section_begin|><|tool_call_begin|>functions.cd:0<|tool_call_argument_begin|>{"folder": "x"}'
         "<|tool_call_end|><|tool_calls_section_end|>", CD),
        ('<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>cd\n```json\n{"folder": "x"}\n```'
         "<｜tool▁call▁end｜>", CD),
    ],
)  # fmt: skip
def test_tagged_calls(content: str, calls: list[Any]) -> None:
    parsed = read(content, tools=())
    assert (pairs(parsed), parsed.leaked, parsed.status) == (calls, True, "ok")
    assert "tool" not in parsed.prose


@pytest.mark.parametrize(
    "content",
    [
        '<tool_call>{"name": "cd", "arguments": {"folder"',
        '<tool_call>{"name": "cd", "arguments": {}}}</tool_call>',
        '<tool_call>{"arguments": {"folder": "x"}}</tool_call>',
        '<tool_call>{"name": "cd", "folder": "x"}</tool_call>',
        '<tool_call>{"name": "cd", "arguments": [1]}</tool_call>',
        '<tool_call>{"name": "ls", "arguments": {}}</tool_call><tool_call>{"name": </tool_call>',
        "<tool_call></tool_call>",
        "<tool_call>I would call ls</tool_call>",
        "<function=cd>folder is x</function>",
        "<function=cd><parameter=folder>x",
        "<|python_tag|>import os\nos.listdir()",
        '[TOOL_CALLS][{"name": "cd", "arguments": ',
        "<TOOLCALL>[cd('x')]</TOOLCALL>",
        "[cd('x')]",
        "[cd(folder='x'), 3]",
        "[cd(folder='x', folder='y')]",
        "[cd(**{'folder': 'x'})]",
        "[cd(folder=ls())]",
        "[cd(folder=f'{ls()}')]",
        "[cd(folder={1, 2})]",
        "[cd(folder=b'x')]",
        "[cd(folder=1e999)]",
        "[cd(folder='x'",
        "mv(source, dest)",
        '{"name": "cd", "arguments": {"folder": "x"',
        '{"name": "cd", "arguments": {"folder": NaN}}',
        '[{"name": "ls", "arguments": {}}, {"name": "cd", "arguments": [1]}]',
        '[{"name": "ls", "arguments": {}}, "cd"]',
        '{"cd": {"folder": "x"',
    ],
)
def test_a_broken_call_in_the_text(content: str) -> None:
    parsed = read(content)
    assert (parsed.status, parsed.calls, parsed.leaked) == ("malformed_call", (), False)
    assert parsed.error


@pytest.mark.parametrize(
    "content",
    [
        "To rename, use mv(source, dest) or `ls()`.",
        "See [see](x), [note (1)] and [ls].",
        "[see](x)",
        "[ref(1)] says so",
        "ls (the list command) shows files.",
        "mv(source, dest) moves a file.",
        "Usage:\n```\nmv(source, dest)\n```",
        '```json\n{"name": "my-app", "version": "1.0.0"}\n```',
        '```json\n[{"name": "alice", "age": 30}]\n```',
        '{"name": "run-7", "parameters": {"rate": 0.1}, "seed": 3}',
        '{"symbol": "X", "price": 3.5}',
        '{"teleport": {"to": "moon"}}',
        '{"name": "sort", "description": "sorts", "parameters": {"file": {"type": "string"}}}',
        '{"name": "sort", "parameters": {"type": "object", "properties": {}}}',
        'It would be written {"name": "ls", "arguments": {}} in JSON.',
        '{"broken": [1, 2',
        "[]",
        "<TOOLCALL>[]</TOOLCALL>",
        "a <b> c </s> <|im_end|>",
        "[1, 2, 3]",
        "Totals: {sum(x)}",
    ],
)
def test_prose_is_no_call(content: str) -> None:
    parsed = read(content)
    assert (parsed.status, parsed.calls, parsed.leaked, parsed.prose) == ("ok", (), False, content)


def test_unmarked_calls_need_a_known_tool() -> None:
    for content in ("ls()", '{"ls": {}}', '{"name": "ls"}'):
        assert pairs(read(content)) == [("ls", {})]
        assert read(content, tools=("cd",)).calls == ()


def test_prose_is_the_text_around_leaked_calls() -> None:
    parsed = read('May I?\n<tool_call>{"name": "cd", "arguments": {"folder": "x?"}}</tool_call>\nBye.')
    assert parsed.prose.split() == ["May", "I?", "Bye."]
    assert "x?" in parsed.text


# Hostile input

CODE = "__import__('os').system('touch owned')"


@pytest.mark.parametrize(
    "content",
    [f"[cd(folder={CODE})]", f"[cd(folder=[{CODE}])]", f"[{CODE}]", f"<tool_call>{CODE}</tool_call>", CODE,
     f"{{'name': 'cd', 'arguments': {{'folder': {CODE}}}}}", "[cd(folder=open('x').read())]"],
)  # fmt: skip
def test_code_is_never_run(content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("builtins.eval", lambda *_: pytest.fail("eval"))
    assert read(content).calls == ()
    assert list(tmp_path.iterdir()) == []


SIZE = 1_000_000
PATTERNS = [
    "This is a sentence about files, and it's fine. ", "a", " ", "\n", "[", "{", "[{", '{"', '{"\n', "[{\n", "[f(\n",
    "[ls(\n", "[cd('x')]\n", "[zz(1)]\n", "{'a': 1}\n", "{'a'\n", "```\n", "```a\nls(", "<think>", "</think>",
    "<tool_call>", "</tool_call>", "<function=", "<|python_tag|>", "[TOOL_CALLS]", "functools[{", "to=a ", "'\\", '"\\',
    "\\\"", "(", "\0", "\ud800", '{"name":"zz","arguments":{"a":\n', "1,", '} {"', "[see](http://x.y/?a=b)\n", "<", "-",
]  # fmt: skip
OPENINGS = [
    "[f(a=",
    '{"name": "ls", "arguments": {"a": "',
    "<tool_call>",
    "<function=f><parameter=a>",
    '{"a": 1}',
    "ls(",
]


@pytest.mark.parametrize(("opening", "size"), [("", SIZE), *((opening, SIZE // 10) for opening in OPENINGS)])
def test_hostile_texts_take_linear_time(opening: str, size: int) -> None:
    seconds = {}

    def work(content: str) -> None:
        assert read(content).calls == ()

    for pattern in PATTERNS:
        content = opening + pattern * (size // len(pattern))
        seconds[pattern] = best_of(partial(cpu, partial(work, content)), 0.4, repeats=2)
    # Quadratic would be a minute and more.
    assert max(seconds.values()) < 3.0, seconds
    assert sorted(seconds.values())[len(seconds) // 2] < 0.4, seconds


def test_many_real_calls_take_linear_time() -> None:
    def work() -> None:
        assert len(read('{"name":"ls","arguments":{}}\n' * 10_000).calls) == 10_000
        assert read("[" + "ls(), " * 200_000 + "]").status == "malformed_call"  # over the limit for Python source

    assert best_of(lambda: cpu(work), 3.0) < 3.0


@pytest.mark.parametrize(
    "value",
    ["-" * 40_000 + "1", "not " * 9_000 + "1", "1+" * 20_000 + "1", "a" + ".b" * 20_000, "f" + "()" * 20_000,
     "(" * 20_000 + ")" * 20_000, "9" * 9_000, "lambda:" * 5_000 + "1", "{[]: 1}",
     "'\\N{nothing}'", "'\0'", "'\ud800'"],
    ids=lambda value: value[:8],
)  # fmt: skip
def test_python_that_breaks_parsers(value: str) -> None:
    assert read(f"[cd(folder={value})]").status == "malformed_call"


@pytest.mark.filterwarnings("error")
def test_odd_escapes_do_not_warn() -> None:
    assert pairs(read(r"[cd(folder='C:\docs\[x]')]")) == [("cd", {"folder": r"C:\docs\[x]"})]


def test_deep_in_the_stack() -> None:
    def down(levels: int) -> str:
        return down(levels - 1) if levels else native('{"a": ' + "[" * 60 + "]" * 60 + "}").status

    assert down(sys.getrecursionlimit() // 2) == "ok"
