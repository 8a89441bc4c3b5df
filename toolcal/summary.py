"""The summary that ends a run: one line a cell, and one for what each perturbation moved."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import pandas as pd

from toolcal.cells import BASELINE

_EFFECTS = 24
"""Lines of effects that a terminal is given."""

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
        A block per labeller, of the baseline, a line per model and scenario, rates in percent with `!` where Acc
        exceeds GAR; runs without a verdict stand beside n.
    """
    blocks = []
    baseline = cells[cells["perturbation"] == BASELINE]
    for labeller, part in baseline.groupby("labeller", sort=False):
        shown = pd.DataFrame({"model": part["model"], "scenario": part["scenario"], "gold": part["gold_action"]})
        shown["n"] = [
            f"{n}" if not missing else f"{n} (+{missing} missing)"
            for n, missing in zip(part["n"], part["n_missing"], strict=True)
        ]
        for column, title in _SHOWN.items():
            shown[title] = part[column].map(_percent)
        shown["violation"] = ["!" if value is not pd.NA and value else "" for value in part["violation"]]
        lines = shown.to_string(index=False)
        blocks.append(f"Labeller {labeller}, {BASELINE} (rates in %; ! = accuracy above its bound GAR)\n{lines}")
    return "\n\n".join(blocks)


def effects_summary(effects: pd.DataFrame) -> str:
    """What each perturbation moved, as text for a terminal; empty without perturbations.

    Args:
        effects: rows of the table `effects`.

    Returns:
        A block per labeller, a line per perturbed cell: delta of GAR (case_any) and of Acc in points, with interval
        and p after Holm. Of many cells those that moved most, in the order of the table.
    """
    blocks = []
    for labeller, part in effects.groupby("labeller", sort=False):
        key = ["model", "scenario", "perturbation", "gold_action"]
        shown = part[part["measure"] == "acc"].set_index(key)
        lines = shown[["n"]].copy()
        for measure, title in (("gar_case_any", "GAR"), ("acc", "Acc")):
            one = part[part["measure"] == measure].set_index(key)
            ends = zip(one["delta"], one["delta_low"], one["delta_high"], strict=True)
            lines[title] = pd.Series([_change(*row) for row in ends], index=one.index)
            lines[f"p {title}"] = one["p_holm"].map(_chance)
        moved = part[part["measure"].isin(["gar_case_any", "acc"])].groupby(key)["delta"].agg(lambda d: d.abs().max())
        told = moved.sort_values(ascending=False, kind="stable").index[:_EFFECTS]
        lines = lines[lines.index.isin(told)]
        text = lines.reset_index().rename(columns={"gold_action": "gold"}).to_string(index=False)
        if rest := len(shown) - len(lines):
            text += f"\n... and {rest} more, which moved less: diagnosis/effects.csv"
        heading = "change from the baseline in points, 95 % interval, p after Holm; no p where no pair differs"
        blocks.append(f"Labeller {labeller}, effects ({heading})\n{text}")
    return "\n\n".join(blocks)


def lacking(cells: pd.DataFrame) -> str:
    """Which models have cases without an answer, as a paragraph; empty where none lacks any.

    Args:
        cells: rows of the table `cells`.
    """
    one = cells.drop_duplicates(["model", "scenario", "perturbation"])
    missing, planned = one["n_missing"].sum(), (one["n"] + one["n_missing"]).sum()
    if not missing:
        return ""
    by_model = one.groupby("model", sort=False)["n_missing"].sum()
    names = ", ".join(f"{model} {count}" for model, count in by_model.items() if count)
    return (
        f"\n\n{missing} of {planned} planned case-trials have no answer ({names}); the lines of toolcal above "
        "say why, and logs/. What can be asked is asked again by the same command."
    )


def left_over(folder: Path, expected: Collection[str]) -> str:
    """Figures of earlier configurations, as a paragraph; empty where there are none.

    Args:
        folder: of the figures.
        expected: the files that this configuration makes.
    """
    known = {Path(path).name for path in expected}
    others = sorted(path.name for path in folder.glob("*.*") if path.name not in known)
    if not others:
        return ""
    return f"\n\n{len(others)} files in {folder} are of another configuration, e.g. {others[0]}."


def _change(delta: float, low: float, high: float) -> str:
    return "-" if pd.isna(delta) else f"{100 * delta:+.1f} [{100 * low:+.1f}, {100 * high:+.1f}]"


def _chance(p: float) -> str:
    return "-" if pd.isna(p) else "<0.001" if p < 0.001 else f"{p:.3f}"


def _percent(rate: float) -> str:
    return "-" if pd.isna(rate) else f"{100 * rate:.1f}"
