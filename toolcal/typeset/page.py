"""Which function makes which table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from toolcal.typeset import Page
from toolcal.typeset.confirmed_writes import confirmed_writes
from toolcal.typeset.gar_acc import gar_acc
from toolcal.typeset.grid import Grid
from toolcal.typeset.shifts import shifts


def grid(
    page: Page, found: Mapping[str, pd.DataFrame], *, models: Sequence[str], scenarios: Sequence[str], seed: int
) -> Grid:
    """A page as it is printed.

    Args:
        page: one of `typeset.pages`.
        found: the tables `cells`, `outcomes`, `effects`, `write_rates` and `reproduce`.
        models: in the order of the lines.
        scenarios: in the order of the columns.
        seed: of the bootstrap, from the configuration.

    Raises:
        KeyError: for a table that is none of these.
    """
    order = {"models": models, "scenarios": scenarios}
    compared = found["reproduce"]
    match page:
        case Page("gar_acc", str(benchmark), str(labeller)):
            of = {"benchmark": benchmark, "labeller": labeller, "seed": seed}
            return gar_acc(page.name, found["cells"], found["outcomes"], compared, **of, **order)  # type: ignore[arg-type]
        case Page("shifts", None, str(labeller)):
            return shifts(page.name, found["effects"], compared, labeller=labeller, **order)
        case Page("confirmed_writes"):
            return confirmed_writes(page.name, found["write_rates"], compared, **order)
    raise KeyError(page.name)
