"""Table `correction_agreement`: how often each labeller says what readers say of the messages that they marked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from toolcal import tables
from toolcal.diagnosis.statistics import means
from toolcal.diagnosis.two_readers import TwoReaders
from toolcal.tables import ACTIONS, CORRECTIONS_IN_FORCE, EMISSION

ALL = "all"
"""In place of a class: all of them."""

_SCORES = ("precision", "recall", "kappa")


def correction_agreement(
    corrections: pd.DataFrame, actions: pd.DataFrame, cases: pd.DataFrame, labellers: Sequence[str], *, seed: int
) -> pd.DataFrame:
    """The table, over the messages that have a correction in force.

    Args:
        corrections: table `corrections`.
        actions: table `actions`; of its columns only the key and action.
        cases: table `cases`; cases of one scenario number are resampled together.
        labellers: those whose labels are compared, on all marked messages, whosever label was marked.
        seed: of the bootstrap, from the configuration.

    Returns:
        One row per labeller x class and one for all classes, sorted by the table's key.
    """
    held = corrections[corrections["status"].isin(CORRECTIONS_IN_FORCE)].drop_duplicates(list(EMISSION))
    clusters = cases.drop_duplicates(["scenario", "case_id"])[["scenario", "case_id", "cluster_id"]]
    marked = held[[*EMISSION, "action"]].rename(columns={"action": "right"})
    marked = marked.merge(clusters, on=["scenario", "case_id"], how="left", validate="many_to_one")
    marked = marked.merge(actions[[*EMISSION, "labeller", "action"]], on=list(EMISSION), validate="one_to_many")
    rows: list[dict[str, Any]] = []
    for labeller in labellers:
        own = marked[marked["labeller"] == labeller].reset_index(drop=True)
        if own.empty:
            continue
        for name in (ALL, *ACTIONS):
            said, right = (own[column] if name == ALL else own[column] == name for column in ("action", "right"))
            same = means(own.assign(agree=said == right), ["labeller"], ["agree"], seed=seed)
            row = tables.records(same)[0] | {"label": name}
            if name != ALL:
                found = TwoReaders(said, right, own["cluster_id"], seed=seed)
                row |= {"n_said": found.n_said, "n_right": found.n_right}
                row |= {column: value for score in _SCORES for column, value in found.score(score).items()}
            rows.append(row)
    spec = tables.TABLES["correction_agreement"]
    counts = dict.fromkeys(("n_said", "n_right"), "Int64")
    return tables.frame(spec.name, rows).astype(counts).sort_values(list(spec.key), ignore_index=True)
