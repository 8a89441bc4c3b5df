"""The tool `search` over the web, through Serper or Tavily.

The key comes from an environment variable, is read at each call, and is put nowhere else: no message, log or `repr` of
ours holds it, nor anything that the service or a library says, since that might.

Sources: Serper, serper.dev (POST /search, header X-API-KEY, `organic`); Tavily, docs.tavily.com (POST /search, bearer
token, `results`; 432 and 433 are spent plans).
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import httpx

from toolcal.benchmarks.protocol import Tool as Schema
from toolcal.confidence.hits import Hit, cut, shown
from toolcal.confidence.tools import SEARCH, ToolError, function, text_argument

Service = Literal["serper", "tavily"]

_LARGEST = 4_000_000
"""Bytes of an answer that are read; a search's answer has some thousands."""
_PASSING = (408, 425, 429)
"""Statuses after which the same request may succeed later; those from 500 on are, too."""


@dataclass(frozen=True)
class _Api:
    url: str
    key: str
    header: str
    prefix: str
    query: str
    count: str
    results: str
    address: str
    text: str


_APIS: Mapping[str, _Api] = {
    "serper": _Api(
        "https://google.serper.dev/search", "SERPER_API_KEY", "X-API-KEY", "", "q", "num", "organic", "link", "snippet"
    ),
    "tavily": _Api(
        "https://api.tavily.com/search",
        "TAVILY_API_KEY",
        "Authorization",
        "Bearer ",
        "query",
        "max_results",
        "results",
        "url",
        "content",
    ),
}


class KeyMissing(RuntimeError):
    """The environment variable that holds the key is not set, or holds no key; the message names it."""


class WebSearch:
    """Searches the web. Titles, addresses and snippets come back, never the pages themselves.

    Args:
        service: `serper` or `tavily`.
        k: results of a query, at most.
        length: characters of a result's text; longer ones are cut.
        timeout: seconds for a whole query.
        key_variable: environment variable with the key; default `SERPER_API_KEY` or `TAVILY_API_KEY`.
        url: another address that speaks the same language.

    Raises:
        KeyMissing: there is no key.
    """

    name = SEARCH

    def __init__(
        self,
        service: Service,
        *,
        k: int = 5,
        length: int = 300,
        timeout: float = 20.0,
        key_variable: str | None = None,
        url: str | None = None,
    ) -> None:
        self._service = service
        self._api = _APIS[service]
        self._k, self._length, self._timeout = k, length, timeout
        self._variable = key_variable or self._api.key
        self._url = url or self._api.url
        self._key()

    @property
    def schema(self) -> Schema:
        """The function in OpenAI form."""
        return function(SEARCH, "Searches the web", "query", "the words to look for")

    def find(self, query: str) -> list[Hit]:
        """What the service finds, best first.

        Args:
            query: any text.

        Raises:
            ToolError: fault `service`; retryable where it is the line, the service, or its limit on the pace, lasting
                where it is the key, the plan or the request.
            KeyMissing: the key is there no more.
        """
        answer = self._ask({self._api.query: query, self._api.count: self._k})
        results = answer.get(self._api.results) or []
        if not isinstance(results, list):
            raise self._fault("answered in a form that is not its own", retryable=False)
        hits = [self._hit(result) for result in results if isinstance(result, dict)]
        return [hit for hit in hits if hit.title or hit.snippet][: self._k]

    def run(self, arguments: Mapping[str, Any]) -> str:
        """Answer one query.

        Args:
            arguments: `{"query": ...}`.

        Raises:
            ToolError: no query, or as `find` says.
            KeyMissing: the key is there no more.
        """
        return shown(self.find(text_argument(arguments, "query")), sources=True)

    def _key(self) -> str:
        key = os.environ.get(self._variable, "").strip()
        if not key:
            raise KeyMissing(f"{self._service} needs a key: set the environment variable {self._variable}")
        if not (key.isascii() and key.isprintable()):
            raise KeyMissing(f"what the environment variable {self._variable} holds is no key")
        return key

    def _ask(self, body: Mapping[str, Any]) -> dict[str, Any]:
        headers = {self._api.header: self._api.prefix + self._key()}
        # A lone surrogate can be written in JSON but not sent.
        content = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        end = time.monotonic() + self._timeout
        received = bytearray()
        try:
            with httpx.stream(
                "POST",
                self._url,
                headers={**headers, "Content-Type": "application/json"},
                content=content,
                timeout=self._timeout,
            ) as response:
                if response.status_code != 200:
                    raise self._refused(response.status_code)
                for part in response.iter_bytes():
                    received += part
                    if len(received) > _LARGEST:
                        raise self._fault("answered more than can be an answer", retryable=False)
                    if time.monotonic() > end:
                        raise self._fault(f"did not finish within {self._timeout:g} s", retryable=True)
        except httpx.TimeoutException:
            raise self._fault(f"did not answer within {self._timeout:g} s", retryable=True) from None
        except (httpx.LocalProtocolError, httpx.UnsupportedProtocol, httpx.InvalidURL, UnicodeError):
            raise self._fault("cannot be asked like this: check its address and key", retryable=False) from None
        except httpx.HTTPError as error:
            raise self._fault(f"could not be reached ({type(error).__name__})", retryable=True) from None
        try:
            answer = json.loads(received)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):  # as a proxy on the way says that something is down
            raise self._fault("answered with no JSON object", retryable=True)
        return answer

    def _refused(self, status: int) -> ToolError:
        if status in (401, 403):
            return self._fault(f"does not accept the key in {self._variable} (status {status})", retryable=False)
        if status in (402, 432, 433):
            return self._fault(f"has no searches left on this key (status {status})", retryable=False)
        if status in _PASSING or status >= 500:
            return self._fault(f"is not available now (status {status})", retryable=True)
        return self._fault(f"refused the request (status {status})", retryable=False)

    def _fault(self, text: str, *, retryable: bool) -> ToolError:
        return ToolError(f"the search service {self._service} {text}", "service", retryable=retryable)

    def _hit(self, result: Mapping[str, Any]) -> Hit:
        address, title, text = (result.get(name) for name in (self._api.address, "title", self._api.text))
        plain = [value if isinstance(value, str) else "" for value in (address, title, text)]
        return Hit(plain[0], cut(plain[1], self._length), cut(plain[2], self._length))
