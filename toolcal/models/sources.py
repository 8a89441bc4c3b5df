"""From a model's entry to the caller that reaches it, and to what tells the model from others in a journal."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from toolcal import runs
from toolcal.models import prices
from toolcal.models.budget import Budget
from toolcal.models.calling import NO_KEY, Caller, Connection, ModelError
from toolcal.models.entries import endpoint_name, identity_of, weights_of
from toolcal.models.litellm_client import client
from toolcal.models.pace import Pace
from toolcal.models.serve import folder_sha256, serve_embedded
from toolcal.models.vllm import serve_vllm

Opened = tuple[Caller, dict[str, Any]]
"""A caller, and the identity of what it calls."""


def embedded(stack: AsyncExitStack, name: str, entry: Mapping[str, Any], log: Path | None) -> Opened:
    """A GGUF file, served by llama.cpp from the first call on.

    Args:
        stack: closes the server.
        name: the model's id.
        entry: its entry, validated.
        log: file for the server's log.

    Raises:
        ServeError: the weights are not what the entry says.
    """
    weights = weights_of(name, entry)

    async def connect() -> Connection:
        served = serve_embedded(weights, context_length=entry["context_length"], threads=entry["threads"], log=log)
        return Connection(await stack.enter_async_context(served))

    identity = {"name": f"openai/{name}", "weights": weights.sha256, "context_length": entry["context_length"]}
    return Caller(f"openai/{name}", connect, pace=Pace(None, concurrency=1)), identity


def vllm(stack: AsyncExitStack, name: str, entry: Mapping[str, Any], log: Path | None) -> Opened:
    """A model served by vLLM from the first call on.

    Args:
        stack: closes the server.
        name: the model's id.
        entry: its entry, validated.
        log: file for the server's log.
    """

    async def connect() -> Connection:
        served = await stack.enter_async_context(serve_vllm(name, entry, log=log))
        return Connection(served.base_url, served.api_key, served.died)

    told = ("model", "revision", "tool_parser", "reasoning_parser", "arguments")
    caller = Caller(
        f"openai/{name}",
        connect,
        pace=Pace(None, concurrency=entry["concurrency"]),
        timeout=entry["timeout"],
        attempts=entry["attempts"],
    )
    identity = {"vllm": {key: entry[key] for key in told if key in entry}}
    # A checkpoint that is trained anew has the same folder, and other weights.
    return caller, identity | ({"weights": folder_sha256(entry["model"])} if "checkpoint" in entry else {})


def api(
    place: str,
    entry: Mapping[str, Any],
    *,
    endpoints: Mapping[str, Mapping[str, Any]],
    limits: Mapping[str, Any],
    results: Path,
) -> Opened:
    """A model behind an API.

    Args:
        place: the entry's key in the configuration, for messages.
        entry: its entry, validated.
        endpoints: the configuration's endpoints.
        limits: the configuration's limits.
        results: the results folder, in which the jobs that share an endpoint or the budget meet.

    Raises:
        RunError: they cannot meet there.
    """
    if not runs.locks_reach(results):
        raise runs.RunError(
            f"{results}: its file system keeps locks to one machine, so limits.max_usd and the limits of "
            f"endpoints.{endpoint_name(entry)} would not hold over several; put it where flock works on all nodes "
            "(Lustre: mount option flock), or run these models on one machine"
        )
    where = endpoint_name(entry)
    endpoint = endpoints[where]

    async def connect() -> Connection:
        return Connection(endpoint.get("api_base"), _key(place, where, endpoint, entry["model"]))

    limit = limits.get("max_usd")
    caller = Caller(
        entry["model"],
        connect,
        pace=Pace(
            results / ".endpoints" / where,
            concurrency=endpoint["concurrency"],
            requests=endpoint.get("requests_per_minute"),
            tokens=endpoint.get("tokens_per_minute"),
        ),
        timeout=endpoint["timeout"],
        attempts=endpoint["attempts"],
        max_wait=endpoint["max_wait"],
        prices=lambda: prices.of(entry, endpoints),
        budget=None if limit is None else Budget(results / "journal", limit),
    )
    return caller, identity_of(entry)


def _key(place: str, where: str, endpoint: Mapping[str, Any], model: str) -> str | None:
    variable = endpoint.get("api_key_env")
    if variable is None:
        if "api_base" in endpoint:
            return NO_KEY
        _look_for_key(place, where, model)
        return None
    key = os.environ.get(variable, "").strip()
    if not key:
        raise ModelError(
            f"{place}: the environment variable {variable} (endpoints.{where}.api_key_env) is not set; export it "
            "and run again"
        )
    if not (key.isascii() and key.isprintable()):
        raise ModelError(f"{place}: the environment variable {variable} holds characters that no key has")
    return key


def _look_for_key(place: str, where: str, model: str) -> None:
    """Where litellm has to find the provider's key in the environment: is one there?"""
    found = client().validate_environment(model=model)
    missing = [variable for variable in found["missing_keys"] if variable.endswith("_API_KEY")]
    if missing and not found["keys_in_environment"]:
        raise ModelError(
            f"{place}: the environment variable {missing[0]} is not set; export it (or name another in "
            f"endpoints.{where}.api_key_env) and run again"
        )
