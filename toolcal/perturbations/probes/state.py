"""The observed state: what successful tool results say, read without knowing the tools."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolcal.callshapes import JSON


@dataclass(frozen=True)
class Observed:
    """All results so far, in order: (tool's name as shown, result's text), the failed ones left out."""

    results: tuple[tuple[str, str], ...] = ()

    def after(self, name: str, result: Mapping[str, Any]) -> Observed:
        """With one more result.

        A call failed if it was not executed, raised an error, or answered with an object that has an `error`.

        Args:
            name: the tool's name, as the model wrote it.
            result: as in the column `tool_results` of the table `trajectories`.
        """
        if not result["executed"] or result["error"] is not None or "error" in _fields(result["result"]):
            return self
        return Observed((*self.results, (name, result["result"])))

    @property
    def said(self) -> str:
        """All that was observed, word for word."""
        return "\n".join(text for _, text in self.results)

    def latest(self, number: int, limit: int) -> str:
        """The last results, one below the other, each as it came and cut short at a number of characters."""
        return "\n\n".join(f"{name}:\n{text[:limit]}" for name, text in self.results[-number:])

    def shown(self, limit: int) -> str:
        """`tool.key: value` a line, the last value of each tool and key, in the order in which they were observed.

        Where that is too long the newest are kept, and the oldest of these is cut short.

        Args:
            limit: characters.
        """
        latest: dict[tuple[str, str], str] = {}
        for name, text in self.results:
            for key, value in _fields(text).items():
                latest.pop((name, key), None)
                latest[name, key] = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        kept: list[str] = []
        left = limit
        for (name, key), value in reversed(latest.items()):
            line = f"{name}.{key}: {value}"
            kept.append(line if len(line) <= left else line[: max(left - 3, 0)] + "..."[:left])
            left -= len(line) + 1
            if left <= 0:
                break
        return "\n".join(reversed(kept))


def _fields(text: str) -> dict[str, Any]:
    """A result's values by key; one that is no JSON object is a single value."""
    try:
        value = JSON.decode(text)
    except (ValueError, RecursionError):
        value = text
    return value if isinstance(value, dict) else {"result": value}
