"""BFCL's simulators for one run of one case; calls are looked up, never evaluated.

The package itself keeps simulators in process globals under a name made of model and entry, so runs can see each
other's state. Here every run has its own instances.
"""

from __future__ import annotations

import decimal
import importlib
import inspect
import json
import keyword
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from functools import cache
from typing import Any

from toolcal.benchmarks.bfcl.cases import api_names
from toolcal.benchmarks.protocol import Case, Tool, ToolResult

_DIGITS = 10_000
"""Numbers with more digits are not computed: `power(9, 9**9)` would hold up a run for ever."""


class Simulators:
    """The simulators of one run: the environment of a BFCL case."""

    def __init__(self, case: Case) -> None:
        """Fresh instances in the case's initial state."""
        self._instances = [_instance(name, case) for name in case.initial_state["classes"]]
        self.methods: dict[str, Callable[..., Any]] = {
            name: method
            for instance in self._instances
            for name, method in inspect.getmembers(instance, inspect.ismethod)
            if not name.startswith("_")
        }
        self._names = api_names(self.methods)
        self._state: list[Any] | None = None

    def execute(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Run one call; the result reads as BFCL writes it to the model."""
        name = self.method_name(name)
        refused = refusal(name, arguments, self.methods)
        if refused:
            return ToolResult(f"Error during execution: {refused}", executed=False, error=refused)
        before, error = self._state or self._public_state(), None
        try:
            with arithmetic_context():
                result = _text(self.methods[name](**deepcopy(dict(arguments))))
        except Exception as raised:  # a simulator may raise anything for odd arguments
            error = str(raised)
            result = f"Error during execution: {error}"
        self._state = self._public_state()
        return ToolResult(result, executed=True, state_changed=before != self._state, error=error)

    def method_name(self, name: str) -> str:
        """The benchmark's own name of a tool, from the one that an API was given."""
        return self._names.get(name, name)

    def read_only_call(self, tools: Sequence[Tool]) -> tuple[str, dict[str, Any]] | None:
        """The first of these tools that runs without arguments and leaves no trace, or None."""
        for tool in tools:
            function = tool["function"]
            if function["parameters"].get("required"):
                continue
            before = self._whole_state()
            outcome = self.execute(function["name"], {})
            if outcome.executed and outcome.error is None and before == self._whole_state():
                return function["name"], {}
        return None

    def _public_state(self) -> list[Any]:
        """What BFCL's state check compares: the public attributes of every simulator."""
        return [state_of(instance) for instance in self._instances]

    def _whole_state(self) -> list[Any]:
        return [state_of(instance, private=True) for instance in self._instances]


def refusal(name: str, arguments: Mapping[str, Any], methods: Mapping[str, Any]) -> str | None:
    """Why a call cannot be run on these methods, or None where it can."""
    if name not in methods:
        return f"name {name!r} is not defined"
    odd = [key for key in arguments if not key.isidentifier() or keyword.iskeyword(key)]
    if odd:
        return f"{name}() got an unexpected keyword argument {odd[0]!r}"
    try:
        _signature(methods[name].__func__).bind(None, **arguments)
    except TypeError:
        return _python_words(methods[name], arguments)
    try:
        if not _finite(list(arguments.values())):
            return "the arguments hold a number that is not finite"
    except RecursionError:
        return "the arguments are nested too deeply"
    return "the numbers are too large" if _too_large(name, arguments) else None


@contextmanager
def arithmetic_context() -> Iterator[None]:
    """Keep in here what the simulators set for the whole process: decimal and mpmath precision."""
    import mpmath

    digits = mpmath.mp.dps
    try:
        with decimal.localcontext():
            yield
    finally:
        mpmath.mp.dps = digits


def state_of(value: Any, *, private: bool = False, path: frozenset[int] = frozenset()) -> Any:
    """A simulator's attributes as nested dicts and lists that compare by value (back references are cut)."""
    if isinstance(value, str | int | float | bool) or value is None:
        return value
    if id(value) in path:
        return "..."
    path = path | {id(value)}
    if isinstance(value, dict):
        return {key: state_of(item, private=private, path=path) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [state_of(item, private=private, path=path) for item in value]
    if hasattr(value, "getstate"):  # a random generator: reading from it is a trace
        return value.getstate()
    if hasattr(value, "__dict__"):
        return {
            key: state_of(item, private=private, path=path)
            for key, item in vars(value).items()
            if private or not key.startswith("_")
        }
    return repr(value)


def _python_words(method: Callable[..., Any], arguments: Mapping[str, Any]) -> str:
    """Python's own complaint about arguments that don't fit, which is what BFCL shows; the body is never entered."""
    try:
        method(**arguments)
    except TypeError as error:
        return str(error)
    raise AssertionError(f"{method.__name__} took arguments that its signature does not")


@cache
def _signature(function: Callable[..., Any]) -> inspect.Signature:
    return inspect.signature(function)


def _instance(class_name: str, case: Case) -> Any:
    from bfcl_eval.constants.executable_backend_config import CLASS_FILE_PATH_MAPPING, STATELESS_CLASSES

    instance = getattr(importlib.import_module(CLASS_FILE_PATH_MAPPING[class_name]), class_name)()
    if class_name not in STATELESS_CLASSES:
        config = deepcopy(case.initial_state["config"].get(class_name, {}))
        instance._load_scenario(config, long_context=case.scenario == "bfcl-long_context")
    return instance


def _text(result: Any) -> str:
    if isinstance(result, str):
        return result
    if isinstance(result, dict):
        try:
            return json.dumps(result)
        except (TypeError, ValueError):
            return str(result)
    return str(result)


def _finite(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, Mapping):
        return all(_finite(item) for item in value.values())
    return all(_finite(item) for item in value) if isinstance(value, list | tuple) else True


def _too_large(name: str, arguments: Mapping[str, Any]) -> bool:
    numbers = {key: abs(value) for key, value in arguments.items() if isinstance(value, int | float)}
    if any(isinstance(number, int) and number.bit_length() > 4 * _DIGITS for number in numbers.values()):
        return True
    if name == "power" and isinstance(arguments["base"], int) and numbers["base"] > 1:
        return numbers.get("exponent", 0) * math.log10(numbers["base"]) > _DIGITS
    return numbers.get("precision", 0) > _DIGITS
