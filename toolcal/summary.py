"""The summary that ends a run: one line a cell."""

from __future__ import annotations

import pandas as pd

_SHOWN = {
    "gar_case_any": "GAR",
    "gar_turn": "GAR turn",
    "gar_decisive": "GAR decisive",
    "acc": "Acc",
    "acc_strict": "Acc strict",
    "share_masked": "masked",
    "share_slack": "slack",
}


def summary(cells: pd.DataFrame) -> str:
    """The table `cells` as text for a terminal.

    Args:
        cells: rows of the table; rates from 0 to 1.

    Returns:
        A block per labeller and perturbation, a line per model and scenario, rates in percent with `!` where Acc
        exceeds GAR; runs without a verdict stand beside n.
    """
    blocks = []
    for (labeller, perturbation), part in cells.groupby(["labeller", "perturbation"], sort=False):
        shown = pd.DataFrame({"model": part["model"], "scenario": part["scenario"], "gold": part["gold_action"]})
        shown["n"] = [
            f"{n}" if not missing else f"{n} (+{missing} missing)"
            for n, missing in zip(part["n"], part["n_missing"], strict=True)
        ]
        for column, title in _SHOWN.items():
            shown[title] = part[column].map(_percent)
        shown["violation"] = ["!" if value is not pd.NA and value else "" for value in part["violation"]]
        lines = shown.to_string(index=False)
        blocks.append(f"Labeller {labeller}, {perturbation} (rates in %; ! = accuracy above its bound GAR)\n{lines}")
    return "\n\n".join(blocks)


def _percent(rate: float) -> str:
    return "-" if pd.isna(rate) else f"{100 * rate:.1f}"
