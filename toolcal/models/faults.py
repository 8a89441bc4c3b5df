"""What went wrong with a call, and what that means for it: ask again, give this call up, or stop asking."""

from __future__ import annotations

import email.utils
import os
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["transient", "lasting", "final", "context"]
"""transient: may go away, ask again. lasting: this call will fail again. final: all calls will. context: too long."""

_LENGTH = 500
_FINAL = (401, 402, 403, 404)
_LASTING = (400, 405, 406, 410, 411, 413, 414, 415, 422, 501)
_QUOTA = re.compile(r"insufficient_quota|exceeded your current quota|credit balance is too low|billing", re.I)
_NOT_SET_UP = re.compile(r"Missing credentials|api_key client option|No module named|LLM Provider NOT provided", re.I)
SHORTEST_SECRET = 8
"""Characters from which on a key is masked; shorter ones are words."""

_SECRET = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD)$")
_PREFIXES = re.compile(r"^((litellm\.)?\w+(Error|Exception|Timeout)( -|:) )+")
CONTEXT = re.compile(
    r"context_length_exceeded|exceed_context_size|(maximum|available|model'?s) context|context (length|window|size)"
    r"|prompt is too long|prompt too long|input is too long|input token count|maximum (input|prompt) length"
    r"|too many (input )?tokens|longer than the model|max_model_len",
    re.I,
)
"""A prompt that is too long, in the words of OpenAI, llama.cpp, vLLM, Anthropic, Gemini, Cohere and Mistral."""


@dataclass(frozen=True)
class Fault:
    """One failed try: its kind, its words on one line without keys, and the seconds that the endpoint asks to wait."""

    kind: Kind
    words: str
    wait: float | None = None


def fault_of(error: Exception, *, secrets: Iterable[str] = (), where: str = "", sent: bool = True) -> Fault:
    """Classify what a call raised.

    Args:
        error: an exception of litellm or of what lies below it.
        secrets: keys that its words must not show.
        where: ends its words.
        sent: whether the client came as far as sending; what it refuses itself, it will refuse again.
    """
    said = _PREFIXES.sub("", str(error)).partition("Traceback (most recent")[0]
    words = masked(f"{type(error).__name__}: {said}", secrets)[:_LENGTH] + where
    status = _status(error)
    text = f"{error} {getattr(error, 'body', None)}"  # codes stand in the body alone
    if type(error).__name__ == "ContextWindowExceededError" or (status in _LASTING and CONTEXT.search(text)):
        return Fault("context", words)
    if status in _FINAL or (status == 429 and _QUOTA.search(text)) or _NOT_SET_UP.search(text):
        return Fault("final", words)
    if status in _LASTING or not sent:
        return Fault("lasting", words)
    return Fault("transient", words, _wait(_headers(error)))


def masked(text: str, secrets: Iterable[str] = ()) -> str:
    """A text on one line, without these secrets and without those of the environment."""
    for secret in sorted({*secrets, *secrets_of_environment()}, key=len, reverse=True):
        if len(secret) >= SHORTEST_SECRET:
            text = text.replace(secret, "***")
    return " ".join(text.split())


def secrets_of_environment() -> set[str]:
    """The values of variables that are named like keys."""
    return {value for name, value in os.environ.items() if _SECRET.search(name.upper())}


def _status(error: Exception) -> int | None:
    status = getattr(error, "status_code", None)
    return int(status) if isinstance(status, int | str) and str(status).isdigit() else None


def _headers(error: Exception) -> Mapping[str, Any]:
    """The answer's headers; litellm keeps those of some providers apart, as its own answer's are made up."""
    kept = getattr(error, "litellm_response_headers", None)
    if not kept:
        kept = getattr(getattr(error, "response", None), "headers", None)
    return {str(name).lower(): value for name, value in dict(kept or {}).items()}


def _wait(headers: Mapping[str, Any]) -> float | None:
    """Seconds from Retry-After (a number or a date) or retry-after-ms; None for nonsense."""
    for name, unit in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        text = str(headers.get(name, "")).strip()
        if re.fullmatch(r"\d{1,9}(\.\d*)?", text):
            return float(text) * unit
    try:
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None
