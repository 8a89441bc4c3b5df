"""The comparison in Markdown, for the terminal and for reports."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Any

import pandas as pd

from toolcal.confidence.plan import level

_HEADS = {
    "accuracy": "accuracy",
    "ece10": "ECE",
    "ece_debiased": "debiased ECE",
    "auroc": "AUROC",
    "mean_confidence": "mean confidence",
    "coverage": "confidence read",
    "format_share": "in form",
    "reward": "reward (untreated)",
}
_CELL = ["setting", "question_set", "tool", "noise"]

_Row = Mapping[Hashable, Any]


def shown(comparison: pd.DataFrame) -> str:
    """A Markdown table per cell of the study, a line per method: each metric with its 95 % interval.

    A star marks what differs from the untreated model with a p below 0.05 after Holm. Settings that were not asked are
    named at the end.

    Args:
        comparison: rows of table comparison.
    """
    asked = comparison[comparison["value_reason"].ne("not_asked").fillna(True)]
    blocks = ["\n".join(_block(key, rows)) for key, rows in asked.groupby(_CELL, sort=False)]
    absent = dict.fromkeys(set(comparison["setting"]) - set(asked["setting"]))
    if absent:
        blocks.append(f"Not asked: {', '.join(sorted(str(name).replace('_', ' ') for name in absent))}.")
    return "\n\n".join(blocks)


def _block(key: Any, rows: pd.DataFrame) -> Iterator[str]:
    setting, name, tool, noise = key
    yield f"**{setting.replace('_', ' ')}**: {name}, {tool}, noise {level(noise)}"
    yield ""
    yield f"| method | n | {' | '.join(_HEADS.values())} |"
    yield f"|---|{'---|' * (len(_HEADS) + 1)}"
    for method, own in rows.groupby("method", sort=False):
        of = {row["metric"]: row for row in own.to_dict("records")}
        cells = " | ".join(_value(of[metric]) for metric in _HEADS)
        yield f"| {method} | {int(of['accuracy']['n'])} | {cells} |"


def _value(row: _Row) -> str:
    if pd.isna(row["value"]):
        return "" if row["value_reason"] == "no_design" else str(row["value_reason"]).replace("_", " ")
    star = "*" if pd.notna(row["p_holm"]) and row["p_holm"] < 0.05 else ""
    before = f" ({row['untreated']:.2f})" if row["metric"] == "reward" and pd.notna(row["untreated"]) else ""
    ends = "" if pd.isna(row["value_low"]) else f" [{row['value_low']:.2f}, {row['value_high']:.2f}]"
    return f"{row['value']:.2f}{star}{ends}{before}"
