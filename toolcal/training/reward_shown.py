"""What the bench of reward designs shows on the terminal."""

from __future__ import annotations

import pandas as pd

_COLUMNS = {
    "accuracy": "accuracy",
    "abstention": "abstains",
    "ece_debiased": "ECE, debiased",
    "auroc": "AUROC",
    "mean_confidence": "confidence",
    "sd_confidence": "its spread",
}


def shown(tabular_summary: pd.DataFrame) -> str:
    """Table `tabular_summary` as lines of text: means over seeds."""
    key = ["population", "scaled", "design"]
    wide = tabular_summary.pivot_table(index=key, columns="metric", values="mean", sort=False)
    table = wide.reindex(columns=list(_COLUMNS)).rename(columns=_COLUMNS)
    table.columns.name = None
    table.index.names = ["difficulty", "scaled", "design"]
    lines = table.sort_index(level=[0, 1], sort_remaining=False).to_string(float_format="{:.3f}".format, na_rep="-")
    return (
        f"{lines}\n\nTabular agents after training, by reward design; scaled: advantages divided by their group's "
        "standard deviation."
    )
