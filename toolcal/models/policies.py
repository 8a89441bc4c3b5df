"""Scripted agents that read a case's gold: the known answers against which graders and metrics are checked.

Each goes through the same rollout as a language model. Their texts hold no question mark and no cue of another class.
All obey the system messages that probes append in a turn, and read nothing else of them than what they are told to do:
told not to call they abstain, told to make one call they go on where they stand in their script. A message that tells
neither changes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from toolcal.benchmarks.protocol import Benchmark, Case, Message, Tool
from toolcal.models.protocol import Reply, Request

ASK = "Please provide the missing value."
REFUSE = "None of the available tools can do this."
DONE = "The request is done."
HALF_DONE = "The first part of the request is done."

DO_NOT_CALL = "do not call any tool"
MAKE_A_CALL = "make exactly one call"
"""What they look for in an appended message, in lower case."""

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
        appended = [m["content"].lower() for m in request.messages[request.turn_start :] if m["role"] == "system"]
        if any(DO_NOT_CALL in text for text in appended):
            emission: str | list[Call] = _ABSTAIN.get(request.case.gold_actions[0], REFUSE)
        else:
            script = self._script(self._benchmark, request.case, request.turn)
            place = request.step + sum(MAKE_A_CALL in text for text in appended)
            emission = script[min(place, len(script) - 1)]
        message = _message(emission, request)
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


def halts_early(benchmark: Benchmark, case: Case, turn: int) -> Script:
    """As the oracle, but in the first turn in which gold calls it stops before the last of these calls."""
    first = next((number for number, calls in enumerate(case.gold) if calls), None)
    if turn != first or turn == case.decisive_turn:
        return oracle(benchmark, case, turn)
    calls: list[Call] = [*benchmark.reference_calls(case, turn)]
    rest: Script = [HALF_DONE, calls[-1:], DONE]
    return [calls[:-1], *rest] if calls[:-1] else rest


def calls_held_out(benchmark: Benchmark, case: Case, turn: int) -> Script:
    """As the oracle, but at the decisive turn it calls the held-out tool, as the next turn's gold does.

    Where that has no such call, it makes up the arguments.
    """
    held_out = [tool for arrives, tool in case.tools if arrives > turn]
    if turn != case.decisive_turn or not held_out:
        return oracle(benchmark, case, turn)
    names = {tool["function"]["name"] for tool in held_out}
    gold: list[Call] = [call for call in benchmark.reference_calls(case, turn + 1) if call[0] in names]
    return _calls(gold or [_made_up(held_out[0])])


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
    policy.__name__: policy
    for policy in (
        oracle,
        explore_first,
        guess_early,
        always_ask,
        always_refuse,
        silent,
        halts_early,
        calls_held_out,
    )
}


def _calls(calls: Sequence[Call]) -> Script:
    return [list(calls), DONE] if calls else [DONE]


def _read_only(benchmark: Benchmark, case: Case, turn: int) -> list[Call]:
    call = benchmark.read_only_call(case, turn)
    return [call] if call else []


_MADE_UP = {"integer": 1, "number": 1.0, "boolean": True, "array": [], "object": {}}


def _made_up(tool: Tool) -> Call:
    function = tool["function"]
    parameters = function["parameters"]
    types = {name: parameters["properties"][name].get("type") for name in parameters.get("required", ())}
    return function["name"], {name: _MADE_UP.get(kind, "made-up") for name, kind in types.items()}


def _message(emission: str | list[Call], request: Request) -> Message:
    if isinstance(emission, str):
        return {"role": "assistant", "content": emission}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": f"{request.call_ids}_{index}",
                "type": "function",
                "function": {"name": request.shown.get(name, name), "arguments": json.dumps(arguments)},
            }
            for index, (name, arguments) in enumerate(emission)
        ],
    }
