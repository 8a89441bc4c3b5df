"""tau2's agent, played by a model of the configuration, with a perturbation's context and probe."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolcal import calls, rollout
from toolcal.benchmarks.protocol import NO_RESULT, Case, Message, ToolResult
from toolcal.benchmarks.tau2 import engine
from toolcal.confidence.turn import WHO, TurnQuestion
from toolcal.models import history
from toolcal.models.protocol import Reply, Request, call_ids
from toolcal.perturbations.context import Context
from toolcal.perturbations.probes import Decision
from toolcal.perturbations.probes.seams import Seams, weightiest
from toolcal.utf8 import in_utf8

with engine.quietly():
    from tau2.agent.base import AgentError
    from tau2.agent.llm_agent import LLMAgent
    from tau2.data_model.message import AssistantMessage, MultiToolMessage, ToolCall, UserMessage

Ask = Callable[[Request], Reply]
"""Puts a request to a model, and waits for its reply."""

LAST = 12
"""After SRI has acted, the model is asked with the first and so many of the last messages, in SRI's form for tau2."""

NOT_SHOWN = "not_shown."
"""Before the name of a tool that a rename took away: no environment knows it."""


class NoAnswer(Exception):
    """A party's model gave no answer; `reply` has the failure."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.failure)
        self.reply = reply


@dataclass
class Emission:
    """One response of the model, and the calls of it that were sent to the environment, each with its id there."""

    turn: int
    step: int
    attempt: int
    reply: Reply
    parsed: calls.Parsed
    status: str
    sent: dict[str, calls.Call] = field(default_factory=dict)
    retracted: bool = False


class Agent(LLMAgent):  # type: ignore[misc]
    """The agent of one run.

    Args:
        case: the task.
        context: what the model reads of it.
        ask: puts a request to the model.
        results: what calls did, by their id; the environment fills it.
        trial: goes into the requests.
        seed: the run's seed.
        execute_leaked: whether calls that leaked into the text are executed.
        question: asks for a confidence after each message to the user, beside the conversation; None asks for none.
    """

    def __init__(
        self,
        case: Case,
        context: Context,
        ask: Ask,
        results: Mapping[str, ToolResult],
        *,
        trial: int,
        seed: int,
        execute_leaked: bool,
        question: TurnQuestion | None = None,
    ) -> None:
        super().__init__(tools=[], domain_policy="")
        self._case = case
        self._context = context
        self._ask = ask
        self._results = results
        self._trial = trial
        self._seed = seed
        self._execute_leaked = execute_leaked
        self._question = question
        self._shown = {name: shown for shown, name in context.renamed.items()}
        self._tools = context.tools_at(0)
        self._names = {tool["function"]["name"] for tool in self._tools}
        self._messages: list[Message] = [{"role": "system", "content": context.system}] if context.system else []
        self._seams = Seams(case, context)
        self._requests: list[str] = []
        self._turn_start = len(self._messages)
        self._instruction: str | None = None
        self._step = 1  # tau2's greeting is step 0
        self._emissions: list[Emission] = []
        self.confidences: list[dict[str, Any]] = []
        """Rows of the table `turn_confidence`; they lack the cell's, the case's and the trial's columns."""

    @property
    def system_prompt(self) -> str:
        """The context's system message; tau2 asks for it."""
        return self._context.system or ""

    def set_seed(self, seed: int) -> None:
        """Nothing: each request has a seed of its own."""

    @property
    def events(self) -> list[dict[str, Any]]:
        """Rows of the table `probe_events`; they lack the cell's, the case's and the trial's columns."""
        return self._seams.events

    def rows(self) -> Iterator[dict[str, Any]]:
        """Rows of the table `trajectories`, tau2's greeting not among them."""
        for one in self._emissions:
            results = [self._result(call, identity) for identity, call in one.sent.items()]
            made = rollout.row(one.turn, one.step, one.reply, one.status, results, attempt=one.attempt)
            yield made | {"retracted": one.retracted}

    def generate_next_message(self, message: Any, state: Any) -> tuple[AssistantMessage, Any]:
        """Answer the user, or the results of the last calls.

        Raises:
            AgentError: the model said nothing that can be sent.
            NoAnswer: its endpoint gave no answer.
        """
        if isinstance(message, UserMessage):
            self._hear(message.content or "")
        else:
            self._read(message.tool_messages if isinstance(message, MultiToolMessage) else [message])
        answer = self._answer()
        if self._question and not answer.tool_calls:  # it goes to the user: the turn has ended
            self._ask_confidence(self._question)
        return answer, state

    def _hear(self, text: str) -> None:
        """The user's words begin a turn."""
        if self._requests:
            self._step = 0
        self._requests.append(text)
        self._turn_start = len(self._messages)
        self._messages.append({"role": "user", "content": text})

    def _read(self, answers: Sequence[Any]) -> None:
        """The results of the last emission's calls."""
        last = self._emissions[-1]
        results = [self._result(call, answer.id) for call, answer in zip(last.sent.values(), answers, strict=True)]
        for call, result in zip(last.sent.values(), results, strict=True):
            self._seams.observed = self._seams.observed.after(call.name, result)
        told = [result | {"name": call.name} for call, result in zip(last.sent.values(), results, strict=True)]
        made = rollout.first_calls(last.reply.message, len(told))
        self._messages.extend(history.said(made, last.parsed, told, _ids(last)))
        self._step += 1
        if self._instruction:  # a probe has taken back the calls after these
            self._messages.append({"role": "system", "content": self._instruction})
            self._instruction = None

    def _result(self, call: calls.Call, identity: str) -> dict[str, Any]:
        name = self._context.renamed.get(call.name, call.name)
        outcome = self._results.get(identity) or ToolResult("", executed=False, error=NO_RESULT)
        if self._hidden(call):
            outcome = rollout.undefined(name)
        return rollout.result_of(name, call, outcome, self._shown)

    def _hidden(self, call: calls.Call) -> bool:
        """Whether a rename took this name away: a call that a model knows by heart must not run."""
        return bool(self._context.renamed) and call.name not in self._context.renamed

    def _answer(self) -> AssistantMessage:
        """Ask until no probe has the model asked again."""
        attempt, messages = 0, self._messages
        while True:
            one = self._asked(messages, attempt)
            kept, decision = self._looked_at(one)
            acted = self._seams.note(decision, one.turn, one.step, one.attempt)
            one.sent = {f"{_ids(one)}_{index}": call for index, call in enumerate(kept)}
            if not acted:
                return self._sent(one)
            if acted.seam == "call" and kept:
                self._instruction = acted.appended
                return self._sent(one)
            one.retracted = acted.emission == "retract"
            if acted.emission == "keep":
                self._messages.extend(history.said(one.reply.message, one.parsed, [], _ids(one)))
            self._messages.append({"role": "system", "content": acted.appended})
            messages = first_and_last(self._messages) if acted.seam == "halt" else self._messages
            attempt += 1

    def _ask_confidence(self, question: TurnQuestion) -> None:
        """Ask how sure the model is of the turn that has ended; the conversation stays as it is."""
        asked = question.first(self._request(self._messages, 0, 0, who=WHO))
        replies = [self._ask(asked)]
        if again := question.again(asked, replies[0]):
            replies.append(self._ask(again))
        self.confidences.append(question.row(asked.turn, replies))

    def _request(self, messages: Sequence[Message], step: int, attempt: int, who: str = "") -> Request:
        turn, left_out = len(self._requests) - 1, len(self._messages) - len(messages)
        return Request(
            case=self._case,
            trial=self._trial,
            turn=turn,
            step=step,
            attempt=attempt,
            messages=tuple(messages),
            turn_start=max(min(self._turn_start, 1), self._turn_start - left_out),
            tools=self._tools,
            seed=rollout.seed_of(self._seed, self._case, self._trial, turn, step, attempt, who),
            shown=self._shown,
        )

    def _asked(self, messages: Sequence[Message], attempt: int) -> Emission:
        request = self._request(messages, self._step, attempt)
        reply, turn = self._ask(request), request.turn
        parsed = calls.parse(reply.message, reply.finish_reason, self._names)
        one = Emission(turn, self._step, attempt, reply, parsed, rollout.status_of(reply, parsed))
        self._emissions.append(one)
        if reply.failure:
            raise NoAnswer(reply)
        return one

    def _looked_at(self, one: Emission) -> tuple[list[calls.Call], Decision | None]:
        """The calls up to one that the probe takes back, and what it decided."""
        stays = one.parsed.leaked and not self._execute_leaked
        kept: list[calls.Call] = []
        decided: list[Decision] = []
        for call in () if stays else one.parsed.calls:
            decision = self._decide(one, call)
            if decision:
                decided.append(decision)
                if decision.triggered:
                    break
            kept.append(call)
        decision = weightiest(decided)
        if not kept and decision is None:
            decision = self._decide(one, None)
        return kept, decision

    def _decide(self, one: Emission, call: calls.Call | None) -> Decision | None:
        return self._seams.decide(one.turn, self._requests, self._tools, one.parsed.text, one.status, call)

    def _sent(self, one: Emission) -> AssistantMessage:
        """The message that goes to the user or, with calls, to the environment.

        Raises:
            AgentError: there are neither words nor calls.
        """
        text = one.parsed.prose.strip() if one.sent and one.parsed.leaked else one.parsed.text
        if one.sent:
            made = [
                ToolCall(id=key, name=self._name(call), arguments=in_utf8(call.arguments))
                for key, call in one.sent.items()
            ]
            return AssistantMessage(role="assistant", content=text or None, tool_calls=made, cost=0.0)
        if not text.strip():
            raise AgentError(f"the agent sent neither words nor a call that can be read ({one.status})")
        self._messages.extend(history.said(one.reply.message, one.parsed, [], _ids(one)))
        return AssistantMessage(role="assistant", content=text, cost=0.0)

    def _name(self, call: calls.Call) -> str:
        if self._hidden(call):
            return f"{NOT_SHOWN}{call.name}"
        return str(self._context.renamed.get(call.name, call.name))


def first_and_last(messages: Sequence[Message], last: int = LAST) -> list[Message]:
    """The first and the last messages of a conversation; results of calls do not stand without their call."""
    start = max(1, len(messages) - last)
    while start > 1 and messages[start]["role"] == "tool":
        start -= 1
    return [*messages[:1], *messages[start:]]


def _ids(one: Emission) -> str:
    return call_ids(one.turn, one.step, one.attempt)
