"""The writes to be judged, each with the conversation before it as the judge reads it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from toolcal import tables
from toolcal.benchmarks.protocol import Message
from toolcal.writes.conversation import by_run, conversation, run_of, shortened
from toolcal.writes.talk import calls_of, window, words

WRITE = (*tables.EMISSION, "call")
"""The columns that name a write."""

LENGTH = 1500
"""Characters that are shown of a message before the call, and of the arguments of other calls."""

_ROLES = {"assistant": "agent", "user": "user", "tool": "tool"}


@dataclass(frozen=True)
class Item:
    """A write: its values of the columns `WRITE`, the run's messages, and where among them it was made."""

    key: Mapping[str, Any]
    tool: str
    arguments: Any
    messages: Sequence[Message]
    place: int

    @property
    def shown(self) -> dict[int, str]:
        """The messages before the call that the judge reads: place -> role (user, agent or tool).

        Ten, and further back where fewer than six of them have words of user or agent; no system message.
        """
        places = range(window(self.messages, self.place), self.place)
        return {at: _ROLES[self.messages[at]["role"]] for at in places if self.messages[at]["role"] in _ROLES}

    def record(self) -> str:
        """What the judge reads: a JSON object a line, without a < or > that could end what it is put between."""
        own = self.messages[self.place]
        beside = [call for at, call in enumerate(calls_of(self.messages, self.place)) if at != self.key["call"]]
        write = {
            "message": self.place,
            "role": "agent",
            "text_beside": words(own) or None,
            "calls_beside": [_call(call.name, call.arguments) for call in beside],
            "call": {"tool": self.tool, "arguments": self.arguments},
        }
        return "\n".join(map(_line, [*(self._before(at, role) for at, role in self.shown.items()), write]))

    def _before(self, at: int, role: str) -> dict[str, Any]:
        message = self.messages[at]
        view: dict[str, Any] = {"message": at, "role": role, "text": shortened(words(message), LENGTH)}
        if message.get("tool_calls"):
            view["calls"] = [_call(*_named(call)) for call in message["tool_calls"]]
        return view | ({"failed": True} if message.get("failed") else {})


def items(writes: pd.DataFrame, trajectories: pd.DataFrame, user_messages: pd.DataFrame) -> list[Item]:
    """The writes that need the user's yes, in the order of their key.

    Args:
        writes: table `writes` of a model.
        trajectories: its table `trajectories`, in the order of its key.
        user_messages: its table `user_messages`, in the order of its key.
    """
    emissions, heard = by_run(trajectories), by_run(user_messages)
    asked = tables.records(writes[writes["to_be_confirmed"].astype(bool)].sort_values(list(WRITE)))
    runs = dict.fromkeys(run_of(row) for row in asked)
    spoken = {run: conversation(emissions[run], heard.get(run, []))[0] for run in runs}
    return [
        Item(
            {column: row[column] for column in WRITE},
            row["tool"],
            json.loads(row["arguments"]),
            spoken[run_of(row)],
            row["place"],
        )
        for row in asked
    ]


def _named(call: Any) -> tuple[str, Any]:
    """Name and arguments of a tool call, of the user's too, whatever its form."""
    function = call.get("function", call) if isinstance(call, Mapping) else {}
    function = function if isinstance(function, Mapping) else {}
    return str(function.get("name")), function.get("arguments")


def _call(name: str, arguments: Any) -> str:
    given = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return f"{name}({shortened(given, LENGTH)})"


def _line(view: Mapping[str, Any]) -> str:
    text = json.dumps(view, ensure_ascii=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e")
