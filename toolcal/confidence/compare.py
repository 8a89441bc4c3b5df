"""Two configurations on the same questions: differences of metrics, with interval and paired test."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from toolcal.confidence.binning import Counts
from toolcal.confidence.metrics import checked, ends_of
from toolcal.confidence.scorer import Scorer
from toolcal.diagnosis.paired_tests import PERMUTATIONS, mcnemar_exact, permutation
from toolcal.diagnosis.statistics import RESAMPLES, Floats, draws

COMPARED = ("accuracy", "mean_confidence", "brier", "ece10", "ece_debiased", "auroc", "mcip")
"""Metrics whose differences are tested."""
_KEY = ["question_id", "trial"]
_BLOCK = 100


def compare(
    first: pd.DataFrame, second: pd.DataFrame, *, seed: int, resamples: int = RESAMPLES, swaps: int = PERMUTATIONS
) -> pd.DataFrame:
    """Second less first, on the answers that both have.

    A pair is one trial of one question with a verdict in both; for all metrics but accuracy, with a confidence in both
    too. Intervals resample questions. The tests ask how often a difference as large arises where the labels of the two
    configurations are swapped at random, question by question: for accuracy exactly (McNemar, or with more trials a
    question its permutation of whole questions), else in so many random swaps, the observed labels counting as one
    (Phipson and Smyth 2010, Stat. Appl. Genet. Mol. Biol. 9, 39). No correction for several comparisons is made here:
    `diagnosis.paired_tests.holm` over what the caller asks together.

    Args:
        first: a row per answer, with `question_id`, `trial`, `correct` (1, 0; null: no verdict) and `confidence` (0 to
            1; null: missing). One row per question and trial.
        second: the same of the other configuration.
        seed: from the configuration.
        resamples: number of bootstrap samples.
        swaps: number of random swaps.

    Returns:
        A row per metric of `COMPARED`: `metric`, `n` (pairs), `n_questions`, `first`, `second`, `delta` (null where it
        is undefined in either), `delta_low`, `delta_high`, `p` (null without a difference to test), `test`.
    """
    both = first.merge(second, on=_KEY, suffixes=("_first", "_second"), validate="one_to_one").sort_values(_KEY)
    pairs = [checked(both[f"confidence_{end}"], both[f"correct_{end}"]) for end in ("first", "second")]
    graded = ~np.isnan(pairs[0][1]) & ~np.isnan(pairs[1][1])
    stated = graded & ~np.isnan(pairs[0][0]) & ~np.isnan(pairs[1][0])
    question = pd.factorize(both["question_id"], sort=True)[0].astype(np.int64)
    rows = _accuracy(pairs, question, graded, seed, resamples) + _others(
        pairs, question, stated, seed, resamples, swaps
    )
    columns = ["metric", "n", "n_questions", "first", "second", "delta", "delta_low", "delta_high", "p", "test"]
    found = pd.DataFrame(rows, columns=columns).astype({"n": "int64", "n_questions": "int64"})
    numbers = ["first", "second", "delta", "delta_low", "delta_high", "p"]
    return found.astype(dict.fromkeys(numbers, "float64"))


_Pairs = list[tuple[Floats, Floats]]
_Row = dict[str, float | int | str | None]


def _accuracy(pairs: _Pairs, question: Counts, chosen: npt.NDArray[np.bool_], seed: int, resamples: int) -> list[_Row]:
    scorers, clusters, codes = _scorers(pairs, question, chosen)
    (row,) = _differences(("accuracy",), scorers, clusters, int(chosen.sum()), seed, resamples)
    change = pairs[1][1][chosen] - pairs[0][1][chosen]
    single = clusters == row["n"]
    row["test"] = "mcnemar_exact" if single else "permutation_clustered"
    if change.any():
        p = mcnemar_exact((change > 0).sum(), (change < 0).sum()) if single else permutation(np.bincount(codes, change))
        row["p"] = float(p)
    return [row]


def _others(
    pairs: _Pairs, question: Counts, chosen: npt.NDArray[np.bool_], seed: int, resamples: int, swaps: int
) -> list[_Row]:
    names = COMPARED[1:]
    scorers, clusters, codes = _scorers(pairs, question, chosen)
    rows = _differences(names, scorers, clusters, int(chosen.sum()), seed, resamples)
    differ = any((one[chosen] != other[chosen]).any() for one, other in zip(*pairs, strict=True))
    if not differ:
        return rows
    # Both configurations' answers in one: a weighting takes each question's from one of them.
    stated, right = (np.concatenate([pair[part][chosen] for pair in pairs]) for part in (0, 1))
    pooled = Scorer(stated, right, np.concatenate([codes, codes + clusters]), 2 * clusters, np.zeros(len(right), bool))
    whole = _swapped(pooled, np.zeros((clusters, 1), bool))
    chance = np.random.default_rng([seed, clusters])
    drawn = [
        _swapped(pooled, chance.random((clusters, min(_BLOCK, swaps - start)), np.float32) < 0.5)
        for start in range(0, swaps, _BLOCK)
    ]
    for row, name in zip(rows, names, strict=True):
        deltas = np.concatenate([block[name] for block in drawn])
        deltas = deltas[~np.isnan(deltas)]
        if row["delta"] is not None:
            reached = (np.abs(deltas) >= abs(whole[name][0]) - 1e-12).sum()
            row["p"] = float((1 + reached) / (1 + len(deltas)))
    return rows


def _swapped(pooled: Scorer, swaps: npt.NDArray[np.bool_]) -> dict[str, Floats]:
    """Differences of metrics where the labels of some questions are swapped: (questions, swaps)."""
    first, second = pooled.swapped(swaps)
    return {name: second[name] - first[name] for name in COMPARED}


def _scorers(
    pairs: _Pairs, question: Counts, chosen: npt.NDArray[np.bool_]
) -> tuple[tuple[Scorer, Scorer], int, Counts]:
    """Both configurations' chosen answers, the number of questions among them, and each answer's question."""
    names, codes = np.unique(question[chosen], return_inverse=True)
    nothing = np.zeros(int(chosen.sum()), bool)
    one, other = (Scorer(stated[chosen], right[chosen], codes, len(names), nothing) for stated, right in pairs)
    return (one, other), len(names), codes.astype(np.int64)


def _differences(
    names: tuple[str, ...], scorers: tuple[Scorer, Scorer], clusters: int, n: int, seed: int, resamples: int
) -> list[_Row]:
    whole = [scorer.scores(np.ones((1, clusters))) for scorer in scorers]
    blocks = (
        [[scorer.scores(drawn) for scorer in scorers] for drawn in draws(clusters, seed, resamples, block=_BLOCK)]
        if clusters
        else []
    )
    rows: list[_Row] = []
    for name in names:
        first, second = (float(found[name][0]) for found in whole)
        row: _Row = {"metric": name, "n": n, "n_questions": clusters, "first": first, "second": second}
        row |= {"delta": None, "delta_low": None, "delta_high": None, "p": None, "test": "swapped_labels"}
        drawn = np.concatenate([other[name] - one[name] for one, other in blocks]) if blocks else np.empty(0)
        if not np.isnan(second - first):
            row["delta"] = second - first
            if not np.isnan(drawn).all():
                row["delta_low"], row["delta_high"] = ends_of(name, second - first, drawn, clusters, (-1.0, 1.0))
        rows.append(row)
    return rows
