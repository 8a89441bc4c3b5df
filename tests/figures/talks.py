"""Made-up tables of recorded conversations: confirmed writes, the labels' validity, and cells of two benchmarks."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import product
from typing import Any

from tests.figures.frames import cell, rate, small_cells
from toolcal import tables

FAMILY = {
    "gpt-5": "GPT-5",
    "gpt-5.4": "GPT-5",
    "claude-3-7-sonnet": "Claude",
    "Qwen3-14B": "Qwen3",
    "xLAM-2-8b-fc-r": "xLAM-2",
}
RECORDED = ("gpt-5", "gpt-5.4", "claude-3-7-sonnet", "o4-mini", "Qwen3-14B", "xLAM-2-8b-fc-r")
TALKS = ("tau1-airline", "tau1-retail", "tau2-airline", "tau2-retail")


def write_rates(
    models: Sequence[str] = RECORDED, scenarios: Sequence[str] = TALKS, readers: Sequence[str] = ("rule",)
) -> list[dict[str, Any]]:
    """Of each model more writes are confirmed than passed, or the reverse; one has none with a verdict somewhere."""
    draw = random.Random(10)
    rows = []
    for scenario, (place, model), reader in product(scenarios, enumerate(models), readers):
        n = 60 + 31 * place + 7 * len(scenario)
        executed = n - (0 if place % 3 == 0 else 4 + 5 * place)
        confirmed, acc = draw.uniform(0.25, 0.95), draw.uniform(0.3, 0.75)
        for writes, of, shift in (("all", n, 0.0), ("executed", executed, 0.0 if executed == n else 0.04)):
            none = model == "o4-mini" and scenario == "tau1-airline"
            known = [None if none else round((rate_ + shift) * of) / of for rate_ in (confirmed, acc)]
            row: dict[str, Any] = dict.fromkeys(tables.TABLES["write_rates"].columns)
            keys = {"model": model, "scenario": scenario, "perturbation": "baseline", "writes": writes}
            row |= keys | {"reader": reader, "family": model, "n": 0 if none else of, "n_missing": of if none else 0}
            rows.append(row | rate("confirmed", known[0], of) | rate("acc", known[1], of))
    return rows


def validity() -> list[dict[str, Any]]:
    """Two labellers on two halves, and the rule for writes."""
    draw = random.Random(11)
    rows = []
    right = {"ASK": 71, "REFUSE": 34, "CONFIRM": 48, "OTHER": 80, "macro": None, "information": 40}
    agreed = {"ASK": 0.87, "REFUSE": 0.79, "CONFIRM": 0.9, "OTHER": 0.84, "confirmed": 0.83}
    named = [(labeller, label) for labeller in ("paper_like", "refined") for label in right]
    for (labeller, label), half in product([*named, ("rule", "confirmed")], ("dev", "test")):
        n = 120 if label == "confirmed" else 200
        row: dict[str, Any] = dict.fromkeys(tables.TABLES["validity"].columns)
        row |= {"labeller": labeller, "half": half, "label": label, "n": n, "kappa_readers": agreed.get(label)}
        row["n_right"] = right.get(label, 77)
        row["n_said"] = row["n_right"] and row["n_right"] + draw.randint(-9, 9)
        low = 0.4 if labeller == "paper_like" else 0.75
        for measure in ("f1",) if label == "macro" else ("precision", "recall", "f1", "kappa"):
            row |= rate(measure, round(draw.uniform(low, 0.97), 3), (row["n_right"] or 2 * n) // 2)
        rows.append(row)
    return rows


def joint_cells() -> list[dict[str, Any]]:
    """Both benchmarks: the small panel on BFCL, and six recorded models on tau2 and tau-bench."""
    draw = random.Random(12)
    rows = small_cells()
    for scenario, model in product(TALKS, RECORDED):
        golds = ("ASK", "REFUSE", "TOOL_CALL") if scenario.startswith("tau2") else ("REFUSE", "TOOL_CALL")
        for gold in golds:
            n = {"ASK": 24, "REFUSE": 60, "TOOL_CALL": 140}[gold]
            gar, acc = draw.uniform(0.3, 1), draw.uniform(0.2, 0.8)
            kept = scenario.startswith("tau2") or gold != "TOOL_CALL"
            row = cell(
                model,
                FAMILY.get(model, model),
                scenario,
                n,
                round(gar * n) / n if kept else None,
                round(acc * n) / n,
                gold,
            )
            rows.append(row if kept else row | {"n_unknown": n})
    return rows
