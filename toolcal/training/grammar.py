"""Responses held to a JSON schema while they are sampled, by the library that the study's llama.cpp server has in it.

What the schema allowed in the place of each token is kept beside it, since the update is of the distribution that was
sampled from: the model's own, over what was allowed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import llguidance.hf
import numpy as np
import torch
from llguidance import LLMatcher

from toolcal.training.policy import stop_tokens


class Grammar:
    """JSON schemas as the tokens that they allow.

    Args:
        tokenizer: a fast one of transformers.
        vocabulary: number of the model's logits, which may be more than the tokenizer's tokens.
    """

    def __init__(self, tokenizer: Any, vocabulary: int) -> None:
        self._tokens = llguidance.hf.from_tokenizer(tokenizer, vocabulary, list(stop_tokens(tokenizer)))
        self._bytes = -(-vocabulary // 8)
        self._begun: dict[str, LLMatcher] = {}

    def begin(self, schema: str) -> Held:
        """A response to a schema, before its first token.

        Args:
            schema: as JSON.

        Raises:
            ValueError: a schema that is none, or has what no grammar is made of.
        """
        if schema not in self._begun:
            made = LLMatcher(self._tokens, LLMatcher.grammar_from_json_schema(schema))
            if made.is_error():
                raise ValueError(f"no grammar for the schema {schema}: {' '.join(made.get_error().split())}")
            self._begun[schema] = made
        return Held(self._begun[schema].deep_copy(), self._bytes)


class Held:
    """A response under way.

    Args:
        matcher: of its schema, at its first token.
        width: bytes of a mask.
    """

    def __init__(self, matcher: LLMatcher, width: int) -> None:
        self._matcher, self._width = matcher, width

    def allowed(self) -> bytes:
        """The tokens that may come next, a bit each, a byte's lowest one first."""
        return bytes(self._matcher.compute_bitmask()[: self._width])

    def take(self, token: int) -> None:
        """The next token is there.

        Args:
            token: one that is allowed.

        Raises:
            ValueError: it is not.
        """
        if not self._matcher.consume_token(token):
            raise ValueError(f"token {token} is not allowed here: {' '.join(self._matcher.get_error().split())}")


def narrowed(logits: torch.Tensor, allowed: Sequence[bytes | None]) -> torch.Tensor:
    """Logits with all that was not allowed at minus infinity.

    Args:
        logits: (places, vocabulary).
        allowed: of each place a mask as `Held.allowed` gives it; None where nothing is held back.
    """
    places = [place for place, mask in enumerate(allowed) if mask is not None]
    if not places:
        return logits
    packed = np.frombuffer(b"".join(mask for mask in allowed if mask is not None), np.uint8).reshape(len(places), -1)
    kept = np.unpackbits(packed, axis=1, count=logits.size(1), bitorder="little").astype(bool)
    shut = torch.zeros(logits.shape, dtype=torch.bool, device=logits.device)
    shut[places] = torch.from_numpy(~kept).to(logits.device)
    return logits.masked_fill(shut, -torch.inf)
