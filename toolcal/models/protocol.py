"""What a model is to the rollout: something that answers one request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from toolcal.benchmarks.protocol import Case, Message, Tool


def call_ids(turn: int, step: int, attempt: int = 0) -> str:
    """Begins the ids of a response's calls, unlike any other response's of the case.

    Args:
        turn: user turn, from 0.
        step: response within the turn, from 0.
        attempt: the n-th asking again at this step, or 0.
    """
    return f"call_{turn}_{step}" + (f"_retry{attempt}" if attempt else "")


@dataclass(frozen=True)
class Guide:
    """What a model in JSON mode reads before its tools (`models.json_mode`)."""

    instructions: str
    examples: tuple[tuple[str, Any], ...]
    """(`user`, `assistant` or `result`, text), or (an action, its text or arguments)."""
    text_actions: tuple[str, ...]
    """The actions that are a text instead of a call; they need no tool."""
    after_result: str
    """What is asked after each result."""


@dataclass(frozen=True)
class Request:
    """All that a model may look at for one response.

    Only the scripted policies look at `case` (its gold); a language model reads `messages` and `tools`.
    """

    case: Case
    trial: int
    turn: int
    step: int
    attempt: int
    messages: tuple[Message, ...]
    """OpenAI messages so far, the system message first if there is one."""
    turn_start: int
    """Index in `messages` of this turn's first message."""
    tools: tuple[Tool, ...]
    """This turn's tools."""
    seed: int
    shown: Mapping[str, str] = field(default_factory=dict)
    """The benchmark's name of a tool -> the one that the model is shown, where they differ."""
    guide: Guide | None = None
    """For JSON mode; None for the one that benchmarks have."""

    beside: str = ""
    """Names a call beside the conversation; a part of its key in the journal. Empty for the conversation's own."""

    @property
    def call_ids(self) -> str:
        """Begins the ids of the response's calls, unlike any other response's of the case."""
        return call_ids(self.turn, self.step, self.attempt)


@dataclass(frozen=True)
class Reply:
    """One response: an assistant message, or a failure with its error.

    `message` is in OpenAI form (content, reasoning_content, tool_calls), whatever mode it was asked in; `raw` is what
    the endpoint returned. With a `failure` the message is empty and `raw` holds the error's text.
    """

    message: Message
    finish_reason: str | None = None
    raw: Any = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    latency: float | None = None
    cost: float | None = None
    cached: bool = False
    replayed: bool = False
    """Answered from the journal of the cell's baseline."""
    failure: str | None = None
    """None, or the emission status `context_exceeded` or `infra_error`."""
    text_recorded: bool = True
    """False where a recorded run kept no text: what the model said here, or beside its calls, is unknown."""
    sent: Mapping[str, Any] | None = None
    """What was sent, long values as checksums, and which parameters were left out."""
    served_by: str | None = None
    """The model and its fingerprint as the endpoint named them."""


class Model(Protocol):
    """Anything that answers requests."""

    execute_leaked: bool
    """Whether calls that leaked into the text are executed."""
    concurrency: int
    """Requests that may be under way at once."""

    async def respond(self, request: Request) -> Reply:
        """Answer one request. Never raises for what an endpoint does: failures are replies."""
