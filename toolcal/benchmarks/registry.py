"""Which benchmark a scenario belongs to."""

from __future__ import annotations

from pathlib import Path

from toolcal.benchmarks.protocol import Benchmark, Case


def of_scenario(scenario: str) -> Benchmark:
    """The benchmark that a scenario belongs to, by the part of its name before the first hyphen.

    Those whose user speaks freely are not among them: `toolcal.live` holds their conversations.

    Raises:
        ValueError: for a benchmark whose users do not say the same in every run, or an unknown one.
    """
    name = scenario.split("-", 1)[0]
    if name == "bfcl":
        from toolcal.benchmarks.bfcl import Bfcl

        return Bfcl()
    raise ValueError(f"scenario {scenario!r}: no benchmark with fixed turns is called {name!r}; there is bfcl")


def cases(scenario: str, ask_tasks: str = "valid") -> list[Case]:
    """All installed cases of a scenario, in the benchmark's order.

    Args:
        scenario: of bfcl or tau2.
        ask_tasks: which of tau2's tasks have ASK as a gold action besides.

    Raises:
        ValueError: for a scenario of another benchmark.
    """
    name, _, part = scenario.partition("-")
    if name == "tau2":
        from toolcal.benchmarks.tau2 import cases as tau2

        return tau2.load(part, ask_tasks)
    return of_scenario(scenario).cases(scenario)


def data_files(scenario: str) -> list[Path]:
    """The installed data that a scenario's runs are judged by, for checksums; none where recordings bring it along."""
    name, _, part = scenario.partition("-")
    if name in ("tau1", "openai"):
        return []
    if name == "tau2":
        from toolcal.benchmarks.tau2.engine import data_folder

        return [data_folder(part) / file for file in ("db.json", "policy.md", "tasks.json")]
    return of_scenario(scenario).files(scenario)
