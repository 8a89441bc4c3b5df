"""Corrections, tables and exports through the workflow; the exports read back by the tools that they are for."""

from __future__ import annotations

import hashlib
import json
import os
import zipfile

import pyarrow.parquet as pq
import pytest
import yaml

from tests.corrections.marks import LINE
from tests.end_to_end.conftest import copy_project, policies
from toolcal import tables

pytestmark = pytest.mark.slow

SRI = {
    "kind": "probe",
    "probe": "sri",
    "parameters": {"variant": "full"},
    "rationale": "why",
    "scenarios": ["bfcl-base"],
}


CASE = "multi_turn_base_115"
FIRST = {"model": "halts_early", "scenario": "bfcl-base", "perturbation": "baseline", "case_id": CASE}
"""A message in which it says that a part is done."""


@pytest.fixture(scope="module")
def config():
    config = policies("halts_early", limit=2, scenarios=()) | {"exports": ["inspect", "dataset"]}
    config["scenarios"] = {"bfcl-base": {"case_ids": [CASE, "multi_turn_base_0"]}, "tau2-airline": {"limit": 2}}
    config["models"]["confirming"] = {"source": "audit", "pair": "confirming", "family": "audit"}
    return config | {"perturbations": {"sri-full": SRI}, "labels": {"corrections": "marks.jsonl"}}


@pytest.fixture(scope="module")
def finished(tmp_path_factory, config):
    """A run with a correction of a message that is not there and one of the first."""
    project = copy_project(tmp_path_factory.mktemp("exports"), in_one_process=True)
    right = LINE | FIRST | {"labeller": "paper_like", "was": "CONFIRM", "action": "REFUSE"}
    lines = [json.dumps(line) for line in (right | {"turn": 99}, right)]
    (project.folder / "marks.jsonl").write_text("\n".join(lines) + "\n")
    project.said = project.snakemake("exports", "tables", config=config)
    return project


def test_corrections_are_told_applied_and_stand_beside_the_labels(finished):
    assert "marks.jsonl line 1: not applied (not_there): this run has no such message of the model" in finished.said
    found = tables.read("corrections", finished.results("corrections/corrections.parquet"))
    assert found["status"].tolist() == ["not_there", "applied"]
    about = tables.metadata(finished.results("corrections/corrections.parquet"))
    assert about["files"] == {"marks.jsonl": hashlib.sha256((finished.folder / "marks.jsonl").read_bytes()).hexdigest()}
    cells = tables.read("cells", finished.results("diagnosis/cells.parquet"))
    assert set(cells["labeller"]) == {"paper_like", "corrected"}
    assert finished.results("tables/gar_acc.bfcl.corrected.tex").is_file()


def test_a_broken_line_stops_its_stage_and_is_told(finished, tmp_path, config):
    project = finished.copy(tmp_path)
    with (project.folder / "marks.jsonl").open("a") as file:
        file.write('{"model": 3}\n')
    output = project.snakemake("corrections", config=config, check=False)
    assert "marks.jsonl line 3: model: found 3, allowed: text, not empty" in output
    assert "Traceback" not in output


def test_inspect_reads_its_logs(finished):
    from inspect_ai.log import list_eval_logs, read_eval_log

    folder = finished.results("exports/inspect")
    logs = {log.eval.task: log for log in (read_eval_log(info) for info in list_eval_logs(str(folder)))}
    assert set(logs) == {"bfcl-base.baseline", "bfcl-base.sri-full", "tau2-airline.baseline"}
    cells = tables.read("cells", finished.results("diagnosis/cells.parquet"))
    for task, log in logs.items():
        own = cells[
            (cells["scenario"] == log.eval.metadata["scenario"]) & (cells["model"] == log.eval.metadata["model"])
        ]
        own = own[own["perturbation"] == task.partition(".")[2]]
        acc = next(score for score in log.results.scores if score.name == "passed").metrics["acc"].value
        assert acc == own["acc"].iloc[0]
        verdicts = [sample.scores["passed"].value for sample in log.samples]
        assert acc == verdicts.count("C") / len(verdicts)
        assert log.status == "success"
    case = next(s for s in logs["bfcl-base.baseline"].samples if s.id == CASE)
    answers = [message for message in case.messages if message.role == "assistant"]
    assert answers[0].metadata["labels"] == {"paper_like": "CONFIRM", "corrected": "REFUSE"}
    assert [message.role for message in case.messages][:2] == ["user", "assistant"]
    assert any(sample.metadata["taken_back"] for sample in logs["bfcl-base.sri-full"].samples)
    talks = logs["tau2-airline.baseline"].samples
    assert [message.role for message in talks[0].messages][:3] == ["system", "assistant", "user"]
    talk, called = next((t, m) for t in talks for m in t.messages if getattr(m, "tool_calls", None))
    answered = next(m for m in talk.messages if m.role == "tool" and m.tool_call_id == called.tool_calls[0].id)
    assert answered.function == called.tool_calls[0].function


def test_the_data_set_is_loaded_by_its_own_library_and_by_pyarrow(finished, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    import datasets

    folder = finished.results("exports/dataset")
    names = datasets.get_dataset_config_names(str(folder))
    assert {"cells", "outcomes", "trajectories", "actions", "grades", "corrections"} <= set(names)
    for name in ("cells", "trajectories"):
        loaded = datasets.load_dataset(str(folder), name, split="train", cache_dir=str(tmp_path))
        files = sorted((folder / "data" / name).rglob("*.parquet"))
        assert loaded.num_rows == sum(pq.read_metadata(file).num_rows for file in files) > 0
        schema = pq.read_schema(files[0])
        assert loaded.column_names == schema.names
        assert schema.field("model").metadata == {b"doc": b"the model's id in the configuration"}
    heading = yaml.safe_load((folder / "README.md").read_text().split("---\n")[1])
    assert [entry["config_name"] for entry in heading["configs"]] == names


def test_no_path_of_this_machine_is_in_the_exports(finished):
    files = [path for path in finished.results("exports").rglob("*.*") if path.is_file()]
    assert {path.suffix for path in files} >= {".eval", ".parquet", ".md"}
    for path in files:
        assert all(os.fsencode(finished.folder) not in text for text in _texts(path)), path


def _texts(path):
    """What a reader can find in a file, unpacked."""
    if path.suffix == ".eval":
        with zipfile.ZipFile(path) as archive:
            return [archive.read(name) for name in archive.namelist()]
    if path.suffix == ".parquet":
        table = pq.read_table(path, partitioning=None)
        return [json.dumps(table.to_pylist(), default=str).encode(), str(table.schema.metadata).encode()]
    return [path.read_bytes()]
