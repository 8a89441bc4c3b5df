"""tau2's tasks as cases: those of the installed package, or those that a recorded run embeds."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from toolcal.benchmarks.protocol import Case, Tool
from toolcal.benchmarks.tau2 import engine, nl_assertions

ASK_TASKS = Path(__file__).with_name("ask_tasks.csv")
ASK_SUBSETS = ("candidates", "published", "valid")
"""Which tasks have ASK as a gold action besides: all in which the user may hold a detail back until asked, those of the
published study, or those that an audit found to be so."""


class TaskError(ValueError):
    """A task that cannot be used, as `field: what is wrong`."""


@cache
def ask_tasks(domain: str, subset: str) -> frozenset[str]:
    """Ids of the tasks whose user withholds a detail until asked.

    Args:
        domain: airline or retail.
        subset: one of `ASK_SUBSETS`.
    """
    if subset not in ASK_SUBSETS:
        raise ValueError(f"ask_tasks: found {subset!r}, allowed are {', '.join(ASK_SUBSETS)}")
    with ASK_TASKS.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["domain"] == domain]
    chosen = {
        "candidates": rows,
        "published": [row for row in rows if row["in_published_subset"] == "true"],
        "valid": [row for row in rows if row["label"] == "valid"],
    }
    return frozenset(row["task_id"] for row in chosen[subset])


def task_file(domain: str) -> Path:
    """The installed tasks of a domain."""
    return engine.data_folder(domain) / "tasks.json"


def load(domain: str, ask_subset: str = "valid") -> list[Case]:
    """The installed tasks of a domain, in their order."""
    tasks = json.loads(task_file(domain).read_text(encoding="utf-8"))
    system = engine.domain(domain).system
    return [replace(case_of(task, domain, engine.revision(), ask_subset), system=system) for task in tasks]


def checksum(tasks: Iterable[Mapping[str, Any]]) -> str:
    """The revision of embedded tasks: the same for the same tasks, in whatever order."""
    texts = sorted(json.dumps(task, sort_keys=True) for task in tasks)
    return f"tau2-tasks-{hashlib.sha256(chr(10).join(texts).encode()).hexdigest()[:16]}"


def case_of(task: Mapping[str, Any], domain: str, revision: str, ask_subset: str = "valid") -> Case:
    """A task as a case; its user speaks freely, so it has no turns beforehand.

    Args:
        task: as tau2 writes it.
        domain: one of `engine.DOMAINS`.
        revision: of the tasks.
        ask_subset: which tasks have ASK as a gold action besides.

    Raises:
        TaskError: where the task is not as expected.
    """
    task_id = task.get("id")
    if not isinstance(task_id, str | int) or isinstance(task_id, bool):
        raise TaskError("id: neither text nor a number")
    actions = reference_actions(task)
    try:
        nl_assertions.of_task(task)
    except ValueError as error:
        raise TaskError(str(error)) from None
    own = engine.domain(domain)
    return Case(
        benchmark="tau2",
        scenario=f"tau2-{domain}",
        revision=revision,
        case_id=str(task_id),
        cluster_id=str(task_id),
        turns=(),
        tools=tuple((0, tool) for tool in own.tools),
        initial_state={"domain": domain, "task": dict(task)},
        gold=(tuple(actions),),
        gold_actions=gold_actions(actions, str(task_id) in ask_tasks(domain, ask_subset)),
        decisive_turn=None,
    )


def reference_actions(task: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A task's reference actions: {name, arguments, requestor}.

    Raises:
        TaskError: where they are not as expected.
    """
    criteria = task.get("evaluation_criteria") or {}
    found = criteria.get("actions") if isinstance(criteria, Mapping) else criteria
    if found is not None and not isinstance(found, list):
        raise TaskError("evaluation_criteria.actions: not a list")
    actions = []
    for at, action in enumerate(found or ()):
        place = f"evaluation_criteria.actions[{at}]"
        if not isinstance(action, Mapping) or not isinstance(action.get("name"), str):
            raise TaskError(f"{place}.name: not text")
        if not isinstance(action.get("arguments"), Mapping):
            raise TaskError(f"{place}.arguments: not an object")
        requestor = action.get("requestor") or "assistant"
        actions.append({"name": action["name"], "arguments": dict(action["arguments"]), "requestor": requestor})
    return actions


def gold_actions(actions: Collection[Any], asks: bool) -> tuple[str, ...]:
    """The gold action classes of a task: REFUSE without reference actions, TOOL_CALL with some; ASK besides."""
    return ("TOOL_CALL" if actions else "REFUSE", *(["ASK"] if asks else []))


def gold_writes(case: Case) -> list[str]:
    """The write tools that a case's reference actions call."""
    names = engine.domain(case.initial_state["domain"]).write_tools
    return [action["name"] for action in case.gold[0] if action["name"] in names]


def tools_of(domain: str) -> tuple[Tool, ...]:
    """The assistant's tools of a domain."""
    return engine.domain(domain).tools
