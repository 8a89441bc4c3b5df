"""What a tool call is, and how one is read from a JSON value or from a Python expression; nothing is ever evaluated."""

from __future__ import annotations

import ast
import json
import math
import warnings
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

MAX_DEPTH = 64
"""Deepest nesting of arguments; deeper ones could be read, but not copied and stored (recursion)."""

MAX_DIGITS = 4300
"""Digits of an integer that are read: Python's default limit."""

_NAME_KEYS = ("name", "function", "tool", "tool_name", "function_name")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "tool_args", "tool_input")


def _no_constant(text: str) -> Any:
    raise ValueError(f"{text} is not JSON")


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"{text[:40]} is no finite number")
    return value


def _bounded(text: str) -> int:
    # Python's own limit is a setting of the process, which libraries lift.
    if len(text) > MAX_DIGITS:
        raise ValueError(f"{text[:40]} has more than {MAX_DIGITS} digits")
    return int(text)


JSON = json.JSONDecoder(strict=False, parse_constant=_no_constant, parse_float=_finite, parse_int=_bounded)
"""Lenient in one thing: a raw line break inside a string is a common slip that leaves nothing to guess."""


class Malformed(ValueError):
    """A call that is meant as one and cannot be read; `at` is where in the text reading stopped."""

    def __init__(self, message: str, at: int = 0) -> None:
        super().__init__(message)
        self.at = at


@dataclass(frozen=True)
class Call:
    """One tool call: the name as given (dots too), and arguments that hold finite JSON values only."""

    name: str
    arguments: dict[str, Any]
    id: str | None = None


def arguments_of(value: Any) -> dict[str, Any]:
    """A call's arguments as a JSON object, from whatever an endpoint gives: a JSON string, an object or nothing.

    A string that holds the object's JSON once more as a string is unwrapped: endpoints that encode twice are common,
    and the object is not in doubt. Of a doubled key the last value counts, as in every decoder that tools use.

    Raises:
        Malformed: where that is no JSON object, is not finite (NaN, Infinity), or is nested deeper than MAX_DEPTH.
    """
    given = value
    for _ in range(2):
        if isinstance(value, str) and value.strip():
            try:
                value = JSON.decode(value)
            except (ValueError, RecursionError) as error:
                raise Malformed(f"the arguments are not JSON: {error}") from None
    if value is None or (isinstance(value, str) and not value.strip()):
        return {}
    if not isinstance(value, Mapping):
        raise Malformed(f"the arguments are a {type(value).__name__}, not an object")
    if _deeper_than(value, MAX_DEPTH):
        raise Malformed(f"the arguments are nested deeper than {MAX_DEPTH}")
    return _plain(value) if value is given else dict(value)


def call_of(value: Any) -> Call:
    """A call from an object that is meant as one: `{"function": {"name", "arguments"}}`, or both keys flat.

    Raises:
        Malformed: where it has no name or no readable arguments.
    """
    if not isinstance(value, Mapping):
        raise Malformed(f"a call is a {type(value).__name__}, not an object")
    calls = _from_object(value, (), meant=True)
    if not calls:
        raise Malformed("a call without a tool's name")
    return calls[0]


def from_json(value: Any, tool_names: Collection[str], *, meant: bool) -> list[Call] | None:
    """The calls in a JSON value; None where it is not call-shaped.

    Args:
        value: an object, or a list of them.
        tool_names: known tools, by which the single-key dialect `{"ls": {...}}` is told from data.
        meant: something else says that this is a call, so that its shape need not prove it.

    Raises:
        Malformed: where a call's arguments cannot be read, or a list holds calls and other things.
    """
    if isinstance(value, Mapping) and isinstance(value.get("tool_calls"), list):
        value = value["tool_calls"]
    items = value if isinstance(value, list) else [value]
    parts = [_from_object(item, tool_names, meant=meant) if isinstance(item, Mapping) else None for item in items]
    calls = [call for part in parts if part for call in part]
    if calls and None in parts:
        raise Malformed("a list that holds calls and other things")
    return None if None in parts else calls


def from_python(source: str) -> list[Call]:
    """The calls in `f(a=1)` or `[f(a=1), g()]`: names and literals, JSON's true, false and null among them.

    Positional arguments are malformed, since only the tool's schema could name them, but for one dict: `f({"a": 1})`.

    Raises:
        Malformed: where it is anything else; a nested call is never run.
    """
    body = _expression(source)
    return [_python_call(node) for node in (body.elts if isinstance(body, ast.List) else [body])]


def literal(source: str) -> Any:
    """The value of a Python literal.

    Raises:
        Malformed: where it is anything else.
    """
    return _literal(_expression(source))


def _plain(value: Mapping[str, Any]) -> dict[str, Any]:
    """An object that JSON did not give us, as JSON would."""
    try:
        plain: dict[str, Any] = JSON.decode(json.dumps(value, allow_nan=False)) if value else {}
    except (TypeError, ValueError, RecursionError) as error:
        raise Malformed(f"the arguments are not JSON: {error}") from None
    return plain


def _deeper_than(value: Any, limit: int) -> bool:
    level = [value]
    for _ in range(limit):
        inner = [v.values() if isinstance(v, Mapping) else v for v in level if isinstance(v, Mapping | list | tuple)]
        level = [item for items in inner for item in items]
        if not level:
            return False
    return True


def _from_object(value: Mapping[str, Any], names: Collection[str], *, meant: bool) -> list[Call] | None:
    id = value.get("id") if isinstance(value.get("id"), str) else None
    inner = value["function"] if isinstance(value.get("function"), Mapping) else value
    name_key = next((key for key in _NAME_KEYS if isinstance(inner.get(key), str) and inner[key].strip()), None)
    key = next((key for key in _ARGUMENT_KEYS if key in inner), None)
    if name_key and key:
        known = inner[name_key] in names
        if meant or (not _describes(inner, key) and (known or _only(inner, name_key, key))):
            return [Call(inner[name_key], arguments_of(inner[key]), id)]
        return None
    if inner and all(tool in names and isinstance(arguments, Mapping) for tool, arguments in inner.items()):
        return [Call(tool, arguments_of(arguments)) for tool, arguments in inner.items()]
    if name_key and inner.keys() <= {name_key, "id", "type"} and (meant or inner[name_key] in names):
        return [Call(inner[name_key], {}, id)]
    return None


def _describes(value: Mapping[str, Any], key: str) -> bool:
    """A tool's definition, which has a name and parameters too."""
    return "description" in value or (isinstance(value[key], Mapping) and "properties" in value[key])


def _only(value: Mapping[str, Any], name_key: str, key: str) -> bool:
    """Nothing but a call, as the name of an unknown tool needs: other data has names and parameters too."""
    return isinstance(value[key], Mapping) and value.keys() <= {name_key, key, "id", "type"}


class _Constants(ast.NodeTransformer):
    """JSON's constants inside Python, a frequent mixture."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        constants: dict[str, bool | None] = {"true": True, "false": False, "null": None}
        return ast.Constant(constants[node.id]) if node.id in constants else node


def _expression(source: str) -> ast.expr:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in a model's strings
            return ast.parse(source.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Malformed(f"not a Python expression: {str(error)[:80]}") from None


def _literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(_Constants().visit(node))
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        raise Malformed("a value that is not a literal") from None


def _python_call(node: ast.expr) -> Call:
    if not isinstance(node, ast.Call):
        raise Malformed("a list that holds calls and other things")
    name = _dotted(node.func)
    if len(node.args) == 1 and not node.keywords and isinstance(node.args[0], ast.Dict):
        return Call(name, arguments_of(_literal(node.args[0])))
    keys = [keyword.arg for keyword in node.keywords if keyword.arg is not None]
    if node.args or len(keys) < len(node.keywords):
        raise Malformed(f"{name} is called with positional arguments")
    if len(set(keys)) < len(keys):
        raise Malformed(f"{name} is given one argument twice")
    values = [_literal(keyword.value) for keyword in node.keywords]
    return Call(name, arguments_of(dict(zip(keys, values, strict=True))))


def _dotted(node: ast.expr) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        raise Malformed("what is called is not a name")
    return ".".join([node.id, *reversed(parts)])
