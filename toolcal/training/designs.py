"""Reward designs as the configuration names them: a formula and its parameters, checked."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

FORMULAS: Mapping[str, tuple[str, ...]] = {
    "accuracy": (),
    "rlcr": (),
    "weighted_brier": ("lambda",),
    "mscr": ("b1", "b2"),
    "log_score": ("lambda", "floor"),
}
"""Each formula and its own parameters; `rewards` says what it pays."""
DEFAULTS: Mapping[str, float] = {"format_weight": 0.1, "floor": 0.01}
"""Parameters that may be left out."""
_ALLOWED: Mapping[str, tuple[Callable[[float], bool], str]] = {
    "lambda": (lambda value: 0 < value <= 1, "more than 0 and at most 1: the margin is 1 - lambda"),
    "b1": (lambda value: value > 0, "more than 0"),
    "b2": (lambda value: value > 0, "more than 0"),
    "floor": (lambda value: 0 < value < 0.5, "more than 0 and less than 0.5"),
    "format_weight": (lambda value: value >= 0, "0 or more"),
}


@dataclass(frozen=True)
class Design:
    """A reward design.

    Attributes:
        name: its name in the configuration.
        formula: one of `FORMULAS`.
        parameters: the formula's own and `format_weight`; `lambda` is `lambda_` here, as in Python.
    """

    name: str
    formula: str
    parameters: Mapping[str, float]


def design_of(name: str, entry: Mapping[str, Any]) -> Design:
    """The design of an entry of the configuration.

    Args:
        name: the entry's name.
        entry: `formula` and its parameters.

    Raises:
        ValueError: for an unknown formula or parameter, a missing one, or one with which a right answer could earn less
            than a wrong one, or no single confidence would be best; one line.
    """
    formula = str(entry.get("formula"))
    if formula not in FORMULAS:
        raise ValueError(f"rewards.{name}.formula: found {formula!r}, allowed: one of {', '.join(FORMULAS)}")
    wanted = ("format_weight", *FORMULAS[formula])
    for key in entry:
        if key not in ("formula", *wanted):
            raise ValueError(f"rewards.{name}.{key}: unknown key, allowed here: {', '.join(['formula', *wanted])}")
    found = {}
    for key in wanted:
        value = entry.get(key, DEFAULTS.get(key))
        if value is None:
            raise ValueError(f"rewards.{name}.{key}: is missing, {formula} needs it")
        fits, words = _ALLOWED[key]
        number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        if not number or not fits(value):
            raise ValueError(f"rewards.{name}.{key}: found {value!r}, allowed: {words}")
        found["lambda_" if key == "lambda" else key] = float(value)
    return Design(name, formula, found)
