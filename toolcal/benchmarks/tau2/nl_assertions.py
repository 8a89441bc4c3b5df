"""tau2's natural-language assertions: what a task says in words of its conversation; no part of the reward."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def of_task(task: Mapping[str, Any]) -> list[str]:
    """A task's assertions, in its order; none for a task without.

    Raises:
        ValueError: where they are not as expected, as `field: what is wrong`.
    """
    criteria = task.get("evaluation_criteria") or {}
    found = criteria.get("nl_assertions") if isinstance(criteria, Mapping) else None
    if found is None:
        return []
    if not isinstance(found, list) or not all(isinstance(text, str) for text in found):
        raise ValueError("evaluation_criteria.nl_assertions: not a list of texts")
    return list(found)


def of_state(initial_state: Mapping[str, Any]) -> list[str]:
    """The assertions of a case, from its initial state."""
    return of_task(initial_state.get("task") or {})
