"""Tables for a paper, in LaTeX and Markdown: each is a function from the diagnosis's tables to a Grid.

Light to import, for the workflow reads the names while it plans.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Page(NamedTuple):
    """One table: which, of which benchmark and labeller (none where it is of all)."""

    table: str
    benchmark: str | None = None
    labeller: str | None = None

    @property
    def name(self) -> str:
        """The name of its files, without their suffix."""
        return ".".join(filter(None, self))


def pages(
    benchmarks: Iterable[str], labellers: Sequence[str], *, perturbed: bool = False, with_user: bool = False
) -> list[Page]:
    """All tables of a run.

    Args:
        benchmarks: what comes before the first dash of the run's scenarios; repetitions do not matter.
        labellers: the labellers of the diagnosis.
        perturbed: whether some model runs under a perturbation.
        with_user: whether some user speaks freely, and may agree to writes.
    """
    found = [Page("gar_acc", benchmark, labeller) for benchmark in dict.fromkeys(benchmarks) for labeller in labellers]
    found += [Page("shifts", labeller=labeller) for labeller in labellers if perturbed]
    return [*found, *([Page("confirmed_writes")] if with_user else [])]
