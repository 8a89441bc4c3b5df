from __future__ import annotations

import runpy
from types import SimpleNamespace

import pandas as pd
import pytest

from tests.conftest import ROOT
from tests.diagnosis.panel import ASK, CALL, Panel
from toolcal import tables
from toolcal.diagnosis.reproduce import shown

MAIN = runpy.run_path(str(ROOT / "scripts/reproduce.py"))["main"]


@pytest.fixture
def smk(tmp_path):
    """A job after a diagnosis of one model in one scenario."""
    panel = Panel(families={"mine": "f"})
    cell = ("mine", "bfcl-miss_param", "baseline")
    panel.planned("a", "b", cell=cell)
    for case_id, action in (("a", ASK), ("b", CALL)):
        panel.case(case_id, scenario=cell[1], turns=1, gold=("ASK",))
        panel.run(case_id, [[action]], True, cell=cell)
    found = panel.diagnose() | {"write_rates": tables.frame("write_rates", [])}
    paths = {name: tmp_path / f"{name}.parquet" for name in ("cells", "outcomes", "write_rates", "effects")}
    for name, path in paths.items():
        tables.write(name, found[name], path)
    return SimpleNamespace(
        input=SimpleNamespace(**paths),
        output=SimpleNamespace(reproduce=tmp_path / "reproduce.parquet", reproduce_csv=tmp_path / "reproduce.csv"),
        params=SimpleNamespace(names={"mine": "qwen3-8b"}, seed=3, code="abc"),
        log=[str(tmp_path / "log")],
    )


def test_table_csv_and_words(smk):
    MAIN(smk)
    table = tables.read("reproduce", smk.output.reproduce)
    ours = table[table["ours"].notna()]
    assert ours[["model", "panel_model", "published", "ours", "n"]].to_numpy().tolist() == [
        ["Qwen3-8B", "mine", 0.84, 0.5, 2]
    ]
    assert tables.metadata(smk.output.reproduce)["seed"] == 3
    assert list(pd.read_csv(smk.output.reproduce_csv).columns) == list(tables.TABLES["reproduce"].columns)
    told = shown(table)
    assert "Qwen3-8B bfcl-miss_param" in " ".join(told.split())
    assert told.endswith(
        "33 of 34 published figures have none of ours beside them: no model of the panel has that name (32); "
        "scenario not run (1)."
    )


def test_a_panel_without_published_models(smk):
    smk.params.names = {"mine": "mine"}
    MAIN(smk)
    table = tables.read("reproduce", smk.output.reproduce)
    assert table["why"].notna().all()
    assert "\n" not in shown(table)
