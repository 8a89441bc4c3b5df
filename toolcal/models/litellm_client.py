"""The way to litellm: imported where a call is made (2 s, 190 MB), kept from the network and from printing."""

from __future__ import annotations

import gc
import logging
import os
import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from typing import Any

ANSWER_BYTES = 64_000_000
"""Longest answer that is read; an endpoint that never stops sending would fill the memory otherwise."""


@dataclass
class Exchange:
    """What goes over the wire for one call: the body that litellm makes of it, and the HTTP response (OpenAI's way)."""

    sent: dict[str, Any] = field(default_factory=dict)
    response: Any = None

    def body(self) -> Any:
        """The answer's JSON as it came; None where there is none."""
        try:
            return self.response.json() if self.response is not None and self.response.status_code == 200 else None
        except (ValueError, RuntimeError):  # no JSON, or a body that was never read to its end
            return None


EXCHANGE: ContextVar[Exchange | None] = ContextVar("EXCHANGE", default=None)
"""The exchange of the call under way."""


def client() -> Any:
    """The module litellm, set up once a process."""
    litellm = _set_up()
    # tau2 sets this where it is imported; a 422 would then be sent twice and come back as None.
    litellm.drop_params = False
    return litellm


@cache
def _set_up() -> Any:
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    spared = ("no_proxy", "NO_PROXY")  # a proxy has no way to a loopback server
    hosts = [host for name in spared for host in os.environ.get(name, "").split(",") if host]
    os.environ.update(dict.fromkeys(spared, ",".join(dict.fromkeys([*hosts, "127.0.0.1", "localhost"]))))
    gc.disable()  # the import builds thousands of classes, which the collector would go through again and again
    try:
        import litellm
        from litellm.integrations.custom_logger import CustomLogger
    finally:
        gc.enable()

    class Recorder(CustomLogger):
        def log_pre_api_call(self, model: Any, messages: Any, kwargs: Any) -> None:
            exchange = EXCHANGE.get()
            body = kwargs.get("additional_args", {}).get("complete_input_dict")
            if exchange is not None and isinstance(body, dict):
                exchange.sent = {name: value for name, value in body.items() if name != "extra_body"}
                exchange.sent |= body.get("extra_body") or {}

    litellm.input_callback = [Recorder()]
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)
    warnings.filterwarnings("ignore", category=UserWarning, module="pydantic")  # on answers of odd form, and on types
    return litellm


@asynccontextmanager
async def http_client(connections: int) -> AsyncIterator[None]:
    """One HTTP client for the calls of a job, for providers that litellm calls by OpenAI's package.

    Args:
        connections: calls under way at once.
    """
    import httpx

    litellm = client()
    limits = httpx.Limits(max_connections=connections + 8, max_keepalive_connections=connections)
    async with httpx.AsyncClient(
        limits=limits,
        headers={"Accept-Encoding": "identity"},
        follow_redirects=True,
        timeout=None,
        event_hooks={"response": [_received]},
    ) as http:
        litellm.in_memory_llm_clients_cache.flush_cache()  # those of an event loop that is closed
        litellm.aclient_session = http
        try:
            yield
        finally:
            litellm.aclient_session = None
            litellm.in_memory_llm_clients_cache.flush_cache()


async def _received(response: Any) -> None:
    import httpx

    if response.headers.get("Content-Encoding", "identity") != "identity":  # a kilobyte may unfold to gigabytes
        raise httpx.ReadError("a compressed answer, which was not asked for")
    exchange = EXCHANGE.get()
    if exchange is not None:
        exchange.response = response

    class Bounded(httpx.AsyncByteStream):
        def __init__(self, stream: Any) -> None:
            self._stream = stream

        async def __aiter__(self) -> AsyncIterator[bytes]:
            size = 0
            async for part in self._stream:
                size += len(part)
                if size > ANSWER_BYTES:
                    raise httpx.ReadError(f"an answer of more than {ANSWER_BYTES} bytes")
                yield part

        async def aclose(self) -> None:
            await self._stream.aclose()

    response.stream = Bounded(response.stream)
