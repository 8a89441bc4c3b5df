"""How an agent of the study answers one question: its calls of the tool, its final form, and its confidence.

The form is asked for once more where it is broken, and so is a confidence that cannot be read (not in training, which
is to show what comes unasked: `Way.again`). A model in JSON mode ends with a call (`elicit.ANSWER`), any other with the
lines of the form.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolcal import calls
from toolcal.benchmarks.protocol import Case, Message
from toolcal.benchmarks.protocol import Tool as Schema
from toolcal.confidence import elicit, parse
from toolcal.confidence.elicit import ANSWER, Agent, Scale, Wording
from toolcal.confidence.final_form import PARTS, Final, read_emission
from toolcal.confidence.questions import Question
from toolcal.confidence.using import Used
from toolcal.models import history
from toolcal.models.protocol import Model, Reply, Request, call_ids
from toolcal.rollout import seed_of, status_of

Use = Callable[[calls.Call, int], Awaitable[Used]]
"""Runs a call of the tool; the second argument is its number in the conversation."""


@dataclass(frozen=True)
class Way:
    """How a cell's questions are answered.

    Attributes:
        agent: direct, prompted or trained.
        wording: how the confidence is asked for.
        scale: on which scale.
        json_mode: whether the model acts in JSON mode.
        execute_leaked: whether calls that leaked into the text are run.
        steps: calls of the tool before the answer is asked for.
        again: whether a broken form is asked for once more.
    """

    agent: Agent
    wording: Wording
    scale: Scale
    json_mode: bool
    execute_leaked: bool = False
    steps: int = 4
    again: bool = True


@dataclass
class Answered:
    """What came of one question."""

    status: str = "ok"
    answer: str | None = None
    confidence: parse.Confidence = field(default_factory=lambda: parse.Confidence(None, None, "absent"))
    reasked: bool = False
    used: list[Used] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)


async def answer(
    question: Question, way: Way, tool: Schema | None, use: Use, model: Model, *, trial: int, seed: int
) -> Answered:
    """Ask one question.

    Args:
        question: the question.
        way: how it is answered.
        tool: the tool that is offered; None for direct answers.
        use: runs a call of it.
        model: answers.
        trial: which repetition.
        seed: the run's seed.

    Raises:
        OSError, ModelError: as `Model.respond`.
    """
    asking = _Asking(question, way, tool, use, model, trial, seed)
    await asking.run()
    return asking.found


@dataclass(frozen=True)
class _Emission:
    """A reply and what it says."""

    reply: Reply
    said: calls.Parsed


class _Asking:
    def __init__(
        self, question: Question, way: Way, tool: Schema | None, use: Use, model: Model, trial: int, seed: int
    ) -> None:
        self._way = way
        self._tools = () if tool is None else (tool,)
        self._use = use
        self._model = model
        self._trial = trial
        self._seed = seed
        self._question = question
        self._case = _as_case(question)
        self._spoke = "ok"  # the status of the last emission
        self.found = Answered()
        if not way.json_mode:
            self.found.messages.append({"role": "system", "content": elicit.system(way.agent, way.wording, way.scale)})
        self.found.messages.append({"role": "user", "content": question.text})

    async def run(self) -> None:
        """Ask for the answer, and where the wording has it so for the confidence after it."""
        final = await self._final(0, self._way.wording.parts)
        later = elicit.later(self._way.wording, self._way.scale, self._question.text, final.answer or "")
        if later is not None and final.answer is not None:
            if self._way.wording.fresh:
                self._ended, self.found.messages = self.found.messages, []
            self.found.messages.append({"role": "user", "content": later})
            confidence = (await self._final(1, PARTS[1:])).confidence
            if self._way.wording.fresh:
                self.found.messages = [*self._ended, *self.found.messages]
            final = Final(final.answer, confidence)
        if self.found.status == "infra_error":
            return
        self.found.answer = final.answer
        self.found.confidence = parse.parse(final.confidence, self._way.scale)
        if final.answer is not None:
            self.found.status = "ok"  # also where the context ran out after it
        elif self.found.status == "ok":
            self.found.status = "broken_form" if self._spoke == "ok" else self._spoke

    async def _final(self, turn: int, parts: tuple[str, ...]) -> Final:
        """Ask until there is a final form, or none is to be had."""
        step = 0
        while True:
            last = turn > 0 or step >= self._way.steps
            emission = await self._asked(turn, step, 0, parts, last=last)
            if emission.reply.failure:
                return Final(None, None)
            made = [] if last else self._calls(emission.said)
            if not made:
                break
            await self._run(emission, made, turn, step)
            step += 1
        final = read_emission(emission.said, ANSWER)
        self._say(emission, turn, step)
        if not (missing := self._missing(final, parts)) or not self._way.again:
            return final
        self.found.reasked = True
        again = elicit.again_in_json() if self._way.json_mode else elicit.again(missing, self._way.scale, parts)
        self.found.messages.append({"role": "user", "content": again})
        emission = await self._asked(turn, step, 1, parts, last=True)
        if emission.reply.failure:
            return final
        self._say(emission, turn, step, attempt=1)
        second = read_emission(emission.said, ANSWER)
        # What the second form leaves out, the first may have; an answer is never made of a message without a form.
        return Final(*(getattr(second, part) or getattr(final, part) for part in PARTS))

    async def _asked(self, turn: int, step: int, attempt: int, parts: tuple[str, ...], *, last: bool) -> _Emission:
        way = self._way
        tools: Sequence[Schema] = self._tools
        guide = None
        if way.json_mode:
            called = any(not one.failed for one in self.found.used) or step > 0
            tools = elicit.offered(self._tools, way.scale, parts, called=called, last=last)
            names = [tool["function"]["name"] for tool in self._tools]
            guide = elicit.guide(way.agent, way.wording, way.scale, names)
        start = next((at for at, message in enumerate(self.found.messages) if message["role"] == "user"), 0)
        reply = await self._model.respond(
            Request(
                case=self._case,
                trial=self._trial,
                turn=turn,
                step=step,
                attempt=attempt,
                messages=tuple(self.found.messages),
                turn_start=start,
                tools=tuple(tools),
                seed=seed_of(self._seed, self._case, self._trial, turn, step, attempt),
                guide=guide,
            )
        )
        self.found.replies.append(reply)
        self.found.status = reply.failure or "ok"
        known = {ANSWER, *(tool["function"]["name"] for tool in self._tools)}
        return _Emission(reply, calls.parse(reply.message, reply.finish_reason, known))

    def _calls(self, said: calls.Parsed) -> list[calls.Call]:
        """The calls of the tool that are run; an answer ends the question, whatever stands beside it."""
        if not self._tools or (said.leaked and not self._way.execute_leaked):
            return []
        if any(call.name == ANSWER for call in said.calls):
            return []
        return list(said.calls)

    async def _run(self, emission: _Emission, made: Sequence[calls.Call], turn: int, step: int) -> None:
        first = len(self.found.used)
        used = await asyncio.gather(*(self._use(call, first + at) for at, call in enumerate(made)))
        self.found.used += used
        results = [
            {"name": call.name, "arguments": call.arguments, "result": one.text}
            for call, one in zip(made, used, strict=True)
        ]
        self._say(emission, turn, step, results=results)

    def _say(
        self, emission: _Emission, turn: int, step: int, *, attempt: int = 0, results: Sequence[dict[str, Any]] = ()
    ) -> None:
        """Take an emission into the conversation."""
        reply, parsed = emission.reply, emission.said
        said = history.said(reply.message, parsed, results, call_ids(turn, step, attempt))
        if not results and parsed.calls and parsed.calls[0].name == ANSWER:
            said = said[:1]  # the answer, made as a call: there is no result to come
        self.found.messages.extend(said)
        self._spoke = status_of(reply, parsed)

    def _missing(self, final: Final, parts: tuple[str, ...]) -> list[str]:
        """The parts of the form that are not there, a confidence that cannot be read among them."""
        missing = final.missing(parts)
        if "confidence" in parts and "confidence" not in missing:
            unread = parse.parse(final.confidence, self._way.scale).value is None
            missing += ["confidence"] if unread else []
        return missing


def _as_case(question: Question) -> Case:
    """A question as a case, for the journal's key."""
    return Case(
        benchmark="confidence",
        scenario="confidence",
        revision="",
        case_id=question.question_id,
        cluster_id=question.question_id,
        turns=(),
        tools=(),
        initial_state={},
        gold=(),
        gold_actions=(),
        decisive_turn=None,
    )
