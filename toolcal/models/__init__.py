"""Models: whatever answers the rollout's requests, by its entry in the configuration."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolcal.benchmarks.protocol import Benchmark
from toolcal.models.protocol import Model

if TYPE_CHECKING:
    from toolcal.models.serve import Weights


@asynccontextmanager
async def open_model(
    name: str, entry: Mapping[str, Any], benchmark: Benchmark, *, journal: str | Path, log: str | Path | None = None
) -> AsyncIterator[Model]:
    """The model of a configuration entry, with what it needs started before and stopped after.

    Args:
        name: the model's id.
        entry: its entry, validated.
        benchmark: for scripted policies, which read gold.
        journal: the cell's journal file, where every call of a language model is kept.
        log: file for a served model's own log.
    """
    if entry["source"] == "policy":
        from toolcal.models.policies import Policy

        yield Policy(entry["policy"], benchmark)
        return
    from toolcal.journal import Journal
    from toolcal.models.chat import Chat
    from toolcal.models.serve import serve_embedded

    weights = _weights(name, entry)
    with Journal(journal) as kept:
        async with serve_embedded(
            weights,
            context_length=entry["context_length"],
            threads=entry["threads"],
            log=Path(log) if log else None,
        ) as endpoint:
            yield Chat(
                f"openai/{name}",
                identity={"weights": weights.sha256, "context_length": entry["context_length"]},
                journal=kept,
                api_base=endpoint,
                parameters=entry["parameters"],
                tool_mode=entry["tool_mode"],
                history=entry["history"],
            )


def weights_files(models: Mapping[str, Mapping[str, Any]]) -> dict[str, Path]:
    """`models/<id>/<file>` -> weights file, for every served model of the configuration."""
    found = {name: _weights(name, entry).path for name, entry in models.items() if "weights" in entry}
    return {f"models/{name}/{path.name}": path for name, path in found.items()}


def _weights(name: str, entry: Mapping[str, Any]) -> Weights:
    from toolcal.models.serve import ServeError, find_weights

    try:
        return find_weights(entry["weights"])
    except ServeError as error:
        raise ServeError(f"models.{name}.weights: {error}") from error
