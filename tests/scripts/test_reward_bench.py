from __future__ import annotations

import runpy
from types import SimpleNamespace

from tests.conftest import ROOT
from toolcal import tables
from toolcal.training.reward_shown import shown
from toolcal.training.reward_tables import REWARD_TABLES

MAIN = runpy.run_path(str(ROOT / "scripts/reward_bench.py"))["main"]
NAMES = [table.name for table in REWARD_TABLES]


def test_tables_csv_and_words(tmp_path):
    output = {
        key: tmp_path / name
        for table in NAMES
        for key, name in ((table, f"{table}.parquet"), (f"{table}_csv", f"{table}.csv"))
    }
    smk = SimpleNamespace(
        output=output,
        params=SimpleNamespace(
            designs={"rlcr": {"formula": "rlcr"}, "mine": {"formula": "mscr", "b1": 1, "b2": 2}},
            training={"seeds": 1, "steps": 3, "questions": 2, "group_size": 3, "learning_rate": 1},
            seed=3,
            code="abc",
        ),
        log=[str(tmp_path / "log")],
    )
    MAIN(smk)
    found = {name: tables.read(name, output[name]) for name in NAMES}
    assert all(len(data) and output[f"{name}_csv"].stat().st_size for name, data in found.items())
    assert tables.metadata(output["tabular_agents"])["seed"] == 3
    assert found["tabular_summary"]["low"].isna().all(), "no interval of a single agent"
    lines = shown(found["tabular_summary"]).splitlines()
    assert sum("rlcr" in line or "mine" in line for line in lines) == 2 * 2 * 2
