"""tau-bench v1: a JSON list of runs, each with its task, trajectory and reward.

Its tasks and databases are older than those of tau2's engine, so that nothing is replayed: a run is judged by its
recorded reward. Its tools are not in the file; the cases have those that it shows, by name.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from toolcal.benchmarks.protocol import Case
from toolcal.benchmarks.tau2.cases import gold_actions
from toolcal.recordings import stream
from toolcal.recordings.chat import message_of
from toolcal.recordings.run import Odd, Recording, Run, Verdict, conversation, ended, kind, named, number, want, whole
from toolcal.recordings.stream import CutOff, RecordingError

_POLICY = re.compile(r"\b(airline|retail) agent policy", re.IGNORECASE)


def domain_of(path: Path) -> str | None:
    """The domain of a file, told by its first runs' policy; None where it is no such file."""
    try:
        for key, index, value in stream.items(path):
            if key or index is None or index > 20:
                return None
            trajectory = value.get("traj") if isinstance(value, dict) else None
            first = trajectory[0] if isinstance(trajectory, list) and trajectory else None
            found = _POLICY.search(str(first.get("content"))) if isinstance(first, dict) else None
            if found:
                return found[1].lower()
    except (CutOff, RecordingError):
        return None
    return None


def read(path: Path, domain: str) -> Recording:
    """Read a file, run by run.

    Args:
        path: the file.
        domain: airline or retail.
    """
    recording = Recording(path)
    tasks: dict[str, dict[str, Any]] = {}
    try:
        for key, index, value in stream.items(path):
            where = f"{path}, record {index}"
            if key:
                raise RecordingError(f"{path}: an object where tau-bench writes a list of runs")
            try:
                run, task = _run(value)
                if task is not None and tasks.setdefault(run.case_id, task) != task:
                    raise Odd("info.task: is not the one that an earlier record has for this task_id")
            except Odd as odd:
                task_id = value.get("task_id") if isinstance(value, dict) else None
                recording.refuse(where + ("" if task_id is None else f" (task {task_id})") + f", {odd}")
            else:
                recording.add(run, where)
    except CutOff as cut:
        recording.refuse(f"{path}: {cut} after {len(recording.runs)} good records")
    for run in recording.runs:
        if run.case_id not in tasks:
            recording.drop(run, f"{path} (task {run.case_id}), info.task: is missing, so that its gold is unknown")
    recording.cases = _cases(tasks, domain, recording)
    return recording


def _run(record: Any) -> tuple[Run, dict[str, Any] | None]:
    if not isinstance(record, dict):
        raise Odd(f"the record: {kind(record)} where an object is due")
    case_id = named(str(want(record, "task_id", (int, str), "a number")), "task_id")
    trial = whole(record.get("trial", 0))
    if trial is None:
        raise Odd(f"trial: {kind(record['trial'])} where a count is due")
    info = want(record, "info", dict, "an object")
    task = info.get("task")
    if task is not None:
        _check_task(task)
    if "error" in info:  # tau-bench notes what its own code ran into, with a reward of 0
        return Run(case_id, trial, (), Verdict("infra_error", None, _first_line(info["error"]))), task
    verdict = ended(None, number(record.get("reward")))
    return Run(case_id, trial, conversation(record.get("traj"), message_of, "traj"), verdict), task


def _check_task(task: Any) -> None:
    if not isinstance(task, dict):
        raise Odd(f"info.task: {kind(task)} where an object is due")
    for at, action in enumerate(want(task, "actions", list, "a list", "info.task")):
        place = f"info.task.actions[{at}]"
        if not isinstance(action, dict):
            raise Odd(f"{place}: {kind(action)} where an object is due")
        want(action, "name", str, "text", place)
        want(action, "kwargs", dict, "an object", place)


def _first_line(error: Any) -> str:
    return (str(error).strip().splitlines() or ["error"])[0][:200]


def _cases(tasks: dict[str, dict[str, Any]], domain: str, recording: Recording) -> dict[str, Case]:
    text = json.dumps(sorted(tasks.items()), sort_keys=True)
    revision = f"tau1-tasks-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    called = {
        call["function"]["name"] for run in recording.runs for m in run.messages for call in m.get("tool_calls", ())
    }
    named = called | {action["name"] for task in tasks.values() for action in task["actions"]}
    tools = tuple((0, {"type": "function", "function": {"name": name, "parameters": {}}}) for name in sorted(named))
    return {
        case_id: Case(
            benchmark="tau1",
            scenario=f"tau1-{domain}",
            revision=revision,
            case_id=case_id,
            cluster_id=case_id,
            turns=(),
            tools=tools,
            initial_state={"domain": domain, "task": task},
            gold=(tuple({"name": a["name"], "arguments": a["kwargs"]} for a in task["actions"]),),
            gold_actions=gold_actions(task["actions"], asks=False),
            decisive_turn=None,
        )
        for case_id, task in tasks.items()
    }
