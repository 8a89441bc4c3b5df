"""The question after each turn: how sure is the model of what it did? It is asked beside the conversation.

No message of it enters the conversation: the model goes on without having seen the question or its answer.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from toolcal import calls
from toolcal.benchmarks.protocol import Message
from toolcal.confidence import elicit, final_form
from toolcal.confidence.parse import parse
from toolcal.confidence.turn_plan import BESIDE, texts
from toolcal.models.protocol import Guide, Reply, Request
from toolcal.utf8 import in_utf8

WHO = "confidence "
"""Sets the seeds of these requests apart (`rollout.seed_of`)."""

_PART = ("confidence",)
_UNREAD = ("empty", "truncated", "malformed_call")

# Invented, and played to their end; one ends sure and one unsure, so that no one confidence is the one to copy.
_SURE: tuple[tuple[str, Any], ...] = (
    ("user", "Switch the kitchen lamp off."),
    ("switch_lamp", {"room": "kitchen", "on": False}),
    ("result", '{"lamp": "off"}'),
    ("assistant", "The kitchen lamp is off."),
)
_UNSURE: tuple[tuple[str, Any], ...] = (
    ("user", "Send the parcel to my sister."),
    ("send_parcel", {"address": "Main Street 1"}),
    ("result", '{"parcel": "sent"}'),
    ("assistant", "The parcel is on its way."),
)


@dataclass(frozen=True)
class TurnQuestion:
    """How a model is asked after a turn.

    Attributes:
        scale: `unit` (0 to 1) or `percent` (0 to 100).
        in_json: whether the model is in JSON mode: it then states its confidence, and nothing else, by a schema. Any
            other model is offered its tools as before, for some providers want them where calls were made, and answers
            with a line; a call that it makes all the same is not executed.
    """

    scale: elicit.Scale
    in_json: bool = False

    def first(self, request: Request) -> Request:
        """The request that asks.

        Args:
            request: the conversation after the turn: its messages, tools, and where the turn begins.
        """
        asked = replace(request, step=0, attempt=0, beside=BESIDE, messages=(*request.messages, self._ask()))
        if not self.in_json:
            return asked
        return replace(asked, tools=(elicit.answer_tool(self.scale, _PART),), guide=self._guide())

    def again(self, asked: Request, reply: Reply) -> Request | None:
        """The request that asks once more where the form is broken; None where it is not, or there is no answer.

        Args:
            asked: what was asked (`first`).
            reply: its answer.
        """
        if reply.failure or self._stated(reply) is not None:
            return None
        words = texts()["again"].format(form=self._form())
        said = calls.parse(reply.message, reply.finish_reason).text.strip()
        # Two messages of the user in a row are refused by some providers.
        before = (*asked.messages, _message("assistant", said)) if said else asked.messages[:-1]
        told = words if said else f"{asked.messages[-1]['content']}\n\n{words}"
        return replace(asked, attempt=1, messages=(*before, _message("user", told)))

    def row(self, turn: int, replies: Sequence[Reply]) -> dict[str, Any]:
        """A row of the table `turn_confidence`; it lacks only the cell's, the case's and the trial's columns.

        Args:
            turn: user turn, from 0.
            replies: the answer, and the second one where it was asked again.
        """
        last = replies[-1]
        stated = None if last.failure else self._stated(last)
        read = parse(stated, self.scale)
        return {
            "turn": turn,
            "confidence_raw": read.raw,
            "confidence": read.value,
            "confidence_reason": read.reason,
            "reasked": len(replies) > 1,
            "status": last.failure or ("ok" if stated is not None else _broken(last)),
            "prompt_tokens": _sum([reply.prompt_tokens for reply in replies]),
            "completion_tokens": _sum([reply.completion_tokens for reply in replies]),
            "latency": _sum([reply.latency for reply in replies]),
            "cost": _sum([reply.cost for reply in replies]),
            "cached": all(reply.cached for reply in replies),
        }

    def _ask(self) -> Message:
        return _message("user", texts()["ask"].format(range=elicit.range_of(self.scale), form=self._form()))

    def _form(self) -> str:
        return elicit.form(self.scale, _PART)

    def _guide(self) -> Guide:
        examples = [
            example
            for played, percent in ((_SURE, 95), (_UNSURE, 10))
            for example in (
                *played,
                ("user", self._ask()["content"]),
                (elicit.ANSWER, {"confidence": percent if self.scale == "percent" else percent / 100}),
            )
        ]
        return Guide(texts()["guide"], tuple(examples), text_actions=(), after_result=texts()["after_result"])

    def _stated(self, reply: Reply) -> str | None:
        """The confidence as it was stated; None where the form is broken."""
        if self.in_json:
            made = calls.parse(reply.message, reply.finish_reason, {elicit.ANSWER}).calls
            given = next((call.arguments.get("confidence") for call in made if call.name == elicit.ANSWER), None)
            text = given if given is None or isinstance(given, str) else json.dumps(given)
        else:
            text = final_form.read(calls.content_of(reply.message)).confidence
        return None if text is None else str(in_utf8(text))


def _message(role: str, content: str) -> Message:
    return {"role": role, "content": content}


def _broken(reply: Reply) -> str:
    status = calls.parse(reply.message, reply.finish_reason).status
    return status if status in _UNREAD else "broken_form"


def _sum(values: Sequence[Any]) -> Any:
    """The sum of what is known; None where nothing is."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None
