"""A recorded conversation in one form, whatever file it came from, and the checks that give it that form."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolcal.benchmarks.protocol import Case, Message

INFRASTRUCTURE = frozenset({"infrastructure_error", "unexpected_error"})
"""Ends that say nothing of the model: out of every rate, and counted beside it."""
ENDED = frozenset({"user_stop", "agent_stop"})
"""Ends that the parties chose."""
_BROKEN_OFF = {"max_steps": "step_limit", "context_exceeded": "context_exceeded"}
"""Ends before their time that have a status of their own; the last is none of tau2's."""


class Odd(ValueError):
    """A record that cannot be used, as `field: what is wrong`."""


@dataclass(frozen=True)
class Verdict:
    """What was recorded of how a run ended and was judged.

    `status` is that of the case (`tables.CASE_STATUSES`); `reason` is the recorded end where nobody chose it.
    """

    status: str
    passed: bool | None
    reason: str | None = None
    reward: float | None = None
    db_match: bool | None = None


@dataclass(frozen=True)
class Run:
    """One trial of one case.

    `messages` are OpenAI messages (system, user, assistant, tool). An assistant's has besides `measured`: a mapping of
    columns of the table `trajectories`; a tool's has `failed` (bool or None: not told). One that the benchmark's engine
    wrote in the agent's name has `canned`.

    `action_checks` are the recorded ones: whether each reference action was made; None where there are none.
    """

    case_id: str
    trial: int
    messages: tuple[Message, ...]
    verdict: Verdict
    action_checks: tuple[bool, ...] | None = None


class Recording:
    """All that a model's file holds of one scenario: the good runs, their cases, and a line for what was left out.

    Args:
        path: the file.
        cases: the scenario's cases by id, as far as the file embeds them for all runs alike.
    """

    def __init__(self, path: Path, cases: Mapping[str, Case] | None = None) -> None:
        self.path = path
        self.cases: dict[str, Case] = dict(cases or {})
        self.problems: list[str] = []
        self._runs: dict[tuple[str, int], Run] = {}

    @property
    def runs(self) -> list[Run]:
        """The good runs, in the file's order."""
        return list(self._runs.values())

    def add(self, run: Run, where: str) -> None:
        """Take a run in; of several with one key the first."""
        if (run.case_id, run.trial) in self._runs:
            self.refuse(f"{where}: case {run.case_id}, trial {run.trial} is there a second time; the first is kept")
        else:
            self._runs[run.case_id, run.trial] = run

    def drop(self, run: Run, problem: str) -> None:
        """Take a run out again, for this reason."""
        del self._runs[run.case_id, run.trial]
        self.refuse(problem)

    def refuse(self, problem: str) -> None:
        """Leave something out, for this reason: file, record, field, what is wrong."""
        self.problems.append(problem)


def ended(
    termination: str | None, reward: float | None, db_match: bool | None = None, place: str = "reward"
) -> Verdict:
    """The verdict from a run's recorded end and reward.

    A run passed with a reward of 1. One that ended before its time failed, whatever else is recorded of it; one that
    the infrastructure ended has no verdict.

    Args:
        termination: how it ended, in tau2's words; None where that is not told.
        reward: 0 to 1, None where there is none.
        db_match: the recorded check of the database.
        place: the reward's field.

    Raises:
        Odd: a run that came to its end, but has no reward.
    """
    if termination in INFRASTRUCTURE:
        return Verdict("infra_error", None, termination)
    chosen = termination is None or termination in ENDED
    if reward is None and chosen:
        raise Odd(f"{place}: is missing, so that nobody knows whether the run passed")
    passed = reward is not None and math.isclose(reward, 1, abs_tol=1e-6)
    if chosen:
        return Verdict("done", passed, None, reward, db_match)
    return Verdict(_BROKEN_OFF.get(str(termination), "premature"), passed, termination, reward, db_match)


def conversation(found: Any, message: Any, place: str = "messages") -> tuple[Message, ...]:
    """A record's messages, each brought into form, with every tool result belonging to a call.

    Args:
        found: what stands in the record.
        message: brings one message into form: a function of (value, whether it is the last, its place).
        place: the field's name.

    Raises:
        Odd: naming the field that is wrong.
    """
    if not isinstance(found, list) or not found:
        raise Odd(f"{place}: not a list of messages")
    messages = [message(value, at == len(found) - 1, f"{place}[{at}]") for at, value in enumerate(found)]
    waiting: dict[str, str] = {}
    for at, item in enumerate(messages):
        if item["role"] == "tool":
            if waiting.pop(item["tool_call_id"], None) is None:
                raise Odd(f"{place}[{at}]: a tool result without a call (id {item['tool_call_id']!r})")
            continue
        if waiting:
            raise Odd(f"{place}[{at}]: comes before the result of {', '.join(waiting.values())}")
        waiting = {}
        for call in item.get("tool_calls", ()):
            if call["id"] in waiting:
                raise Odd(f"{place}[{at}].tool_calls: two calls with the id {call['id']!r}")
            waiting[call["id"]] = call["function"]["name"]
    if not any(item["role"] == "assistant" for item in messages):
        raise Odd(f"{place}: no message is the assistant's")
    return tuple(messages)


def calls_of(found: Any, made: Callable[[dict[str, Any], str], tuple[str, str]], place: str) -> list[dict[str, Any]]:
    """A message's calls as OpenAI tool calls.

    Args:
        found: what stands in the message; null is none.
        made: tells a call's name and its arguments as JSON text: a function of (call, its place).
        place: the message's place.

    Raises:
        Odd: naming the field that is wrong.
    """
    if found is None:
        return []
    if not isinstance(found, list):
        raise Odd(f"{place}.tool_calls: {kind(found)} where a list is due")
    calls = []
    for at, call in enumerate(found):
        here = f"{place}.tool_calls[{at}]"
        if not isinstance(call, dict):
            raise Odd(f"{here}: {kind(call)} where a call is due")
        name, arguments = made(call, here)
        identity = want(call, "id", str, "text", here)
        calls.append({"id": identity, "type": "function", "function": {"name": name, "arguments": arguments}})
    return calls


def text_of(content: Any, place: str) -> str | None:
    """A message's content: text, null, or a list of text parts.

    Raises:
        Odd: for anything else.
    """
    if isinstance(content, list) and all(
        isinstance(part, dict) and isinstance(part.get("text"), str) for part in content
    ):
        return "".join(part["text"] for part in content)
    if content is not None and not isinstance(content, str):
        raise Odd(f"{place}.content: {kind(content)} where text is due")
    return content


def want(record: Mapping[str, Any], name: str, types: type | tuple[type, ...], words: str, place: str = "") -> Any:
    """A field of a record, of one of these types.

    Raises:
        Odd: it is missing or of another type.
    """
    at = f"{place}.{name}" if place else name
    if name not in record:
        raise Odd(f"{at}: is missing")
    value = record[name]
    wanted: Sequence[type] = types if isinstance(types, tuple) else (types,)
    if not isinstance(value, tuple(wanted)) or (isinstance(value, bool) and bool not in wanted):
        raise Odd(f"{at}: {kind(value)} where {words} is due")
    return value


def named(value: str, field: str) -> str:
    """The id of a case.

    Raises:
        Odd: it is blank, or has what is no character: half of one, or a control character.
    """
    if not value.strip() or any(unicodedata.category(sign) in ("Cc", "Cs") for sign in value):
        raise Odd(f"{field}: {value!a:.60} where an id of characters is due")
    return value


def measured(reasoning: Any, finish_reason: Any, usage: Any, **more: Any) -> dict[str, Any]:
    """What stands beside an answer, as keys of its message: reasoning, and `measured` with the tokens used and more."""
    usage = usage if isinstance(usage, dict) else {}
    return {
        "reasoning_content": reasoning if isinstance(reasoning, str) else None,
        "measured": {
            "finish_reason": finish_reason if isinstance(finish_reason, str) else None,
            "prompt_tokens": whole(usage.get("prompt_tokens")),
            "completion_tokens": whole(usage.get("completion_tokens")),
            **more,
        },
    }


def number(value: Any) -> float | None:
    """A finite number, else None."""
    known = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if known else None


def whole(value: Any) -> int | None:
    """A count, else None."""
    found = number(value)
    return int(found) if found is not None and found == int(found) and 0 <= found < 2**53 else None


def kind(value: Any) -> str:
    """A JSON value's type in words."""
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", int: "a number", float: "a number"}
    return names.get(type(value), "null")
