"""The job that reads a recorded conversation: five tables, and words for what was left out."""

from __future__ import annotations

import json
import runpy
from types import SimpleNamespace

import pytest

from tests.conftest import ROOT
from toolcal import tables
from toolcal.cells import BASELINE
from toolcal.recordings.stream import RecordingError

MAIN = runpy.run_path(str(ROOT / "scripts/recordings.py"))["main"]
NAMES = ("cases", "contexts", "trajectories", "user_messages", "grades")


@pytest.fixture
def smk(recorded, tmp_path):
    return SimpleNamespace(
        wildcards={"model": "m", "scenario": "tau2-airline", "perturbation": BASELINE},
        output={name: tmp_path / f"{name}.parquet" for name in NAMES},
        params=SimpleNamespace(
            recording={"format": "tau2", "results": str(recorded / "tau2/gpt-4o-2024-11-20_airline_50.json")},
            ask_tasks="published",
            selection={"limit": 10, "case_ids": None},
            seed=0,
            code="abc",
        ),
        log=[str(tmp_path / "log")],
    )


def test_all_tables_are_written_for_the_chosen_cases(smk, capsys):
    MAIN(smk)
    assert capsys.readouterr().err == ""
    found = {name: tables.read(name, smk.output[name]) for name in NAMES}
    assert len(found["cases"]) == len(found["contexts"]) == 50
    chosen = set(found["grades"]["case_id"])
    assert len(found["grades"]) == len(chosen) == 10
    assert set(found["trajectories"]["case_id"]) == set(found["user_messages"]["case_id"]) == chosen
    assert set(found["user_messages"]["role"]) == {"user"}
    assert (found["cases"]["gold_actions"].str.contains("ASK")).sum() == 8


def test_what_was_left_out_is_told(smk, recorded, tmp_path, capsys):
    whole = json.loads((recorded / "tau2/gpt-4o-2024-11-20_airline_50.json").read_text())
    whole["simulations"] = whole["simulations"][:4]
    whole["simulations"][2]["messages"] = None
    del whole["simulations"][3]["reward_info"]
    path = tmp_path / "runs.json"
    path.write_text(json.dumps(whole))
    smk.params.recording["results"] = str(tmp_path)
    smk.params.selection = {"limit": None, "case_ids": None}
    MAIN(smk)
    task = whole["simulations"][2]["task_id"]
    assert capsys.readouterr().err == (
        f"toolcal: m: 2 records were left out, the first: {path}, simulations[2] (task {task}), "
        "messages: not a list of messages\n"
    )
    log = (tmp_path / "log").read_text()
    assert log.count("left out: ") == 2
    assert len(tables.read("grades", smk.output["grades"])) == 2
    assert tables.metadata(smk.output["grades"])["left_out"] == 2


@pytest.mark.parametrize(
    ("files", "words"),
    [((), "no file of tau2's airline"), (("a", "b"), r"2 files, e\.g\. .*a\.json and .*b\.json")],
)
def test_not_exactly_one_file(files, words, smk, tmp_path):
    (tmp_path / "runs").mkdir()
    for name in files:
        (tmp_path / f"runs/{name}.json").write_text('{"info": {"environment_info": {"domain_name": "airline"}}}')
    smk.params.recording["results"] = str(tmp_path / "runs")
    with pytest.raises(RecordingError, match=words):
        MAIN(smk)
