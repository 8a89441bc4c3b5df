"""tau2-bench `Results` files: tasks, and simulations with their messages and rewards."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from toolcal.benchmarks.protocol import Case, Message
from toolcal.benchmarks.tau2.cases import TaskError, case_of, checksum
from toolcal.recordings import stream
from toolcal.recordings.run import (
    Odd,
    Recording,
    Run,
    calls_of,
    conversation,
    ended,
    kind,
    measured,
    number,
    text_of,
    want,
    whole,
)
from toolcal.recordings.stream import CutOff, RecordingError

_CHOSEN = ("agent_stop", "user_stop")


def domain_of(path: Path) -> str | None:
    """The domain of a `Results` file, None where it is none."""
    try:
        for key, _, value in stream.items(path):
            if key == "info":
                environment = value.get("environment_info") if isinstance(value, dict) else None
                name = environment.get("domain_name") if isinstance(environment, dict) else None
                return name if isinstance(name, str) else None
    except (CutOff, RecordingError):
        return None
    return None


def read(path: Path, domain: str, ask_subset: str = "valid") -> Recording:
    """Read a `Results` file, simulation by simulation.

    Args:
        path: the file.
        domain: its domain, e.g. airline.
        ask_subset: which tasks have ASK as a gold action besides, one of `cases.ASK_SUBSETS`.

    Raises:
        RecordingError: where the file has no tasks that its simulations could be judged by.
    """
    recording = Recording(path)
    recording.cases = _cases(path, domain, ask_subset, recording)
    if not recording.cases:
        raise RecordingError(f"{path}: has no tasks to judge by; a Results file of tau2 embeds them")
    try:
        for key, index, value in stream.items(path):
            if key != "simulations":
                continue
            where = f"{path}, simulations[{index}]"
            try:
                run = run_of(value, recording.cases)
            except Odd as odd:
                task = value.get("task_id") if isinstance(value, dict) else None
                recording.refuse(f"{where}" + ("" if task is None else f" (task {task})") + f", {odd}")
            else:
                recording.add(run, where)
    except CutOff as cut:
        recording.refuse(f"{path}: {cut} after {len(recording.runs)} good simulations")
    return recording


def _cases(path: Path, domain: str, ask_subset: str, recording: Recording) -> dict[str, Case]:
    tasks = []
    try:
        for key, index, value in stream.items(path):
            if key == "tasks":
                if isinstance(value, dict):
                    tasks.append((index, value))
                else:
                    recording.refuse(f"{path}, tasks[{index}]: {kind(value)} where an object is due")
            elif tasks:
                break  # the rest is large
    except CutOff:
        pass  # told when the simulations are read
    revision = checksum(task for _, task in tasks)
    cases: dict[str, Case] = {}
    for index, task in tasks:
        try:
            case = case_of(task, domain, revision, ask_subset)
        except TaskError as error:
            recording.refuse(f"{path}, tasks[{index}], {error}")
            continue
        if cases.setdefault(case.case_id, case) is not case:
            recording.refuse(f"{path}, tasks[{index}], id: task {case.case_id} is there a second time")
    return cases


def run_of(record: Any, cases: Mapping[str, Case]) -> Run:
    """A simulation, as tau2 writes it.

    Args:
        record: the simulation.
        cases: the cases by id.

    Raises:
        Odd: naming the field that is wrong.
    """
    if not isinstance(record, dict):
        raise Odd(f"the record: {kind(record)} where an object is due")
    case_id = str(want(record, "task_id", (str, int), "text"))
    if case_id not in cases:
        raise Odd(f"task_id: no usable task {case_id} is embedded in the file")
    trial = record.get("trial")
    if trial is not None and whole(trial) is None:
        raise Odd(f"trial: {kind(trial)} where a count is due")
    termination = record.get("termination_reason")
    if termination is not None and not isinstance(termination, str):
        raise Odd(f"termination_reason: {kind(termination)} where text is due")
    reward, db_match = _reward(record.get("reward_info"))
    verdict = ended(termination, reward, db_match, "reward_info")
    cut_short = termination is not None and termination not in _CHOSEN
    messages = conversation(record.get("messages"), partial(_message, cut_short=cut_short))
    checks = _action_checks(record.get("reward_info"))
    return Run(case_id, whole(trial) or 0, tuple(_greeting_told(messages)), verdict, checks)


def _greeting_told(messages: Iterable[Message]) -> Iterator[Message]:
    """tau2 opens each conversation with a fixed greeting in the agent's name, which no model wrote."""
    opening = True
    for message in messages:
        opening = opening and message["role"] != "user"
        canned = opening and message["role"] == "assistant" and not message.get("tool_calls")
        yield message | {"canned": True} if canned else message


def _action_checks(info: Any) -> tuple[bool, ...] | None:
    """Whether each reference action was made, as recorded; a run that broke off has none."""
    checks = info.get("action_checks") if isinstance(info, dict) else None
    if checks is None:
        return None
    if not isinstance(checks, list):
        raise Odd(f"reward_info.action_checks: {kind(checks)} where a list is due")
    for at, check in enumerate(checks):
        if not isinstance(check, dict) or not isinstance(check.get("action_match"), bool):
            raise Odd(f"reward_info.action_checks[{at}].action_match: neither true nor false")
    return tuple(check["action_match"] for check in checks)


def _reward(info: Any) -> tuple[float | None, bool | None]:
    if info is None:
        return None, None
    if not isinstance(info, dict):
        raise Odd(f"reward_info: {kind(info)} where an object is due")
    reward = number(info.get("reward"))
    if reward is None:
        raise Odd(f"reward_info.reward: {kind(info.get('reward'))} where a number is due")
    check = info.get("db_check")
    if check is None:
        return reward, None
    if not isinstance(check, dict) or not isinstance(check.get("db_match"), bool):
        raise Odd("reward_info.db_check.db_match: neither true nor false")
    return reward, check["db_match"]


def _message(value: Any, last: bool, place: str, *, cut_short: bool) -> Message:
    if not isinstance(value, dict):
        raise Odd(f"{place}: {kind(value)} where a message is due")
    role, content = value.get("role"), text_of(value.get("content"), place)
    if role == "tool":
        failed = value.get("error", False)
        if not isinstance(failed, bool):
            raise Odd(f"{place}.error: {kind(failed)} where true or false is due")
        call = want(value, "id", str, "the id of a call", place)
        return {"role": "tool", "tool_call_id": call, "content": content or "", "failed": failed}
    if role not in ("system", "user", "assistant"):
        raise Odd(f"{place}.role: {role!r} is no role of a message")
    calls = calls_of(value.get("tool_calls"), _made, place)
    # tau2 lets no message pass that is empty; a run may end with one.
    if role != "system" and not calls and not (content or "").strip() and not (last and cut_short):
        raise Odd(f"{place}: neither content nor calls")
    message: Message = {"role": role, "content": content} | ({"tool_calls": calls} if calls else {})
    return message | _measured(value) if role == "assistant" else message


def _made(call: dict[str, Any], place: str) -> tuple[str, str]:
    name = want(call, "name", str, "text", place)
    return name, json.dumps(want(call, "arguments", dict, "an object", place))


def _measured(value: Mapping[str, Any]) -> dict[str, Any]:
    """What stands beside an answer, and the answer as it came but for the endpoint's copy of it."""
    raw = value.get("raw_data")
    raw = raw if isinstance(raw, dict) else {}
    told = raw.get("message")
    told = told if isinstance(told, dict) else {}
    return measured(
        value.get("reasoning") or told.get("reasoning_content"),
        raw.get("finish_reason"),
        value.get("usage"),
        latency=number(value.get("generation_time_seconds")),
        cost=number(value.get("cost")) or None,  # tau2 writes 0 where it knows no price
        raw={key: item for key, item in value.items() if key != "raw_data"},
    )
