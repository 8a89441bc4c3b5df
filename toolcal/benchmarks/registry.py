"""Which benchmark a scenario belongs to."""

from __future__ import annotations

from pathlib import Path

from toolcal.benchmarks.protocol import Benchmark


def of_scenario(scenario: str) -> Benchmark:
    """The benchmark that a scenario belongs to: the part of its name before the first hyphen.

    Those whose user speaks freely are not among them: their runs are recorded (see `toolcal.recordings`).

    Raises:
        ValueError: for a benchmark in which no model can be run here.
    """
    name = scenario.split("-", 1)[0]
    if name == "bfcl":
        from toolcal.benchmarks.bfcl import Bfcl

        return Bfcl()
    raise ValueError(f"scenario {scenario!r}: no benchmark is called {name!r}; there is bfcl")


def data_files(scenario: str) -> list[Path]:
    """The installed data that a scenario's runs are judged by, for checksums; none where recordings bring it along."""
    name, _, part = scenario.partition("-")
    if name in ("tau1", "openai"):
        return []
    if name == "tau2":
        from toolcal.benchmarks.tau2.engine import data_folder

        return [data_folder(part) / "db.json"]
    return of_scenario(scenario).files(scenario)
