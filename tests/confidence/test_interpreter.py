"""The tool `python` on honest snippets."""

from __future__ import annotations

import json

import pytest

from toolcal.confidence import interpreter
from toolcal.confidence.interpreter import Interpreter, SandboxError
from toolcal.confidence.sandbox.protection import protection
from toolcal.confidence.sandbox.run import Limits, layers
from toolcal.confidence.tools import ToolError
from toolcal.models import json_mode

TABLE = b"firm,year,revenue\nAlder,2001,10\nAlder,2002,12\nBirch,2001,7\n"

pytestmark = pytest.mark.skipif(len(layers()) < 2, reason="this kernel lacks Landlock or seccomp")


@pytest.fixture(scope="module")
def tool():
    return Interpreter({"table.csv": TABLE}, about="columns firm, year, revenue")


@pytest.mark.parametrize(
    ("code", "result"),
    [
        ("1 + 1", "2\n"),
        ("x = 3\nprint(x)\nx * 2", "3\n6\n"),
        ("None", "(the code printed nothing)"),
        ("x = 1", "(the code printed nothing)"),
        ("print('é', '\\ud800')", "é ?\n"),
        ("print(open('table.csv').readline())", "firm,year,revenue\n\n"),
        ("import os\nos.listdir()", "['table.csv']\n"),
        ("open('n', 'w').write('a')\nopen('n').read()", "'a'\n"),
        ("def f():\n    return g()\ndef g():\n    return 5\nf()", "5\n"),
        ("import statistics, decimal, json, datetime, math\nmath.comb(5, 2)", "10\n"),
        (
            "import threading\nt = threading.Thread(target=print, args=('in a thread',))\nt.start()\nt.join()",
            "in a thread\n",
        ),
        ("import sys\nsys.argv, __name__", "(['<snippet>'], '__main__')\n"),
        ("print(1)\nexit()\nprint(2)", "1\n"),
        ("import toolcal", None),
    ],
)
def test_honest_snippets(tool, code, result):
    if result is None:
        with pytest.raises(ToolError, match="toolcal"):
            tool.run({"code": code})
    else:
        assert tool.run({"code": code}) == result


def test_pandas_reads_the_table_it_is_given(tool):
    code = (
        "import pandas as pd\nt = pd.read_csv('table.csv')\nt[t.firm.str.startswith('A')].groupby('firm').revenue.sum()"
    )
    assert tool.run({"code": code}).splitlines()[:2] == ["firm", "Alder    22"]


def test_a_snippet_leaves_nothing_for_the_next_one(tool):
    assert tool.run({"code": "import os\nos.remove('table.csv')\nopen('left', 'w')\nos.listdir()"}) == "['left']\n"
    assert tool.run({"code": "import os\nos.listdir()"}) == "['table.csv']\n"


@pytest.mark.parametrize(
    ("code", "lines"),
    [
        ("print('before')\n1/0", ["before", 'File "<snippet>", line 2', "ZeroDivisionError: division by zero"]),
        ("def (", ["SyntaxError"]),
        ("\0", ["null bytes"]),
        ("raise SystemExit('no')", ["SystemExit: no"]),
        ("input()", ["EOFError"]),
        ("import nothing_like_it", ["ModuleNotFoundError: No module named 'nothing_like_it'"]),
        ("class E(Exception):\n    def __str__(self):\n        raise self\nraise E", ["E"]),
    ],
)
def test_what_a_snippet_raises_is_told_without_our_own_frames(tool, code, lines):
    with pytest.raises(ToolError) as caught:
        tool.run({"code": code})
    assert (caught.value.fault, caught.value.retryable) == ("snippet", False)
    for line in lines:
        assert line in str(caught.value)
    assert "child.py" not in str(caught.value)


@pytest.mark.parametrize("arguments", [{}, {"code": None}, {"code": ""}, {"code": " \n"}, {"code": 5}, {"code": ["a"]}])
def test_wrong_arguments(tool, arguments):
    with pytest.raises(ToolError, match="`code` is") as caught:
        tool.run(arguments)
    assert caught.value.fault == "arguments"


def test_the_schema_names_the_files_also_in_json_mode(tool):
    assert json.loads(json.dumps(tool.schema)) == tool.schema
    assert tool.schema["function"]["name"] == tool.name == "python"
    said = json_mode._signature("python", tool.schema)
    assert said == (
        "python(code: str): Runs Python code in a folder with table.csv (columns firm, year, revenue) "
        "and returns what it prints"
    )


def test_output_is_kept_up_to_its_limit():
    tool = Interpreter(limits=Limits(output_bytes=100))
    assert tool.run({"code": "print('x' * 99)"}) == "x" * 99 + "\n"
    with pytest.raises(ToolError, match="100 bytes") as caught:
        tool.run({"code": "print('first')\nprint('é' * 99)"})
    assert caught.value.fault == "limit"
    assert str(caught.value).startswith("first\né")


def test_every_guard_holds_here():
    assert all(guard.holds for guard in protection())
    assert {guard.by for guard in protection()} == {"Landlock", "seccomp", "limits"}


@pytest.mark.parametrize(
    ("offered", "named", "not_named"),
    [
        ({"seccomp"}, ["read_outside", "write_outside"], ["network"]),
        ({"landlock"}, ["network"], ["read_outside"]),
        (set(), ["network"], ["memory"]),
    ],
)
def test_a_kernel_without_one_of_the_means_is_told_and_refused(monkeypatch, tool, offered, named, not_named):
    monkeypatch.setattr("toolcal.confidence.sandbox.protection.layers", lambda: frozenset(offered))
    monkeypatch.setattr(interpreter, "layers", lambda: frozenset(offered))
    protection.cache_clear()
    try:
        guards = {guard.name: guard for guard in protection()}
        assert [guards[name].holds for name in named] == [False] * len(named)
        assert [guards[name].holds for name in not_named] == [True] * len(not_named)
        with pytest.raises(SandboxError) as caught:
            Interpreter()
        for name in named:
            assert guards[name].keeps_off in str(caught.value)
        weak = Interpreter(accept_weak=True, limits=Limits(seconds=2))
        assert weak.run({"code": "1 + 1"}) == "2\n"
        with pytest.raises(ToolError, match="768 MB"):
            weak.run({"code": "x = [0] * 10**9"})
    finally:
        protection.cache_clear()


def test_a_means_that_fails_ends_the_snippet_before_its_start(monkeypatch, tool):
    monkeypatch.setattr(interpreter, "layers", lambda: frozenset({"seccomp", "landlock"}))
    monkeypatch.setattr("toolcal.confidence.sandbox.run._TOOLCAL", "/nowhere")
    with pytest.raises(ToolError, match="could not be set up") as caught:
        tool.run({"code": "1 + 1"})
    assert (caught.value.fault, caught.value.retryable) == ("sandbox", True)
