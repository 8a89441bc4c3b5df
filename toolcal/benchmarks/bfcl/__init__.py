"""BFCL's multi-turn categories (Berkeley Function Calling Leaderboard, version 4) behind the benchmark protocol."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from toolcal.benchmarks.bfcl import cases as _cases
from toolcal.benchmarks.bfcl import grading as _grading
from toolcal.benchmarks.bfcl.simulators import Simulators
from toolcal.benchmarks.protocol import Case, Emission, Grade


class Bfcl:
    """The benchmark `bfcl`; its scenarios are `bfcl-<category>`."""

    name = "bfcl"
    step_limit = _grading.STEP_LIMIT

    @property
    def revision(self) -> str:
        """Package and version of the data."""
        return _cases.revision()

    def cases(self, scenario: str) -> list[Case]:
        """The 200 cases of a scenario, in the benchmark's order."""
        return _cases.load(scenario.removeprefix("bfcl-"))

    def files(self, scenario: str) -> list[Path]:
        """The data files of a scenario, for checksums."""
        return _cases.data_files(scenario.removeprefix("bfcl-"))

    def environment(self, case: Case) -> Simulators:
        """Fresh simulators in the case's initial state."""
        return Simulators(case)

    def grade(self, case: Case, trajectory: Sequence[Emission]) -> Grade:
        """BFCL's verdict and the strict one."""
        return _grading.grade(case, trajectory)

    def reference_calls(self, case: Case, turn: int) -> list[tuple[str, dict[str, Any]]]:
        """A turn's gold calls as (name, arguments); positional ones get their parameter's name."""
        methods = Simulators(case).methods
        calls = []
        for text in case.gold[turn]:
            node = ast.parse(text, mode="eval").body
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
                raise _cases.BenchmarkError(f"{case.case_id}: the reference {text!r} is not a call")
            values = [ast.literal_eval(argument) for argument in node.args]
            arguments = dict(zip(inspect.signature(methods[node.func.id]).parameters, values, strict=False))
            arguments |= {str(item.arg): ast.literal_eval(item.value) for item in node.keywords}
            calls.append((node.func.id, arguments))
        return calls

    def read_only_call(self, case: Case, turn: int) -> tuple[str, dict[str, Any]] | None:
        """A call of this turn's tools that changes nothing, or None where there is no such tool."""
        return Simulators(case).read_only_call(case.tools_at(turn))
