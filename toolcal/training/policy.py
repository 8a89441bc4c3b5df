"""The model in training as a model of the study: it is asked in the very words, and its answers are kept as tokens.

Requests of conversations that go on side by side are answered together: as soon as each of them waits for the model.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolcal.benchmarks.protocol import Message
from toolcal.models import chat, json_mode
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


Sample = Callable[[Sequence[list[int]]], list[Sampled]]
"""Continues each of these prompts, once."""


@dataclass(frozen=True)
class Emission:
    """One response of the model, as tokens."""

    prompt: list[int]
    """With the beginning of the response, where it was given."""
    sampled: Sampled
    text: str
    """With what was given of it."""
    valid: bool
    """Whether it was whole, and an action that was on offer."""


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
    _waiting: dict[int, tuple[list[int], asyncio.Future[Sampled]]] = field(default_factory=dict)

    def speakers(self, number: int) -> list[Speaker]:
        """Models for so many conversations; none of them is answered before all have asked or ended.

        Args:
            number: of conversations that are begun at once.
        """
        self._speaking, self._waiting = number, {}
        return [Speaker(self, place) for place in range(number)]

    async def ask(self, place: int, prompt: list[int]) -> Sampled:
        """What is sampled after a prompt.

        Args:
            place: of the conversation.
            prompt: its tokens.
        """
        answer: asyncio.Future[Sampled] = asyncio.get_running_loop().create_future()
        self._waiting[place] = (prompt, answer)
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
        asked = [self._waiting[place] for place in sorted(self._waiting)]
        self._waiting = {}
        for (_, answer), sampled in zip(asked, self.sample([prompt for prompt, _ in asked]), strict=True):
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
        # The study's grammar leaves no choice here, so there is nothing to be sampled, nor to be learnt.
        given = json_mode.opening(request.tools, request.guide) if policy.tool_mode == "json" else ""
        prompt += policy.tokenizer(given, add_special_tokens=False)["input_ids"] if given else []
        sampled = await policy.ask(self._place, prompt)
        whole = bool(sampled.tokens) and sampled.tokens[-1] in stop_tokens(policy.tokenizer)
        text = given + policy.tokenizer.decode(sampled.tokens, skip_special_tokens=True)
        message = chat.said({"role": "assistant", "content": text}, request, policy.tool_mode)
        self.emissions.append(
            Emission(prompt, sampled, text, whole and (policy.tool_mode != "json" or _on_offer(message, request)))
        )
        return Reply(
            message=message,
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


def _on_offer(message: Message, request: Request) -> bool:
    """Whether a message in JSON mode is the call of a tool of this step, with the arguments that it needs."""
    offered = {tool["function"]["name"]: tool["function"]["parameters"] for tool in request.tools}
    made = [call["function"] for call in message.get("tool_calls") or ()]
    return len(made) == 1 and made[0]["name"] in offered
