"""A model by its entry in the configuration: opened once a job, and answering in any number of cells."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolcal.benchmarks.protocol import Benchmark
from toolcal.models.protocol import Model

if TYPE_CHECKING:
    from toolcal.models.calling import Caller

_OFFLINE = ("policy", "recorded", "audit")
_CHAT = ("parameters", "tool_mode", "history", "execute_leaked")


class Source:
    """An open model, for any number of cells; what it needs starts at its first call, and stops with it."""

    def __init__(self, entry: Mapping[str, Any], caller: Caller | None, identity: Mapping[str, Any]) -> None:
        self._entry = entry
        self._caller = caller
        self._identity = identity

    @contextmanager
    def cell(
        self, benchmark: Benchmark | None, scenario: str, journal: str | Path, replay: str | Path | None = None
    ) -> Iterator[Model]:
        """The model for one cell.

        Args:
            benchmark: for scripted policies, which read gold; None where the user speaks freely.
            scenario: the cell's scenario.
            journal: the cell's journal file, where every call of a language model is kept.
            replay: the journal of the cell's baseline, if its calls need not be made again.

        Raises:
            JournalError: the journal is in use or broken.
        """
        if self._caller is None:
            yield _offline(self._entry, benchmark, scenario)
            return
        from toolcal.journal import Journal
        from toolcal.models.chat import Chat

        with Journal(journal, replay=replay) as kept, self._caller.booked(kept.path):
            settings = {key: self._entry[key] for key in _CHAT if key in self._entry}
            yield Chat(
                identity=self._identity,
                journal=kept,
                caller=self._caller,
                return_reasoning=_reasoning_names(self._entry),
                **settings,
            )


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
    if entry["source"] in _OFFLINE:
        yield Source(entry, None, {})
        return
    from toolcal.models import sources

    async with AsyncExitStack() as stack:
        if entry["source"] == "api":
            caller, identity = sources.api(f"models.{name}", entry, results=results, endpoints=endpoints, limits=limits)
        else:
            serve = {"embedded": sources.embedded, "vllm": sources.vllm}[entry["source"]]
            caller, identity = serve(stack, name, entry, log)
        stack.push_async_callback(caller.close)
        yield Source(entry, caller, identity)


def open_model(name: str, config: Mapping[str, Any], log: str | Path) -> AbstractAsyncContextManager[Source]:
    """Open a model of a validated configuration, for a job with this log; a served model's own log stands beside it."""
    return open_source(
        name,
        config["models"][name],
        results=Path(config["results"]),
        endpoints=config["endpoints"],
        limits=config["limits"],
        log=Path(log).with_suffix(".server.log"),
    )


def _reasoning_names(entry: Mapping[str, Any]) -> tuple[str, ...]:
    if not entry.get("return_reasoning"):
        return ()
    # vLLM has renamed the field; the versions take one or the other and overlook the rest.
    return ("reasoning_content", "reasoning") if entry["source"] == "vllm" else ("reasoning_content",)


def _offline(entry: Mapping[str, Any], benchmark: Benchmark | None, scenario: str) -> Model:
    if entry["source"] == "audit":
        from toolcal.live.audit import Audit

        return Audit(entry["pair"], tells=entry["tells"])
    if entry["source"] == "recorded":
        from toolcal.models.recorded import Recorded

        return Recorded(entry, scenario)
    from toolcal.models.policies import Policy

    if benchmark is None:
        raise ValueError(f"{scenario}: a scripted policy plays where turns are fixed only")
    return Policy(entry["policy"], benchmark)
