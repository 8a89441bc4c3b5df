"""What a tool of the study is: a name, a schema for the model, and a run that gives text or a `ToolError`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Protocol

from toolcal.benchmarks.protocol import Tool as Schema

Fault = Literal["arguments", "snippet", "limit", "service", "sandbox"]
"""Whose fault an error is: the call's, the snippet's own, a limit it met, a web service's, or the sandbox's."""

SEARCH = "search"
PYTHON = "python"


class ToolError(Exception):
    """A call that came to nothing; the message is meant for the model, and holds no key and no path of ours.

    Args:
        message: what went wrong, in a line or with the snippet's output above.
        fault: whose fault it is.
        retryable: whether the same call may succeed later: the study asks again, and blames no model for it.
    """

    def __init__(self, message: str, fault: Fault, *, retryable: bool = False) -> None:
        super().__init__(message)
        self.fault = fault
        self.retryable = retryable


class Tool(Protocol):
    """Something that a model may call. `run` blocks; inside a loop of coroutines it belongs in a thread."""

    @property
    def name(self) -> str:
        """The function's name, `search` or `python`."""

    @property
    def schema(self) -> Schema:
        """The function in OpenAI form: `{"type": "function", "function": {name, description, parameters}}`."""

    def run(self, arguments: Mapping[str, Any]) -> str:
        """Carry out one call.

        Raises:
            ToolError: it came to nothing.
        """


def function(name: str, description: str, argument: str, meaning: str) -> Schema:
    """The OpenAI form of a function with one text argument.

    Args:
        name: the function's name.
        description: what it does; json mode shows the first sentence only.
        argument: the argument's name.
        meaning: what the argument holds.
    """
    parameters = {
        "type": "object",
        "properties": {argument: {"type": "string", "description": meaning}},
        "required": [argument],
        "additionalProperties": False,
    }
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


def text_argument(arguments: Mapping[str, Any], name: str) -> str:
    """The one text argument of a call.

    Args:
        arguments: what the model gave.
        name: the argument that is needed; others are passed over.

    Raises:
        ToolError: it is missing, no text, or empty.
    """
    value = arguments.get(name)
    if not isinstance(value, str) or not value.strip():
        given = "is missing" if value is None else "is empty" if value == "" or isinstance(value, str) else "is no text"
        raise ToolError(f"`{name}` {given}", "arguments")
    return value
