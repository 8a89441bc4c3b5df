from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from tests.conftest import ROOT

PARTS = ("Snakefile", "config.yaml", "rules", "scripts", "toolcal", "schemas", "profiles", "presets", "report", "envs")


@dataclass
class Project:
    """A copy of the project, to be run and edited."""

    folder: Path

    def snakemake(self, *arguments: str, config: dict | None = None, check: bool = True) -> str:
        """Run snakemake there and return what it printed."""
        run = self.start(*arguments, config=config)
        output, _ = run.communicate(timeout=1200)
        if check:
            assert run.returncode == 0, output[-5000:]
        return output

    def start(self, *arguments: str, config: dict | None = None) -> subprocess.Popen[str]:
        """Start snakemake there, in a process group of its own; what it prints goes to its standard output."""
        if config is not None:
            (self.folder / "given.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
            arguments = (*arguments, "--configfile", "given.yaml")
        return subprocess.Popen(
            [sys.executable, "-m", "snakemake", "--cores", "2", *arguments],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": "", "XDG_CACHE_HOME": str(self.folder / ".cache")},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def plan(self, *arguments: str, config: dict | None = None) -> Counter[str]:
        """How many jobs of each rule a run would do now."""
        output = self.snakemake(*arguments, "--dry-run", "--quiet", "rules", config=config)
        lines = [line.split() for line in output.splitlines()]
        return Counter({words[0]: int(words[1]) for words in lines if len(words) == 2 and words[1].isdigit()})

    def results(self, *parts: str) -> Path:
        return self.folder.joinpath("results", *parts)


@pytest.fixture
def project(tmp_path) -> Project:
    return copy_project(tmp_path)


def copy_project(folder: Path) -> Project:
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder / part)
    return Project(folder)


def policies(*names: str, limit: int = 3, scenarios: tuple[str, ...] = ("base", "miss_func")) -> dict:
    """A small configuration of scripted policies."""
    return {
        "seed": 0,
        "labellers": ["paper_like"],
        "scenarios": {f"bfcl-{name}": {"limit": limit} for name in scenarios},
        "models": {name: {"source": "policy", "policy": name, "family": f"policy/{name}"} for name in names},
    }
