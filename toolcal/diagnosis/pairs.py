"""Pairs: what a case-trial did under a perturbation, beside what it did without."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pandas as pd

from toolcal.cells import BASELINE
from toolcal.tables import CASE, CELL, MEASURES

KEY = [*CELL, "gold_action", "labeller"]
_MET = [*KEY, "case_id", "trial"]
_VERDICTS = {"acc": "passed", "acc_strict": "passed_strict"}
Bools = npt.NDArray[np.bool_]
Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Compared:
    """One measure in all pairs: whether it is asked of a row, and what it was without and with (1, 0, NaN: unknown)."""

    asked: Bools
    without: Floats
    with_: Floats

    @cached_property
    def known(self) -> Bools:
        """Rows that have a difference."""
        return self.asked & ~np.isnan(self.without) & ~np.isnan(self.with_)


@dataclass(frozen=True)
class Pairs:
    """All case-trials of the perturbed cells and of their baselines, as arrays of one length.

    `keys` has a row per perturbed cell x gold action x labeller, sorted; `group` is each row's place in it. `planned`:
    the perturbation does not leave the case out; `judged`: it has a verdict in both cells, so that it is a pair.
    """

    keys: pd.DataFrame
    group: Counts
    cluster: Counts
    planned: Bools
    judged: Bools
    measures: dict[str, Compared]


@dataclass(frozen=True)
class Sums:
    """One measure's pairs, summed by cell and cluster: arrays of one length, sorted by cell, then cluster."""

    cell: Counts
    cluster: Counts
    n: Floats
    difference: Floats

    def places(self, unit_of: Counts, units: int) -> tuple[Counts, Counts]:
        """Each sum's place among the clusters of its unit, and how many clusters each unit has.

        Args:
            unit_of: of each cell, the unit that it belongs to.
            units: number of units.
        """
        clusters = int(self.cluster.max(initial=0)) + 1
        unit = unit_of[self.cell]
        met, position = np.unique(unit * clusters + self.cluster, return_inverse=True)
        size = np.bincount(met // clusters, minlength=units)
        return position - (np.cumsum(size) - size)[unit], size


def pairs(outcomes: pd.DataFrame, runs: pd.DataFrame) -> Pairs:
    """Put each perturbed cell beside its model's baseline in the same scenario, by case and trial.

    Args:
        outcomes: table `outcomes`.
        runs: from `plan.graded_runs`; of its columns the case's key and `decisive_turn`.
    """
    decisive = runs[list(CASE)].assign(decisive=runs["decisive_turn"].notna())
    told = outcomes[[*_MET, "cluster_id"]].assign(judged=outcomes["passed"].notna(), **_values(outcomes))
    told = told.merge(decisive, on=list(CASE), how="left", validate="many_to_one")
    apart = (told["perturbation"] == BASELINE).to_numpy()
    perturbed = told[~apart]
    cells = perturbed[list(CELL)].drop_duplicates()
    baseline = cells.merge(told[apart].drop(columns="perturbation"), on=["model", "scenario"])
    both = baseline.merge(perturbed, on=_MET, how="outer", suffixes=("", "_with"), indicator="found")
    both = both.sort_values(_MET, ignore_index=True)
    for shared in ("cluster_id", "decisive"):
        both[shared] = both[shared].where(both["found"] != "right_only", both[f"{shared}_with"])
    judged = (both["judged"].eq(True) & both["judged_with"].eq(True)).to_numpy(dtype=bool)
    group = both.groupby(KEY, sort=True).ngroup().to_numpy().astype(np.int64)
    return Pairs(
        keys=both[KEY].iloc[np.unique(group, return_index=True)[1]].reset_index(drop=True),
        group=group,
        cluster=pd.factorize(both["cluster_id"], sort=True)[0].astype(np.int64),
        planned=(both["found"] != "left_only").to_numpy(dtype=bool),
        judged=judged,
        measures={name: _compared(name, both, judged) for name in MEASURES},
    )


def _values(outcomes: pd.DataFrame) -> dict[str, Floats]:
    """Each measure of each run: 1, 0, or NaN where it is not known."""
    found: dict[str, Floats] = {}
    for name in MEASURES:
        if name.startswith("share_"):
            wanted = name.removeprefix("share_").removesuffix("_decisive")
            view = "decisive" if name.endswith("_decisive") else "case_any"
            outcome = outcomes[f"outcome_{view}"]
            value = (outcome == wanted).astype("Float64").mask(outcome.isna())
        else:
            column = _VERDICTS.get(name, name.replace("gar_", "emitted_"))
            value = outcomes[column].astype("boolean").astype("Float64")
        found[name] = np.asarray(value.to_numpy(dtype=float, na_value=np.nan), np.float64)
    return found


def _compared(name: str, both: pd.DataFrame, judged: Bools) -> Compared:
    without, with_ = (both[column].to_numpy(dtype=float) for column in (name, f"{name}_with"))
    asked = np.ones(len(both), dtype=bool)
    if name.endswith("_decisive"):
        asked = both["decisive"].to_numpy(dtype=bool)
    elif name == "acc_strict":
        asked = ~(judged & (np.isnan(without) | np.isnan(with_)))
    return Compared(asked, without, with_)


def sums_by_cluster(met: Pairs, compared: Compared, wanted: Bools) -> Sums:
    """One measure's differences, summed within each cluster of the cells that are wanted.

    Args:
        met: all pairs.
        compared: the measure in them.
        wanted: of each cell, whether it is.
    """
    rows = compared.known & wanted[met.group]
    clusters = int(met.cluster.max(initial=0)) + 1
    slot, position = np.unique(met.group[rows] * clusters + met.cluster[rows], return_inverse=True)
    return Sums(
        cell=slot // clusters,
        cluster=slot % clusters,
        n=np.bincount(position, minlength=len(slot)).astype(np.float64),
        difference=np.bincount(position, (compared.with_ - compared.without)[rows], len(slot)).astype(np.float64),
    )
