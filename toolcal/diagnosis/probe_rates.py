"""Table `probe_rates`: how often a probe acts, whether at the turn that matters, and what its runs cost (method A6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from toolcal.diagnosis.statistics import means
from toolcal.tables import CASE, CELL, TABLES, frame

_TURN = (*CASE, "turn")


def probe_rates(
    trajectories: pd.DataFrame,
    events: pd.DataFrame | None,
    runs: pd.DataFrame,
    probes: Mapping[str, str],
    families: Mapping[str, str],
    *,
    seed: int,
) -> pd.DataFrame:
    """Table `probe_rates`: triggers by turn and by case, their precision and recall for the decisive turn, and calls.

    A trigger is a decision by which the probe acted. What it only suspected (every halt; a call that its detectors
    suspect), and may not have acted on, gives precision and recall of the detector: a suspicion that was suppressed
    counts there, not among the triggers.

    All rates are over the runs with a verdict. Precision asks of each trigger whether it fell on the decisive turn, and
    recall of each run with a decisive turn whether there was one; a run that never reached that turn has none. Both
    are null in scenarios that have no decisive turn. Several triggers of one case are not independent: the intervals
    are clustered as in `cells`.

    Args:
        trajectories: table `trajectories`; of its columns only the key, `origin`, `replayed`.
        events: table `probe_events`; of its columns only the key, `triggered` and `reason`; None where there are no
            probes.
        runs: from `plan.graded_runs`.
        probes: the probe of each perturbation that is one.
        families: the family of each model.
        seed: of the bootstrap, from the configuration.

    Returns:
        One row per planned cell with a probe, sorted by the table's key.
    """
    planned = runs[runs["perturbation"].isin(list(probes))]
    if planned.empty or events is None:
        return frame("probe_rates", [])
    cell = list(CELL)
    judged = planned.loc[planned["verdict"], [*CASE, "cluster_id", "decisive_turn"]]
    told = _typed(trajectories[[*_TURN, "origin", "replayed"]], planned)
    reached = told[list(_TURN)].drop_duplicates().merge(judged, on=list(CASE))
    decided = _typed(events, planned).merge(judged, on=list(CASE))
    acted = decided[decided["triggered"].to_numpy(dtype=bool)]
    suspected = decided[(decided["reason"] != "not_suspected").to_numpy(dtype=bool)]
    decisive = judged[judged["decisive_turn"].notna()]
    rates = [
        means(reached.assign(triggered_turns=_among(reached, acted, _TURN)), cell, ["triggered_turns"], seed=seed),
        means(judged.assign(triggered_cases=_among(judged, acted, CASE)), cell, ["triggered_cases"], seed=seed),
        *_at_decisive("", acted, decisive, seed),
        *_at_decisive("detector_", suspected, decisive, seed),
    ]
    table = planned[cell].assign(n=planned["verdict"], n_missing=~planned["verdict"]).groupby(cell).sum()
    counted = {"n_turns": reached, "n_events": decided, "n_triggers": acted, "n_suspected": suspected}
    for name, rows in {**counted, "n_decisive": decisive}.items():
        table[name] = rows.groupby(cell).size()
    table = table.join(_calls(told)).fillna(0).astype("int64").reset_index()
    for rate in rates:
        table = table.merge(rate.drop(columns="n"), on=cell, how="left", validate="one_to_one")
    table["replayed_share"] = 1 - table["fresh"] / table["calls"].where(table["calls"] > 0)
    table["family"] = table["model"].map(dict(families)).astype("str")
    table["probe"] = table["perturbation"].map(dict(probes)).astype("str")
    spec = TABLES["probe_rates"]
    return table[list(spec.columns)].sort_values(list(spec.key), ignore_index=True)


def _at_decisive(prefix: str, found: pd.DataFrame, decisive: pd.DataFrame, seed: int) -> list[pd.DataFrame]:
    """How many of these events fell on the decisive turn, and of how many runs that turn has one."""
    found = found[found["decisive_turn"].notna()]
    there = found["turn"] == found["decisive_turn"]
    right = found[there.to_numpy(dtype=bool)]
    precision, recall = f"{prefix}precision", f"{prefix}recall"
    return [
        means(found.assign(**{precision: there}), list(CELL), [precision], seed=seed),
        means(decisive.assign(**{recall: _among(decisive, right, CASE)}), list(CELL), [recall], seed=seed),
    ]


def _typed(rows: pd.DataFrame, planned: pd.DataFrame) -> pd.DataFrame:
    """The rows of planned runs."""
    types = {key: planned[key].dtype for key in CASE} | {"turn": "int64"}
    return rows.astype(types).merge(planned[list(CASE)], on=list(CASE))


def _among(rows: pd.DataFrame, others: pd.DataFrame, key: Sequence[str]) -> pd.Series[bool]:
    """Of each row, whether one of the others has its key."""
    there = pd.MultiIndex.from_frame(rows[list(key)]).isin(pd.MultiIndex.from_frame(others[list(key)]))
    return pd.Series(there, index=rows.index)


def _calls(rows: pd.DataFrame) -> pd.DataFrame:
    """Of each cell: answers of the model, and those that were asked for."""
    asked = rows[rows["origin"] == "model"]
    fresh = ~asked["replayed"].to_numpy(dtype=bool)
    return asked[list(CELL)].assign(calls=1, fresh=fresh.astype(int)).groupby(list(CELL)).sum()
