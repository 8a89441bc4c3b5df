"""Asking a chat model over a stand-in endpoint, for the tests of what then happens."""

from __future__ import annotations

import asyncio
import ssl
from functools import cache

import pytest

from tests.models.test_json_mode import CASE
from tests.standins.endpoint import endpoint
from tests.standins.player import completion
from toolcal.journal import Journal
from toolcal.models.calling import Caller, Connection
from toolcal.models.chat import Chat
from toolcal.models.pace import Pace
from toolcal.models.protocol import Request

OF_CHAT = ("parameters", "tool_mode", "history", "return_reasoning", "execute_leaked")

KEY = "sk-standin-0123456789abcdef"
TOOL_NAMES = ("ls", "cd", "mv", "get_stock_info", "startEngine")
TOOLS = tuple(
    {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}
    for name in TOOL_NAMES
)


@pytest.fixture(scope="module", autouse=True)
def warm(tmp_path_factory):
    """The first call imports litellm, which takes seconds that no measured time should hold."""
    with pytest.MonkeyPatch.context() as patch, endpoint(hello) as server:
        # Every run makes a client, and every client reads the CA certificates, which takes most of a run's time here.
        patch.setattr(ssl, "create_default_context", cache(ssl.create_default_context))
        ask(tmp_path_factory.mktemp("warm") / "j", server.url, request())
        yield


def request(content="Hello", turn=0):
    return Request(CASE, 0, turn, 0, 0, ({"role": "user", "content": content},), 0, TOOLS, 5)


def with_chat(path, url, work, *, key=KEY, **settings):
    """What `work(chat)` returns, for a chat model with the journal at `path`."""
    settings = {"attempts": 3, "timeout": 20.0, "max_wait": 10.0, "backoff": 0.001, "concurrency": 8, **settings}
    pace = Pace(None, concurrency=settings.pop("concurrency"))
    of_chat = {name: settings.pop(name) for name in OF_CHAT if name in settings}
    name, identity = settings.pop("model", "openai/m"), settings.pop("identity", {"name": "openai/m"})
    replay = settings.pop("replay", None)

    async def connect():
        return Connection(url, key)

    async def run():
        caller = Caller(name, connect, pace=pace, **settings)
        try:
            with Journal(path, replay=replay) as journal:
                return await work(Chat(identity=identity, journal=journal, caller=caller, **of_chat))
        finally:
            await caller.close()

    return asyncio.run(run())


def ask(path, url, *requests, together=False, **settings):
    """Each request's reply, one after the other or all together."""

    async def work(chat):
        if together:
            return await asyncio.gather(*map(chat.respond, requests))
        return [await chat.respond(one) for one in requests]

    return with_chat(path, url, work, **settings)


def hello(body):
    return completion(body, {"content": "Hello."})
