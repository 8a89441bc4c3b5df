"""The model in training as a model of the study: it is asked in the very words, and its answers are kept as tokens.

Requests of conversations that go on side by side are answered together: as soon as each of them waits for the model.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolcal.benchmarks.protocol import Message
from toolcal.models import chat
from toolcal.models.chat import ToolMode
from toolcal.models.json_mode import History
from toolcal.models.protocol import Reply, Request


@dataclass(frozen=True)
class Sampled:
    """What was sampled after one prompt."""

    tokens: list[int]
    """With the stop token, unless the limit came first."""
    log_probabilities: list[float] | None = None
    """Of each token as it was sampled; None where sampler and training are one model."""
    allowed: list[bytes | None] | None = None
    """Of each token what a schema allowed in its place, a bit a token of the vocabulary; None where it could be any."""

    @property
    def chosen(self) -> list[bool]:
        """Of each token, whether another could have stood there."""
        allowed = self.allowed or [None] * len(self.tokens)
        return [mask is None or int.from_bytes(mask).bit_count() > 1 for mask in allowed]


Sample = Callable[[Sequence[list[int]], Sequence[str | None]], list[Sampled]]
"""Continues each of these prompts, once, held to a JSON schema of its own; None leaves it free."""


@dataclass(frozen=True)
class Emission:
    """One response of the model, as tokens."""

    prompt: list[int]
    sampled: Sampled
    text: str
    whole: bool
    """Whether it ended before the limit."""


@dataclass
class Policy:
    """The model in training; in each conversation a `Speaker`, which has the protocol `models.protocol.Model`.

    Attributes:
        tokenizer: of transformers, with a chat template.
        sample: continues prompts.
        tool_mode: how tools are offered, as the study offers them to this model.
        history: in JSON mode, what the prompt holds.
    """

    tokenizer: Any
    sample: Sample
    tool_mode: ToolMode
    history: History = "turn"
    _speaking: int = 0
    _waiting: dict[int, tuple[list[int], str | None, asyncio.Future[Sampled]]] = field(default_factory=dict)

    def speakers(self, number: int) -> list[Speaker]:
        """Models for so many conversations; none of them is answered before all have asked or ended.

        Args:
            number: of conversations that are begun at once.
        """
        self._speaking, self._waiting = number, {}
        return [Speaker(self, place) for place in range(number)]

    async def ask(self, place: int, prompt: list[int], schema: str | None) -> Sampled:
        """What is sampled after a prompt.

        Args:
            place: of the conversation.
            prompt: its tokens.
            schema: that the response is held to, as JSON; None where it is free.
        """
        answer: asyncio.Future[Sampled] = asyncio.get_running_loop().create_future()
        self._waiting[place] = (prompt, schema, answer)
        self._answer_all()
        return await answer

    def ended(self) -> None:
        """A conversation asks no more."""
        self._speaking -= 1
        self._answer_all()

    def _answer_all(self) -> None:
        if not self._waiting or len(self._waiting) < self._speaking:
            return
        # In the order of the conversations, not of their tools, so that the same seed gives the same samples.
        prompts, schemas, answers = zip(*(self._waiting[place] for place in sorted(self._waiting)), strict=True)
        self._waiting = {}
        for answer, sampled in zip(answers, self.sample(prompts, schemas), strict=True):
            answer.set_result(sampled)


class Speaker:
    """The model in one conversation."""

    execute_leaked = True
    concurrency = 1

    def __init__(self, policy: Policy, place: int) -> None:
        self._policy = policy
        self._place = place
        self.emissions: list[Emission] = []

    async def respond(self, request: Request) -> Reply:
        """Answer one request, with a sample."""
        policy = self._policy
        body = chat.put(request, policy.tool_mode, policy.history)
        prompt = prompt_of(policy.tokenizer, body["messages"], body.get("tools"))
        held = body.get("response_format")
        sampled = await policy.ask(self._place, prompt, json.dumps(held["json_schema"]["schema"]) if held else None)
        whole = bool(sampled.tokens) and sampled.tokens[-1] in stop_tokens(policy.tokenizer)
        text = policy.tokenizer.decode(sampled.tokens, skip_special_tokens=True)
        self.emissions.append(Emission(prompt, sampled, text, whole))
        return Reply(
            message=chat.said({"role": "assistant", "content": text}, request, policy.tool_mode),
            finish_reason="stop" if whole else "length",
            raw=text,
            prompt_tokens=len(prompt),
            completion_tokens=len(sampled.tokens),
        )


def prompt_of(tokenizer: Any, messages: Sequence[Message], tools: Any = None) -> list[int]:
    """The tokens that a model reads before it answers.

    Args:
        tokenizer: with a chat template.
        messages: in OpenAI form.
        tools: in OpenAI form; None where they stand in the messages.
    """
    found = tokenizer.apply_chat_template(list(messages), tools=tools, add_generation_prompt=True, return_dict=False)
    return [int(token) for token in found]


def stop_tokens(tokenizer: Any) -> tuple[int, ...]:
    """The tokens that end an answer."""
    return (int(tokenizer.eos_token_id),)
