"""Tables of made-up confidence studies: realistic small ones, a large one, odd names, and gaps."""

from __future__ import annotations

from functools import cache
from typing import Any

import pandas as pd

from tests.confidence import scripted
from tests.figures.frames import ODD
from toolcal import tables
from toolcal.confidence.calibration import calibration
from toolcal.confidence.curves import answer_causes, reliability, risk_coverage
from toolcal.confidence.planned_answers import planned_answers

TABLES = ("calibration", "reliability", "risk_coverage", "answer_causes")
STUDIES: dict[str, dict[str, Any]] = {
    "small": {"models": {"smollm2-135m": "prompted"}, "noises": (0.0, 0.5), "n": 24},
    "large": {
        "models": dict.fromkeys(("gpt-5", "Qwen3-8B", "Qwen3-32B"), "prompted") | {"Qwen3-8B-search-r1": "trained"},
        "noises": (0.0, 0.5, 1.0),
        "n": 1200,
        "resamples": 20,
    },
    "odd": {"models": dict.fromkeys(ODD, "prompted") | {ODD[-2]: "trained"}, "noises": (0.0,), "n": 24},
}
"""What `tables_of` makes of each panel."""


@cache
def tables_of(panel: str) -> dict[str, list[dict[str, Any]]]:
    """The rows of every table that a figure of the study shows.

    Every model speaks in one of four ways; in the odd study the second one's endpoint gave nothing with search.
    """
    spec = STUDIES[panel]
    asked = scripted.questions(spec["n"], spec["noises"])
    cells = scripted.cells(spec["models"], spec["noises"])
    ways = (scripted.boastful, scripted.frank, scripted.shy, scripted.sure)
    order = list(spec["models"])
    given = [scripted.answers(cell, asked, ways[order.index(cell.model) % 4], best=0.8) for cell in cells]
    if panel == "odd":
        given = [
            scripted.failed(rows) if (cell.model, cell.tool) == (ODD[1], "search") else rows
            for cell, rows in zip(cells, given, strict=True)
        ]
    planned = planned_answers(pd.concat(given, ignore_index=True), asked, cells, {"world": None}, 1)
    base_models = dict.fromkeys(order)
    found = {
        "calibration": pd.DataFrame(calibration(planned, base_models, seed=0, resamples=spec.get("resamples", 100))),
        "reliability": reliability(planned),
        "risk_coverage": risk_coverage(planned),
        "answer_causes": answer_causes(planned),
    }
    return {name: tables.records(data) for name, data in found.items()}
