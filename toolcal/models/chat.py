"""A language model behind an OpenAI-compatible endpoint, through litellm; every call goes through the journal."""

from __future__ import annotations

import json
import logging
import os
import re
import time
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal

from toolcal.journal import Journal, call_key
from toolcal.models import json_mode
from toolcal.models.protocol import Reply, Request

NO_KEY = "no-key-needed"
"""What is sent as the API key to an endpoint that wants none (the client insists on one)."""

_ERROR_LENGTH = 500


class Chat:
    """A chat model, one call a request.

    In `json` mode the tools go into the prompt and one JSON action comes back (see `json_mode`); in `native` mode they
    go along as OpenAI tools. The journal holds what the endpoint returned, so decoding can change without a new call.

    Args:
        name: litellm's name of the model, e.g. `openai/SmolLM2-135M-Instruct`.
        identity: what else tells this model from another in the journal: weights' checksum or revision.
        journal: the cell's open journal.
        api_base: base URL of the endpoint; None for litellm's own.
        api_key: its key; never written anywhere.
        parameters: sampling parameters, sent as they are (temperature, max_tokens, ...). `seed` is the request's own
            unless given here; a parameter that is null is not sent.
        tool_mode: how tools are offered.
        history: in json mode, whether the prompt holds the current turn or the whole conversation.
        timeout: seconds a call may take.
    """

    def __init__(
        self,
        name: str,
        *,
        identity: Mapping[str, Any],
        journal: Journal,
        api_base: str | None = None,
        api_key: str = NO_KEY,
        parameters: Mapping[str, Any] | None = None,
        tool_mode: Literal["native", "json"] = "native",
        history: json_mode.History = "turn",
        timeout: float = 600.0,
    ) -> None:
        self.name = name
        self._identity = {"name": name, **identity}
        self._journal = journal
        self._api_base = api_base
        self._api_key = api_key
        self._parameters = dict(parameters or {})
        self._tool_mode = tool_mode
        self._history = history
        self._timeout = timeout

    async def respond(self, request: Request) -> Reply:
        """Answer one request, from the journal where it holds the call (then `cached`, with its first latency).

        Never raises for what the endpoint does: a prompt beyond the context is a reply with failure
        `context_exceeded`, anything else that goes wrong one with `infra_error`, which the journal does not keep.

        Raises:
            OSError: the journal cannot be written.
        """
        body = self._body(request)
        key = call_key(
            model=self._identity,
            body=body,
            case_id=request.case.case_id,
            trial=request.trial,
            turn=request.turn,
            step=request.step,
            attempt=request.attempt,
        )
        record = self._journal.get(key)
        cached = record is not None
        if record is None:
            record = await self._call(body)
            if record["failure"] != "infra_error":
                self._journal.put(key, record)
        return self._reply(record, cached, request)

    def _body(self, request: Request) -> dict[str, Any]:
        if self._tool_mode == "json":
            messages, response_format = json_mode.prompt(request, history=self._history)
            body: dict[str, Any] = {"messages": messages, "response_format": response_format}
        else:
            body = {"messages": list(request.messages), "tools": list(request.tools) or None}
        body |= {"seed": request.seed, **self._parameters}
        body = {name: value for name, value in body.items() if value is not None}
        # A lone surrogate, which JSON can escape but no client can send, would be an infrastructure error for ever.
        sent: dict[str, Any] = json.loads(json.dumps(body, ensure_ascii=False).encode("utf-8", "replace"))
        return sent

    async def _call(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """One call as its journal record: message, finish_reason, usage, latency (s), failure, error."""
        litellm = _litellm()
        started = time.perf_counter()
        record: dict[str, Any] = {"message": None, "finish_reason": None, "failure": None, "error": None}
        try:
            response = await litellm.acompletion(
                model=self.name,
                api_base=self._api_base,
                api_key=self._api_key,
                timeout=self._timeout,
                num_retries=0,
                max_retries=0,
                **body,
            )
            answer = response.model_dump(mode="json", exclude_none=True)
            choice = answer["choices"][0]
            record |= {"message": choice["message"], "finish_reason": choice.get("finish_reason")}
        except Exception as error:
            record |= {"failure": _failure(error), "error": self._masked(f"{type(error).__name__}: {error}")}
            answer = {}
        usage = answer.get("usage") or {}
        return record | {
            "prompt_tokens": usage.get("prompt_tokens"),
            "completion_tokens": usage.get("completion_tokens"),
            "latency": time.perf_counter() - started,
        }

    def _reply(self, record: Mapping[str, Any], cached: bool, request: Request) -> Reply:
        raw = record["message"]
        if raw is None:
            message: dict[str, Any] = {"role": "assistant", "content": None}
        elif self._tool_mode == "json":
            message = json_mode.decode(raw.get("content"), request.tools, f"call_{request.turn}_{request.step}")
            if "reasoning_content" in raw:
                message["reasoning_content"] = raw["reasoning_content"]
        else:
            kept = ("role", "content", "reasoning_content", "tool_calls")
            message = {"content": None, **{name: raw[name] for name in kept if name in raw}}
        return Reply(
            message=message,
            finish_reason=record["finish_reason"],
            raw=record["error"] if raw is None else raw,
            prompt_tokens=record["prompt_tokens"],
            completion_tokens=record["completion_tokens"],
            latency=record["latency"],
            cached=cached,
            failure=record["failure"],
        )

    def _masked(self, text: str) -> str:
        """An error's text on one line, without keys."""
        secrets = {value for name, value in os.environ.items() if re.search("KEY|TOKEN|SECRET|PASSWORD", name.upper())}
        for secret in sorted({self._api_key, *secrets} - {NO_KEY}, key=len, reverse=True):
            if len(secret) >= 8:
                text = text.replace(secret, "***")
        return " ".join(text.split())[:_ERROR_LENGTH]


def _failure(error: Exception) -> str:
    if isinstance(error, _litellm().ContextWindowExceededError) or "exceed_context_size_error" in str(error):
        return "context_exceeded"
    return "infra_error"


@cache
def _litellm() -> Any:
    """The client, imported at the first call (2 s, 190 MB) and kept from the network and from printing."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    spared = ("no_proxy", "NO_PROXY")  # a proxy has no way to a loopback server
    hosts = [host for name in spared for host in os.environ.get(name, "").split(",") if host]
    os.environ.update(dict.fromkeys(spared, ",".join(dict.fromkeys([*hosts, "127.0.0.1", "localhost"]))))
    import litellm

    litellm.suppress_debug_info = True
    litellm.telemetry = False
    logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)
    return litellm
