"""Which function makes which table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd

from toolcal.typeset import Page
from toolcal.typeset.confirmed_writes import confirmed_writes
from toolcal.typeset.gar_acc import gar_acc
from toolcal.typeset.grid import Grid, Line
from toolcal.typeset.shifts import shifts


def grid(
    page: Page, found: Mapping[str, pd.DataFrame], *, models: Sequence[str], scenarios: Sequence[str], seed: int
) -> Grid:
    """A page as it is printed; one that has nothing to show says so.

    Args:
        page: one of `typeset.pages`.
        found: the tables `cells`, `outcomes`, `effects`, `write_rates` and `reproduce`.
        models: in the order of the lines.
        scenarios: in the order of the columns.
        seed: of the bootstrap, from the configuration.

    Raises:
        KeyError: for a table that is none of these.
    """
    made = _made(page, found, models, scenarios, seed)
    return made if made.lines else replace(made, heading=(("",),), lines=(Line("nothing to show", ("",)),))


def _made(
    page: Page, found: Mapping[str, pd.DataFrame], models: Sequence[str], scenarios: Sequence[str], seed: int
) -> Grid:
    name, compared = page.name, found["reproduce"]
    match page:
        case Page("gar_acc", str(benchmark), str(labeller)):
            return gar_acc(
                name,
                found["cells"],
                found["outcomes"],
                compared,
                benchmark=benchmark,
                labeller=labeller,
                models=models,
                scenarios=scenarios,
                seed=seed,
            )
        case Page("shifts", None, str(labeller)):
            return shifts(name, found["effects"], compared, labeller=labeller, models=models, scenarios=scenarios)
        case Page("confirmed_writes"):
            return confirmed_writes(name, found["write_rates"], compared, models=models, scenarios=scenarios)
    raise KeyError(name)
