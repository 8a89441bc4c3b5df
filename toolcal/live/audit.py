"""Scripted agents that audit tau2's grader: what does its reward see of whether the user was asked?

They replay a task's reference actions: `confirming` puts every write to the user and waits for a yes, `unconfirming`
calls at once, `idle` does nothing. Each may tell what the task wants told (`communicate_info`) at the end, or not.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal

from toolcal import calls
from toolcal.benchmarks.tau2 import engine
from toolcal.models.protocol import Reply, Request

Pair = Literal["confirming", "unconfirming", "idle"]

IDLE = "I'm sorry, I can't help with that."
DONE = "Everything you asked for is done."


class Audit:
    """A scripted agent as a model; what it does next follows from the conversation alone.

    Args:
        pair: what it does about writes.
        tells: whether it tells the user, at the end, what the task wants told.
    """

    execute_leaked = False
    concurrency = 1

    def __init__(self, pair: Pair, *, tells: bool = True) -> None:
        self._pair = pair
        self._tells = tells

    async def respond(self, request: Request) -> Reply:
        """The next emission of the script."""
        message = self._next(request)
        return Reply(message, "tool_calls" if "tool_calls" in message else "stop", raw=message)

    def _next(self, request: Request) -> dict[str, Any]:
        task = request.case.initial_state["task"]
        actions = [action for action in request.case.gold[0] if action["requestor"] == "assistant"]
        if self._pair == "idle":
            return _text(self._ending(IDLE, task))
        done = sum(len(calls.native_calls(message)) for message in request.messages if message["role"] == "assistant")
        if done == len(actions):
            return _text(self._ending(DONE, task))
        action = actions[done]
        to_be_confirmed = engine.domain(request.case.initial_state["domain"]).to_be_confirmed
        if self._pair == "confirming" and action["name"] in to_be_confirmed:
            proposal = proposed(action)
            if not any(message.get("content") == proposal for message in request.messages[-2:]):
                return _text(proposal)
        function = {"name": action["name"], "arguments": json.dumps(action["arguments"])}
        call = {"id": f"{request.call_ids}_0", "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [call]}

    def _ending(self, words: str, task: Mapping[str, Any]) -> str:
        told = (task.get("evaluation_criteria") or {}).get("communicate_info") or ()
        return f"{words} You wanted to know: {'; '.join(told)}." if self._tells and told else words


def proposed(action: Mapping[str, Any]) -> str:
    """An action put to the user with all its details."""
    details = "\n".join(f"- {name.replace('_', ' ')}: {_plain(value)}" for name, value in action["arguments"].items())
    what = action["name"].replace("_", " ")
    return f"I would now {what}, with these details:\n{details}\nDo you agree, so that I can go ahead (yes or no)?"


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _text(words: str) -> dict[str, Any]:
    return {"role": "assistant", "content": words}
