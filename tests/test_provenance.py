from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT
from toolcal import provenance


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """The package and the scripts, to be edited."""
    shutil.copytree(ROOT / "toolcal", tmp_path / "toolcal")
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts")
    monkeypatch.setattr(provenance, "PACKAGE", tmp_path / "toolcal")
    return tmp_path


def hashes(folder):
    provenance._imports.cache_clear()
    return {path.stem: provenance.code_hash(path) for path in (folder / "scripts").glob("*.py")}


@pytest.mark.parametrize(
    ("edited", "stages"),
    [
        (
            "toolcal/actions/cues.yaml",
            {
                *("actions", "answer_judgements", "conversations", "estimate", "explorer", "export_inspect"),
                *("judgements", "recordings", "validity", "writes"),
            },
        ),
        ("toolcal/actions/label.py", {"actions", "explorer", "validity"}),
        (
            "toolcal/dialects.py",
            {
                "actions",
                "answer_judgements",
                "answers",
                "contexts",
                "conversations",
                "explorer",
                "judgements",
                "recordings",
                "training",
                "trajectories",
                "validity",
            },
        ),
        (
            "toolcal/diagnosis/statistics.py",
            {
                *("calibration", "comparison", "diagnosis", "reproduce", "reward_bench"),
                *("tables", "training", "validity"),
            },
        ),
        ("toolcal/figures/ranks.py", {"figures"}),
        (
            "toolcal/benchmarks/bfcl/exclusions.yaml",
            {
                *("answers", "cases", "contexts", "conversations", "estimate"),
                *("grades", "manifest", "trajectories", "validity"),
            },
        ),
        (
            "toolcal/models/json_mode.py",
            {"answers", "conversations", "estimate", "supervised", "training", "trajectories"},
        ),
        ("toolcal/benchmarks/grades.py", {"grades"}),
        ("scripts/grades.py", {"grades"}),
    ],
)
def test_an_edit_changes_the_hash_of_the_stages_that_use_it(copy, edited, stages):
    before = hashes(copy)
    with (copy / edited).open("a") as file:
        file.write("\n# edited\n")
    after = hashes(copy)
    assert {stage for stage in before if before[stage] != after[stage]} == stages


def test_the_manifest_says_what_a_result_was_made_of(tmp_path):
    data = tmp_path / "data.json"
    data.write_text("{}")
    found = provenance.manifest(
        {"seed": 3, "models": {}},
        revisions={"bfcl-base": "bfcl-eval-1"},
        files={"bfcl-base/data.json": data},
        prompts={"bfcl-base.baseline": "def"},
        served_by={"m": ["m-2026"]},
        stages={"cases": "abc"},
        repository=tmp_path,
    )
    assert found["sha256"] == {
        "bfcl-base/data.json": "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
    }
    assert found["git"] is None
    assert found["seed"] == 3
    assert {"snakemake", "bfcl-eval", "litellm"} <= set(found["packages"])


def test_the_commit_and_whether_files_differ_from_it(tmp_path):
    def git(*arguments):
        subprocess.run(["git", "-C", tmp_path, *arguments], check=True, capture_output=True)

    git("init", "-q")
    Path(tmp_path / "a").write_text("1")
    git("add", "a")
    git("-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "m")
    clean = provenance.git_state(tmp_path)
    Path(tmp_path / "a").write_text("2")
    assert len(clean["commit"]) == 40
    assert (clean["dirty"], provenance.git_state(tmp_path)["dirty"]) == (False, True)
