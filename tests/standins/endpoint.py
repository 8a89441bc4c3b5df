"""A stand-in for an OpenAI-compatible chat endpoint, which answers as it is told, or fails as it is told.

In a test:

    with endpoint() as server:                        # plays along (see `player`)
    with endpoint(lambda body: (200, {...})) as server:
    with endpoint(faults=lambda body, nth: FAULTS["429"]() if nth < 3 else None) as server:

and then `server.url`, `server.bodies`, `server.seen`. As a program, which prints its address on the first line:

    python -m tests.standins.endpoint --port 0 --latency 0.05 --faults 0.2 --kinds 429,500 --seed 1 --log calls.jsonl

One thread with an event loop serves all connections, so that hundreds of slow requests cost little.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tests.standins.faults import FAULTS, Answer, Fault, Wire, error
from tests.standins.player import Chance, play

Body = dict[str, Any]
Script = Callable[[Body, int], "Fault | None"]


@dataclass(frozen=True)
class Seen:
    """One request: when (seconds since the epoch), SHA-256 of its body's bytes, its key, and what became of it."""

    time: float
    key: str
    authorization: str | None
    outcome: str


@dataclass
class Endpoint:
    """An endpoint's state; `answer` and `faults` may be changed while it runs.

    `answer(body)` gives a completion, (status, body), an `Answer` or a `Wire`. `faults(body, nth)` goes first: what it
    returns for the nth request (from 0) is sent instead of the answer, None leaves the answer.
    """

    answer: Callable[[Body], Any] = play
    faults: Script | None = None
    latency: float = 0.0
    log: Path | None = None
    url: str = ""
    bodies: list[Body] = field(default_factory=list)
    seen: list[Seen] = field(default_factory=list)
    connections: int = 0
    at_once: int = 0
    most_at_once: int = 0

    def _reply(self, data: bytes, authorization: str | None) -> Fault:
        body = json.loads(data)
        nth = len(self.bodies)
        self.bodies.append(body)
        fault = self.faults(body, nth) if self.faults else None
        reply = fault or _as_answer(self.answer(body))
        outcome = "ok" if fault is None else str(getattr(fault, "status", "wire"))
        self._note(Seen(time.time(), hashlib.sha256(data).hexdigest(), authorization, outcome))
        return reply

    def _note(self, seen: Seen) -> None:
        self.seen.append(seen)
        if self.log:
            with self.log.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(seen)) + "\n")

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """All requests of one connection."""
        self.connections += 1
        try:
            while await self._one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # the client went away
        except asyncio.CancelledError:
            pass  # the endpoint stops; asyncio's streams would report a task that ends cancelled
        finally:
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One request; whether the connection stays open."""
        method, path, headers = _head(await reader.readuntil(b"\r\n\r\n"))
        data = await reader.readexactly(int(headers.get("content-length", 0)))
        if method != "POST":
            known = {"/health": {}, "/v1/models": {"object": "list", "data": [{"id": "standin", "object": "model"}]}}
            reply: Fault = Answer(200, known[path]) if path in known else error(404, f"no {path}")
            return await _send(writer, reply, None)
        self.at_once += 1
        self.most_at_once = max(self.at_once, self.most_at_once)
        try:
            authorization = headers.get("authorization")
            reply = self._reply(data, authorization)
            await asyncio.sleep(self.latency)
            return await _send(writer, reply, authorization)
        finally:
            self.at_once -= 1


def _as_answer(value: Any) -> Fault:
    if isinstance(value, tuple):
        return Answer(*value)
    return value if isinstance(value, Answer | Wire) else Answer(200, value)


def _head(data: bytes) -> tuple[str, str, dict[str, str]]:
    first, *lines = data.decode("latin-1").split("\r\n")
    method, path, *_ = first.split(" ")
    pairs = (line.partition(":") for line in lines if line)
    return method, path, {name.strip().lower(): value.strip() for name, _, value in pairs}


async def _send(writer: asyncio.StreamWriter, reply: Fault, authorization: str | None) -> bool:
    for step in reply.steps(authorization) if isinstance(reply, Answer) else reply.steps:
        if isinstance(step, bytes):
            writer.write(step)
            await writer.drain()
        elif step:
            await asyncio.sleep(step)
    if isinstance(reply, Wire) and reply.reset:
        connection: socket.socket = writer.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()
    return isinstance(reply, Answer)


def at_a_rate(rate: float, kinds: Sequence[str], seed: int = 0, at_most: int = 3) -> Script:
    """Faults for a share of the requests, at most so many for one body; the same ones whenever the seed is the same.

    Whether a request fails depends on its body and on how often it was asked, not on what else goes on.
    """
    asked: Counter[str] = Counter()
    failed: Counter[str] = Counter()

    def script(body: Body, nth: int) -> Fault | None:
        key = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
        chance = Chance(f"{seed} {key} {asked[key]}")
        asked[key] += 1
        if failed[key] >= at_most or chance.below(1_000_000) >= rate * 1_000_000:
            return None
        failed[key] += 1
        return FAULTS[chance.one_of(kinds)]()

    return script


@contextmanager
def endpoint(
    answer: Callable[[Body], Any] = play,
    *,
    faults: Script | None = None,
    latency: float = 0.0,
    log: Path | None = None,
    port: int = 0,
) -> Iterator[Endpoint]:
    """An endpoint on a free port of this machine, in a thread of this process; see `Endpoint` for the arguments."""
    state = Endpoint(answer, faults, latency, log)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        server = asyncio.run_coroutine_threadsafe(
            asyncio.start_server(state.serve, "127.0.0.1", port, backlog=1024), loop
        ).result()
        state.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        yield state
        asyncio.run_coroutine_threadsafe(_stop(server), loop).result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _stop(server: asyncio.Server) -> None:
    server.close()
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until killed."""
    parser = argparse.ArgumentParser(prog="tests.standins.endpoint", description="A stand-in chat endpoint.")
    parser.add_argument("--port", type=int, default=0, help="0 for a free one")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument("--faults", type=float, default=0.0, help="share of the requests that fail, from 0 to 1")
    parser.add_argument("--kinds", default="429,500,close before", help=f"commas between: {', '.join(FAULTS)}")
    parser.add_argument("--seed", type=int, default=0, help="another seed fails other requests")
    parser.add_argument("--at-most", type=int, default=3, help="faults for the same body")
    parser.add_argument("--log", type=Path, help="a JSON line per request: time, key, authorization, outcome")
    given = parser.parse_args(arguments)
    kinds = given.kinds.split(",")
    if unknown := [kind for kind in kinds if kind not in FAULTS]:
        parser.error(f"--kinds: {unknown[0]!r} is unknown")
    script = at_a_rate(given.faults, kinds, given.seed, given.at_most) if given.faults else None
    with endpoint(faults=script, latency=given.latency, log=given.log, port=given.port) as server:
        print(server.url, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        main()
