"""A job that is started over and over, as a fork of a process that has its imports: they take most of a start."""

from __future__ import annotations

import multiprocessing
import os
import runpy
from pathlib import Path

from toolcal import perturbations, rollout, runs, tables, unfinished  # noqa: F401
from toolcal.benchmarks import bfcl, case_table  # noqa: F401
from toolcal.models import source, sources  # noqa: F401
from toolcal.models.litellm_client import client

client()
_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload([__name__])


def _run(folder: Path, script: Path) -> None:
    os.chdir(folder)
    runpy.run_path(str(script), run_name="__main__")


def started(folder: Path, script: Path) -> multiprocessing.process.BaseProcess:
    """A process that runs in a project's folder a script as Snakemake left it there when it was killed."""
    process = _FORKS.Process(target=_run, args=(folder, script))
    process.start()
    return process
