"""The libraries of the extra `train`, which nothing but training needs."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

# They would tell their makers that they are used.
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")


class MissingLibraryError(RuntimeError):
    """A library of the extra `train` is not installed; one line, with what to do."""


def library(name: str) -> Any:
    """A library of the extra `train`.

    Args:
        name: as it is imported.

    Raises:
        MissingLibraryError: it is not installed.
    """
    os.environ.setdefault("TQDM_DISABLE", "1")  # their progress bars would fill the terminal, and the job has a log
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise MissingLibraryError(
            f"training needs the package {error.name}: install the extra `train` with pip, as docs/training.md says"
        ) from None
