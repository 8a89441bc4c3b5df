"""A language model as a model of the rollout: how a request is put to it, and how its answer is read.

Every call goes through the journal, which holds what the endpoint returned, so reading can change without a new call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from toolcal.benchmarks.protocol import Message
from toolcal.journal import Call, Journal, call_key
from toolcal.models import json_mode, python_list
from toolcal.models.answer import count
from toolcal.models.calling import Caller
from toolcal.models.protocol import Reply, Request
from toolcal.tables import text_or_json
from toolcal.utf8 import in_utf8

ToolMode = Literal["native", "python_list", "json"]


class Chat:
    """A chat model, one call a request.

    In `native` mode tools go along as OpenAI tools; in `python_list` and `json` mode they go into the prompt, and calls
    come back as text (see the modules of these names).

    Args:
        identity: what tells this model from another in the journal: its name, and its weights' checksum or revision.
        journal: the cell's open journal.
        caller: makes the calls.
        parameters: sampling parameters, sent as they are (temperature, max_tokens, ...). `seed` is the request's own
            unless given here; a parameter that is null is not sent.
        tool_mode: how tools are offered.
        history: in json mode, whether the prompt holds the current turn or the whole conversation.
        return_reasoning: the names under which reasoning goes back in the history; none where it does not.
        execute_leaked: whether calls that leaked into the text are executed.
    """

    def __init__(
        self,
        *,
        identity: Mapping[str, Any],
        journal: Journal,
        caller: Caller,
        parameters: Mapping[str, Any] | None = None,
        tool_mode: ToolMode = "native",
        history: json_mode.History = "turn",
        return_reasoning: Sequence[str] = (),
        execute_leaked: bool = False,
    ) -> None:
        self.execute_leaked = execute_leaked
        self.concurrency = caller.concurrency
        self._identity = dict(identity)
        self._journal = journal
        self._caller = caller
        self._parameters = dict(parameters or {})
        self._tool_mode = tool_mode
        self._history = history
        self._return_reasoning = return_reasoning

    async def respond(self, request: Request) -> Reply:
        """Answer one request, from the journal where it holds the call (then `cached`, with its first latency).

        Where the journal replays another, that one is asked first (then also `replayed`, at no cost).

        Never raises for what the endpoint does: a prompt beyond the context is a reply with failure
        `context_exceeded`, anything else that goes wrong one with `infra_error`, which the journal does not keep.

        Raises:
            OSError: the journal cannot be written.
            ModelError: its key is missing, or `limits.max_usd` is set and the call's cost cannot be bounded.
        """
        body = self._body(request)
        place = (request.case.case_id, request.trial, request.turn, request.step, request.attempt)
        call: Call = (*place, request.beside) if request.beside else place
        key = call_key(model=self._identity, body=body, call=call)
        record = self._journal.replayed(key)
        replayed = record is not None
        if record is None:
            record = self._journal.get(key)
        cached = record is not None
        if record is None:
            record = await self._caller.call(body, self._journal.path)
            if record["failure"] != "infra_error":
                self._journal.put(key, call, record)
        return self._reply(record, request, cached=cached, replayed=replayed)

    def _body(self, request: Request) -> dict[str, Any]:
        body = put(request, self._tool_mode, self._history)
        if self._tool_mode == "native":
            body["messages"] = [self._with_reasoning(message) for message in body["messages"]]
        body |= {"seed": request.seed, **self._parameters}
        body = {name: value for name, value in body.items() if value is not None}
        # Half a character would be an infrastructure error for ever.
        sent: dict[str, Any] = in_utf8(body)
        return sent

    def _with_reasoning(self, message: Message) -> Message:
        sent = {name: value for name, value in message.items() if name != "reasoning_content"}
        reasoning = message.get("reasoning_content")
        return sent | (dict.fromkeys(self._return_reasoning, reasoning) if reasoning else {})

    def _reply(self, record: Mapping[str, Any], request: Request, *, cached: bool, replayed: bool) -> Reply:
        raw = record["message"]
        return Reply(
            message=said(raw, request, self._tool_mode) if raw else {"role": "assistant", "content": None},
            finish_reason=text_or_json(record["finish_reason"]),
            raw=record["error"] if raw is None else raw,
            prompt_tokens=count(record["prompt_tokens"]),
            completion_tokens=count(record["completion_tokens"]),
            latency=record["latency"],
            cost=0.0 if replayed else record.get("cost"),
            cached=cached,
            replayed=replayed,
            failure=record["failure"],
            sent=record.get("sent"),
            served_by=record.get("served_by"),
        )


def put(request: Request, tool_mode: ToolMode, history: json_mode.History = "turn") -> dict[str, Any]:
    """A request as a chat endpoint takes it: `messages`, and `tools` or the `response_format` that holds the answer.

    Args:
        request: the request.
        tool_mode: how tools are offered.
        history: in json mode, what the prompt holds.
    """
    if tool_mode == "json":
        messages, response_format = json_mode.prompt(request, history=history)
        return {"messages": messages, "response_format": response_format}
    if tool_mode == "python_list":
        return {"messages": python_list.prompt(request)}
    return {"messages": list(request.messages), "tools": list(request.tools) or None}


def said(raw: Mapping[str, Any], request: Request, tool_mode: ToolMode) -> dict[str, Any]:
    """What an endpoint answered, as a message in OpenAI form.

    Args:
        raw: the endpoint's message.
        request: what was asked.
        tool_mode: how tools were offered.
    """
    if tool_mode == "native":
        return {"content": None, **raw}
    if tool_mode == "json":
        message = json_mode.decode(raw.get("content"), request.tools, request.call_ids, request.guide)
    else:
        message = python_list.decode(raw.get("content"), request.tools, request.call_ids)
    if "reasoning_content" in raw:
        message["reasoning_content"] = raw["reasoning_content"]
    return message
