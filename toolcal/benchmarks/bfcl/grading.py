"""BFCL's official verdict on a run, and the strict one.

The official checker runs call strings with `eval` on simulators that it keeps in module globals. It is given only
strings that were written here from looked-up method names and the `repr` of JSON values, under a name used once, and
its globals are cleared afterwards.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from toolcal.benchmarks.bfcl.cases import entry
from toolcal.benchmarks.bfcl.simulators import Simulators, arithmetic_context, refusal
from toolcal.benchmarks.protocol import Case, Emission, Grade

STEP_LIMIT = 20
"""BFCL's MAXIMUM_STEP_LIMIT: a turn's 21st calling emission ends the case."""

UNDECODABLE = "undecodable_call()"
"""Stands for a call that cannot run: BFCL finds it undefined, as it would an unknown tool."""

SHOWN = 2000
"""Characters of a value that the column `differences` keeps."""

_FAILED_CHECK: dict[str, tuple[bool | None, bool | None]] = {
    "multi_turn:empty_turn_model_response": (None, None),
    "multi_turn:instance_state_mismatch": (False, None),
    "multi_turn:execution_response_mismatch": (True, False),
}
"""What the checker had found of a turn's state and responses when it stopped there."""

_runs = itertools.count()

Steps = list[list[str]]
"""One turn: per calling emission the strings of its calls."""


def grade(case: Case, trajectory: Sequence[Emission]) -> Grade:
    """Grade one run from its calls.

    Args:
        case: the case that was run.
        trajectory: its emissions in order, without what a probe took back.

    Returns:
        The grade; `reason` and `detail` are BFCL's error type and message.
    """
    statuses = {emission.status for emission in trajectory}
    if not trajectory or "infra_error" in statuses:
        return Grade("infra_error", None, None)
    if "context_exceeded" in statuses:
        return _failed(
            "context_exceeded",
            "multi_turn:inference_error",
            "Error during inference phase: the context was exceeded.",
        )
    turns = call_strings(case, trajectory)
    status = "step_limit" if any(len(steps) > STEP_LIMIT for steps in turns) else "done"
    if len(turns) != len(case.gold):
        return _failed(
            status,
            "multi_turn:force_terminated",
            f"Model was force-terminated during inference phase. The length of the model result turns ({len(turns)}) "
            f"does not match the length of the ground truth turns ({len(case.gold)}).",
        )
    verdict = _official(case, turns)
    irrelevant = _irrelevance(case, turns)
    reason = verdict.get("error_type")
    return Grade(
        status=status,
        passed=verdict["valid"],
        passed_strict=verdict["valid"] and irrelevant["valid"],
        reason=reason,
        reason_strict=reason or irrelevant.get("error_type"),
        detail=verdict.get("error_message"),
        turn_checks=_turn_checks(case, turns, verdict),
        differences=list(_differences(verdict.get("details", {}))),
    )


def call_strings(case: Case, trajectory: Sequence[Emission]) -> list[Steps]:
    """Per turn and calling emission, the call strings for the official checker."""
    simulators = Simulators(case)
    turns: list[Steps] = [[] for _ in range(1 + max((emission.turn for emission in trajectory), default=-1))]
    for emission in trajectory:
        if emission.calls:
            strings = [_call_string(name, arguments, simulators) for name, arguments in emission.calls]
            turns[emission.turn].append(strings)
    return turns


def _call_string(name: str, arguments: Mapping[str, Any], simulators: Simulators) -> str:
    name = simulators.method_name(name)
    if refusal(name, arguments, simulators.methods):
        return UNDECODABLE
    return f"{name}({','.join(f'{key}={value!r}' for key, value in arguments.items())})"


def _official(case: Case, turns: list[Steps]) -> dict[str, Any]:
    from bfcl_eval.eval_checker.multi_turn_eval.multi_turn_checker import multi_turn_checker

    gold = [list(calls) for calls in case.gold]
    with _run_name() as name, arithmetic_context():
        verdict: dict[str, Any] = multi_turn_checker(turns, gold, entry(case), case.scenario, name)
    return verdict


def _irrelevance(case: Case, turns: list[Steps]) -> dict[str, Any]:
    """BFCL's check that nothing is called in gold-empty turns, which its own runner leaves out."""
    from bfcl_eval.eval_checker.multi_turn_eval.multi_turn_checker import multi_turn_irrelevance_checker

    verdict: dict[str, Any] = multi_turn_irrelevance_checker(turns, [list(calls) for calls in case.gold])
    return verdict


@contextmanager
def _run_name() -> Iterator[str]:
    """A name that no other run has or had; the simulators kept under it go when it goes."""
    from bfcl_eval.eval_checker.multi_turn_eval import multi_turn_utils

    name = f"toolcal{next(_runs)}x"
    try:
        yield name
    finally:
        for kept in [key for key in vars(multi_turn_utils) if key.startswith(f"{name}_")]:
            delattr(multi_turn_utils, kept)


def _turn_checks(case: Case, turns: list[Steps], verdict: Mapping[str, Any]) -> list[dict[str, bool | None]]:
    """Which checks each turn passed; null where there is none, or where the checker had stopped before."""
    stopped = len(case.gold) if verdict["valid"] else _stopping_turn(verdict)
    checks: list[dict[str, bool | None]] = []
    for turn, (steps, gold) in enumerate(zip(turns, case.gold, strict=True)):
        state = response = True if gold and turn < stopped else None
        if turn == stopped:
            state, response = _FAILED_CHECK[verdict["error_type"]]
        checks.append({"state": state, "response": response, "irrelevance": None if gold else not steps})
    return checks


def _differences(details: Mapping[str, Any]) -> Iterator[dict[str, str | None]]:
    """What the check that failed had compared: values of the state that differ, or responses that are not there."""
    for name, values in details.get("differences", {}).items():
        yield from _apart(name, values["model"], values["ground_truth"])
    for response in details.get("missing_items", []):
        yield {"of": "response", "model": None, "reference": _shown(response)}


def _apart(name: str, ours: Any, reference: Any) -> Iterator[dict[str, str | None]]:
    """The entries in which two values differ: those of dicts alone, other values whole."""
    if isinstance(ours, dict) and isinstance(reference, dict):
        for key in dict.fromkeys([*reference, *ours]):
            if key not in ours or key not in reference or ours[key] != reference[key]:
                yield from _apart(f"{name}.{key}", ours.get(key), reference.get(key))
    else:
        yield {"of": name, "model": _shown(ours), "reference": _shown(reference)}


def _shown(value: Any) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= SHOWN else f"{text[:SHOWN]} ..."


def _stopping_turn(verdict: Mapping[str, Any]) -> int:
    words = verdict["error_message"].rstrip(".").rsplit("turn ", 1)
    # Only the state check's message does not name its turn; it carries the results of the turns so far.
    return int(words[1]) if len(words) == 2 else len(verdict["execution_result"]) - 1


def _failed(status: str, reason: str, detail: str) -> Grade:
    return Grade(status, passed=False, passed_strict=False, reason=reason, reason_strict=reason, detail=detail)
