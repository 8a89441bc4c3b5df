"""The stage of the study's tables, and what the manifest says of its question sets."""

from __future__ import annotations

import json
import runpy
from types import SimpleNamespace

import pandas as pd
import pytest

from tests.confidence import scripted
from tests.conftest import ROOT
from toolcal import tables
from toolcal.confidence.plan import level

MAIN = runpy.run_path(str(ROOT / "scripts/calibration.py"))["main"]
MANIFEST = runpy.run_path(str(ROOT / "scripts/manifest.py"))["main"]
NAMES = ("calibration", "calibration_tests", "reliability", "risk_coverage", "answer_causes")
NOISES = (0.0, 0.5)


@pytest.fixture
def smk(tmp_path):
    """A job of the stage over a small study, a file per cell."""
    asked, cells = scripted.questions(12, NOISES), scripted.cells({"m": "prompted"}, NOISES)
    questions, answers = [], []
    for noise, rows in asked.groupby("noise"):
        questions.append(tmp_path / f"world.{level(noise)}.parquet")
        tables.write("questions", rows, questions[-1])
    first = asked[asked["draw"] < 8]
    for cell in cells:
        answers.append(tmp_path / f"m/world.{cell.configuration}.{cell.tool}.{level(cell.noise)}.parquet")
        tables.write("answers", scripted.answers(cell, first, scripted.shy), answers[-1])
    outputs = {name: tmp_path / f"{name}.parquet" for name in NAMES}
    return SimpleNamespace(
        input=SimpleNamespace(questions=questions, answers=answers, judgements=[]),
        output=outputs | {f"{name}_csv": path.with_suffix(".csv") for name, path in outputs.items()},
        params=SimpleNamespace(
            cells=[list(cell) for cell in cells],
            base_models={"m": None},
            limits={"world": 8},
            trials=1,
            graded_by="rules",
            seed=2,
            code="abc",
        ),
        log=[str(tmp_path / "log")],
    )


def test_tables_and_csv(smk):
    MAIN(smk)
    found = {name: tables.read(name, smk.output[name]) for name in NAMES}
    assert all(len(data) for data in found.values())
    whole = found["calibration"]
    whole = whole[(whole["difficulty"] == "all") & (whole["questions"] == "all")]
    assert whole[["tool", "noise", "n", "n_missing", "coverage"]].to_numpy().tolist() == [
        [tool, noise, 8, 0, 0.75]
        for tool, noise in (("none", 0.0), ("search", 0.0), ("search", 0.5), ("python", 0.0), ("python", 0.5))
    ]
    for name, data in found.items():
        assert tables.metadata(smk.output[name]) | {"seed": 2, "code": "abc"} == tables.metadata(smk.output[name])
        assert list(pd.read_csv(smk.output[f"{name}_csv"]).columns) == list(data.columns)


def test_a_cell_without_answers_is_there(smk):
    path = smk.input.answers[2]
    tables.write("answers", tables.read("answers", path).iloc[:0], path)
    MAIN(smk)
    rows = tables.read("calibration", smk.output["calibration"])
    gone = rows[(rows["tool"] == "search") & (rows["noise"] == 0.5) & (rows["difficulty"] == "all")]
    assert gone["n"].tolist() == [0] * 4
    assert gone["n_missing"].tolist() == [8, 4, 4, 4]


def test_the_manifest_names_the_sets_revision_and_licence(smk, tmp_path):
    job = SimpleNamespace(
        input=SimpleNamespace(cases=[], contexts=[], trajectories=[], questions=smk.input.questions),
        output=SimpleNamespace(manifest=tmp_path / "manifest.json"),
        params=SimpleNamespace(config={"models": {}, "seed": 2}, stages={}, repository=str(tmp_path)),
        log=smk.log,
    )
    MANIFEST(job)
    found = json.loads((tmp_path / "manifest.json").read_text())
    assert found["revisions"] == {"confidence/world": "world 1 CC0-1.0"}
    assert {name.partition("/")[0] for name in found["prompts"]} == {"questions"}
