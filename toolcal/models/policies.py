"""Scripted agents that read a case's gold: the known answers against which graders and metrics are checked.

Each goes through the same rollout as a language model. Their texts hold no question mark and no cue of another class.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from toolcal.benchmarks.protocol import Benchmark, Case, Message
from toolcal.models.protocol import Reply, Request

ASK = "Please provide the missing value."
REFUSE = "None of the available tools can do this."
DONE = "The request is done."

Call = tuple[str, Mapping[str, Any]]
Script = list[str | list[Call]]
"""What a policy emits in one turn: texts, and lists of calls made in one emission."""

_ABSTAIN = {"ASK": ASK, "REFUSE": REFUSE}


class Policy:
    """A scripted agent as a model."""

    execute_leaked = False
    concurrency = 1

    def __init__(self, name: str, benchmark: Benchmark) -> None:
        """Take a policy by its name in `POLICIES`."""
        self._script = POLICIES[name]
        self._benchmark = benchmark

    async def respond(self, request: Request) -> Reply:
        """The turn's next scripted emission; the last one again where the script is at its end."""
        script = self._script(self._benchmark, request.case, request.turn)
        message = _message(script[min(request.step, len(script) - 1)], request)
        return Reply(message, "tool_calls" if "tool_calls" in message else "stop", raw=message)


def oracle(benchmark: Benchmark, case: Case, turn: int) -> Script:
    """The gold calls; at the decisive turn it asks or refuses, as gold has it."""
    if turn == case.decisive_turn:
        return [_ABSTAIN[case.gold_actions[0]]]
    return _calls(benchmark.reference_calls(case, turn))


def explore_first(benchmark: Benchmark, case: Case, turn: int) -> Script:
    """The gold calls, and a read-only call in every turn where gold makes none."""
    if not case.gold[turn]:
        return _calls(_read_only(benchmark, case, turn))
    return _calls(benchmark.reference_calls(case, turn))


def guess_early(benchmark: Benchmark, case: Case, turn: int) -> Script:
    """The gold calls, but the next turn's already in a turn where gold makes none, and a read-only call in their place.

    A policy that guesses what the user withholds, and is right.
    """
    if not case.gold[turn]:
        return _calls(benchmark.reference_calls(case, turn + 1) if turn + 1 < len(case.gold) else [])
    if turn and not case.gold[turn - 1]:
        return _calls(_read_only(benchmark, case, turn))
    return _calls(benchmark.reference_calls(case, turn))


def always_ask(benchmark: Benchmark, case: Case, turn: int) -> Script:
    """Asks for a value in every turn."""
    return [ASK]


def always_refuse(benchmark: Benchmark, case: Case, turn: int) -> Script:
    """Refuses in every turn."""
    return [REFUSE]


def silent(benchmark: Benchmark, case: Case, turn: int) -> Script:
    """Says nothing and calls nothing."""
    return [""]


POLICIES: dict[str, Callable[[Benchmark, Case, int], Script]] = {
    policy.__name__: policy for policy in (oracle, explore_first, guess_early, always_ask, always_refuse, silent)
}


def _calls(calls: Sequence[Call]) -> Script:
    return [list(calls), DONE] if calls else [DONE]


def _read_only(benchmark: Benchmark, case: Case, turn: int) -> list[Call]:
    call = benchmark.read_only_call(case, turn)
    return [call] if call else []


def _message(emission: str | list[Call], request: Request) -> Message:
    if isinstance(emission, str):
        return {"role": "assistant", "content": emission}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": f"call_{request.turn}_{request.step}_{index}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments)},
            }
            for index, (name, arguments) in enumerate(emission)
        ],
    }
