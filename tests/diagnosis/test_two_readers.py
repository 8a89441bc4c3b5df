"""Two readers of the same items: the scores by hand, what is undefined, and the intervals."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from toolcal.diagnosis.two_readers import SCORES, TwoReaders, macro_f1
from toolcal.validity import agreement


def said(both, alone, missed, neither, clusters=None):
    """Rows of `answers` of one label, from their counts."""
    pairs = [(True, True)] * both + [(True, False)] * alone + [(False, True)] * missed + [(False, False)] * neither
    return pd.DataFrame(
        [
            {"cluster_id": str(at if clusters is None else at % clusters), "said": labeller, "right": true}
            for at, (labeller, true) in enumerate(pairs)
        ]
    )


def row(*counts, clusters=None, seed=0):
    return scores_of(said(*counts, clusters=clusters), seed)


def readers(rows, seed=0):
    return TwoReaders(rows["said"], rows["right"], rows["cluster_id"], seed=seed)


def scores_of(rows, seed=0):
    found = readers(rows, seed)
    of_each = {column: value for name in SCORES for column, value in found.score(name).items()}
    return {"n": found.n, "n_said": found.n_said, "n_right": found.n_right} | of_each


def test_scores_by_hand():
    found = row(6, 2, 3, 9)
    assert (found["n"], found["n_said"], found["n_right"]) == (20, 8, 9)
    # 15 of 20 agree; by chance (8 * 9 + 12 * 11) / 400 = 0.51 would.
    assert [found[name] for name in SCORES] == pytest.approx([6 / 8, 6 / 9, 12 / 17, (0.75 - 0.51) / (1 - 0.51)])


@pytest.mark.parametrize("counts", [(6, 2, 3, 9), (1, 4, 0, 2), (5, 0, 0, 5), (0, 3, 3, 0), (2, 5, 7, 1)])
def test_kappa_is_that_of_the_readers(counts):
    rows = said(*counts)
    assert row(*counts)["kappa"] == pytest.approx(agreement.kappa(rows["said"].tolist(), rows["right"].tolist()))


@pytest.mark.parametrize(
    ("counts", "undefined"),
    [
        ((0, 0, 4, 6), {"precision"}),
        ((0, 4, 0, 6), {"recall"}),
        ((0, 0, 0, 5), {"precision", "recall", "f1", "kappa"}),
        ((5, 0, 0, 0), {"kappa"}),
    ],
)
def test_what_rests_on_nothing_is_null(counts, undefined):
    found = row(*counts)
    assert {name for name in SCORES if found[name] is None} == undefined
    for name in SCORES:
        assert (found[f"{name}_low"] is None) == (found[f"{name}_high"] is None) == (name in undefined)


@pytest.mark.parametrize("counts", [(6, 2, 3, 9), (5, 0, 0, 5), (0, 3, 3, 0), (1, 0, 0, 30), (9, 1, 0, 0)])
@pytest.mark.parametrize("clusters", [None, 3])
def test_intervals_hold_their_score(counts, clusters):
    found = row(*counts, clusters=clusters)
    for name in SCORES:
        if found[name] is not None:
            lowest = -1 if name == "kappa" else 0
            assert lowest <= found[f"{name}_low"] <= found[name] <= found[f"{name}_high"] <= 1, name
            assert found[f"{name}_low"] < found[f"{name}_high"], name


def test_full_disagreement_is_the_least_kappa():
    found = row(0, 5, 5, 0)
    assert found["kappa"] == found["kappa_low"] == -1
    assert -1 < found["kappa_high"] < 0


def test_whole_conversations_are_resampled():
    rows = said(20, 0, 20, 0)
    apart = scores_of(rows)
    together = scores_of(rows.assign(cluster_id=[str(at // 10) for at in range(40)]))
    assert apart["recall"] == together["recall"] == 0.5
    assert together["recall_high"] - together["recall_low"] > apart["recall_high"] - apart["recall_low"]


def test_the_macro_is_the_mean_of_the_classes():
    sums = [readers(said(*counts)) for counts in ((6, 2, 3, 9), (1, 1, 1, 17), (10, 5, 5, 0), (4, 0, 0, 16))]
    found = macro_f1(sums)
    assert found["f1"] == pytest.approx(np.mean([12 / 17, 1 / 2, 20 / 30, 1]))
    assert found["f1_low"] < found["f1"] < found["f1_high"]
    empty = readers(said(0, 0, 0, 20))
    assert macro_f1([*sums[:3], empty])["f1"] is None, "a class that nobody has seen has no score"
