"""Models: whatever answers the rollout's requests, by its entry in the configuration."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolcal.benchmarks.protocol import Benchmark
from toolcal.models.protocol import Model

if TYPE_CHECKING:
    from toolcal.models.calling import Caller

_CHAT = ("parameters", "tool_mode", "history", "return_reasoning", "execute_leaked")
_HOW = ("attempts", "concurrency", "endpoint", "executable", "prices", "start_timeout", "tensor_parallel", "timeout")
_ELSEWHERE = ("family", "limit", "scenarios", "scores")


class Source:
    """An open model, for any number of cells; what it needs starts at its first call, and stops with it."""

    def __init__(self, entry: Mapping[str, Any], caller: Caller | None, identity: Mapping[str, Any]) -> None:
        self._entry = entry
        self._caller = caller
        self._identity = identity

    @contextmanager
    def cell(self, benchmark: Benchmark, scenario: str, journal: str | Path) -> Iterator[Model]:
        """The model for one cell.

        Args:
            benchmark: for scripted policies, which read gold.
            scenario: the cell's scenario.
            journal: the cell's journal file, where every call of a language model is kept.

        Raises:
            JournalError: the journal is in use or broken.
        """
        if self._caller is None:
            yield _offline(self._entry, benchmark, scenario)
            return
        from toolcal.journal import Journal
        from toolcal.models.chat import Chat

        with Journal(journal) as kept, self._caller.booked(kept.path):
            settings = {key: self._entry[key] for key in _CHAT if key in self._entry}
            yield Chat(identity=self._identity, journal=kept, caller=self._caller, **settings)


@asynccontextmanager
async def open_source(
    name: str,
    entry: Mapping[str, Any],
    *,
    results: Path,
    endpoints: Mapping[str, Mapping[str, Any]],
    limits: Mapping[str, Any],
    log: Path | None = None,
) -> AsyncIterator[Source]:
    """Open the model of a configuration entry.

    Args:
        name: the model's id.
        entry: its entry, validated.
        results: the results folder, in which the jobs that share an endpoint or the budget meet.
        endpoints: the configuration's endpoints.
        limits: the configuration's limits.
        log: file for a served model's own log.
    """
    if entry["source"] in ("policy", "recorded"):
        yield Source(entry, None, {})
        return
    from toolcal.models import sources

    async with AsyncExitStack() as stack:
        if entry["source"] == "api":
            caller, identity = sources.api(name, entry, results=results, endpoints=endpoints, limits=limits)
        else:
            serve = {"embedded": sources.embedded, "vllm": sources.vllm}[entry["source"]]
            caller, identity = serve(stack, name, entry, log)
        stack.push_async_callback(caller.close)
        yield Source(entry, caller, identity)


def answering(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The part of an entry that bears on what the model answers, and not on how it is reached or what it costs."""
    return {key: value for key, value in entry.items() if key not in (*_HOW, *_ELSEWHERE)}


def recordings(entry: Mapping[str, Any]) -> list[str]:
    """The files that a recorded model is read from; none for others."""
    folders = [Path(entry[key]) for key in ("results", "scores") if entry["source"] == "recorded" and key in entry]
    return sorted(str(path) for folder in folders for path in folder.rglob("*.json") if path.is_file())


def files(models: Mapping[str, Mapping[str, Any]]) -> dict[str, Path]:
    """`models/<id>/<file>` -> weights or recorded run, for every model of the configuration that has such files."""
    from toolcal.models.sources import weights_of

    found: dict[str, Path] = {}
    for name, entry in models.items():
        paths = [weights_of(name, entry).path] if "weights" in entry else map(Path, recordings(entry))
        found |= {f"models/{name}/{path.name}": path for path in paths}
    return found


def _offline(entry: Mapping[str, Any], benchmark: Benchmark, scenario: str) -> Model:
    if entry["source"] == "recorded":
        from toolcal.models.recorded import Recorded

        return Recorded(entry, scenario)
    from toolcal.models.policies import Policy

    return Policy(entry["policy"], benchmark)
