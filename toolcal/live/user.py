"""tau2's user, played by a model of the configuration or by a script."""

from __future__ import annotations

import re
from typing import Any

from toolcal import calls
from toolcal.actions import refined
from toolcal.benchmarks.protocol import Case
from toolcal.benchmarks.tau2 import engine
from toolcal.live.agent import Ask, NoAnswer
from toolcal.models.protocol import Reply, Request
from toolcal.rollout import seed_of

with engine.quietly():
    from tau2.data_model.message import UserMessage
    from tau2.data_model.tasks import Task
    from tau2.user.base import STOP, UserError
    from tau2.user.user_simulator import UserSimulator

YES = "Yes, please go ahead."
NO_MORE = "I have nothing more to tell you. Please do what you can."
MOST = 8
"""Messages of the scripted user in one conversation."""


class User(UserSimulator):  # type: ignore[misc]
    """tau2's user simulator, its guidelines and scenario as they are, played by a model.

    Args:
        case: the task.
        ask: puts a request to the model.
        trial: goes into the requests.
        seed: the run's seed.
    """

    def __init__(self, case: Case, ask: Ask, *, trial: int, seed: int) -> None:
        task = Task.model_validate(case.initial_state["task"])
        super().__init__(instructions=str(task.user_scenario))
        self._case = case
        self._ask = ask
        self._trial = trial
        self._seed = seed
        self.replies: list[Reply] = []

    def set_seed(self, seed: int) -> None:
        """Nothing: each request has a seed of its own."""

    def _generate_next_message(self, message: Any, state: Any) -> tuple[UserMessage, Any]:
        state.messages.append(message)
        said = [{"role": one.role, "content": one.content} for one in state.system_messages + state.flip_roles()]
        turn = len(self.replies)
        reply = self._ask(
            Request(
                case=self._case,
                trial=self._trial,
                turn=turn,
                step=0,
                attempt=0,
                messages=tuple(said),
                turn_start=len(said) - 1,
                tools=(),
                seed=seed_of(self._seed, self._case, self._trial, turn, 0, 0, who="user "),
            )
        )
        if reply.failure == "infra_error":
            raise NoAnswer(reply)
        text = calls.parse(reply.message, reply.finish_reason).text.strip()
        if reply.failure or not text:
            raise UserError(f"the user said nothing ({reply.failure or 'empty'})")
        self.replies.append(reply)
        answer = UserMessage(role="user", content=text, cost=0.0)
        state.messages.append(answer)
        return answer, state


class ScriptedUser(UserSimulator):  # type: ignore[misc]
    """A user without a model: tells its request, then what it knows, agrees to what is proposed, and then ends.

    What the agent wants is read by the labeller `refined`. Its words are those of the task's scenario, so it tells no
    fact that the scenario does not hold.

    Args:
        case: the task.
    """

    def __init__(self, case: Case) -> None:
        super().__init__(instructions="")
        self._request, self._known = _told(case.initial_state["task"].get("user_scenario"))

    def set_seed(self, seed: int) -> None:
        """Nothing: it does not draw."""

    def _generate_next_message(self, message: Any, state: Any) -> tuple[UserMessage, Any]:
        said = [one.content for one in state.messages if isinstance(one, UserMessage)]
        state.messages.append(message)
        answer = UserMessage(role="user", content=self._next(message.content or "", said), cost=0.0)
        state.messages.append(answer)
        return answer, state

    def _next(self, heard: str, said: list[str]) -> str:
        if not said:
            return self._request
        wanted = refined.read(heard).sub
        if len(said) >= MOST:
            return str(STOP)
        if "consent" in wanted:
            return YES
        if "information" in wanted:
            return self._known if self._known and self._known not in said else NO_MORE
        return str(STOP)


def _told(scenario: Any) -> tuple[str, str]:
    """The opening request and what the user knows, from a task's `user_scenario`, turned from "you" to "I"."""
    instructions = (scenario or {}).get("instructions") or ""
    if isinstance(instructions, str):
        return _own(instructions) or "I need help.", ""
    return _own(instructions.get("reason_for_call") or "") or "I need help.", _own(instructions.get("known_info") or "")


_PERSONS = (
    (r"\byou are\b", "I am"),
    (r"\byou were\b", "I was"),
    (r"\byou're\b", "I'm"),
    (r"\byou've\b", "I've"),
    (r"\byourself\b", "myself"),
    (r"\byours\b", "mine"),
    (r"\byour\b", "my"),
    (r"\byou\b", "I"),
)


def _own(text: str) -> str:
    """A scenario speaks of its user as "you"."""
    for pattern, word in _PERSONS:
        text = re.sub(pattern, word, text, flags=re.IGNORECASE)
    return text.strip()
