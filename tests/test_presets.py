"""The presets: each can be used as it is, and plans without keys and without a network."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import resource
import shutil
from pathlib import Path

import pytest
import yaml

from tests.conftest import CATEGORIES, ROOT
from tests.end_to_end.conftest import copy_project
from tests.timing import best_of
from toolcal.configuration import cells, load_schema, validated
from toolcal.diagnosis.reproduce import load_published
from toolcal.repeated_keys import repeated_keys

PRESETS = sorted(path.name for path in (ROOT / "presets").glob("*.yaml"))

PANEL = {
    "Qwen3": {"Qwen3-0.6B", "Qwen3-1.7B", "Qwen3-4B", "Qwen3-8B", "Qwen3-14B", "Qwen3-32B"},
    "Llama-3.1": {"Llama-3.1-8B-Instruct", "Llama-3.1-70B-Instruct"},
    "gpt-oss": {"gpt-oss-20b", "gpt-oss-120b"},
    "xLAM-2": {"xLAM-2-1b-fc-r", "xLAM-2-3b-fc-r", "xLAM-2-8b-fc-r", "xLAM-2-32b-fc-r", "xLAM-2-70b-fc-r"},
    "Hammer-2.1": {"Hammer-2.1-0.5B", "Hammer-2.1-1.5B", "Hammer-2.1-3B", "Hammer-2.1-7B"},
    "ToolACE-2": {"ToolACE-2-8B"},
    "Watt-Tool": {"Watt-Tool-8B", "Watt-Tool-70B"},
    "Granite-3": {"Granite-3.1-8B-Instruct", "Granite-3.2-8B-Instruct"},
    "GPT-5": {"gpt-5", "gpt-5-mini", "gpt-5.4"},
    "Gemini-3": {"Gemini-3-Pro"},
    "Doubao-Seed": {"Doubao-Seed-1.8"},
}
FIGURES = {
    *("Qwen3-1.7B", "Qwen3-4B", "Qwen3-8B", "Qwen3-14B", "Qwen3-32B", "xLAM-2-8b-fc-r", "xLAM-2-70b-fc-r"),
    *("Hammer-2.1-7B", "ToolACE-2-8B", "gpt-5", "gpt-5.4"),
}
"""The models whose figures the paper states."""


def text_of(name):
    return (ROOT / "presets" / name).read_text(encoding="utf-8")


def config_of(name):
    return validated(yaml.safe_load(text_of(name)), load_schema(ROOT / "schemas/config.schema.yaml"))


@pytest.fixture(scope="module")
def paper():
    return config_of("paper.yaml")


def of_source(config, source):
    return {name: entry for name, entry in config["models"].items() if entry["source"] == source}


def test_there_are_presets():
    assert {"paper.yaml", "api.yaml", "recorded.yaml"} <= set(PRESETS)


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_validates_and_repeats_no_key(name):
    config = config_of(name)
    assert cells(config)
    assert repeated_keys(ROOT / "presets" / name) == []


def test_presets_have_results_folders_of_their_own():
    folders = [config_of(name)["results"] for name in PRESETS]
    assert len({*folders, "results"}) == len(PRESETS) + 1


@pytest.mark.parametrize("name", PRESETS)
def test_no_preset_holds_a_key(name):
    assert not re.search(r"sk-|AIza|api_key:|[A-Za-z0-9_-]{40,}", text_of(name))


def test_the_panel_is_the_papers_as_far_as_known(paper):
    families: dict[str, set[str]] = {}
    for name, entry in paper["models"].items():
        families.setdefault(entry["family"], set()).add(name)
    assert families == PANEL
    assert set(paper["scenarios"]) == {f"bfcl-{category}" for category in CATEGORIES}
    assert sum(cell.perturbation == "baseline" for cell in cells(paper)) == 4 * len(paper["models"])
    assert (paper["trials"], paper["labellers"]) == (1, ["paper_like"])
    assert "gpt-5.4" in of_source(paper, "api")
    assert paper["models"]["gpt-5.4"]["parameters"]["reasoning_effort"] == "high"


def test_the_published_probe_runs_are_there(paper):
    runs = {
        name: (entry["probe"], entry["parameters"]["variant"], entry["parameters"].get("gate"))
        for name, entry in paper["perturbations"].items()
    }
    assert runs == {
        **{f"sri-{name}": ("sri", name, "none") for name in ("full", "no_history_edit", "no_state", "state_only")},
        **{f"sri-gate_{name}": ("sri", "full", name) for name in ("all", "miss_param")},
        **{f"cri-{name}": ("cri", name, None) for name in ("retry", "bypass")},
    }
    probed = [cell for cell in cells(paper) if cell.perturbation != "baseline"]
    assert {"Qwen3-8B", "ToolACE-2-8B"} <= {cell.model for cell in probed} <= set(of_source(paper, "vllm"))
    for name, (probe, *_) in runs.items():
        scenarios = {cell.scenario for cell in probed if cell.perturbation == name}
        assert len(scenarios) == (4 if probe == "sri" else 2)
        assert scenarios >= {"bfcl-miss_func", "bfcl-miss_param"}
        assert probe == "sri" or sum(cell.perturbation == name for cell in probed) == 12


def test_comments_tell_the_papers_models_from_our_completion(paper):
    notes = dict(re.findall(r"^  ([\w.-]+):.*# (\[figure\]|\[family\]|listed)", text_of("paper.yaml"), re.MULTILINE))
    assert set(notes) == set(paper["models"])
    assert {name for name, note in notes.items() if note == "[figure]"} == FIGURES


def test_every_model_with_a_published_figure_is_found_by_its_name(paper):
    names = {entry.get("published_as", name).casefold() for name, entry in paper["models"].items()}
    published = set(load_published()["model"])
    assert {name for name in published if name.casefold() not in names} == set()
    assert published <= FIGURES


def test_models_of_the_panel_are_different_models(paper):
    served = [entry["model"].lower() for entry in paper["models"].values()]
    assert len(served) == len(set(served))
    ids = [name.lower() for name in paper["models"]]
    assert len(ids) == len(set(ids))


def test_self_served_models_have_what_vllm_needs(paper):
    served = of_source(paper, "vllm")
    assert len(served) == 24
    for name, entry in served.items():
        assert (entry.get("tool_mode", "native") == "native") == ("tool_parser" in entry), name
        assert re.fullmatch(r"[\w.-]+/[\w.-]+", entry["model"]), name
        flag, length = entry["arguments"]
        assert flag == "--max-model-len"
        assert int(length) in (32768, 40960, 131072), name
        billions = float(re.search(r"([\d.]+)b\b", name.lower())[1])
        quantised = entry["family"] == "gpt-oss"  # MXFP4
        assert billions * (0.55 if quantised else 2) < 0.9 * 80 * entry["tensor_parallel"], f"{name}: GB of weights"


@pytest.mark.parametrize("name", ["paper.yaml", "api.yaml"])
def test_models_behind_apis_have_endpoints_and_prices_so_that_the_limit_can_hold(name):
    config = config_of(name)
    package = importlib.util.find_spec("litellm").origin
    listed = json.loads((Path(package).parent / "model_prices_and_context_window_backup.json").read_text())
    most = 0.0
    for entry in of_source(config, "api").values():
        endpoint = config["endpoints"][entry["endpoint"]]
        assert re.fullmatch(r"[A-Z]+_API_KEY", endpoint["api_key_env"])
        assert endpoint["requests_per_minute"] >= endpoint["concurrency"]
        known = listed.get(entry["model"].removeprefix("openai/"), {})
        per_token = known.get("output_cost_per_token")
        price = entry["prices"]["output"] if "prices" in entry else per_token * 1e6
        assert 0.1 < price < 50
        assert not ("prices" in entry and per_token), "litellm's list knows it: leave the price to it"
        most += endpoint["concurrency"] * entry["parameters"]["max_tokens"] * price / 1e6
    assert most < config["limits"]["max_usd"] / 10, "calls under way would hold much of the money"


def test_the_small_start_is_small():
    config = config_of("api.yaml")
    assert config["limits"]["max_usd"] == 1
    assert [entry["limit"] for entry in config["scenarios"].values()] == [10, 10, 10, 5, 5]
    assert [name for name in config["models"] if name != config["conversations"]["user"]] == ["gpt-5.4-nano"]


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_plans_without_keys_and_network(name, tmp_path, monkeypatch):
    for variable in list(os.environ):
        if re.search("KEY|TOKEN|SECRET", variable):
            monkeypatch.delenv(variable)
    for variable in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(variable, "http://127.0.0.1:9")  # nobody answers there
    project = copy_project(tmp_path)
    shutil.copytree(ROOT / "presets", tmp_path / "presets", dirs_exist_ok=True)
    jobs = {}

    def seconds():
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        jobs.update(project.plan("--configfile", f"presets/{name}"))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    assert best_of(seconds, 15) < 15
    config = config_of(name)
    served = of_source(config, "vllm")
    by_cell = sum(cell.model not in served for cell in cells(config))
    asking = {
        rule: count for rule, count in jobs.items() if rule.startswith(("trajectories", "recordings", "conversations"))
    }
    with_cells = {cell.model for cell in cells(config)} & served.keys()
    assert sum(asking.values()) == by_cell + len(with_cells), "a cell is a job, but a served model's share one"
    assert jobs["diagnosis"] >= 1


def test_every_example_in_the_readme_can_be_read():
    blocks = re.findall(r"```yaml\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert len(blocks) >= 4
    for block in blocks:
        assert isinstance(yaml.safe_load(block), dict), block
