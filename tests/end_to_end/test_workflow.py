"""The workflow's own behaviour, on a few cases of scripted policies."""

from __future__ import annotations

import json
import shutil

import pandas as pd
import pytest

from tests.end_to_end.conftest import copy_project, policies
from toolcal import tables
from toolcal.explorer import data_file

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A project in which oracle and explore_first have run."""
    project = copy_project(tmp_path_factory.mktemp("finished"))
    project.said = project.snakemake(config=policies("oracle", "explore_first"))
    return project


@pytest.fixture
def again(finished, tmp_path):
    """A copy of it as it stands, to be changed."""
    return finished.copy(tmp_path, in_one_process=True)


def test_a_run_makes_every_table_and_figure_and_ends_with_a_summary(finished):
    cells = tables.read("cells", finished.results("diagnosis", "cells.parquet"))
    assert len(cells) == 4
    assert set(cells["n"]) == {3}
    for name in ("outcomes", "turns", "confusion", "cells", "slack_reasons", "families"):
        data = tables.read(name, finished.results("diagnosis", f"{name}.parquet"))
        csv = pd.read_csv(finished.results("diagnosis", f"{name}.csv"), keep_default_na=False, na_values=[""])
        assert (len(csv), list(csv)) == (len(data), list(data))
    for name in ("gar_acc", "shares", "ranks", "confusion", "recall_by_turn", "slack_reasons"):
        for suffix in ("svg", "pdf", "csv"):
            assert finished.results("figures", f"{name}.paper_like.{suffix}").stat().st_size > 0
    assert "| explore\\_first |" in finished.results("tables", "gar_acc.bfcl.paper_like.md").read_text()
    assert "explore_first bfcl-miss_func REFUSE 3 0.0" in " ".join(finished.said.split())
    assert "Figures and tables are in results." in finished.said


def test_the_manifest_and_the_tables_say_what_they_were_made_of(finished):
    manifest = json.loads(finished.results("manifest.json").read_text())
    assert manifest["seed"] == 0
    assert manifest["revisions"] == {"bfcl-base": "bfcl-eval-2026.3.23", "bfcl-miss_func": "bfcl-eval-2026.3.23"}
    assert len(manifest["sha256"]["bfcl-base/BFCL_v4_multi_turn_base.json"]) == 64
    about = tables.metadata(finished.results("trajectories", "oracle", "bfcl-base.baseline.parquet"))
    assert about["model"]["policy"] == "oracle"
    assert about["revision"] == "bfcl-eval-2026.3.23"
    assert about["code"] == manifest["stages"]["trajectories"]
    assert about["toolcal"]


def test_nothing_is_left_to_do_and_the_tree_holds_only_results(finished):
    assert finished.plan(config=policies("oracle", "explore_first")) == {}
    made = {path.name for path in finished.folder.iterdir()} - {".cache", ".snakemake", "given.yaml", "results"}
    assert made == {
        "Snakefile",
        "config.yaml",
        "rules",
        "scripts",
        "toolcal",
        "schemas",
        "profiles",
        "presets",
        "report",
        "envs",
    }


def test_one_more_model_plans_its_own_cells_and_what_sums_them_up(again):
    plan = again.plan(config=policies("oracle", "explore_first", "silent"))
    assert plan == {
        "trajectories": 2,
        "actions": 1,
        "grades": 1,
        "diagnosis": 1,
        "figures": 6,
        "tables": 1,
        "manifest": 1,
        "all": 1,
        "total": 14,
    }


def test_the_explorer_has_the_conversations_and_a_new_model_adds_its_own(again):
    config = policies("oracle", "explore_first") | {"explorer": {"cases": "sample", "sample": 2}}
    again.snakemake("explorer", config=config)
    about = data_file.read(again.results("explorer", "data", "tables", "about.js"))
    assert (about["labellers"].keys(), about["folders"].keys()) == ({"paper_like"}, {"oracle", "explore_first"})
    cell = data_file.read(again.results("explorer/data/conversations/oracle/bfcl-base.baseline.0.js"))
    assert len(cell["conversations"]) == 2
    assert "page/start.js" in again.results("explorer", "index.html").read_text()
    assert again.plan("explorer", config=config) == {}
    config["models"] |= policies("silent")["models"]
    plan = again.plan("explorer", config=config)
    assert (plan["explorer_conversations"], plan["explorer"]) == (1, 1)


@pytest.mark.parametrize("edited", ["cues.yaml", "label.py"])
def test_an_edited_labeller_relabels_and_asks_no_model(again, edited):
    with (again.folder / "toolcal/actions" / edited).open("a") as file:
        file.write("\n# edited\n")
    plan = again.plan(config=policies("oracle", "explore_first"))
    assert plan == {"actions": 2, "diagnosis": 1, "figures": 6, "tables": 1, "manifest": 1, "all": 1, "total": 12}


def test_a_study_alone_plans_no_benchmark_and_nothing_made_of_conversations(project):
    study = {"models": ["m"], "sets": {"world": {"source": "world", "questions": 4, "noise": [0]}}}
    model = {"source": "api", "family": "f", "model": "openai/m", "endpoint": "e"}
    config = {"results": "results", "seed": 0, "models": {"m": model}, "confidence": study}
    config |= {"endpoints": {"e": {"api_base": "http://127.0.0.1:9/v1"}}, "labellers": ["refined"]}
    plan = project.plan(config=config | {"explorer": {"cases": "all"}, "exports": ["inspect", "dataset"]})
    assert set(plan) == {"questions", "answers", "calibration", "figures", "manifest", "all", "total"}


def test_a_new_cue_changes_the_labels_that_follow(again):
    path = again.folder / "toolcal/actions/cues.yaml"
    path.write_text(path.read_text().replace("    ask:\n", "    ask:\n      - the request is done\n"))
    again.snakemake("diagnosis", config=policies("oracle", "explore_first"))
    cells = tables.read("cells", again.results("diagnosis", "cells.parquet"))
    turns = cells[cells["model"] == "oracle"].set_index("scenario")["gar_turn"]
    actions = tables.read("actions", again.results("actions", "oracle.parquet"))
    assert set(actions[actions["cue"] == "the request is done"]["action"]) == {"ASK"}
    assert turns["bfcl-base"] == 1.0  # the calls of those turns still count


def test_a_cell_that_ended_with_infrastructure_errors_is_taken_up_once(again):
    """Also where the new count equals another number of the configuration."""
    note = again.results("journal", "oracle", "bfcl-base.baseline.unfinished")
    note.parent.mkdir(parents=True, exist_ok=True)
    note.write_text("1\n")
    config = policies("oracle", "explore_first")
    assert again.plan(config=config)["trajectories"] == 1
    again.snakemake("diagnosis", config=config)
    assert again.plan("diagnosis", config=config) == {}


def test_a_larger_limit_runs_again_only_what_it_touches(again):
    config = policies("oracle", "explore_first")
    config["models"]["oracle"]["limit"] = 2
    plan = again.plan(config=config)
    assert (plan["trajectories"], plan["actions"], plan["grades"], plan["cases"]) == (2, 1, 1, 0)


def test_the_same_configuration_twice_gives_equal_tables(finished, tmp_path):
    second = copy_project(tmp_path, in_one_process=True)
    second.snakemake("diagnosis", config=policies("oracle", "explore_first"))
    paths = sorted(path.relative_to(finished.results()) for path in finished.results().rglob("*.parquet"))
    inputs, cells, models, sums = 2 + 2, 4 + 4, 2 + 2, 13
    assert len(paths) == inputs + cells + models + sums
    for path in paths:
        pd.testing.assert_frame_equal(
            pd.read_parquet(second.results() / path), pd.read_parquet(finished.results() / path)
        )


def test_mistakes_in_the_configuration_are_told_before_anything_runs(project):
    project.in_one_process = True
    models = {"m": {"source": "plicy", "family": "f"}}
    config = policies("oracle") | {"seeds": 3, "trials": 0, "models": models}
    output = project.snakemake("--dry-run", config=config, check=False)
    assert "seeds: unknown key, allowed here: confidence, conversations, endpoints" in output
    assert "trials: found 0, allowed: 1 or more" in output
    assert "models.m.source: found 'plicy', allowed: one of policy" in output
    assert "Traceback" not in output
    assert not project.results().exists()


def test_a_case_id_that_is_not_there_is_told_and_the_rest_is_kept(finished, tmp_path):
    project = finished.copy(tmp_path)
    shutil.rmtree(project.results("trajectories"))
    config = policies("oracle")
    config["scenarios"]["bfcl-base"] = {"case_ids": ["multi_turn_base_9999"]}
    output = project.snakemake("diagnosis", config=config, check=False)
    assert "scenarios.bfcl-base.case_ids: no case 'multi_turn_base_9999' in this scenario" in output
    assert project.results("trajectories", "oracle", "bfcl-miss_func.baseline.parquet").is_file()
