"""The detectors of CRI; they look at no label.

MC suspects a call that names no tool of this turn. UR suspects a value that a required scalar argument is bound to and
that was found nowhere. Two readings of UR:

- `verbatim`, as published: the value as written (2 characters or more; a number or boolean as JSON has it) has to be a
  part of what the user has said so far, or of what successful tool results have said so far, word for word and upper
  and lower case told apart, or be the schema's default or in its enum.
- `refined`: upper and lower case and the form of numbers (30, 30.0, 1,500) do not matter, values that the descriptions
  of the tool or the parameter name are known, and booleans are never suspected. BFCL's enums stand in descriptions.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from toolcal.benchmarks.protocol import Tool
from toolcal.calls import Call
from toolcal.perturbations.probes.protocol import Seen

SHORTEST = 2
"""Characters of a value that is looked for."""


def suspicions(seen: Seen, detectors: Collection[str], *, refined: bool) -> dict[str, Any]:
    """What makes the call that is about to be executed suspect; empty where nothing does.

    Args:
        seen: the conversation at the call seam.
        detectors: `mc`, `ur`.
        refined: how `ur` reads.

    Returns:
        `mc`: the name that is no tool's; `ur`: {argument: value} of each that was found nowhere.
    """
    if seen.call is None:
        return {}
    tool = next((tool for tool in seen.tools if tool["function"]["name"] == seen.call.name), None)
    if tool is None:
        return {"mc": seen.call.name} if "mc" in detectors else {}
    unfounded = dict(_unfounded(seen.call, tool, seen, refined=refined)) if "ur" in detectors else {}
    return {"ur": unfounded} if unfounded else {}


def _unfounded(call: Call, tool: Tool, seen: Seen, *, refined: bool) -> Iterator[tuple[str, Any]]:
    function = tool["function"]
    parameters = function.get("parameters") or {}
    said = "\n".join([*seen.requests, seen.observed.said])
    for name in parameters.get("required", ()):
        value = call.arguments.get(name)
        spec = parameters.get("properties", {}).get(name, {})
        if not isinstance(value, str | int | float) or len(_written(value)) < SHORTEST or _in_schema(value, spec):
            continue
        if not refined:
            found = _written(value) in said
        else:
            texts = f"{said}\n{function.get('description', '')}\n{spec.get('description', '')}".lower()
            found = isinstance(value, bool) or any(form.lower() in texts for form in _forms(value))
        if not found:
            yield name, value


def _in_schema(value: Any, spec: Mapping[str, Any]) -> bool:
    return value in spec.get("enum", ()) or ("default" in spec and spec["default"] == value)


def _written(value: str | int | float) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _forms(value: str | int | float) -> set[str]:
    """A value as written; a whole number also without or with its point, and with commas."""
    if isinstance(value, str) or (isinstance(value, float) and not value.is_integer()):
        return {_written(value)}
    whole = int(value)
    return {str(whole), f"{whole}.0", f"{whole:,}"}
