"""What a benchmark is to the workflow: cases, an environment to run calls in, and a grader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

Message = dict[str, Any]
"""An OpenAI chat message."""
Tool = dict[str, Any]
"""An OpenAI tool: {"type": "function", "function": {"name", "description", "parameters": JSON Schema}}."""

NO_RESULT = "no result was recorded"
"""The error of a recorded call with which the run broke off."""


@dataclass(frozen=True)
class Case:
    """One benchmark conversation: what the model reads, and what is right."""

    benchmark: str
    scenario: str
    revision: str
    case_id: str
    cluster_id: str
    turns: tuple[tuple[Message, ...], ...]
    """User messages by turn; empty where the user speaks freely, so that the run alone has turns."""
    tools: tuple[tuple[int, Tool], ...]
    """(turn at which it arrives, tool)."""
    initial_state: Mapping[str, Any]
    gold: tuple[tuple[Any, ...], ...]
    gold_actions: tuple[str, ...]
    decisive_turn: int | None
    excluded_turns: tuple[int, ...] = ()
    system: str | None = None
    """The benchmark's own system message; None where it has none, or a recording does not tell it."""

    def tools_at(self, turn: int) -> list[Tool]:
        """The tools that the model is given in this turn."""
        return [tool for arrives, tool in self.tools if arrives <= turn]


@dataclass(frozen=True)
class ToolResult:
    """What one call did.

    `error` says why a call was not executed or what it raised; `result` is what the model reads either way.
    """

    result: str
    executed: bool
    state_changed: bool = False
    error: str | None = None


class Environment(Protocol):
    """The simulators of one run of one case."""

    def execute(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Run the method `name` with JSON arguments; an unknown name is not executed. Never raises for model input."""
        ...


@dataclass(frozen=True)
class Emission:
    """One model response of a trajectory as the grader needs it: the calls that went to the environment."""

    turn: int
    status: str
    calls: tuple[tuple[str, Mapping[str, Any]], ...] = ()


@dataclass(frozen=True)
class Grade:
    """The verdict on one run of one case; the fields are the columns of the table `grades`."""

    status: str
    passed: bool | None
    passed_strict: bool | None
    reason: str | None = None
    reason_strict: str | None = None
    detail: str | None = None
    turn_checks: list[dict[str, bool | None]] = field(default_factory=list)
    differences: list[dict[str, str | None]] = field(default_factory=list)


class Benchmark(Protocol):
    """A benchmark behind one face, whose users say the same in every run."""

    name: str
    step_limit: int
    """A turn's calling emission with this 0-based index ends the case (after its calls ran)."""

    @property
    def revision(self) -> str:
        """The data set's revision."""

    def cases(self, scenario: str) -> list[Case]:
        """All cases of a scenario, in the benchmark's order."""

    def files(self, scenario: str) -> list[Path]:
        """The data files of a scenario, for checksums."""

    def environment(self, case: Case) -> Environment:
        """Fresh simulators in the case's initial state."""

    def grade(self, case: Case, trajectory: Sequence[Emission]) -> Grade:
        """The official and the strict verdict."""

    def reference_calls(self, case: Case, turn: int) -> list[tuple[str, dict[str, Any]]]:
        """A turn's gold calls as (name, arguments), for scripted policies."""

    def read_only_call(self, case: Case, turn: int) -> tuple[str, dict[str, Any]] | None:
        """A call of this turn's tools that changes nothing, for scripted policies."""
