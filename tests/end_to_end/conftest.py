from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from tests.conftest import ROOT

PARTS = ("Snakefile", "config.yaml", "rules", "scripts", "toolcal", "schemas", "profiles", "presets", "report", "envs")
# Snakemake whose jobs run one after the other in its own process, with the very scripts that it writes for them. An
# end to end run spends most of its time on imports, of which every job has its own.
IN_ONE_PROCESS = """
import os, runpy, sys
from concurrent.futures import ThreadPoolExecutor
from snakemake.benchmark import benchmarked
from snakemake.cli import main
from snakemake.script import PythonScript

def execute(self, fname, edit=False):
    paths = list(sys.path)
    with benchmarked(os.getpid() if self.bench_record else False, self.bench_record), ThreadPoolExecutor(1) as pool:
        pool.submit(runpy.run_path, fname, run_name="__main__").result()  # a thread without an event loop
    sys.path[:] = paths  # a script adds those of the process that wrote it, so they would double with each

PythonScript.execute_script = execute
main()
"""


@dataclass
class Project:
    """A copy of the project, to be run and edited.

    `in_one_process` is for tests of what comes out; those of a job that fails or is killed need jobs apart.
    """

    folder: Path
    in_one_process: bool = False

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
        program = ["-c", IN_ONE_PROCESS, "--cores", "1"] if self.in_one_process else ["-m", "snakemake", "--cores", "2"]
        return subprocess.Popen(
            [sys.executable, *program, *arguments],
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
