"""Snakemake, or a job's script, as a fork of a process that has made the imports: they take most of a short run.

That process has what toolcal stands on, but not toolcal, which each fork takes from its project's folder.
"""

from __future__ import annotations

import multiprocessing
import os
import runpy
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.process import BaseProcess
from pathlib import Path

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["tests.end_to_end.imported"])


def script(folder: Path, path: Path) -> BaseProcess:
    """A process that runs in a project's folder a script as Snakemake left it there when it was killed."""
    return _started(_script, folder, path)


def snakemake(folder: Path, arguments: Sequence[str], environment: Mapping[str, str], output: Path) -> BaseProcess:
    """Snakemake in a project's folder, whose jobs run one after the other in its own process.

    They run the very scripts that it writes for them.

    Args:
        output: file of what it prints.
    """
    return _started(_snakemake, folder, list(arguments), dict(environment), output)


def _started(work, *arguments) -> BaseProcess:
    process = _FORKS.Process(target=work, args=arguments)
    process.start()
    return process


def _script(folder: Path, path: Path) -> None:
    _go_to(folder)
    runpy.run_path(str(path), run_name="__main__")


def _snakemake(folder: Path, arguments: list[str], environment: dict[str, str], output: Path) -> None:
    from snakemake.benchmark import benchmarked
    from snakemake.cli import main
    from snakemake.script import PythonScript

    def execute(self, fname, edit=False):
        paths = list(sys.path)
        with benchmarked(os.getpid() if self.bench_record else False, self.bench_record), ThreadPoolExecutor(1) as pool:
            pool.submit(runpy.run_path, fname, run_name="__main__").result()  # a thread without an event loop
        sys.path[:] = paths  # a script adds those of the process that wrote it, so they would double with each

    os.setsid()
    os.environ.clear()
    os.environ.update(environment)
    with output.open("wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    _go_to(folder)
    PythonScript.execute_script = execute
    main(arguments)


def _go_to(folder: Path) -> None:
    os.chdir(folder)
    sys.path.insert(0, str(folder))
