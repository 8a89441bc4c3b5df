from __future__ import annotations

import json
import re

import pandas as pd
import pytest

from tests.conftest import ROOT
from tests.diagnosis.panel import typed
from tests.explorer.made import FUNC, HOSTILE, SRI
from tests.explorer.simulated import model_files
from toolcal.explorer import data_file, model, site
from toolcal.explorer.listing import chosen


@pytest.fixture(scope="module")
def rows(explorer):
    """The list of alpha's runs, as dicts."""
    table = data_file.read(explorer / "data/conversations/alpha/cases.js")
    columns = {
        name: values
        if isinstance(values, list)
        else [None if at is None else values["words"][at] for at in values["at"]]
        for name, values in table["columns"].items()
    }
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def conversation(explorer, rows, **where):
    (row,) = [row for row in rows if all(row[key] == value for key, value in where.items())]
    file = f"{row['scenario']}.{row['perturbation']}.{row['part']}.js"
    (found,) = [
        one
        for one in data_file.read(explorer / "data/conversations/alpha" / file)["conversations"]
        if one["case_id"] == row["case_id"]
    ]
    return found


@pytest.mark.parametrize("value", [{"a": HOSTILE, "b": ["\ud800", None, 1.5, True]}, []])
def test_data_comes_back_and_equal_values_are_equal_bytes(tmp_path, value):
    for name in ("one", "two"):
        data_file.write(tmp_path, f"deep/{name}", value)
    assert data_file.read(tmp_path / "deep/one.js") == value
    text = (tmp_path / "deep/one.js").read_bytes()
    assert text == (tmp_path / "deep/two.js").read_bytes()
    assert re.fullmatch(rb'explorer\.take\("[A-Za-z0-9+/=]+"\);\n', text)


def test_a_table_is_kept_by_column_with_null_as_null():
    turns = typed("turns", [{"model": "m", "turn": 0, "recall": None}, {"model": None, "turn": 1, "recall": 0.5}])
    found = data_file.by_column(turns[["model", "turn", "recall"]])
    assert found == {
        "rows": 2,
        "columns": {"model": {"words": ["m"], "at": [0, None]}, "turn": [0, 1], "recall": [None, 0.5]},
    }


def test_the_list_has_every_planned_run_with_what_it_is_chosen_by(rows):
    assert [row["case_id"] for row in rows if row["scenario"] == FUNC and row["perturbation"] == "baseline"] == [
        f"case_{i}" for i in range(1, 12)
    ]
    by_case = {(row["perturbation"], row["case_id"]): row for row in rows if row["scenario"] == FUNC}
    one = by_case["baseline", "case_1"]
    assert (one["refined.class"], one["paper_like.class"], one["differs"]) == ("TOOL_CALL", "ASK", 3)
    assert (one["confidence"], one["triggered"], one["emissions"]) == (0.9, None, 7)
    assert by_case[SRI, "case_1"]["triggered"] == 1
    lost = by_case["baseline", "case_11"]
    assert (lost["status"], lost["passed"], lost["part"], lost["emissions"]) == ("missing", None, None, None)


def test_a_conversation_has_all_that_is_known_of_it(explorer, rows):
    told = conversation(explorer, rows, scenario=FUNC, perturbation=SRI, case_id="case_2")
    assert told["case"]["decisive_turn"] == 1
    assert [[item["role"] for item in turn["items"]] for turn in told["turns"]] == [
        ["user", "assistant", "assistant"],
        ["user", "assistant"],
        ["user", "assistant", "assistant", "assistant"],
    ]
    refusal = told["turns"][1]["items"][1]
    assert refusal["labels"]["refined"] == {"action": "REFUSE"}
    assert refusal["events"][0]["triggered"] is True
    assert told["turns"][2]["items"][1]["retracted"] is True
    assert json.loads(told["turns"][0]["items"][1]["calls"][0]["arguments"]) == {"path": "dir 0"}
    assert {one["labeller"] for one in told["outcomes"]} == {"refined", "paper_like"}


@pytest.mark.parametrize(
    ("kept", "cases"),
    [
        ("all", {"a", "b", "c", "d"}),
        ("disagreements", {"b", "c", "d"}),
        ("sample", {"d", "a"}),
    ],
)
def test_whose_conversations_are_kept(kept, cases):
    """`b` is slack under the perturbation, `c` has two labels, `d` passes one of two verdicts; `a` is none of these."""
    base = {"scenario": "s", "emissions": 3, "regrade_differs": None, "passed": True}
    places = {"a": 1, "b": 5, "c": 3, "d": 0}
    found = [
        base
        | {"case_id": case, "perturbation": name, "draw": draw, "differs": int(case == "c" and name == "x")}
        | {"passed_strict": case != "d"}
        | {"refined.case_any": "slack" if (case, name) == ("b", "x") else "calibrated"}
        for case, draw in places.items()
        for name in ("baseline", "x")
    ]
    rows = pd.DataFrame(found).astype({"passed": "boolean", "passed_strict": "boolean", "regrade_differs": "boolean"})
    there = rows[chosen(rows, kept, 2)]
    assert set(there["case_id"]) == cases
    assert len(there) == 2 * len(cases)


def test_a_simulated_model_is_written_in_parts_that_the_list_names(tmp_path, monkeypatch):
    monkeypatch.setattr(model, "FILE_SIZE", 100_000)
    files = model_files(tmp_path, cases=5, perturbations=2)
    assert model.write(tmp_path / "out", files, "all", 0) == 5 * 6 * 2
    first = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    listed = data_file.read(tmp_path / "out/cases.js")
    parts = {path.name for path in (tmp_path / "out").glob("bfcl-long_context.baseline.*.js")}
    assert len(parts) > 1  # its tool results are long
    assert {*listed["columns"]["part"]} >= {0, len(parts) - 1}
    model.write(tmp_path / "out", files, "all", 0)
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == first
    assert not list(tmp_path.glob(".*"))


def test_the_libraries_are_what_their_packages_have(tmp_path):
    import hashlib

    vendor = ROOT / "toolcal/explorer/vendor"
    listed = dict(re.findall(r"^\S+==[\d.]+  (\S+)  \S+  sha256:(\w+)$", (vendor / "VENDORED.txt").read_text(), re.M))
    assert listed == {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in vendor.iterdir() if path.suffix != ".txt"
    }
    page = ROOT / "toolcal/explorer/page"
    asked = re.findall(r'(?:src|href)="page/([^"]+)"', (page / "index.html").read_text())
    assert {*asked} == {path.name for path in [*page.iterdir(), *vendor.iterdir()]} - {"index.html", "VENDORED.txt"}
    for script in page.glob("*.js"):
        assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(", script.read_text()), script


def test_conversations_of_models_that_are_gone_go(tmp_path):
    for name in ("alpha", "gone"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "cases.js").touch()
    site.drop_others(tmp_path, ["alpha"])
    assert [path.name for path in tmp_path.iterdir()] == ["alpha"]
