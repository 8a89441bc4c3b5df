"""tau2's own environment and evaluator, over databases that share with the domain's what no write has looked at.

Read once a process, not once a task: grading fifty runs takes about a second where it took more than a minute.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from toolcal.benchmarks.protocol import Case, ToolResult
from toolcal.benchmarks.tau2 import engine

with engine.quietly():
    from tau2.data_model.message import ToolCall, ToolMessage
    from tau2.data_model.simulation import RewardInfo, SimulationRun
    from tau2.data_model.tasks import Task
    from tau2.environment.environment import Environment
    from tau2.evaluator.evaluator import EvaluationType, evaluate_simulation
    from tau2.registry import registry

LONGEST_EXPRESSION = 500
"""Characters of an expression that `calculate` evaluates."""


class SharedEnvironment(Environment):  # type: ignore[misc]
    """tau2's environment of one run, and what each call did in it.

    Differs from tau2's own in three things: `calculate`, which evaluates Python, refuses powers and long expressions,
    which its description does not offer; nothing more is written once an entry has grown beyond all measure; and a
    database's hash is that of what the run changed in it.
    """

    def __init__(self, domain: engine.Domain) -> None:
        super().__init__(domain_name=domain.name, policy=domain.policy, tools=domain.toolkit())
        self._domain = domain
        self._state = domain.changes(self.tools.db)
        self.results: dict[str, ToolResult] = {}
        """By the call's id."""

    def use_tool(self, tool_name: str, **arguments: Any) -> Any:
        """Run one of the agent's tools; only those that write see entries that they may change."""
        if tool_name == "calculate":
            _check(arguments.get("expression"))
        if tool_name in self._domain.write_tools:
            if engine.too_large(self._state):
                raise ValueError(engine.TOO_LARGE.removeprefix("Error: "))
            return super().use_tool(tool_name, **arguments)
        with engine.read_only():
            return super().use_tool(tool_name, **arguments)

    def get_response(self, message: ToolCall) -> ToolMessage:
        """Run a call, and note what it did."""
        answer = super().get_response(message)
        now = self._domain.changes(self.tools.db) if message.name in self._domain.write_tools else self._state
        text = answer.content or ""
        self.results[message.id] = ToolResult(
            text,
            executed=not answer.error,
            state_changed=now != self._state,
            error=text.removeprefix("Error: ") if answer.error else None,
        )
        self._state = now
        return answer

    def get_db_hash(self) -> str:
        """Of the entries that differ from the domain's own: equal where the databases are."""
        changes = json.dumps(self._domain.changes(self.tools.db), sort_keys=True)
        return hashlib.sha256(changes.encode()).hexdigest()


def evaluate(domain: str, task: Mapping[str, Any], simulation: SimulationRun) -> RewardInfo:
    """tau2's own verdict on a run: all that its reward rests on.

    Args:
        domain: one of `engine.DOMAINS`.
        task: as tau2 writes it.
        simulation: the run, as tau2's orchestrator gives it.
    """
    return evaluate_simulation(
        simulation=simulation,
        task=Task.model_validate(task),
        evaluation_type=EvaluationType.ALL,
        solo_mode=False,
        domain=_registered(domain),
    )


def reference_results(case: Case) -> list[str]:
    """What the calls of a case's reference actions give, run one after the other."""
    environment = SharedEnvironment(engine.domain(case.initial_state["domain"]))
    made = [
        ToolCall(id=str(at), name=action["name"], arguments=action["arguments"], requestor=action["requestor"])
        for at, action in enumerate(case.gold[0])
    ]
    return [environment.get_response(call).content or "" for call in made]


@cache
def _registered(domain: str) -> str:
    """The name under which tau2's evaluator finds the environments of this module."""
    name = f"toolcal-{domain}"
    registry.register_domain(lambda solo_mode=False: SharedEnvironment(engine.domain(domain)), name)
    return name


def _check(expression: Any) -> None:
    if isinstance(expression, str) and ("**" in expression or len(expression) > LONGEST_EXPRESSION):
        raise ValueError("Invalid expression: only +, -, *, / of numbers, and not too long")
