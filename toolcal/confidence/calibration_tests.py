"""The table `calibration_tests`: which differences between the cells of the study are beyond chance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from toolcal.confidence.compare import compare
from toolcal.confidence.plan import StudyCell
from toolcal.confidence.planned_answers import Rows
from toolcal.diagnosis.paired_tests import PERMUTATIONS, holm
from toolcal.diagnosis.statistics import RESAMPLES


def comparisons(cells: Rows, base_models: Mapping[str, str | None]) -> Iterator[tuple[str, StudyCell, StudyCell]]:
    """Which two cells are compared, by what tells them apart: kind, first and second; `tables.COMPARISONS`."""
    for cell in cells:
        if cell.tool == "none":
            continue
        firsts = {"tool": StudyCell(cell.model, cell.question_set, "direct", "none", 0.0)}
        if cell.tool == "python":
            firsts["tools"] = cell._replace(tool="search")
        if cell.noise > 0:
            firsts["noise"] = cell._replace(noise=0.0)
        base = base_models.get(cell.model)
        if base:
            before = "trained" if base_models.get(base) else "prompted"
            firsts["training"] = cell._replace(model=base, configuration=before)
        for kind, first in firsts.items():
            if first in cells:
                yield kind, first, cell


def calibration_tests(
    rows: Rows,
    base_models: Mapping[str, str | None],
    *,
    seed: int,
    resamples: int = RESAMPLES,
    swaps: int = PERMUTATIONS,
) -> pd.DataFrame:
    """The table: paired comparisons on the same questions, Holm over all comparisons of one metric.

    As in the table `effects`, a comparison in which all pairs agree was made too, and counts with a p of 1.

    Args:
        rows: what `planned_answers` gave.
        base_models: model -> the model from which it was trained, or None.
        seed: from the configuration.
        resamples: number of bootstrap samples.
        swaps: number of random swaps of labels.
    """
    parts = []
    for kind, first, second in comparisons(rows, base_models):
        found = compare(rows[first], rows[second], seed=seed, resamples=resamples, swaps=swaps)
        names = {f"first_{name}": value for name, value in first._asdict().items() if name != "question_set"}
        parts.append(found.assign(comparison=kind, **second._asdict(), **names))
    if not parts:
        return pd.DataFrame()
    tests = pd.concat(parts, ignore_index=True)
    there, tested = tests["delta"].notna(), tests["p"].notna()
    reason = np.select([tests["n"] == 0, ~there], ["no_pairs", "undefined"], default="no_difference")
    tests["p_reason"] = pd.Series(reason, tests.index, dtype=object).where(~tested, None)
    tests["test"] = tests["test"].where(tested, None)
    tests["p_holm"] = np.where(tested, holm(tests["p"].fillna(1.0).where(there), tests["metric"].tolist()), np.nan)
    tests["comparisons"] = there.groupby(tests["metric"]).transform("sum").astype("int64")
    return tests
