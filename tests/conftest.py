from __future__ import annotations

import os
from pathlib import Path

import pytest

from toolcal.benchmarks.bfcl import Bfcl
from toolcal.benchmarks.protocol import Case

ROOT = Path(__file__).parents[1]
CATEGORIES = ("base", "long_context", "miss_func", "miss_param")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The files that take long come first, so that no worker is left with one at the end."""
    items.sort(key=lambda item: "end_to_end" not in item.path.parts)


@pytest.fixture(scope="session")
def bfcl() -> Bfcl:
    return Bfcl()


@pytest.fixture(scope="session")
def bfcl_cases(bfcl: Bfcl) -> dict[str, list[Case]]:
    """Category -> its 200 cases."""
    return {category: bfcl.cases(f"bfcl-{category}") for category in CATEGORIES}


@pytest.fixture(scope="session")
def recorded() -> Path:
    """The folder of recorded runs of real models, where it is there."""
    folder = Path(os.environ.get("TOOLCAL_RECORDED", ROOT.parent / "shared/data/recorded"))
    if not folder.is_dir():
        pytest.skip(f"no recorded runs in {folder}; set TOOLCAL_RECORDED")
    return folder
