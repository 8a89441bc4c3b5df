from __future__ import annotations

import pytest

from toolcal.benchmarks.protocol import Case
from toolcal.benchmarks.tau2 import cases


@pytest.fixture(scope="session")
def airline() -> dict[str, Case]:
    """Its 50 tasks by id."""
    return {case.case_id: case for case in cases.load("airline")}


@pytest.fixture(scope="session")
def retail() -> dict[str, Case]:
    """Its 114 tasks by id."""
    return {case.case_id: case for case in cases.load("retail")}
