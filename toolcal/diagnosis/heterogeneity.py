"""Table `heterogeneity`: does a perturbation move all families the same way?"""

from __future__ import annotations

import pandas as pd

from toolcal.tables import TABLES


def heterogeneity(family_effects: pd.DataFrame) -> pd.DataFrame:
    """Table `heterogeneity`: the range of the families' deltas, and whether they change sign beyond their intervals.

    The range also grows with the number of families and the width of their intervals; the change of sign does not
    rest on chance in one family alone, for it needs an interval above 0 and one below.

    Args:
        family_effects: table `family_effects`; families without a delta are not looked at.

    Returns:
        One row per scenario x perturbation x gold action x labeller x measure, sorted by the table's key.
    """
    spec = TABLES["heterogeneity"]
    key = list(spec.key)
    keys = family_effects[key].drop_duplicates().set_index(key)
    # Sorted by name, so that of equal deltas the first by name is taken.
    known = family_effects[family_effects["delta"].notna()].sort_values([*key, "family"], ignore_index=True)
    known = known.assign(above=known["delta_low"] > 0, below=known["delta_high"] < 0)
    groups = known.groupby(key)
    found = keys.join(groups.agg(n_families=("family", "size"), above=("above", "any"), below=("below", "any")))
    found["n_families"] = found["n_families"].fillna(0).astype("int64")
    for name, places in (("lowest", groups["delta"].idxmin()), ("highest", groups["delta"].idxmax())):
        ends = known.loc[places, [*key, "delta", "family"]].set_index(key)
        found = found.join(ends.rename(columns={"delta": name, "family": f"{name}_family"}))
    found["range"] = found["highest"] - found["lowest"]
    changes = found["above"].eq(True) & found["below"].eq(True)
    found["sign_change"] = changes.astype("boolean").mask(found["n_families"] < 2)
    return found.reset_index()[list(spec.columns)].sort_values(key, ignore_index=True)
