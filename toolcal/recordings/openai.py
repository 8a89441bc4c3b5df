"""The plain form for any other run: JSON lines, one conversation of OpenAI messages a line.

A record is an object:

- `case_id` (text), `messages` (list): needed. `trial` (count, 0).
- `tools`: OpenAI tools. `write_tools`: names of those that change something and want the user's yes; without it the run
  has no rows in table `writes`. `gold_actions`: action classes that the case calls for; without it the case has no GAR.
- `passed` (true or false) or `reward` (number; 1 is a pass): the verdict; without either there is none.
- `ended`: how the run ended, in tau2's words (`user_stop`, `agent_stop`, `max_steps`, `agent_error`,
  `too_many_errors`, `infrastructure_error`, ...).
- `cluster_id`: cases that share one are not independent.

A message is one of OpenAI's chat API; every tool result names its call by `tool_call_id`, and may tell in `failed` that
it is an error (without it, a text that begins with Error is one) and in `state_changed` that the call changed
something. An assistant's message may have `reasoning_content`, `finish_reason` and `usage`.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from toolcal import tables
from toolcal.benchmarks.protocol import Case, Message
from toolcal.recordings.chat import message_of
from toolcal.recordings.run import Odd, Recording, Run, Verdict, conversation, ended, kind, named, number, want, whole
from toolcal.recordings.stream import RecordingError


def read(path: Path, scenario: str) -> Recording:
    """Read a file, line by line.

    Args:
        path: the file.
        scenario: the scenario that its cases make up, e.g. openai-support.

    Raises:
        RecordingError: where the file cannot be opened.
    """
    recording = Recording(path)
    known: dict[str, dict[str, Any]] = {}
    try:
        with path.open("rb") as file:
            for number_, line in enumerate(file, 1):
                if line.strip():
                    _line(line, f"{path}, line {number_}", recording, known)
    except OSError as error:
        raise RecordingError(f"{path}: cannot be read ({error.strerror})") from None
    revision = (
        f"openai-cases-{hashlib.sha256(json.dumps(sorted(known.items()), sort_keys=True).encode()).hexdigest()[:16]}"
    )
    recording.cases = {case_id: _case(case_id, facts, scenario, revision) for case_id, facts in known.items()}
    return recording


def _line(line: bytes, where: str, recording: Recording, known: dict[str, dict[str, Any]]) -> None:
    try:
        try:
            record = json.loads(line, parse_constant=lambda _: None)
        except (ValueError, RecursionError):
            raise Odd("the record: not JSON" + ("" if line.endswith(b"\n") else ", perhaps cut off")) from None
        run, facts = _run(record)
        if known.setdefault(run.case_id, facts) != facts:
            raise Odd("tools, write_tools, gold_actions or cluster_id: not those of an earlier record of this case_id")
    except Odd as odd:
        recording.refuse(f"{where}, {odd}")
    else:
        recording.add(run, where)


def _run(record: Any) -> tuple[Run, dict[str, Any]]:
    if not isinstance(record, dict):
        raise Odd(f"the record: {kind(record)} where an object is due")
    case_id = named(want(record, "case_id", str, "text"), "case_id")
    trial = whole(record.get("trial", 0))
    if trial is None:
        raise Odd(f"trial: {kind(record['trial'])} where a count is due")
    tools, gold = record.get("tools", []), record.get("gold_actions", [])
    if not isinstance(tools, list) or not all(_is_tool(tool) for tool in tools):
        raise Odd("tools: not a list of OpenAI tools")
    writing = record.get("write_tools", [])
    if not isinstance(writing, list) or not all(isinstance(name, str) for name in writing):
        raise Odd("write_tools: not a list of names of tools")
    if not isinstance(gold, list) or not set(map(str, gold)) <= set(tables.ACTIONS):
        raise Odd(f"gold_actions: not a list of {', '.join(tables.ACTIONS)}")
    facts = {
        "tools": tools,
        "write_tools": writing,
        "gold_actions": gold,
        "cluster_id": str(record.get("cluster_id", case_id)),
    }
    return Run(case_id, trial, conversation(record.get("messages"), _message), _verdict(record)), facts


def _is_tool(tool: Any) -> bool:
    function = tool.get("function") if isinstance(tool, dict) else None
    return isinstance(function, dict) and isinstance(function.get("name"), str)


def _message(value: Any, last: bool, place: str) -> Message:
    message = message_of(value, last, place)
    if message["role"] == "tool" and "state_changed" in value:
        message["state_changed"] = want(value, "state_changed", bool, "true or false", place)
    return message


def _verdict(record: dict[str, Any]) -> Verdict:
    termination, passed, reward = record.get("ended"), record.get("passed"), record.get("reward")
    if termination is not None and not isinstance(termination, str):
        raise Odd(f"ended: {kind(termination)} where text is due")
    if passed is not None and not isinstance(passed, bool):
        raise Odd(f"passed: {kind(passed)} where true or false is due")
    if reward is not None and number(reward) is None:
        raise Odd(f"reward: {kind(reward)} where a number is due")
    score = number(reward) if passed is None else float(passed)
    try:
        return ended(termination, score)
    except Odd:
        return Verdict("not_graded", None)


def _case(case_id: str, facts: dict[str, Any], scenario: str, revision: str) -> Case:
    return Case(
        benchmark="openai",
        scenario=scenario,
        revision=revision,
        case_id=case_id,
        cluster_id=facts["cluster_id"],
        turns=(),
        tools=tuple((0, tool) for tool in facts["tools"]),
        initial_state={"write_tools": facts["write_tools"]},
        gold=(),
        gold_actions=tuple(facts["gold_actions"]),
        decisive_turn=None,
    )
