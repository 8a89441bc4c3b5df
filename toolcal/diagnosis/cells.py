"""Table `cells`: all rates of a model in a scenario under a perturbation, and the identity that binds them."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from toolcal.diagnosis.outcomes import VIEWS
from toolcal.diagnosis.plan import first
from toolcal.diagnosis.statistics import known_throughout, means
from toolcal.tables import CASE, CELL, OUTCOMES, TABLES

KEY = [*CELL, "gold_action", "labeller"]
_SUFFIX = {"case_any": "", "decisive": "_decisive"}
_UNDECODABLE = ("empty", "truncated", "malformed_call")
_UNKNOWN = {
    "emitted_case_any": "n_unknown",
    "emitted_decisive": "n_unknown_decisive",
    "emitted_decisive_mutating": "n_unknown_decisive_mutating",
}
_RATES = {
    "acc": "passed",
    "acc_strict": "passed_strict",
    "gar_case_any": "emitted_case_any",
    "gar_decisive": "emitted_decisive",
    "gar_decisive_mutating": "emitted_decisive_mutating",
}


def cells(
    outcomes: pd.DataFrame,
    turns: pd.DataFrame,
    emissions: pd.DataFrame,
    runs: pd.DataFrame,
    families: Mapping[str, str],
    *,
    seed: int,
) -> pd.DataFrame:
    """Table `cells`. Rates are over case-trials with a verdict; a cell without any has null rates, and its counts.

    The decisive view's shares and gap are over the cases that have a decisive turn. Where it is unknown of some case
    or turn whether the gold action was emitted, the rates of that view are null: over the known ones they would be
    biased, for it is the calls that recorded runs keep.

    Args:
        outcomes: table `outcomes`.
        turns: from `gar.scored_turns`.
        emissions: from `gar.labelled_emissions`.
        runs: from `plan.graded_runs`.
        families: the family of each model.
        seed: of the bootstrap, from the configuration.

    Returns:
        One row per cell x gold action x labeller, sorted by the table's key.

    Raises:
        ValueError: where the identity of method A4 does not hold, with the cell's name, or a model has no family.
    """
    unknown = set(outcomes["model"]) - set(families)
    if unknown:
        raise ValueError(f"models without a family: {sorted(unknown)}")
    table = _counts(outcomes)
    graded = outcomes[outcomes["passed"].notna()].merge(runs[[*CASE, "decisive_turn"]], on=list(CASE))
    uncertain = graded[KEY].assign(**{column: _unknown(graded, view) for view, column in _UNKNOWN.items()})
    for part in (
        uncertain.groupby(KEY, as_index=False).sum(),
        _case_rates(graded, seed),
        _turn_rates(turns, seed),
        _undecodable(emissions, runs),
    ):
        table = table.merge(part, on=KEY, how="left", validate="one_to_one")
    counts = [*_UNKNOWN.values(), "n_turns", "n_unknown_turn", "n_undecodable"]
    table = table.fillna(dict.fromkeys(counts, 0)).astype(dict.fromkeys(counts, "int64"))
    check_identity(table)
    for suffix in _SUFFIX.values():
        masked, slack = table[f"share_masked{suffix}"], table[f"share_slack{suffix}"]
        # Both shares have one denominator, so this is acc > gar without its rounding.
        table[f"violation{suffix}"] = (masked > slack).astype("boolean").mask(masked.isna())
    table["benchmark"] = table["scenario"].map(dict(zip(runs["scenario"], runs["benchmark"], strict=True)))
    table["family"] = table["model"].map(dict(families)).astype("str")
    return table[list(TABLES["cells"].columns)].sort_values(list(TABLES["cells"].key), ignore_index=True)


def _counts(outcomes: pd.DataFrame) -> pd.DataFrame:
    verdict = outcomes["passed"].notna()
    flags = outcomes[KEY].assign(
        n=verdict,
        n_missing=~verdict,
        n_context_exceeded=outcomes["status"] == "context_exceeded",
        n_step_limit=outcomes["status"] == "step_limit",
    )
    return flags.groupby(KEY, as_index=False).sum()


def _undecodable(emissions: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    found = emissions.loc[emissions["status"].isin(_UNDECODABLE), ["run", "labeller"]]
    found = found.merge(runs[[*CELL, "gold_actions"]], left_on="run", right_index=True).explode("gold_actions")
    found = found.rename(columns={"gold_actions": "gold_action"}).astype({"gold_action": "str"})
    return found.groupby(KEY).size().rename("n_undecodable").reset_index()


def _unknown(rows: pd.DataFrame, view: str) -> pd.Series[bool]:
    """Of which rows with a verdict it is unknown whether the gold action was emitted in a view."""
    there = rows["decisive_turn"].notna() if "decisive" in view else True
    return rows[view].isna() & there


def _case_rates(rows: pd.DataFrame, seed: int) -> pd.DataFrame:
    """All case-level rates and gaps of rows with a verdict, and the accuracy in each view (for the identity)."""
    whole = {view: known_throughout(rows, KEY, ~_unknown(rows, view)) for view in _UNKNOWN}
    rates = {
        name: rows[column].where(whole[column]) if column in whole else rows[column] for name, column in _RATES.items()
    }
    gaps: dict[str, pd.Series[int]] = {}
    for view, suffix in _SUFFIX.items():
        shown = rows[f"emitted_{view}"].where(whole[f"emitted_{view}"])
        outcome = rows[f"outcome_{view}"].where(shown.notna())
        rates |= {f"share_{o}{suffix}": (outcome == o).astype("boolean").mask(outcome.isna()) for o in OUTCOMES}
        rates |= {f"acc_in_{view}": rows["passed"].mask(outcome.isna())}
        gaps |= {f"gap{suffix}": rows["passed"].astype("Int64") - shown.astype("Int64")}
    wide = rows[[*KEY, "cluster_id"]].assign(**rates, **gaps)
    single = means(wide, KEY, list(rates), seed=seed).drop(columns="n")
    paired = means(wide, KEY, list(gaps), seed=seed, bounds=(-1.0, 1.0)).drop(columns="n")
    return single.merge(paired, on=KEY, validate="one_to_one")


def _turn_rates(turns: pd.DataFrame, seed: int) -> pd.DataFrame:
    known = turns["hit"].notna()
    hits = turns.assign(gar_turn=turns["hit"].where(known_throughout(turns, KEY, known)), n_unknown_turn=~known)
    unknown = hits.groupby(KEY, as_index=False)["n_unknown_turn"].sum()
    rates = means(hits, KEY, ["gar_turn"], seed=seed).rename(columns={"n": "n_turns"})
    return rates.merge(unknown, on=KEY, validate="one_to_one")


def check_identity(table: pd.DataFrame) -> None:
    """Hold each cell to Acc - GAR = share(masked) - share(slack), in each case-level view (method A4).

    Args:
        table: the columns of `cells` and, for each view, `acc_in_<view>`: the accuracy over the view's cases.

    Raises:
        ValueError: naming the first cell and view where it does not hold.
    """
    for view in VIEWS:
        suffix = _SUFFIX[view]
        bound = table[f"acc_in_{view}"] - table[f"gar_{view}"]
        shares = table[f"share_masked{suffix}"] - table[f"share_slack{suffix}"]
        broken = ((bound - shares).abs() > 1e-9) | (bound.isna() != shares.isna())
        if broken.any():
            cell = first(table.loc[broken, KEY])
            differ = f"acc - gar = {bound[broken].iloc[0]}, masked - slack = {shares[broken].iloc[0]}"
            raise ValueError(f"the identity of A4 is broken in the {view} view of {cell}: {differ}")
