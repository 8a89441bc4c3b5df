from __future__ import annotations

import runpy
from types import SimpleNamespace

import pandas as pd
import pytest

from tests.conftest import ROOT
from toolcal import perturbations, tables
from toolcal.benchmarks import case_table

MAIN = runpy.run_path(str(ROOT / "scripts/contexts.py"))["main"]
DIAGNOSIS = runpy.run_path(str(ROOT / "scripts/diagnosis.py"))


@pytest.fixture
def contexts_of(bfcl_cases, tmp_path):
    """Runs the stage on two cases for a perturbation, and gives the table's path."""
    found = bfcl_cases["miss_func"][:2]
    tables.write("cases", case_table.to_frame(found, 0), tmp_path / "cases.parquet")

    def run(spec):
        smk = SimpleNamespace(
            input=SimpleNamespace(cases=tmp_path / "cases.parquet"),
            output=SimpleNamespace(contexts=tmp_path / "contexts.parquet"),
            params=SimpleNamespace(perturbation=spec, seed=spec and 7, code="abc"),
            wildcards=SimpleNamespace(scenario="bfcl-miss_func", perturbation=spec["name"] if spec else "baseline"),
            log=[str(tmp_path / "log")],
        )
        MAIN(smk)
        return tmp_path / "contexts.parquet"

    return run


def edit(name, **parameters):
    return {"name": "p", "kind": "static", "edit": name, "parameters": parameters}


def test_the_baseline_is_what_the_benchmark_gives(contexts_of, bfcl_cases):
    path = contexts_of(None)
    found = perturbations.from_frame(tables.read("contexts", path))
    assert list(found.values()) == [perturbations.baseline(case) for case in bfcl_cases["miss_func"][:2]]
    assert tables.metadata(path)["perturbation"] is None


def test_the_table_says_how_it_was_made(contexts_of):
    spec = edit("tool_rename", style="neutral")
    path = contexts_of(spec)
    assert set(tables.read("contexts", path)["perturbation"]) == {"p"}
    about = tables.metadata(path)
    assert about["perturbation"] == {**spec, "version": "1"}
    assert about["seed"] == 7


def test_what_is_left_out_is_told_and_is_no_part_of_the_plan(contexts_of, capsys):
    path = contexts_of(edit("distractor_tools", n=120))
    assert capsys.readouterr().err.startswith(
        "toolcal: 2 of 2 cases of bfcl-miss_func are left out under p, the first is multi_turn_miss_func_0: only "
    )
    left_out = DIAGNOSIS["left_out_of"](path)
    cases = tables.read("cases", path.with_name("cases.parquet"))
    assert left_out == set(cases["case_id"])
    cell, selection = ("m", "bfcl-miss_func", "p"), {"limit": None, "case_ids": None}
    first = set(cases["case_id"][:1])
    planned = DIAGNOSIS["planned"](cell, cases, first, selection, 1, pd.DataFrame())
    assert planned.case_ids == tuple(cases["case_id"][1:])
