"""The conda environments, the post-deploy scripts and the README say what pyproject.toml says."""

from __future__ import annotations

import re
import tomllib

import yaml

from tests.conftest import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
NEEDS = {re.split(r"[<>=]", need)[0]: need for need in PROJECT["project"]["dependencies"]}
EXTRAS = {
    re.split(r"[<>=]", need)[0]: need
    for needs in PROJECT["project"]["optional-dependencies"].values()
    for need in needs
}
PINS = set(PROJECT["dependency-groups"]["data"])


def needs_of(path):
    """All requirements of a conda environment, pip's among them, and their order."""
    found = yaml.safe_load(path.read_text())["dependencies"]
    return [need for need in found if isinstance(need, str)], next((n["pip"] for n in found if isinstance(n, dict)), [])


def test_environments_ask_for_what_the_project_asks_for():
    for path in (ROOT / "envs").glob("*.yaml"):
        conda, pip = needs_of(path)
        assert conda[:2] == ["python=3.11", "pip"], path
        for need in [*conda[2:], *pip]:
            assert need == (NEEDS | EXTRAS)[re.split(r"[<>=]", need)[0]], path


def test_together_they_hold_every_need_but_the_workflow_engine():
    asked = {need for path in (ROOT / "envs").glob("*.yaml") for part in needs_of(path) for need in part}
    assert {need for name, need in NEEDS.items() if name != "snakemake"} <= asked


def test_every_rule_has_its_environment():
    for path in (ROOT / "rules").glob("*.smk"):
        for name in re.findall(r'"\.\./envs/(.+?)"', path.read_text()):
            assert (ROOT / "envs" / name).is_file()


def test_the_data_packages_are_pinned_alike_everywhere():
    metadata = {f"{entry['name']}=={entry['version']}" for entry in PROJECT["tool"]["uv"]["dependency-metadata"]}
    assert metadata == PINS
    for path in [*(ROOT / "envs").glob("*.sh"), ROOT / "README.md"]:
        assert set(re.findall(r"[\w-]+==[\d.]+", path.read_text())) <= PINS
    assert set(re.findall(r"[\w-]+==[\d.]+", (ROOT / "README.md").read_text())) >= PINS
