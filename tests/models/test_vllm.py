"""Serving by vLLM, with a stand-in executable: what is started, what is told, and that nothing outlives its parent."""

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from contextlib import AsyncExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import toolcal.models.vllm as vllm
from tests.models.test_json_mode import CASE
from tests.timing import PATIENCE, best_of, until, wall
from toolcal.journal import Journal
from toolcal.models import sources
from toolcal.models.chat import Chat
from toolcal.models.protocol import Request
from toolcal.models.serve import ServeError
from toolcal.models.supervised import last_words
from toolcal.models.vllm import command, serve_vllm

STANDIN = Path(__file__).parents[1] / "standins" / "vllm"
ENTRY = {
    "source": "vllm",
    "family": "Qwen3",
    "model": "Qwen/Qwen3-8B",
    "tensor_parallel": 1,
    "arguments": [],
    "executable": str(STANDIN),
    "start_timeout": 20,
}
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "book",
            "parameters": {
                "type": "object",
                "properties": {"room": {"type": "string"}, "nights": {"type": "integer"}},
                "required": ["room", "nights"],
            },
        },
    }
]


@pytest.fixture
def starts(tmp_path, monkeypatch):
    """Reads what was started so far."""
    path = tmp_path / "starts.jsonl"
    monkeypatch.setenv("STANDIN_VLLM_STARTS", str(path))
    return lambda: [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def chat(served, name, key=None, **body):
    request = urllib.request.Request(
        f"{served.base_url}/chat/completions",
        json.dumps({"model": name, "messages": [{"role": "user", "content": "Book 12."}], **body}).encode(),
        {"Authorization": f"Bearer {key or served.api_key}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        return json.load(answer)["choices"][0]["message"]


def lives(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def gone(pids, seconds=10.0):
    end = time.monotonic() + seconds
    while any(lives(pid) for pid in pids):
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def processes(start):
    return [start["pid"], start["engine"]]


def failure(entry, **more):
    async def run():
        async with serve_vllm("qwen3-8b", {**ENTRY, **entry}, **more):
            pass

    with pytest.raises(ServeError) as caught:
        asyncio.run(run())
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_an_entry_becomes_a_command_line():
    assert command("q", {**ENTRY, "executable": "vllm"}, 4000) == [
        *("vllm", "serve", "Qwen/Qwen3-8B", "--host", "127.0.0.1", "--port", "4000", "--served-model-name", "q")
    ]
    entry = {
        **ENTRY,
        "revision": "abc",
        "tool_parser": "hermes",
        "reasoning_parser": "qwen3",
        "tensor_parallel": 4,
        "arguments": ["--max-model-len", "32768"],
    }
    assert command("q", entry, 1)[9:] == [
        *("--revision", "abc", "--enable-auto-tool-choice", "--tool-call-parser", "hermes"),
        *("--reasoning-parser", "qwen3", "--tensor-parallel-size", "4", "--max-model-len", "32768"),
    ]


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("--api-key=sk-1", "models.q.arguments: --api-key: leave it out"),
        ("--api_key", "--api_key: leave it out"),
        ("--hf-token", "set HF_TOKEN in the environment"),
        ("--port", "it is set already"),
        ("--tensor-parallel-size", "set tensor_parallel"),
    ],
)
def test_arguments_that_are_ours_or_secret_are_refused(argument, message):
    with pytest.raises(ServeError, match=re.escape(message)) as caught:
        command("q", {**ENTRY, "arguments": [argument, "x"]}, 1)
    assert "sk-1" not in str(caught.value)


def test_it_serves_until_the_block_ends_and_needs_its_key(starts, tmp_path, monkeypatch):
    monkeypatch.setenv("STANDIN_VLLM_DELAY", "0.3")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")  # a proxy that is not there
    monkeypatch.setenv("no_proxy", "")
    log = tmp_path / "logs" / "q.server.log"

    async def run():
        async with serve_vllm("q", {**ENTRY, "tool_parser": "hermes"}, log=log) as served:
            monkeypatch.delenv("http_proxy")
            call = chat(served, "q", tools=TOOLS)["tool_calls"][0]["function"]
            assert (call["name"], json.loads(call["arguments"])) == ("book", {"room": "Book 12.", "nights": 1})
            with pytest.raises(urllib.error.HTTPError, match="401"):
                chat(served, "q", key="another")
            assert served.died() is None
            assert served.api_key not in repr(served)
            assert all(lives(pid) for pid in processes(starts()[0]))
            return served

    served = asyncio.run(run())
    assert len(starts()) == 1
    assert gone(processes(starts()[0]), 0)
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/v1", served.base_url)
    assert log.read_text().startswith(f"$ {STANDIN} serve Qwen/Qwen3-8B --host 127.0.0.1")


def test_a_chat_goes_through_it(starts, tmp_path):
    async def run():
        entry = {**ENTRY, "tool_parser": "hermes", "concurrency": 2, "timeout": 20, "attempts": 2}
        async with AsyncExitStack() as stack:
            caller, identity = sources.vllm(stack, "q", entry, None)
            stack.push_async_callback(caller.close)
            chat = Chat(identity=identity, journal=stack.enter_context(Journal(tmp_path / "j")), caller=caller)
            messages = ({"role": "user", "content": "Book 12."},)
            return await asyncio.gather(
                *(chat.respond(Request(CASE, trial, 1, 0, 0, messages, 0, tuple(TOOLS), 5)) for trial in range(3))
            )

    replies = asyncio.run(run())
    assert [reply.failure for reply in replies] == [None] * 3
    assert {reply.message["tool_calls"][0]["function"]["name"] for reply in replies} == {"book"}
    assert len(starts()) == 1


def test_a_failed_start_is_told_to_all_that_wait_for_it_and_not_tried_again(starts, tmp_path):
    async def run():
        entry = {**ENTRY, "arguments": ["--stand-in", "exit"], "concurrency": 3, "timeout": 20, "attempts": 2}
        async with AsyncExitStack() as stack:
            caller, _ = sources.vllm(stack, "q", entry, None)
            stack.push_async_callback(caller.close)
            calls = (caller.call({"messages": []}, tmp_path / "j") for _ in range(3))
            return await asyncio.gather(*calls, return_exceptions=True)

    assert [type(error) for error in asyncio.run(run())] == [ServeError] * 3
    assert len(starts()) == 1


def test_no_key_is_in_the_process_list_or_the_log(starts, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_0123456789")
    log = tmp_path / "log"

    async def run():
        async with serve_vllm("q", ENTRY, log=log) as served:
            lines = subprocess.run(["ps", "-ww", "-eo", "args"], capture_output=True, text=True, check=True).stdout
            assert "--served-model-name q" in lines  # it was looked at in time
            assert served.api_key not in lines
            assert "hf_0123456789" not in lines
            environ = Path(f"/proc/{starts()[0]['pid']}/environ").read_bytes()
            assert b"HF_TOKEN=hf_0123456789" in environ
            return served.api_key

    key = asyncio.run(run())
    assert key not in log.read_text()
    assert "non-default args: {'api_key': ['***']}" in log.read_text()


def test_two_servers_at_once_keep_apart(starts):
    async def run():
        async with serve_vllm("a", ENTRY) as a, serve_vllm("b", ENTRY) as b:
            assert chat(a, "a")["content"] == chat(b, "b")["content"] == "The request is done."
            with pytest.raises(urllib.error.HTTPError, match="401"):
                chat(a, "a", key=b.api_key)

    asyncio.run(run())
    assert gone([pid for start in starts() for pid in processes(start)], 0)


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, asyncio.CancelledError])
def test_it_is_stopped_after_an_exception(error, starts):
    async def run():
        async with serve_vllm("q", ENTRY):
            raise error

    with pytest.raises(error):
        asyncio.run(run())
    assert gone(processes(starts()[0]), 0)


def test_what_does_not_heed_sigterm_is_killed(starts):
    async def run():
        async with serve_vllm("q", {**ENTRY, "arguments": ["--stand-in", "stubborn"]}, grace=0.3):
            return time.monotonic()

    asyncio.run(run())
    assert gone(processes(starts()[0]), 2)


PARENT = """
import asyncio, json, sys
from toolcal.models.vllm import serve_vllm

async def run():
    async with serve_vllm("q", json.loads(sys.argv[1]), grace=0.5):
        print("ready", flush=True)
        await asyncio.sleep(60)

asyncio.run(run())
"""


def parent(entry):
    return subprocess.Popen([sys.executable, "-c", PARENT, json.dumps(entry)], stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize("mode", ["", "stubborn"])
def test_it_dies_with_a_parent_that_is_killed(mode, starts):
    process = parent({**ENTRY, "arguments": ["--stand-in", mode]})
    assert process.stdout.readline() == "ready\n"
    pids = processes(starts()[0])
    assert all(lives(pid) for pid in pids)
    process.kill()
    process.wait()
    assert gone(pids, 10)


def test_it_dies_with_a_parent_that_is_killed_while_it_starts(starts):
    process = parent({**ENTRY, "arguments": ["--stand-in", "never-healthy"]})
    until(starts)
    process.kill()
    process.wait()
    assert gone(processes(starts()[0]), 10)


def test_it_is_killed_when_its_supervisor_is(starts):
    async def run():
        async with serve_vllm("q", ENTRY) as served:
            [start] = starts()
            supervisor = int(Path(f"/proc/{start['pid']}/stat").read_text().rpartition(")")[2].split()[1])
            os.kill(supervisor, signal.SIGKILL)
            assert await asyncio.to_thread(gone, processes(start), 10)
            return served.died()

    assert "lost its supervisor, and was killed" in asyncio.run(run())


def test_a_server_that_dies_later_says_so_and_leaves_nothing(starts, tmp_path):
    async def run():
        async with serve_vllm("q", {**ENTRY, "arguments": ["--stand-in", "dies-after=2"]}, log=tmp_path / "log") as it:
            for _ in range(2):
                chat(it, "q")
            assert it.died() is None
            with pytest.raises(OSError, match=r"closed|reset|refused"):
                chat(it, "q")
            while it.died() is None:
                await asyncio.sleep(0.01)
            assert await asyncio.to_thread(gone, processes(starts()[0]))
            return it.died()

    assert asyncio.run(asyncio.wait_for(run(), 30)) == (
        "models.q: its vLLM server ended with exit code 1: torch.AcceleratorError: CUDA error: an illegal memory "
        f"access; look at the GPUs: `nvidia-smi`, CUDA_VISIBLE_DEVICES; its log: {tmp_path / 'log'}"
    )


def test_a_missing_executable_is_told_with_what_to_do(tmp_path):
    told = failure({"executable": "no-such-vllm"})
    assert told.startswith("models.qwen3-8b: no command no-such-vllm here: `pip install vllm` on a machine with a GPU")
    assert "models.qwen3-8b.executable" in told
    script = tmp_path / "vllm"
    script.write_text("#!/no/such/python\n")
    script.chmod(0o755)
    assert "could not be run (No such file or directory)" in failure({"executable": str(script)})


def test_a_failed_start_is_told_in_one_line(starts, tmp_path):
    log = tmp_path / "log"
    log.write_text("ValueError: of an earlier start\n")
    told = failure({"arguments": ["--stand-in", "exit"]}, log=log)
    assert told == (
        "models.qwen3-8b: its vLLM server ended with exit code 1: "
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. | "
        "RuntimeError: Engine core initialization failed. See root cause above.; it needs more memory than there is: "
        f"lower --max-model-len, or raise tensor_parallel (docs/vllm.md); its log: {log}"
    )
    assert log.read_text().startswith("ValueError: of an earlier start\n$ ")
    assert gone(processes(starts()[0]))


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"arguments": ["--no-such"]}, "exit code 2: .*unrecognized arguments: --no-such; look at arguments"),
        (
            {"tool_parser": "nonesuch"},
            "exit code 1: .*invalid tool call parser: nonesuch .*; name one of vLLM's parsers",
        ),
    ],
)
def test_settings_that_vllm_refuses_are_told(entry, said):
    assert re.search(said, failure(entry))


def test_a_server_that_never_gets_healthy_is_ended(starts):
    def work():
        told = failure({"arguments": ["--stand-in", "never-healthy"], "start_timeout": 2})
        assert "its vLLM server was not healthy (HTTP 503) after 2 s (start_timeout)" in told
        assert gone(processes(starts()[-1]), 0)

    assert best_of(lambda: wall(work), 4) < 4


def test_another_server_at_the_port_is_not_taken_for_ours(monkeypatch, starts):
    class Stranger(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"data": [{"id": "someone-elses"}]}')

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Stranger) as stranger:
        threading.Thread(target=stranger.serve_forever, daemon=True).start()
        monkeypatch.setattr(vllm, "_free_port", lambda: stranger.server_port)
        told = failure({})
        stranger.shutdown()
    assert "exit code 1: OSError: [Errno 98] Address already in use; its port was taken meanwhile: run again" in told


def test_the_port_is_free():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", vllm._free_port()))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ""),
        ("a\n\nb\nc\nd\ne\n", "b | c | d | e"),
        ("x ValueError: bad\n  raise it\nINFO bye\n", "x ValueError: bad"),
        (f"{'long ' * 200}", f"{'long ' * 79}lo..."),
    ],
)
def test_last_words_are_those_that_tell(text, words):
    assert last_words(text) == words
