"""The stage of the comparison, over files as the workflow has them."""

from __future__ import annotations

import runpy
from types import SimpleNamespace

import pandas as pd

from tests.conftest import ROOT
from tests.figures.trained import CHECKPOINTS, study
from toolcal import tables

MAIN = runpy.run_path(str(ROOT / "scripts/comparison.py"))["main"]


def test_table_and_csv(tmp_path):
    made = study(noises=(0.0,), n=12)
    files = {name: tmp_path / f"{name}.parquet" for name in ("questions", "answers", "comparison")}
    tables.write("questions", made.questions, files["questions"])
    tables.write("answers", made.answers, files["answers"])
    about = {"limits": made.limits, "services": made.services, "trials": 1, "graded_by": "rules", "seed": 0}
    job = SimpleNamespace(
        input=SimpleNamespace(questions=[files["questions"]], answers=[files["answers"]], judgements=[]),
        output=SimpleNamespace(comparison=files["comparison"], comparison_csv=tmp_path / "comparison.csv"),
        params=SimpleNamespace(
            study=about,
            cells=[list(cell) for cell in made.cells],
            checkpoints=CHECKPOINTS,
            rewards={"rlcr": {"formula": "rlcr", "format_weight": 0.1}},
            trained=[["world", "search", 0.0]],
            code="abc",
        ),
        log=[str(tmp_path / "log")],
    )
    MAIN(job)
    found = tables.read("comparison", files["comparison"])
    assert set(found["method"]) == {"untreated", "temperature", "rlcr", "supervised"}
    assert tables.metadata(files["comparison"])["code"] == "abc"
    assert list(pd.read_csv(tmp_path / "comparison.csv").columns) == list(found.columns)
