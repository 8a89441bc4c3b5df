"""Models served by vLLM on this machine: a configuration entry becomes a running `vllm serve`."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import re
import secrets
import shutil
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from toolcal.models.serve import ServeError
from toolcal.models.supervised import Supervised, server_log, supervised

# What the words of a failed start mean, and what to do about it; the first that matches is told.
_ADVICE = (
    (r"unrecognized arguments", "look at arguments: this vLLM does not know one of them"),
    (r"[Ii]nvalid tool call parser|[Ii]nvalid reasoning parser|chose from", "name one of vLLM's parsers"),
    (r"GatedRepo|gated repo|401 Client Error|403 Client Error", "accept the model's licence and set HF_TOKEN"),
    (r"RepositoryNotFound|RevisionNotFound|404 Client Error", "look at model and revision"),
    (r"[Aa]ddress already in use", "its port was taken meanwhile: run again"),
    (
        r"out of memory|OutOfMemory|KV cache|free memory on device",
        "it needs more memory than there is: lower --max-model-len, or raise tensor_parallel (docs/vllm.md)",
    ),
    (r"CUDA|[Nn]o .*GPU|device type", "look at the GPUs: `nvidia-smi`, CUDA_VISIBLE_DEVICES"),
)
# Ours to set, or secrets, which a command line shows to everyone on the machine.
_RESERVED = {
    "--api-key": "leave it out: a key is made for each start, and passed in the environment",
    "--hf-token": "set HF_TOKEN in the environment",
    **dict.fromkeys(("--host", "--port", "--uds", "--served-model-name", "--model"), "leave it out: it is set already"),
    "--tool-call-parser": "set tool_parser",
    "--reasoning-parser": "set reasoning_parser",
    "--tensor-parallel-size": "set tensor_parallel",
    "-tp": "set tensor_parallel",
    "--revision": "set revision",
}


@dataclass(frozen=True)
class Served:
    """A server that is ready."""

    base_url: str
    """Of its OpenAI-compatible API, e.g. `http://127.0.0.1:40123/v1`; the model is called by its name in the panel."""
    api_key: str = field(repr=False)
    died: Callable[[], str | None]
    """Says in one line how the server ended, or None while it runs; some milliseconds after its last connection."""


def command(name: str, entry: Mapping[str, Any], port: int) -> list[str]:
    """Write the command line of a model's server.

    Args:
        name: the model's name in the panel, by which it is called.
        entry: its configuration, defaults filled in (`vllm` in schemas/config.schema.yaml).
        port: of the loopback address.

    Raises:
        ServeError: `arguments` sets what has a key of its own, or holds a secret.
    """
    for argument in entry["arguments"]:
        option = argument.split("=", 1)[0].replace("_", "-")
        if option in _RESERVED:
            raise ServeError(f"models.{name}.arguments: {argument.split('=', 1)[0]}: {_RESERVED[option]}")
    line = [entry["executable"], "serve", entry["model"], "--host", "127.0.0.1", "--port", str(port)]
    line += ["--served-model-name", name]
    if "revision" in entry:
        line += ["--revision", entry["revision"]]
    if "tool_parser" in entry:
        line += ["--enable-auto-tool-choice", "--tool-call-parser", entry["tool_parser"]]
    if "reasoning_parser" in entry:
        line += ["--reasoning-parser", entry["reasoning_parser"]]
    if entry["tensor_parallel"] > 1:
        line += ["--tensor-parallel-size", str(entry["tensor_parallel"])]
    return [*line, *entry["arguments"]]


@asynccontextmanager
async def serve_vllm(
    name: str, entry: Mapping[str, Any], *, log: Path | None = None, grace: float = 5.0
) -> AsyncIterator[Served]:
    """Serve a model for the length of an `async with` block; the server ends with it, and with this process.

    Args:
        name: the model's name in the panel.
        entry: its configuration, defaults filled in.
        log: file to append the server's log to; without it, only the message of a failed start tells of it.
        grace: seconds between SIGTERM and SIGKILL at the end.

    Raises:
        ServeError: no such executable, or the server ended or was not healthy within `start_timeout` seconds; in one
            line, with its last words and what to do.
    """
    executable = shutil.which(os.path.expanduser(entry["executable"]))  # noqa: PTH111 - a Path would drop a leading ./
    if executable is None:
        raise ServeError(
            f"models.{name}: no command {entry['executable']} here: `pip install vllm` on a machine with a GPU, "
            f"or set models.{name}.executable to where it is (docs/vllm.md)"
        )
    port = _free_port()
    key = secrets.token_hex(24)
    # Unbuffered, so that its last words are written before it dies.
    env = {**os.environ, "PYTHONUNBUFFERED": "1", "VLLM_API_KEY": key}
    line = command(name, {**entry, "executable": executable}, port)
    with server_log(log) as output:
        async with supervised(line, env=env, log=output, grace=grace) as server:
            await _until_ready(name, entry["start_timeout"], port, key, server)
            yield Served(f"http://127.0.0.1:{port}/v1", key, lambda: _death(name, server))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


async def _until_ready(name: str, timeout: float, port: int, key: str, server: Supervised) -> None:
    loop = asyncio.get_running_loop()
    end = loop.time() + timeout
    pause = 0.05
    ended = asyncio.create_task(server.ended.wait())
    try:
        while True:
            health = await asyncio.to_thread(_health, port, key, name)
            if server.died() is None and health == "ready":
                return
            left = end - loop.time()
            if left <= 0 and server.died() is None:
                raise ServeError(
                    _told(f"models.{name}: its vLLM server was {health} after {timeout:g} s (start_timeout)", server)
                )
            await asyncio.wait({ended}, timeout=min(pause, max(left, 0)))
            if (death := _death(name, server)) is not None:
                raise ServeError(death)
            pause = min(pause * 1.5, 1.0)
    finally:
        ended.cancel()


def _health(port: int, key: str, name: str) -> str:
    """Ask once: `ready`, or what is the matter. Straight to the loopback address: no proxy is looked at."""
    try:
        status, _ = _get(port, "/health", {})
        if status != 200:
            return f"not healthy (HTTP {status})"
        # Health has no lock: only the server that was given the key opens its list of models by it.
        status, body = _get(port, "/v1/models", {"Authorization": f"Bearer {key}"})
        served = {model["id"] for model in json.loads(body)["data"]} if status == 200 else set()
    except (OSError, http.client.HTTPException):
        return "not listening"
    except (ValueError, LookupError, TypeError):
        served = set()
    return "ready" if name in served else f"not the one that answers at port {port}"


def _get(port: int, path: str, headers: Mapping[str, str]) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", path, headers=dict(headers))
        answer = connection.getresponse()
        return answer.status, answer.read(1 << 20)
    finally:
        connection.close()


def _death(name: str, server: Supervised) -> str | None:
    end = server.died()
    return None if end is None else _told(f"models.{name}: its vLLM server {end}", server)


def _told(what: str, server: Supervised) -> str:
    """Add the last words, what they ask for, and where the log is."""
    words = server.log.words()
    advice = [text for pattern, text in _ADVICE if re.search(pattern, words)][:1]
    where = [f"its log: {server.log.path}"] if server.log.path is not None else []
    return f"{what}: {'; '.join([words or 'no last words', *advice, *where])}"
