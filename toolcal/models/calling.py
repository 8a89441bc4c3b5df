"""One call to an endpoint: its limits kept, its faults told apart, tried again while that helps, and what it cost."""

from __future__ import annotations

import asyncio
import json
import logging
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import tenacity

from toolcal import logs
from toolcal.models import sent
from toolcal.models.answer import Answer, read
from toolcal.models.budget import Bill, Budget, BudgetReached, worst_cost
from toolcal.models.faults import SHORTEST_SECRET, Fault, fault_of, secrets_of_environment
from toolcal.models.litellm_client import EXCHANGE, Exchange, client, http_client
from toolcal.models.pace import Pace
from toolcal.models.prices import Prices

NO_KEY = "no-key-needed"
"""What is sent as the API key to an endpoint that wants none (the client insists on one)."""

_log = logging.getLogger(__name__)

_TELL_EVERY = 60.0
"""Seconds between lines on the terminal about an endpoint that does not answer."""

_IN_A_ROW = 3
"""Calls in a row that fail all their tries before the endpoint counts as down."""


@dataclass(frozen=True)
class Connection:
    """Where calls go: base URL (None: litellm's own for the provider) and key (None: litellm looks for it)."""

    api_base: str | None
    api_key: str | None = NO_KEY
    died: Callable[[], str | None] = lambda: None
    """Why the server behind it is gone; None while it is there, or where that cannot be known."""

    @property
    def secrets(self) -> tuple[str, ...]:
        """What no record may show."""
        if self.api_key is None:  # litellm has found one
            return tuple(secret for secret in secrets_of_environment() if len(secret) >= 16)
        # A word that is no secret (token, EMPTY) would be cut out of what the model said.
        return (self.api_key,) if self.api_key != NO_KEY and len(self.api_key) >= SHORTEST_SECRET else ()


class ModelError(ValueError):
    """An entry that cannot be used here and now; the message names its key and says what to do."""


class Failed(Exception):
    """One try that failed."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.words)
        self.fault = fault


class Caller:
    """Calls one model at one endpoint.

    Args:
        model: litellm's name of it.
        connect: gives the connection, at the first call: a server need not start where the journal holds all answers.
        pace: the endpoint's limits.
        timeout: seconds a try may take in all.
        attempts: tries of a call.
        max_wait: longest wait (s) that an endpoint may ask for.
        prices: gives those of the model, at the first call; None where they are unknown.
        budget: what is left to spend; None without a limit.
        backoff: seconds, the longest wait after a first failed try; doubled with each, up to a minute.
    """

    def __init__(
        self,
        model: str,
        connect: Callable[[], Awaitable[Connection]],
        *,
        pace: Pace,
        timeout: float = 600.0,
        attempts: int = 8,
        max_wait: float = 300.0,
        prices: Callable[[], Prices | None] = lambda: None,
        budget: Budget | None = None,
        backoff: float = 1.0,
    ) -> None:
        self._model = model
        self._connect = connect
        self._connecting = asyncio.Lock()
        self._connection: Connection | None = None
        self._unconnected: Exception | None = None
        self._http = AsyncExitStack()
        self._pace = pace
        self._timeout = timeout
        self._attempts = attempts
        self._max_wait = max_wait
        self._priced = prices
        self._budget = budget
        self._backoff = backoff
        self._failed_in_a_row = 0
        self._told = -math.inf
        self.concurrency = pace.concurrency
        self.closed: str | None = None
        """Why no more calls are made in this run, once that is so."""

    async def call(self, body: Mapping[str, Any], journal: Path) -> dict[str, Any]:
        """Make one call; never raises for what the endpoint does.

        Args:
            body: messages, tools or response format, parameters, as for OpenAI's API.
            journal: the calling cell's journal file, under which its cost is booked.

        Returns:
            The journal's record: message, finish_reason, prompt_tokens, completion_tokens, usage, latency (s, of the
            last try), cost (US dollars or None), tries, sent, served_by; failure (None, context_exceeded or
            infra_error) and error (its words).

        Raises:
            ModelError: `limits.max_usd` is set and the call's cost cannot be bounded.
        """
        if self.closed:
            return _record(failure="infra_error", error=f"not asked: {self.closed}", tries=0)
        try:
            async with self._bill(body, journal) as bill:
                record = await self._tried(body)
                if bill.held and record["message"] is not None and record["cost"] is None:
                    record["cost_at_most"] = bill.held  # the endpoint did not say what it used
                bill.cost = record.get("cost_at_most", record["cost"])
        except BudgetReached as error:
            self.closed = str(error)
            return _record(failure="infra_error", error=self.closed)
        return record

    @contextmanager
    def booked(self, journal: Path) -> Iterator[None]:
        """Book the calls of a cell, whose journal this job holds, under the limit on money."""
        try:
            yield
        finally:
            if self._budget is not None:
                self._budget.leave(journal)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    @cached_property
    def _prices(self) -> Prices | None:
        return self._priced()

    @asynccontextmanager
    async def _bill(self, body: Mapping[str, Any], journal: Path) -> AsyncIterator[Bill]:
        if self._budget is None:
            yield Bill(0.0)
            return
        worst = worst_cost(body, self._prices) if self._prices else None
        if worst is None:
            wanted = "max_tokens in parameters" if self._prices else "prices"
            raise ModelError(f"{self._model}: limits.max_usd cannot be kept without {wanted}; put that into its entry")
        async with self._budget.hold(journal, worst) as bill:
            yield bill

    async def _tried(self, body: Mapping[str, Any]) -> dict[str, Any]:
        expected = len(json.dumps(body)) // 4 + 256
        tries = 0
        try:
            async for attempt in tenacity.AsyncRetrying(
                stop=tenacity.stop_after_attempt(self._attempts),
                wait=self._wait,
                retry=tenacity.retry_if_exception(_worth_another),
                reraise=True,
            ):
                with attempt:
                    async with self._pace.turn(expected):
                        if self.closed:
                            return _record(failure="infra_error", error=f"not asked: {self.closed}", tries=tries)
                        tries += 1
                        record = await self._once(body)
        except Failed as error:
            return self._given_up(error.fault, tries)
        self._failed_in_a_row = 0
        if record["prompt_tokens"] is not None and record["completion_tokens"] is not None:
            self._pace.used(expected, record["prompt_tokens"] + record["completion_tokens"])
        return record | {"tries": tries}

    async def _once(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """One try.

        Raises:
            Failed: with its fault.
        """
        connection = await self._connected()
        litellm, exchange, response = client(), Exchange(), None
        token = EXCHANGE.set(exchange)
        started = time.perf_counter()
        try:
            async with asyncio.timeout(self._timeout):
                response = await litellm.acompletion(
                    model=self._model,
                    api_base=connection.api_base,
                    api_key=connection.api_key,
                    timeout=self._timeout,
                    num_retries=0,
                    max_retries=0,
                    drop_params=True,
                    **body,
                )
            fault = Fault("transient", "an answer without a choice that holds a message")
        except Exception as error:
            died = connection.died()
            where = f" (at {connection.api_base})" if connection.api_base else ""
            fault = (
                Fault("final", died)
                if died
                else fault_of(error, secrets=connection.secrets, where=where, sent=bool(exchange.sent))
            )
        finally:
            EXCHANGE.reset(token)
        latency = time.perf_counter() - started
        answer = read(exchange.body()) or (read(response.model_dump(mode="json")) if response is not None else None)
        if answer is None:
            raise Failed(self._heeded(fault))
        record = _record(
            message=answer.message,
            finish_reason=answer.finish_reason,
            prompt_tokens=answer.prompt_tokens,
            completion_tokens=answer.completion_tokens,
            usage=answer.usage,
            latency=latency,
            cost=self._cost(response, answer, connection),
            sent=sent.described(body, exchange.sent),
            served_by=answer.served_by,
        )
        secrets = connection.secrets
        kept: dict[str, Any] = _without(record, secrets) if secrets else record
        return kept

    async def _connected(self) -> Connection:
        async with self._connecting:
            if self._unconnected is not None:  # the other calls that waited: a server is started once
                raise self._unconnected
            if self._connection is None:
                await self._http.enter_async_context(http_client(self.concurrency))
                try:
                    self._connection = await self._connect()
                except Exception as error:
                    self._unconnected = error
                    raise
        return self._connection

    def _heeded(self, fault: Fault) -> Fault:
        """Wait as long as the endpoint asks to; too long a wait ends the asking."""
        if fault.kind != "transient" or fault.wait is None:
            return fault
        if fault.wait > self._max_wait:
            return Fault("final", f"{fault.words} (asks to come back in {fault.wait:.0f} s)")
        self._pace.hold(fault.wait)
        return fault

    def _given_up(self, fault: Fault, tries: int) -> dict[str, Any]:
        if fault.kind == "context":
            return _record(failure="context_exceeded", error=fault.words, tries=tries)
        if fault.kind == "transient":
            self._failed_in_a_row += 1
        if self.closed is None and (fault.kind == "final" or self._failed_in_a_row >= _IN_A_ROW):
            self.closed = fault.words
        return _record(failure="infra_error", error=fault.words, tries=tries)

    def _wait(self, state: tenacity.RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        words = f"{self._model}: try {state.attempt_number} of {self._attempts} failed: {error}"
        _log.info(words)
        if state.attempt_number > 1 and time.monotonic() - self._told > _TELL_EVERY:
            self._told = time.monotonic()
            logs.warn(f"{words}; trying again")
        return float(tenacity.wait_random_exponential(multiplier=self._backoff, max=60)(state))

    def _cost(self, response: Any, answer: Answer, connection: Connection) -> float | None:
        if self._prices is None or answer.prompt_tokens is None or answer.completion_tokens is None:
            return None
        if response is not None and connection.api_base is None and not self._prices.own:
            try:  # it knows cached and reasoning tokens
                cost = client().completion_cost(completion_response=response, model=self._model)
            except Exception:  # it raises a plain Exception for what it cannot price
                cost = None
            if cost:
                return float(cost)
        return answer.prompt_tokens * self._prices.input + answer.completion_tokens * self._prices.output


def _record(**values: Any) -> dict[str, Any]:
    names = ("message", "finish_reason", "failure", "error", "prompt_tokens", "completion_tokens", "usage", "latency")
    return dict.fromkeys([*names, "cost", "tries", "sent", "served_by"]) | values


def _worth_another(error: BaseException) -> bool:
    return isinstance(error, Failed) and error.fault.kind == "transient"


def _without(value: Any, secrets: Collection[str]) -> Any:
    """A record without keys in its texts, which an endpoint may send back."""
    if isinstance(value, str):
        for secret in secrets:
            value = value.replace(secret, "***")
        return value
    if isinstance(value, dict):
        return {name: _without(item, secrets) for name, item in value.items()}
    return [_without(item, secrets) for item in value] if isinstance(value, list) else value
