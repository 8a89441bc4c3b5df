"""Tables `effects` and `family_effects`: what a perturbation moves, case by case (methods A6 and A8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from toolcal.diagnosis.paired_tests import holm, mcnemar_exact, permutation, permutation_of_fractions
from toolcal.diagnosis.pairs import KEY, Compared, Counts, Pairs, Sums, pairs, sums_by_cluster
from toolcal.diagnosis.statistics import Floats, percentile_interval, resample
from toolcal.tables import TABLES

_FAMILY_KEY = ["family", *KEY[1:]]
_HOLM = ["perturbation", "measure", "labeller"]
_STATES = ("no_pairs", "not_defined", "there", "not_recorded")
"""Of a cell's delta, and why there is none; a family has the last of its models' states."""
_THERE = _STATES.index("there")
_BLOCK = 256
"""Columns resampled at once, as in `statistics`."""


def effects(
    outcomes: pd.DataFrame, runs: pd.DataFrame, families: Mapping[str, str], *, seed: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Tables `effects` and `family_effects`: paired deltas, with interval and test, of a model and of a family.

    A pair is one trial of one case, in the baseline and under the perturbation, with a verdict in both. What is
    unknown of one pair (not recorded) leaves the measure null in that cell, as in `cells`. A family's delta is the
    mean of its models' deltas, over those that have pairs; its models meet the same cases, so they are resampled, and
    their labels swapped, together.

    The Holm family is all comparisons of one perturbation and one measure by one labeller: every model and scenario
    (in `family_effects`, every family and scenario). That is the question asked of a perturbation, "does it move this
    measure anywhere?". A cell whose pairs all agree was compared too, and counts with a p of 1. Measures and
    perturbations are not corrected for each other.

    Args:
        outcomes: table `outcomes`.
        runs: from `plan.graded_runs`.
        families: the family of each model.
        seed: of the bootstrap and of sampled permutations, from the configuration.

    Returns:
        Both tables, a row per measure of every perturbed cell, sorted by their keys; empty without perturbed cells.
    """
    met = pairs(outcomes, runs)
    cells = met.keys.assign(family=met.keys["model"].map(dict(families)).astype("str"))
    by_family = cells.groupby(_FAMILY_KEY, sort=True).ngroup().to_numpy().astype(np.int64)
    names = cells[_FAMILY_KEY].iloc[np.unique(by_family, return_index=True)[1]].reset_index(drop=True)
    alone, together = [], []
    for measure, compared in met.measures.items():
        counts = _counts(met, compared)
        sums = sums_by_cluster(met, compared, counts["state"].to_numpy() == _THERE)
        by_cell = np.arange(len(cells))
        alone.append(cells.assign(measure=measure, **_effect(counts, sums, by_cell, seed)))
        together.append(names.assign(measure=measure, **_effect(counts, sums, by_family, seed)))
    return _finished("effects", alone), _finished("family_effects", together)


def _counts(met: Pairs, compared: Compared) -> pd.DataFrame:
    """Of each cell: its pairs, and what is none, the sums over them, and the state of its delta."""
    cells = len(met.keys)
    asked, known = compared.asked, compared.known
    rows = {
        "judged": met.judged,
        "known": known,
        "n": asked & met.judged,
        "n_unpaired": asked & met.planned & ~met.judged,
        "n_left_out": asked & ~met.planned,
        "without": known & (compared.without == 1),
        "with": known & (compared.with_ == 1),
        "gained": known & (compared.with_ > compared.without),
        "lost": known & (compared.with_ < compared.without),
    }
    found = pd.DataFrame({name: np.bincount(met.group[chosen], minlength=cells) for name, chosen in rows.items()})
    conditions = [found["judged"] == 0, found["n"] == 0, found["known"] < found["n"]]
    found["state"] = np.select(conditions, [0, 1, 3], _THERE)
    return found


def _effect(counts: pd.DataFrame, sums: Sums, unit_of: Counts, seed: int) -> dict[str, Floats | Counts]:
    """The columns of an effect for each unit: one cell, or the cells of a family's models (`unit_of` each cell)."""
    units = int(unit_of.max(initial=-1)) + 1
    state = np.zeros(units, np.int64)
    np.maximum.at(state, unit_of, counts["state"].to_numpy(np.int64))
    there = (counts["state"] == _THERE).to_numpy()
    cells, n = counts[there], counts["n"].to_numpy(dtype=float)
    models = np.bincount(unit_of[there], minlength=units)
    rates = {"baseline": cells["without"], "perturbed": cells["with"], "delta": cells["gained"] - cells["lost"]}
    found: dict[str, Floats | Counts] = {
        name: np.bincount(unit_of, counts[name], units).astype(np.int64)
        for name in ("n", "n_unpaired", "n_left_out", "gained", "lost")
    }
    with np.errstate(invalid="ignore", divide="ignore"):
        for name, total in rates.items():
            mean = np.bincount(unit_of[there], total / n[there], units) / models
            found[name] = np.where(state == _THERE, mean, np.nan)
    row, size = sums.places(unit_of, units)
    low, high = _intervals(sums, unit_of, row, size, seed)
    ends = {"delta_low": low, "delta_high": high}
    found |= {name: np.where(state == _THERE, end, np.nan) for name, end in ends.items()}
    p, single = _p_values(sums, unit_of, row, size, n, found, seed)
    return found | {"n_models": models, "state": state, "p": np.where(state == _THERE, p, np.nan), "single": single}


def _intervals(sums: Sums, unit_of: Counts, row: Counts, size: Counts, seed: int) -> tuple[Floats, Floats]:
    """The bootstrap's interval of each unit's mean over its cells; units of equally many clusters share the weights."""
    low, high = np.full(len(size), np.nan), np.full(len(size), np.nan)
    columns = np.unique(sums.cell)
    columns = columns[np.argsort(unit_of[columns], kind="stable")]
    for clusters in np.unique(size[size > 0]):
        chosen = columns[size[unit_of[columns]] == clusters]
        for block in _blocks(chosen, unit_of):
            place = np.full(len(unit_of), -1)
            place[block] = np.arange(len(block))
            slots = np.flatnonzero(place[sums.cell] >= 0)
            above, below = np.zeros((clusters, len(block))), np.zeros((clusters, len(block)))
            above[row[slots], place[sums.cell[slots]]] = sums.difference[slots]
            below[row[slots], place[sums.cell[slots]]] = sums.n[slots]
            owners, first, models = np.unique(unit_of[block], return_index=True, return_counts=True)
            ratios = np.add.reduceat(resample(above, below, seed=seed), first, axis=1) / models
            low[owners], high[owners] = percentile_interval(ratios, int(clusters), bounds=(-1.0, 1.0))
    return low, high


def _blocks(columns: Counts, unit_of: Counts) -> list[Counts]:
    """The columns, sorted by unit, in pieces of about `_BLOCK` that keep each unit together."""
    starts = np.unique(unit_of[columns], return_index=True)[1]
    cuts = [int(starts[starts >= least][0]) for least in range(_BLOCK, len(columns), _BLOCK) if least <= starts[-1]]
    return np.split(columns, sorted(set(cuts)))


def _p_values(
    sums: Sums,
    unit_of: Counts,
    row: Counts,
    size: Counts,
    n: Floats,
    found: Mapping[str, Floats | Counts],
    seed: int,
) -> tuple[Floats, Counts]:
    """p of each unit, NaN without discordant pairs, and whether each of its clusters holds one pair."""
    start, total, owner = np.cumsum(size) - size, int(size.sum()), unit_of[sums.cell]
    place, denominator = start[owner] + row, n[sums.cell]
    whole = np.bincount(place, sums.difference, total)
    parts = np.bincount(place, sums.difference / denominator, total)
    held = np.bincount(place, sums.n, total)
    single = np.bincount(np.repeat(np.arange(len(size)), size), held > 1, len(size)) == 0
    first = np.zeros(len(size))
    first[owner] = denominator
    even = np.bincount(owner, denominator != first[owner], len(size)) == 0
    p = mcnemar_exact(found["gained"], found["lost"])
    for unit in np.flatnonzero(~single & ~np.isnan(p)):
        own = slice(start[unit], start[unit] + size[unit])
        # With one denominator throughout, the sum of the differences stands for their mean.
        p[unit] = permutation(whole[own]) if even[unit] else permutation_of_fractions(parts[own], seed=seed)
    return p, single.astype(np.int64)


def _finished(name: str, parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """All measures' rows, with reasons and Holm's correction."""
    rows = pd.concat(parts, ignore_index=True)
    there, tested = rows["state"] == _THERE, rows["p"].notna()
    family = rows.groupby(_HOLM).ngroup().to_numpy().astype(np.int64)
    # What could be compared is of the family, whether or not there was anything left to test.
    rows["p_holm"] = np.where(tested, holm(rows["p"].fillna(1.0).where(there), family), np.nan)
    rows["comparisons"] = there.groupby(family).transform("sum").astype("int64")
    rows["test"] = rows["single"].map({1: "mcnemar_exact", 0: "permutation_clustered"}).where(tested)
    reason = rows["state"].map(dict(enumerate(_STATES))).where(~there, "no_discordant_pairs")
    rows["p_reason"] = reason.where(~tested)
    for count in ("gained", "lost"):
        rows[count] = rows[count].astype("Int64").where(there)
    table = TABLES[name]
    return rows[list(table.columns)].sort_values(list(table.key), ignore_index=True)
