"""A cell of the panel: model x scenario x perturbation, the unit of one query job."""

from __future__ import annotations

from typing import NamedTuple


class Cell(NamedTuple):
    """What the trajectories of one query job have in common; the fields are the columns `tables.CELL`."""

    model: str
    scenario: str
    perturbation: str


BASELINE = "baseline"
"""The perturbation that changes nothing."""
