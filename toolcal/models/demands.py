"""What a job that asks a model needs of the machine it runs on, and of what it shares with other jobs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def jobs(source: str, *entries: Mapping[str, Any]) -> int:
    """1 where a job asks a model of this source, else 0: what `--resources api=n` and `vllm=n` count.

    Args:
        source: as in the configuration.
        entries: entries of the models that the job asks, that of the simulated user among them.
    """
    return int(any(entry["source"] == source for entry in entries))


def gpus(*entries: Mapping[str, Any]) -> int:
    """GPUs that the servers started by a job share: those of vLLM; 0 where none is.

    Args:
        entries: as in `jobs`.
    """
    return sum(int(entry["tensor_parallel"]) for entry in entries if entry["source"] == "vllm")


def processors(*entries: Mapping[str, Any]) -> int:
    """Processors of a job: as many as llama.cpp has threads where it serves a model, and at least one.

    Args:
        entries: as in `jobs`.
    """
    served = (int(entry["threads"]) for entry in entries if entry["source"] == "embedded")
    return max(1, sum(served))
