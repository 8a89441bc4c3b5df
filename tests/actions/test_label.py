"""Action classes: the shared cases, the paper_like rules, the cue file and the table of labels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.timing import best_of, cpu
from toolcal import tables
from toolcal.actions import label as module
from toolcal.actions.label import LABELLERS, CueError, Label, label, label_trajectories, load_cues

CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data/emissions.jsonl").read_text(encoding="utf-8").splitlines()
]


def of_text(text: Any, tools: tuple[str, ...] = ("ls", "cd")) -> Label:
    return label({"content": text}, "stop", "ok", tools, "paper_like")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_shared_cases(case: dict[str, Any]) -> None:
    expect = case["expect"]
    found = label(case["message"], case["finish_reason"], "ok", case["tools"], "paper_like")
    assert (found.status, found.action, found.leaked) == (expect["status"], expect["action"], expect["leaked"])
    assert list(found.flags) == expect.get("flags", [expect["action"]] if expect["action"] else [])


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        # The scripted policies' own sentences.
        ("The requested change needs a value that was not given; please provide it.", ["ASK"]),
        ("None of the available tools can do this.", ["REFUSE"]),
        ("The request is done.", ["CONFIRM"]),
        ("Working on it.", ["OTHER"]),
        ("I have not been able to do it.", ["REFUSE"]),
        ("That cannot be done.", ["REFUSE"]),
        ("It isn\u2019t possible to do so.", ["REFUSE"]),
        ("I don\u02bct\u00a0have a tool for this.", ["REFUSE"]),
        ("There is no such function.", ["REFUSE"]),
        ("CANNOT DO.", ["REFUSE"]),
        ("The file has been moved. Let me know if you need anything else.", ["CONFIRM"]),
        ("Let me know\nwhich file you mean.", ["ASK"]),
        ("I've booked the flight.", ["CONFIRM"]),
        ("The tank was filled, and the doors are now locked.", ["CONFIRM"]),
        ("どのファイルですか？", ["ASK"]),
        ("أي ملف؟", ["ASK"]),
        ("It is done. Anything else?", ["ASK", "CONFIRM"]),
        ("The page is http://x.y/z?a=b", ["ASK"]),  # the published rule: any question mark
        ("Unable to move it, as it has been deleted. Which one else?", ["REFUSE", "ASK", "CONFIRM"]),
        ("He abandoned the candidate, and the steak is overdone.", ["OTHER"]),  # words, not parts of words
        ("The price is 12.", ["OTHER"]),
    ],
)
def test_paper_like_rules(text: str, flags: list[str]) -> None:
    found = of_text(text)
    assert (list(found.flags), found.action) == (flags, flags[0])
    assert (found.cue is None) is (flags == ["OTHER"])


def test_the_cue_says_what_decided() -> None:
    call = {"tool_calls": [{"function": {"name": "ls", "arguments": "{}"}}]}
    assert label(call, "stop", "ok", (), "paper_like").cue == "tool call"
    assert of_text("[ls()]").cue == "leaked: python list"
    assert of_text("Sorry, I  CAN\u2019T.").cue == "can't"
    assert of_text("Which?").cue == "?"


def test_text_beside_a_call_keeps_its_flags() -> None:
    call = [{"function": {"name": "ls", "arguments": '{"a": "really?"}'}}]
    found = label({"content": "Shall I look?", "tool_calls": call}, "stop", "ok", (), "paper_like")
    assert (found.action, found.flags) == ("TOOL_CALL", ("TOOL_CALL", "ASK"))


def test_words_inside_a_leaked_call_are_no_cues() -> None:
    assert of_text('[cd(folder="done? cannot")]').flags == ("TOOL_CALL",)
    assert of_text('It is done.\n[cd(folder="x?")]').flags == ("TOOL_CALL", "CONFIRM")


@pytest.mark.parametrize("status", ["context_exceeded", "infra_error"])
def test_what_is_no_answer_has_no_class(status: str) -> None:
    assert label({"content": "Which?"}, "stop", status, (), "paper_like") == Label(status, None, (), False, None)


def test_other_statuses_are_read_anew() -> None:
    assert label({"content": "Which?"}, "length", "ok", (), "paper_like").status == "truncated"
    assert label({"content": "Which?"}, "stop", "malformed_call", (), "paper_like").action == "ASK"


def test_an_unknown_labeller() -> None:
    with pytest.raises(KeyError, match="nobody"):
        label({"content": "x"}, "stop", "ok", (), "nobody")


# The cue file

GOOD = "version: 2\nlabellers:\n  mine:\n    refuse: [never]\n    ask: ['\\?']\n    confirm: [over]\n"


def test_labellers_are_those_of_the_file(tmp_path: Path) -> None:
    assert LABELLERS == ("paper_like", "refined")
    (tmp_path / "cues.yaml").write_text(GOOD)
    cues = load_cues(tmp_path / "cues.yaml")
    assert (cues.version, list(cues.labellers), list(cues.labellers["mine"])) == (
        2,
        ["mine"],
        ["REFUSE", "ASK", "CONFIRM"],
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[never]", "['ne(ver']", r"cues.yaml: labellers.mine.refuse\[0\]: broken regular expression 'ne\(ver'"),
        ("[over]", "[ok, no]", r"cues.yaml: labellers.mine.confirm\[1\]: False is not text"),
        ("[over]", "[12]", r"labellers.mine.confirm\[0\]: 12 is not text"),
        ("[over]", "['a*']", r"labellers.mine.confirm\[0\]: 'a\*' matches every text"),
        ("[over]", "['']", r"labellers.mine.confirm\[0\]: '' matches every text"),
        ("[over]", "[Over]", r"labellers.mine.confirm\[0\]: 'Over' has capitals"),
        ("[over]", "['(a)\\1']", r"labellers.mine.confirm\[0\]: .* back reference"),
        ("[over]", "['(?i)over']", r"labellers.mine.confirm\[0\]: broken regular expression"),
        ("[over]", "['a)(b']", r"labellers.mine.confirm\[0\]: broken regular expression"),
        ("[over]", "over", r"labellers.mine.confirm: needs a list"),
        ("[over]", "[]", r"labellers.mine.confirm: needs a list"),
        ("confirm", "comfirm", r"labellers.mine: unknown class comfirm, known are refuse, ask, confirm"),
        ("    confirm: [over]\n", "", r"labellers.mine: class confirm is missing"),
        ("version: 2\n", "", r"cues.yaml: needs the keys version and labellers"),
        ("version: 2", "version: two", r"cues.yaml: version: 'two' is not a whole number"),
        ("[never]", "[never", r"cues.yaml: not YAML"),
    ],
)
def test_mistakes_in_the_file_are_named_in_one_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    (tmp_path / "cues.yaml").write_text(GOOD.replace(old, new))
    with pytest.raises(CueError, match=message) as caught:
        load_cues(tmp_path / "cues.yaml")
    assert "\n" not in str(caught.value)


# The table

KEY = {"model": "m", "scenario": "bfcl-base", "perturbation": "baseline", "case_id": "c", "trial": 0, "attempt": 0}
NAMES = {("bfcl-base", "baseline", "c"): [(0, "cd"), (1, "ls")]}


def rows(*changes: dict[str, Any]) -> pd.DataFrame:
    blank = {"content": None, "tool_calls": "[]", "finish_reason": "stop", "status": "ok", "origin": "model"}
    return pd.DataFrame([KEY | blank | {"turn": 0, "step": step} | change for step, change in enumerate(changes)])


def test_rows_of_the_table() -> None:
    call = json.dumps([{"id": "1", "type": "function", "function": {"name": "cd", "arguments": "{}"}}])
    found = label_trajectories(
        rows(
            {"tool_calls": call},
            {"content": "Which?"},
            {"content": "What a probe says?", "origin": "probe"},
            {"status": "infra_error", "finish_reason": None},
            {"content": "cut", "finish_reason": "length", "status": "truncated"},
            {"content": "[ls()]"},
        ),
        NAMES,
        ["paper_like"],
    )
    tables.check("actions", found)
    assert found["step"].tolist() == [0, 1, 3, 4, 5]
    assert found["action"].fillna("-").tolist() == ["TOOL_CALL", "ASK", "-", "-", "TOOL_CALL"]
    assert found["status"].tolist() == ["ok", "ok", "infra_error", "truncated", "ok"]
    assert found["flags"].tolist() == ['["TOOL_CALL"]', '["ASK"]', "[]", "[]", '["TOOL_CALL"]']
    assert found["leaked"].tolist() == [False, False, False, False, True]


def test_sub_labels_of_each_labeller() -> None:
    texts = rows({"content": "Which file is it?"}, {"content": "Shall I delete it?"}, {"content": "It is 3 MB large."})
    found = label_trajectories(texts, NAMES, ["paper_like", "refined"])
    tables.check("actions", found)
    assert found["sub"].tolist() == ["[]", '["information"]', "[]", '["consent"]', "[]", "[]"]
    assert found["labeller"].tolist() == ["paper_like", "refined"] * 3


def test_what_was_asked_and_called_is_known_to_refined() -> None:
    looked = {"tool_results": json.dumps([{"name": "ls", "error": None}])}
    offer = {"content": "There are two files. Would you like me to move them?"}
    trajectory = rows(looked, {**offer, "step": 1}, {**offer, "step": 2, "origin": "probe"}, {**offer, "step": 3})
    trajectory = trajectory.assign(retracted=False, tool_results=trajectory["tool_results"].fillna("[]"))

    def actions(request: str) -> list[str]:
        found = label_trajectories(trajectory, NAMES, ["refined"], lambda run: {0: request})
        tables.check("actions", found)
        return found["action"].fillna("-").tolist()

    assert actions("List the files.") == ["-", "OTHER", "OTHER"]
    assert actions("List the files and move them.") == ["-", "ASK", "ASK"]


def test_rows_survive_the_file(tmp_path: Path) -> None:
    found = label_trajectories(rows({"content": "It\u2019s done \U0001f600"}, {}), NAMES, ["paper_like"])
    tables.write("actions", found, tmp_path / "actions.parquet")
    assert tables.read("actions", tmp_path / "actions.parquet")["status"].tolist() == ["ok", "empty"]


def test_a_tool_is_known_from_its_turn_on() -> None:
    trajectory = rows({"content": "ls()"}, {"content": "ls()", "turn": 1})
    for names in (NAMES, lambda case: NAMES[case]):
        found = label_trajectories(trajectory, names, ["paper_like"])
        assert found["action"].tolist() == ["OTHER", "TOOL_CALL"]


def test_a_case_without_tool_names_is_an_error() -> None:
    with pytest.raises(KeyError, match="bfcl-base"):
        label_trajectories(rows({"content": "ls()"}), {}, ["paper_like"])


def test_every_labeller_has_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cues.yaml").write_text(GOOD.replace("mine", "other") + GOOD.split("labellers:\n")[1])
    monkeypatch.setattr(module, "CUES", load_cues(tmp_path / "cues.yaml"))
    found = label_trajectories(rows({"content": "Never again."}), NAMES, ["other", "mine"])
    tables.check("actions", found)
    assert found["labeller"].tolist() == ["other", "mine"]
    assert found["cue"].tolist() == ["never", "never"]


def test_no_rows() -> None:
    found = label_trajectories(tables.frame("trajectories", []), NAMES, ["paper_like"])
    assert list(found.columns) == list(tables.TABLES["actions"].columns)
    assert found.empty


def test_twenty_thousand_emissions() -> None:
    call = json.dumps([{"id": "c", "function": {"name": "cd", "arguments": '{"folder": "documents"}'}}])
    result = json.dumps([{"name": "cd", "error": None}])
    text = "I have looked at the files in the directory, and the largest one is report.txt with 1,204 bytes. Which now?"
    two = rows({"tool_calls": call}, {"content": text}).assign(tool_results=[result, "[]"], retracted=False)
    trajectory = pd.concat([two] * 10_000).assign(trial=[trial for trial in range(10_000) for _ in range(2)])
    for labeller, requests_of in (("paper_like", None), ("refined", lambda run: {0: f"Look, it is number {run[-1]}."})):
        found = []

        def work(labeller=labeller, requests_of=requests_of, found=found) -> None:
            found.append(label_trajectories(trajectory, NAMES, [labeller], requests_of))

        assert best_of(lambda work=work: cpu(work), 6.0) < 6.0  # about 1 s, on a free machine
        assert found[0]["action"].value_counts().to_dict() == {"TOOL_CALL": 10_000, "ASK": 10_000}
