"""One conversation: tau2's orchestrator with its parties, and tau2's verdict on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolcal import rollout
from toolcal.benchmarks.protocol import Case
from toolcal.benchmarks.tau2 import engine
from toolcal.benchmarks.tau2.environment import SharedEnvironment, evaluate
from toolcal.confidence.turn import TurnQuestion
from toolcal.live.agent import Agent, Ask, NoAnswer
from toolcal.live.user import ScriptedUser, User
from toolcal.models.protocol import Reply
from toolcal.perturbations.context import Context
from toolcal.recordings import tau2
from toolcal.recordings.run import Run

with engine.quietly():
    from tau2.agent.base import AgentError
    from tau2.data_model.simulation import TerminationReason
    from tau2.data_model.tasks import Task
    from tau2.orchestrator.orchestrator import Orchestrator
    from tau2.user.base import UserError


_ENDS: Mapping[str, str] = {"infra_error": "infrastructure_error", "context_exceeded": "context_exceeded"}
"""What a model gave instead of an answer -> the end of the run, in the words of `recordings.run`."""


@dataclass(frozen=True)
class Limits:
    """When tau2 breaks off a conversation: after so many messages, or so many failed calls."""

    max_steps: int = 100
    max_errors: int = 10


@dataclass(frozen=True)
class Held:
    """A conversation that was held.

    `run` is what a recording of it would be; `rows`, `events` and `confidences` are of the tables `trajectories`,
    `probe_events` and `turn_confidence`, and lack the cell's, the case's and the trial's columns.
    """

    run: Run
    rows: list[dict[str, Any]]
    events: list[dict[str, Any]]
    confidences: list[dict[str, Any]]


def hold(
    case: Case,
    context: Context,
    agent: Ask,
    user: Ask | None,
    *,
    trial: int,
    seed: int,
    limits: Limits,
    execute_leaked: bool = False,
    question: TurnQuestion | None = None,
) -> Held:
    """Hold a conversation about a task, and judge it.

    Args:
        case: the task.
        context: what the agent's model reads of it.
        agent: puts a request to the agent's model.
        user: puts one to the user's model; None for the scripted user.
        trial: which repetition.
        seed: the run's seed.
        limits: when it is broken off.
        execute_leaked: whether calls that leaked into the agent's text are executed.
        question: asks the agent's model for a confidence after each turn; None asks for none.

    Raises:
        Odd: tau2's account of the run is not as expected.
    """
    domain = case.initial_state["domain"]
    environment = SharedEnvironment(engine.domain(domain))
    played = Agent(
        case,
        context,
        agent,
        environment.results,
        trial=trial,
        seed=seed,
        execute_leaked=execute_leaked,
        question=question,
    )
    run = _Conversation(
        domain=domain,
        agent=played,
        user=ScriptedUser(case) if user is None else User(case, user, trial=trial, seed=seed),
        environment=environment,
        task=Task.model_validate(case.initial_state["task"]),
        max_steps=limits.max_steps,
        max_errors=limits.max_errors,
    )
    simulation = run.run()
    record = simulation.model_dump(mode="json") | {"trial": trial}
    if run.broke_off:
        record["termination_reason"] = _ENDS[str(run.broke_off.failure)]
    else:
        record["reward_info"] = evaluate(domain, case.initial_state["task"], simulation).model_dump(mode="json")
    recorded = tau2.run_of(record, {case.case_id: case})
    rows = [_greeting(recorded), *played.rows()]
    if run.broke_off and rows[-1]["status"] != run.broke_off.failure:  # it was the user's model
        turn, step, attempt = (rows[-1][name] for name in ("turn", "step", "attempt"))
        rows.append(rollout.row(turn, step, run.broke_off, "infra_error", [], attempt=attempt + 1))
    return Held(recorded, rows, played.events, played.confidences)


def _greeting(run: Run) -> dict[str, Any]:
    """The row of tau2's greeting."""
    said = Reply({"role": "assistant", "content": run.messages[0]["content"]})
    return rollout.row(0, 0, said, "ok", []) | {"origin": "benchmark"}


class _Conversation(Orchestrator):  # type: ignore[misc]
    """tau2's orchestrator, which ends a conversation in which a party has nothing to say instead of failing."""

    broke_off: Reply | None = None
    """What a party's model gave instead of an answer."""

    def step(self) -> None:
        try:
            super().step()
        except AgentError:
            self._end(TerminationReason.AGENT_ERROR)
        except UserError:
            self._end(TerminationReason.USER_ERROR)
        except NoAnswer as failure:
            self.broke_off = failure.reply
            self._end(TerminationReason.AGENT_ERROR)

    def _end(self, reason: Any) -> None:
        self.done = True
        self.termination_reason = reason
