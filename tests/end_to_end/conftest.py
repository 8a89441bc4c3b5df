from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import yaml

from tests.conftest import ROOT
from tests.end_to_end import forks

PARTS = ("Snakefile", "config.yaml", "rules", "scripts", "toolcal", "schemas", "profiles", "presets", "report", "envs")
LONGEST = 1200.0
"""Seconds that a run may take."""


@dataclass
class Project:
    """A copy of the project, to be run and edited.

    `in_one_process` (see `forks`) is for tests of what comes out; jobs that fail or are killed need their own.
    """

    folder: Path
    in_one_process: bool = False

    def snakemake(self, *arguments: str, config: dict | None = None, check: bool = True) -> str:
        """Run snakemake there and return what it printed."""
        if self.in_one_process:
            code, output = self._in_one_process(self._given(arguments, config))
        else:
            run = self.start(*arguments, config=config)
            output, _ = run.communicate(timeout=LONGEST)
            code = run.returncode
        if check:
            assert code == 0, output[-5000:]
        return output

    def _in_one_process(self, arguments: tuple[str, ...]) -> tuple[int | None, str]:
        """Exit code, None where it had to be ended, and what it printed."""
        with tempfile.NamedTemporaryFile() as file:
            run = forks.snakemake(self.folder, ["--cores", "1", *arguments], self._environment(), Path(file.name))
            run.join(LONGEST)
            code = run.exitcode
            run.kill()
            return code, file.read().decode()

    def start(self, *arguments: str, config: dict | None = None) -> subprocess.Popen[str]:
        """Start snakemake there, in a process group of its own; what it prints goes to its standard output."""
        return subprocess.Popen(
            [sys.executable, "-m", "snakemake", "--cores", "2", *self._given(arguments, config)],
            cwd=self.folder,
            env=self._environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def _given(self, arguments: tuple[str, ...], config: dict | None) -> tuple[str, ...]:
        """The arguments, and the file that the configuration was written to."""
        if config is None:
            return arguments
        (self.folder / "given.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
        return (*arguments, "--configfile", "given.yaml")

    def _environment(self) -> dict[str, str]:
        return {**os.environ, "PYTHONPATH": "", "XDG_CACHE_HOME": str(self.folder / ".cache")}

    def plan(self, *arguments: str, config: dict | None = None) -> Counter[str]:
        """How many jobs of each rule a run would do now."""
        planned = replace(self, in_one_process=True)
        output = planned.snakemake(*arguments, "--dry-run", "--quiet", "rules", config=config)
        lines = [line.split() for line in output.splitlines()]
        return Counter({words[0]: int(words[1]) for words in lines if len(words) == 2 and words[1].isdigit()})

    def results(self, *parts: str) -> Path:
        return self.folder.joinpath("results", *parts)

    def copy(self, folder: Path, *, in_one_process: bool = False) -> Project:
        """A copy of it as it stands, to be changed."""
        shutil.copytree(self.folder, folder, dirs_exist_ok=True, copy_function=shutil.copy2)
        return Project(folder, in_one_process)


@pytest.fixture
def project(tmp_path) -> Project:
    return copy_project(tmp_path)


def copy_project(folder: Path, *, in_one_process: bool = False) -> Project:
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder / part)
    return Project(folder, in_one_process)


def policies(*names: str, limit: int = 3, scenarios: tuple[str, ...] = ("base", "miss_func")) -> dict:
    """A small configuration of scripted policies."""
    return {
        "seed": 0,
        "labellers": ["paper_like"],
        "scenarios": {f"bfcl-{name}": {"limit": limit} for name in scenarios},
        "models": {name: {"source": "policy", "policy": name, "family": f"policy/{name}"} for name in names},
    }


def scripts_in(folder):
    """Process ids of the scripts that run in a folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended meanwhile
            if (process / "cwd").readlink() == folder and b"trajectories.py" in (process / "cmdline").read_bytes():
                found.append(int(process.name))
    return found
