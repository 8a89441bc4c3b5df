"""Made-up rows of the table `comparison`: checkpoints and temperature scaling, with a tool trained on and another."""

from __future__ import annotations

from typing import Any

import pandas as pd

from tests.confidence import scripted
from toolcal import tables
from toolcal.training.comparison import Study
from toolcal.training.comparison import comparison as compared
from toolcal.training.designs import design_of
from toolcal.training.settings import Place

CHECKPOINTS = {"small": "untreated", "small-rlcr": "rlcr", "small-sft": "supervised"}
WAYS = {"small": scripted.boastful, "small-rlcr": scripted.frank, "small-sft": scripted.shy}


def study(ways: dict[str, scripted.Said] | None = None, noises: tuple[float, ...] = (0.0, 0.5), n: int = 80) -> Study:
    """Three models of one luck: the untreated one boasts, the others say what their ways have them say."""
    configurations = {model: "prompted" if model == "small" else "trained" for model in CHECKPOINTS}
    says = WAYS | (ways or {})
    asked = scripted.questions(n, noises)
    cells = scripted.cells(configurations, noises)
    answers = pd.concat([scripted.answers(cell, asked, says[cell.model]) for cell in cells], ignore_index=True)
    return Study(answers, asked, cells, {"world": None}, 1, {"world": "passages"}, seed=0)


def comparison() -> list[dict[str, Any]]:
    """The rows, trained on search without noise."""
    designs = {"rlcr": design_of("rlcr", {"formula": "rlcr"})}
    found = compared(study(), CHECKPOINTS, designs, [Place("world", "search", 0.0)], resamples=100, swaps=99)
    return tables.records(found[list(tables.TABLES["comparison"].columns)])
