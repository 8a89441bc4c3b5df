"""An amount of model calls and tokens."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Work:
    """Calls and tokens, of one case-trial or of many; means, so not whole numbers."""

    calls: float = 0.0
    prompt_tokens: float = 0.0
    answer_tokens: float = 0.0

    def __add__(self, other: Work) -> Work:
        return Work(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.answer_tokens + other.answer_tokens,
        )

    def times(self, number: float) -> Work:
        """The same work, so many times."""
        return Work(self.calls * number, self.prompt_tokens * number, self.answer_tokens * number)
