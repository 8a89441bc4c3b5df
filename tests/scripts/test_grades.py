from __future__ import annotations

import asyncio
import runpy
from types import SimpleNamespace

import pytest

from tests.conftest import ROOT
from toolcal import perturbations, rollout, tables
from toolcal.benchmarks import case_table
from toolcal.cells import BASELINE, Cell
from toolcal.models.recorded import Recorded

MAIN = runpy.run_path(str(ROOT / "scripts/grades.py"))["main"]


@pytest.fixture
def smk(bfcl, bfcl_cases, recorded, tmp_path):
    """A job that grades two scenarios of a recorded run."""
    entry = {name: str(recorded / f"bfcl/{name[:-1]}_deepseek") for name in ("results", "scores")} | {"format": "bfcl"}
    paths = {"trajectories": [], "cases": []}
    for category in ("base", "long_context"):
        scenario, found = f"bfcl-{category}", bfcl_cases[category][:2]
        contexts = {case.case_id: perturbations.baseline(case) for case in found}
        cell = Cell("deepseek", scenario, BASELINE)
        data, *_ = asyncio.run(rollout.run_cell(cell, found, contexts, Recorded(entry, scenario), bfcl))
        for name, rows in (("trajectories", data), ("cases", case_table.to_frame(found, 0))):
            paths[name].append(tmp_path / f"{category}.{name}.parquet")
            tables.write(name, rows, paths[name][-1])
    return SimpleNamespace(
        wildcards=SimpleNamespace(model="deepseek"),
        input=SimpleNamespace(**paths),
        output=SimpleNamespace(grades=tmp_path / "grades.parquet"),
        params=SimpleNamespace(recording=entry, code="abc"),
        log=[str(tmp_path / "log")],
    )


def test_a_recorded_runs_own_verdicts_stand_beside_ours(smk, capsys):
    MAIN(smk)
    grades = tables.read("grades", smk.output.grades).set_index("case_id")
    assert grades["recorded_passed"].tolist() == [False, True, False, True]
    assert grades["regrade_differs"].tolist() == [False, False, True, False]
    assert capsys.readouterr().err == (
        "toolcal: deepseek: 1 of 4 recorded verdicts differ from the one found here (regrade_differs): "
        "multi_turn_long_context_0\n"
    )


def test_without_recorded_verdicts_they_are_null(smk, capsys):
    smk.params.recording = None
    MAIN(smk)
    grades = tables.read("grades", smk.output.grades)
    assert grades["passed"].notna().all()
    assert grades[["recorded_passed", "regrade_differs"]].isna().all(axis=None)
    assert capsys.readouterr().err == ""
