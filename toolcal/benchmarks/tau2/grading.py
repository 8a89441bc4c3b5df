"""What a run did to tau2's database, against what the reference actions do."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from toolcal.benchmarks.protocol import Case, ToolResult
from toolcal.benchmarks.tau2 import engine
from toolcal.benchmarks.tau2.engine import Call, State, replay


def gold_state(case: Case) -> State:
    """What the reference actions leave changed in the database; kept per task."""
    task = case.initial_state["task"]
    return _gold(case.initial_state["domain"], json.dumps([task.get("initial_state"), case.gold], sort_keys=True))


@lru_cache(maxsize=4096)
def _gold(domain: str, text: str) -> State:
    initial_state, gold = json.loads(text)
    return replay(domain, initial_state, calls_of(gold[0]))[0]


def calls_of(actions: Iterable[dict[str, Any]]) -> list[Call]:
    """Reference actions as calls."""
    return [Call(action["name"], action["arguments"], action.get("requestor", "assistant")) for action in actions]


def database_check(case: Case, calls: Sequence[Call]) -> tuple[bool, list[ToolResult]]:
    """Whether a run's calls leave the database as the reference actions do, as tau2's own check compares it.

    Args:
        case: a case of this benchmark.
        calls: the run's calls, in order.

    Returns:
        Whether the end states are equal, and what each of the assistant's calls did here; reads are not run.
    """
    state, results = replay(case.initial_state["domain"], case.initial_state["task"].get("initial_state"), calls)
    return state == gold_state(case), results


def actions_made(case: Case, calls: Sequence[Call]) -> list[bool]:
    """tau2's action checks: whether each reference action was called, whether or not the call failed.

    A check compares the arguments that the task names (`compare_args`), else those that the call has: it does not
    miss what a call lacks, and further calls do no harm.

    Args:
        case: a case of this benchmark.
        calls: the run's calls.

    Returns:
        One a reference action, in their order.
    """
    criteria = case.initial_state["task"].get("evaluation_criteria") or {}
    return [any(_is_made(action, call) for call in calls) for action in criteria.get("actions") or ()]


def _is_made(action: Mapping[str, Any], call: Call) -> bool:
    if action["name"] != call.name:
        return False
    compared = action.get("compare_args")
    compared = call.arguments.keys() if compared is None else compared
    mine, gold = ({k: v for k, v in args.items() if k in compared} for args in (call.arguments, action["arguments"]))
    return not compared or mine == gold


def gold_met(case: Case, results: Iterable[tuple[str, bool]], made: Iterable[bool] | None) -> dict[str, bool | None]:
    """Whether a run did what its gold calls for, by the benchmark's rules (method A7); of ASK the labels tell.

    Args:
        case: a case of tau2 or tau-bench v1, whose tools that write have the same names.
        results: the run's calls: (tool, whether it was executed); a write that failed changed nothing.
        made: whether each reference action was made; None where that is not known.

    Returns:
        REFUSE: no write was executed. TOOL_CALL: no reference action failed.
    """
    if "REFUSE" in case.gold_actions:
        writes = engine.domain(case.initial_state["domain"]).write_tools
        return {"REFUSE": not any(executed and name in writes for name, executed in results)}
    return {"TOOL_CALL": None if made is None else all(made)}
