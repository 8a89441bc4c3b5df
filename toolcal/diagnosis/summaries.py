"""Tables `turns`, `confusion`, `slack_reasons` and `families`: where recall is lost, and for whom."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from toolcal.diagnosis.gar import CLASSES
from toolcal.diagnosis.statistics import known_throughout, means, percentile_interval, resample
from toolcal.tables import CELL, TABLES

_FAMILY_RATES = ("acc", "gar_case_any", "share_masked")
_UNKNOWN_REASON = "not_recorded"
_FAMILY_KEY = ["family", "scenario", "perturbation", "gold_action", "labeller"]


def turns(scored: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """Table `turns`: recall by turn. A turn with several gold actions is recalled by any of them.

    Args:
        scored: from `gar.scored_turns`.
        seed: of the bootstrap, from the configuration.
    """
    key = [*CELL, "labeller", "turn"]
    told = scored.assign(known=scored["hit"].notna(), recall=scored["hit"].fillna(False))
    once = told.groupby([*key, "run", "cluster_id"], as_index=False).agg(
        recall=("recall", "any"), known=("known", "all")
    )
    once["recall"] = once["recall"].astype("boolean").where(known_throughout(once, key, once["known"]))
    unknown = once.assign(n_unknown=~once["known"]).groupby(key, as_index=False)["n_unknown"].sum()
    return _ordered("turns", means(once, key, ["recall"], seed=seed).merge(unknown, on=key, validate="one_to_one"))


def confusion(scored: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """Table `confusion`: each gold's turns by their class, with rows of 0 for classes that do not occur.

    Args:
        scored: from `gar.scored_turns`.
        seed: of the bootstrap, from the configuration.
    """
    once = scored.drop_duplicates(["run", "labeller", "turn", "gold"])
    key = [*CELL, "labeller", "gold"]
    wide = once[[*key, "cluster_id"]].assign(**{name: once["action"] == name for name in CLASSES})
    shares = means(wide, key, CLASSES, seed=seed)
    rows = pd.concat(
        [
            shares[[*key, "n"]].assign(
                action=name, **{f"share{end}": shares[f"{name}{end}"] for end in ("", "_low", "_high")}
            )
            for name in CLASSES
        ]
    )
    rows["n"] = (rows["n"] * rows["share"]).round().astype("int64")
    return _ordered("confusion", rows.rename(columns={"gold": "gold_action"}))


def slack_reasons(outcomes: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """Table `slack_reasons`: why cases failed although the gold action was emitted (case_any view).

    Where the grader gives no reason, the way the case ended stands in, or `unstated`. Failed cases of which it is
    unknown whether the gold action was emitted are counted as `not_recorded`, and leave the cell without shares.

    Args:
        outcomes: table `outcomes`.
        seed: of the bootstrap, from the configuration.
    """
    key = [*CELL, "gold_action", "labeller"]
    unknown = (outcomes["passed"].eq(False) & outcomes["emitted_case_any"].isna()).fillna(False).astype(bool)
    failed = outcomes.assign(known=~unknown)[unknown | (outcomes["outcome_case_any"] == "slack")]
    given = failed["reason"].fillna(failed["status"].replace("done", "unstated")).astype("str")
    slack = failed[[*key, "cluster_id", "known"]].assign(given=given.where(failed["known"], _UNKNOWN_REASON))
    seen = slack[[*key, "given"]].drop_duplicates().rename(columns={"given": "reason"})
    pairs = slack.merge(seen, on=key)
    pairs["share"] = pairs["given"] == pairs["reason"]
    counts = pairs.groupby([*key, "reason"], as_index=False).agg(n=("share", "sum"))
    pairs["share"] = pairs["share"].astype("boolean").where(known_throughout(pairs, key, pairs["known"]))
    shares = means(pairs, [*key, "reason"], ["share"], seed=seed).drop(columns="n")
    return _ordered("slack_reasons", shares.merge(counts, on=[*key, "reason"]).astype({"n": "int64"}))


def families(outcomes: pd.DataFrame, cells: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """Table `families`: the mean over a family's models, and its ranks by accuracy and by recall.

    The models of a family meet the same cases, so their means are resampled together, cluster by cluster. Models
    without a verdict are in neither `n_models` nor the means; a mean of which one model's rate is unknown is null.

    Args:
        outcomes: table `outcomes`.
        cells: table `cells`.
        seed: of the bootstrap, from the configuration.
    """
    table = cells.groupby(_FAMILY_KEY, as_index=False)["n"].sum()
    counted = cells[cells["n"] > 0].groupby(_FAMILY_KEY)
    rates = counted[list(_FAMILY_RATES)].mean().where(counted[list(_FAMILY_RATES)].count().eq(counted.size(), axis=0))
    rates = rates.assign(n_models=counted.size())
    table = table.merge(rates.reset_index(), on=_FAMILY_KEY, how="left").fillna({"n_models": 0})
    family_of = dict(zip(cells["model"], cells["family"], strict=True))
    table = table.merge(_family_intervals(outcomes, family_of, seed), on=_FAMILY_KEY, how="left")
    for rate in _FAMILY_RATES:
        ends = [f"{rate}_low", f"{rate}_high"]
        table[ends] = table[ends].where(table[rate].notna(), axis=0)
    for rank, rate in (("rank_acc", "acc"), ("rank_gar", "gar_case_any")):
        # Rounded: means of the same size must tie, whatever their last bit.
        rounded = table[_FAMILY_KEY[1:]].assign(rate=table[rate].round(12))
        table[rank] = rounded.groupby(_FAMILY_KEY[1:])["rate"].rank(ascending=False, method="average")
    return _ordered("families", table.astype({"n_models": "int64"}))


def _family_intervals(outcomes: pd.DataFrame, family_of: Mapping[str, str], seed: int) -> pd.DataFrame:
    rows = outcomes[outcomes["passed"].notna()]
    rates = [rows["passed"], rows["emitted_case_any"], rows["outcome_case_any"] == "masked"]
    rows = rows[[*CELL, "gold_action", "labeller", "cluster_id"]].assign(
        family=rows["model"].map(family_of), one=1.0, **dict(zip(_FAMILY_RATES, rates, strict=True))
    )
    sums = rows.groupby([*_FAMILY_KEY, "cluster_id", "model"])[[*_FAMILY_RATES, "one"]].sum().astype(float)
    found = []
    for key, part in sums.groupby(level=_FAMILY_KEY):
        cluster, clusters = pd.factorize(part.index.get_level_values("cluster_id"), sort=True)
        model, models = pd.factorize(part.index.get_level_values("model"), sort=True)
        above = np.zeros((len(clusters), len(models), len(_FAMILY_RATES)))
        below = np.zeros((len(clusters), len(models), 1))
        above[cluster, model], below[cluster, model] = part[list(_FAMILY_RATES)], part[["one"]]
        ratios = resample(above, np.broadcast_to(below, above.shape), seed=seed)
        low, high = percentile_interval(ratios.mean(axis=1), len(clusters))
        found.append((*key, *low, *high))
    ends = [f"{rate}{end}" for end in ("_low", "_high") for rate in _FAMILY_RATES]
    return pd.DataFrame(found, columns=[*_FAMILY_KEY, *ends])


def _ordered(name: str, rows: pd.DataFrame) -> pd.DataFrame:
    table = TABLES[name]
    return rows[list(table.columns)].sort_values(list(table.key), ignore_index=True)
