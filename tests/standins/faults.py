"""What an endpoint may do wrong, by name: HTTP answers, and misbehaviour below HTTP.

`FAULTS[name]()` makes one; `tests.standins.endpoint` sends it. A text `ECHO` in an answer is replaced by the
Authorization header that came with the request, as careless gateways do.
"""

from __future__ import annotations

import itertools
import json
import time
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import Any

from tests.standins.player import completion

ECHO = "{authorization seen}"
JSON_TYPE = {"Content-Type": "application/json"}


@dataclass(frozen=True)
class Answer:
    """A whole HTTP answer. `body` is sent as it is if bytes, else as JSON; Content-Length is added."""

    status: int = 200
    body: Any = b""
    headers: Mapping[str, str] = field(default_factory=lambda: JSON_TYPE)

    def data(self) -> bytes:
        """The body's bytes."""
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()

    def steps(self, authorization: str | None = None) -> list[bytes]:
        """Head and body as they go over the wire."""
        data = self.data().replace(ECHO.encode(), (authorization or "no key").encode())
        return [head(self.status, {**self.headers, "Content-Length": str(len(data))}), data]


@dataclass(frozen=True)
class Wire:
    """Bytes to send and seconds to sleep, one after the other; then the connection is closed, or reset."""

    steps: Iterable[bytes | float]
    reset: bool = False


Fault = Answer | Wire


def head(status: int, headers: Mapping[str, str]) -> bytes:
    """Status line and headers."""
    return "\r\n".join(
        [f"HTTP/1.1 {status} X", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
    ).encode()


def error(status: int, message: str, headers: Mapping[str, str] | None = None, **fields: Any) -> Answer:
    """An error in OpenAI form; `fields` (type, code, param) beside its message."""
    return Answer(status, {"error": {"message": message, **fields}}, {**JSON_TYPE, **(headers or {})})


def throttled(**headers: str) -> Answer:
    """429, with headers such as `retry_after="2"`."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return error(429, "Rate limit reached for requests", named, type="requests", code="rate_limit_exceeded")


def date_in(seconds: float) -> str:
    """An HTTP date; of whole seconds, so up to one second earlier."""
    return formatdate(time.time() + seconds, usegmt=True)


def said(**message: Any) -> Answer:
    """A plain answer with this assistant message."""
    return Answer(200, completion({}, message))


def changed(**fields: Any) -> Answer:
    """A good answer with some of its top-level fields replaced; ... removes one."""
    value = completion({}, {"content": "Hello."}) | fields
    return Answer(200, {name: part for name, part in value.items() if part is not ...})


def _choice(**fields: Any) -> Answer:
    return changed(choices=[{"index": 0, "finish_reason": "stop", **fields}])


def _good(length: int = 0, sent: int | None = None, reset: bool = False, stay: float = 0) -> Wire:
    """A good answer of which only `sent` bytes come, though `length` more are announced."""
    data = changed().data()
    announced = {**JSON_TYPE, "Content-Length": str(len(data) + length)}
    return Wire([head(200, announced), data[:sent], stay], reset)


def chunk(data: bytes) -> bytes:
    """A chunk of a chunked body."""
    return b"%x\r\n%s\r\n" % (len(data), data)


def stream(part: bytes, pause: float, start: bytes = b"", count: int | None = None, **headers: str) -> Wire:
    """A chunked body of `start` and then `part` again and again, without end (or `count` times, and a proper end)."""
    chunked = {**JSON_TYPE, "Transfer-Encoding": "chunked", **headers}
    opening: list[bytes | float] = [head(200, chunked), *([chunk(start)] if start else [])]
    again: Iterable[bytes | float] = itertools.cycle([chunk(part), pause])
    if count is None:
        return Wire(itertools.chain(opening, again))
    return Wire(itertools.chain(opening, itertools.islice(again, 2 * count), [chunk(b"")]))


def compressed_flood() -> Wire:
    """A kilobyte that unfolds to a megabyte of whitespace, again and again."""
    packer = zlib.compressobj(wbits=31)
    start = packer.compress(b" ") + packer.flush(zlib.Z_FULL_FLUSH)
    # After a full flush the block stands alone, so it can be repeated without compressing anew.
    block = packer.compress(b" " * 2**20) + packer.flush(zlib.Z_FULL_FLUSH)
    return stream(block, 0.0, start, **{"Content-Encoding": "gzip"})


HTML = b"<html><head><title>502 Bad Gateway</title></head><body><center>nginx</center></body></html>"
_HTML_TYPE = {"Content-Type": "text/html"}
_OPENAI_OVERFLOW = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9031 tokens."
_VLLM_OVERFLOW = (
    "This model's maximum context length is 8192 tokens. However, you requested 9031 tokens (8031 in the messages, "
    "1000 in the completion). Please reduce the length of the messages or completion."
)
_NEW_VLLM_OVERFLOW = (
    "'max_tokens' or 'max_completion_tokens' is too large: 1000. This model's maximum context length is 8192 tokens "
    "and your request has 8031 input tokens (1000 > 8192 - 8031)."
)
_LLAMA_OVERFLOW = "request (9031 tokens) exceeds the available context size (8192 tokens), try increasing it"
_ANTHROPIC_OVERFLOW = "prompt is too long: 201231 tokens > 200000 maximum"

TRANSIENT: dict[str, Callable[[], Fault]] = {
    "429": throttled,
    "429 retry-after": lambda: throttled(retry_after="0.2"),
    "429 retry-after-ms": lambda: throttled(retry_after_ms="200"),
    "429 retry-after date": lambda: throttled(retry_after=date_in(1)),
    "429 retry-after nonsense": lambda: throttled(retry_after="soon"),
    "429 retry-after negative": lambda: throttled(retry_after="-5"),
    "429 retry-after nan": lambda: throttled(retry_after="nan"),
    "408": lambda: error(408, "Request timeout"),
    "409": lambda: error(409, "Conflict"),
    "425": lambda: error(425, "Too early"),
    "500": lambda: error(500, "The server had an error", type="server_error"),
    "502 html": lambda: Answer(502, HTML, _HTML_TYPE),
    "503 retry-after": lambda: error(503, "Overloaded", {"Retry-After": "0.2"}),
    "504 empty": lambda: Answer(504, b"", {}),
    "529": lambda: Answer(529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
    "close before": lambda: Wire([]),
    "reset before": lambda: Wire([], reset=True),
    "close in head": lambda: Wire([b"HTTP/1.1 200 OK\r\nContent-"]),
    "close after head": lambda: _good(sent=0),
    "close in body": lambda: _good(sent=60),
    "reset in body": lambda: _good(sent=60, reset=True),
    "truncated": lambda: _good(length=50),
    "chunks cut off": lambda: Wire([head(200, {**JSON_TYPE, "Transfer-Encoding": "chunked"}), chunk(b'{"id": "')]),
    "not http": lambda: Wire([b"SSH-2.0-OpenSSH_9.6\r\n"]),
    "html": lambda: Answer(200, HTML, _HTML_TYPE),
    "html as json": lambda: Answer(200, HTML),
    "invalid json": lambda: Answer(200, b'{"id": "1", "choices": [{"mess'),
    "empty body": lambda: Answer(200, b""),
    "empty object": lambda: Answer(200, {}),
    "null": lambda: Answer(200, None),
    "a list": lambda: Answer(200, []),
    "a string": lambda: Answer(200, "overloaded"),
    "error with 200": lambda: Answer(200, {"error": {"message": "upstream failed", "code": 502}}),
    "choices empty": lambda: changed(choices=[]),
    "choices null": lambda: changed(choices=None),
    "choices missing": lambda: changed(choices=...),
    "choices an object": lambda: changed(choices={}),
    "choice null": lambda: changed(choices=[None]),
    "choice without message": _choice,
    "message null": lambda: _choice(message=None),
    "message a string": lambda: _choice(message="Hello."),
    "message a list": lambda: _choice(message=[]),
}
"""Tried again: the endpoint may do better next time."""

STALLING: dict[str, Callable[[], Fault]] = {
    "hang": lambda: Wire([3600.0]),
    "hang after head": lambda: Wire([head(200, {**JSON_TYPE, "Content-Length": "400"}), 3600.0]),
    "truncated, open": lambda: _good(length=50, stay=3600.0),
    "slow stream": lambda: stream(b" ", 0.05),
    "slow stream of sse": lambda: stream(b": keep-alive\n\n", 0.05, **{"Content-Type": "text/event-stream"}),
    "slow head": lambda: Wire(itertools.chain([b"HTTP/1.1 200 OK\r\n"], itertools.cycle([b"X-A: 1\r\n", 0.05]))),
}
"""Ended by the timeout of a try, and tried again."""

FLOODING: dict[str, Callable[[], Fault]] = {
    "fast stream": lambda: stream(b" " * 2**16, 0.0),
    "fast stream of text": lambda: stream(b"a" * 2**16, 0.0, start=b'{"choices": [{"message": {"content": "'),
    "fast stream of an error": lambda: Wire(
        itertools.chain(
            [head(500, {**_HTML_TYPE, "Transfer-Encoding": "chunked"})], itertools.repeat(chunk(HTML * 700))
        )
    ),
    "compressed flood": compressed_flood,
}
"""More than memory holds; cut off at a size."""

LASTING: dict[str, Callable[[], Fault]] = {
    "400": lambda: error(400, "Invalid schema for function", type="invalid_request_error", code="invalid_function"),
    "401": lambda: error(401, "Incorrect API key provided", code="invalid_api_key"),
    "403": lambda: error(403, "Country not supported", code="unsupported_country"),
    "403 html": lambda: Answer(403, HTML.replace(b"502 Bad Gateway", b"403 Forbidden"), _HTML_TYPE),
    "404 model": lambda: error(404, "The model `m` does not exist", code="model_not_found"),
    "422": lambda: error(422, "Input should be a valid string"),
    "quota, code alone": lambda: error(429, "No more.", type="insufficient_quota", code="insufficient_quota"),
    "quota": lambda: error(
        429,
        "You exceeded your current quota",
        {"Retry-After": "1"},
        type="insufficient_quota",
        code="insufficient_quota",
    ),
}
"""Tried once: asking again changes nothing."""

OVERFLOWS: dict[str, Callable[[], Fault]] = {
    "openai": lambda: error(400, _OPENAI_OVERFLOW, type="invalid_request_error", code="context_length_exceeded"),
    "openai code alone": lambda: error(400, "Too much text.", code="context_length_exceeded"),
    "vllm": lambda: Answer(400, {"object": "error", "message": _VLLM_OVERFLOW, "type": "BadRequestError", "code": 400}),
    "vllm, newer": lambda: error(400, _NEW_VLLM_OVERFLOW, type="BadRequestError", code=400),
    "llama.cpp": lambda: error(400, _LLAMA_OVERFLOW, type="exceed_context_size_error", code=400, n_ctx=8192),
    "anthropic": lambda: Answer(
        400, {"type": "error", "error": {"type": "invalid_request_error", "message": _ANTHROPIC_OVERFLOW}}
    ),
}
"""A prompt that is too long, in each provider's words: the model's own end."""

HARMLESS: dict[str, Callable[[], Fault]] = {
    "plain text type": lambda: Answer(200, changed().body, {"Content-Type": "text/plain"}),
    "no type": lambda: Answer(200, changed().body, {}),
    "usage missing": lambda: changed(usage=...),
    "usage null": lambda: changed(usage=None),
    "usage empty": lambda: changed(usage={}),
    "usage of strings": lambda: changed(usage={"prompt_tokens": "7", "completion_tokens": "3", "total_tokens": "10"}),
    "usage of nonsense": lambda: changed(usage={"prompt_tokens": "many", "completion_tokens": None}),
    "usage a list": lambda: changed(usage=[7, 3]),
    "no identity": lambda: changed(id=..., object=..., created=..., model=..., system_fingerprint=...),
    "unknown fields": lambda: changed(service_tier="x", extra={"deep": [1]}, created=1.5),
    "no role": lambda: _choice(message={"content": "Hello."}),
    "slow, then whole": lambda: stream(b" ", 0.05, changed().data(), count=4),
}
"""Odd, but an answer."""

ECHOES: dict[str, Callable[[], Fault]] = {
    "401 echo": lambda: error(401, f"Incorrect API key provided: {ECHO}. You can find your key in the settings."),
    "500 echo": lambda: error(500, f"upstream said no to {ECHO}"),
    "502 html echo": lambda: Answer(502, f"<html><pre>Authorization: {ECHO}</pre></html>".encode(), _HTML_TYPE),
    "200 echo": lambda: said(content=f"I was called with {ECHO}, is that right?"),
    "call echo": lambda: said(
        tool_calls=[{"id": "c", "type": "function", "function": {"name": "cd", "arguments": f'{{"folder": "{ECHO}"}}'}}]
    ),
}
"""The key comes back in what the endpoint says."""

FAULTS = TRANSIENT | STALLING | FLOODING | LASTING | OVERFLOWS | HARMLESS | ECHOES
