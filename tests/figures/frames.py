"""Made-up tables that look like a run's: a small panel of policies and one tiny model, and a large one of families."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import pandas as pd

from toolcal import tables

GOLD = {
    "bfcl-base": "TOOL_CALL",
    "bfcl-long_context": "TOOL_CALL",
    "bfcl-miss_func": "REFUSE",
    "bfcl-miss_param": "ASK",
}
REASONS = (
    "multi_turn:instance_state_mismatch",
    "multi_turn:execution_response_mismatch",
    "multi_turn:force_terminated",
    "multi_turn:empty_turn_model_response",
)
PUBLISHED = {
    ("gpt-5.4", "bfcl-base"): (0.99, 0.57),
    ("gpt-5.4", "bfcl-long_context"): (1.0, 0.56),
    ("gpt-5.4", "bfcl-miss_func"): (0.655, 0.52),
    ("gpt-5.4", "bfcl-miss_param"): (0.44, 0.415),
    ("xLAM-2-8b-fc-r", "bfcl-miss_func"): (0.10, 0.735),
    ("xLAM-2-70b-fc-r", "bfcl-miss_func"): (0.17, 0.765),
    ("xLAM-2-70b-fc-r", "bfcl-miss_param"): (0.085, 0.745),
    ("Hammer-2.1-7B", "bfcl-miss_param"): (0.005, 0.28),
    ("Qwen3-1.7B", "bfcl-miss_param"): (0.57, 0.06),
    ("Qwen3-4B", "bfcl-miss_param"): (0.785, 0.18),
    ("Qwen3-8B", "bfcl-miss_param"): (0.84, 0.25),
    ("Qwen3-32B", "bfcl-miss_param"): (0.84, 0.38),
}
LARGE = {
    "GPT-5": ("gpt-5", "gpt-5.4", "gpt-5-mini"),
    "xLAM-2": ("xLAM-2-1b-fc-r", "xLAM-2-3b-fc-r", "xLAM-2-8b-fc-r", "xLAM-2-32b-fc-r", "xLAM-2-70b-fc-r"),
    "Qwen3": ("Qwen3-1.7B", "Qwen3-4B", "Qwen3-8B", "Qwen3-14B", "Qwen3-32B"),
    "Llama-3.1": ("Llama-3.1-8B-Instruct", "Llama-3.1-70B-Instruct"),
    "gpt-oss": ("gpt-oss-20b", "gpt-oss-120b"),
    "Hammer-2.1": ("Hammer-2.1-3B", "Hammer-2.1-7B"),
    "ToolACE-2": ("ToolACE-2-8B",),
    "Watt-Tool": ("Watt-Tool-8B", "Watt-Tool-70B"),
    "Granite-3": ("Granite-3.1-8B-Instruct", "Granite-3.3-8B-Instruct"),
    "Gemini": ("Gemini 3 Pro",),
    "Doubao": ("Doubao-Seed-1.8",),
}
UNKNOWN = ("n_unknown", "n_unknown_turn", "n_unknown_decisive", "n_unknown_decisive_mutating")
POLICIES = ("oracle", "explore_first", "guess_early", "always_ask", "always_refuse", "silent")


def wilson(rate: float, n: int) -> tuple[float, float]:
    z = 1.96
    middle, half = rate + z * z / (2 * n), z * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    low, high = (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)
    return max(0.0, min(low, rate)), min(1.0, max(high, rate))


def rate(name: str, value: float | None, n: int) -> dict[str, float | None]:
    low, high = (None, None) if value is None else wilson(value, n)
    return {name: value, f"{name}_low": low, f"{name}_high": high}


def cell(
    model: str, family: str, scenario: str, n: int, gar: float | None, acc: float | None, gold: str = ""
) -> dict[str, Any]:
    """A row of cells in which as many cases as can be are both right in action and passed, less a little slack."""
    row: dict[str, Any] = dict.fromkeys(tables.TABLES["cells"].columns)
    row |= {
        "model": model,
        "family": family,
        "benchmark": scenario.split("-")[0],
        "scenario": scenario,
        "perturbation": "baseline",
        "gold_action": gold or GOLD[scenario],
        "labeller": "refined",
        "n": n,
        "n_missing": 0,
        "n_context_exceeded": 0,
        "n_step_limit": 0,
        "n_turns": 4 * n,
        "n_undecodable": 0,
        **dict.fromkeys(UNKNOWN, 0),
    }
    calibrated = None if gar is None or acc is None else round(min(gar, acc) * (1 if gar in (0, 1) else 0.9), 6)
    shares: dict[str, float | None] = dict.fromkeys(("calibrated", "masked", "slack", "failed"))
    if gar is not None and acc is not None and calibrated is not None:
        shares = {
            "calibrated": calibrated,
            "masked": acc - calibrated,
            "slack": gar - calibrated,
            "failed": 1 - acc - gar + calibrated,
        }
        if shares["failed"] < 0:  # more right than there is room for: no masked cases then
            shares = {"calibrated": min(gar, acc), "masked": max(0.0, acc - gar), "slack": max(0.0, gar - acc)}
            shares["failed"] = 1 - sum(shares.values())
    decisive = scenario in ("bfcl-miss_func", "bfcl-miss_param")
    for suffix, there in (("", True), ("_decisive", decisive)):
        for outcome, share in shares.items():
            row |= rate(f"share_{outcome}{suffix}", share if there else None, n)
        row[f"violation{suffix}"] = None if gar is None or acc is None or not there else acc > gar
    row |= rate("gar_case_any", gar, n) | rate("acc", acc, n) | rate("gar_turn", gar, n)
    row |= rate("gar_decisive", gar if decisive else None, n)
    return row


def small_cells() -> list[dict[str, Any]]:
    rows = []
    for scenario in GOLD:
        for policy in POLICIES:
            plays = policy in ("oracle", "explore_first", "guess_early")
            gar, acc = (1.0, 1.0) if plays else (0.0, 0.0)
            if policy == "always_ask" and scenario == "bfcl-miss_param":
                gar = 1.0
            if policy == "always_refuse" and scenario == "bfcl-miss_func":
                gar = 1.0
            if policy in ("explore_first", "guess_early") and "miss" in scenario:
                gar = 0.0
            rows.append(cell(policy, f"policy/{policy}", scenario, 200, gar, acc))
        rows.append(cell("smollm2-135m", "smollm2", scenario, 8, 0.5 if "miss" in scenario else 0.875, 0.0))
    return rows


def large_cells() -> list[dict[str, Any]]:
    draw = random.Random(5)
    rows = []
    for scenario in GOLD:
        for family, models in LARGE.items():
            for model in models:
                base = (draw.uniform(0.9, 1), draw.uniform(0.15, 0.75))
                miss = (draw.uniform(0.05, 0.85), draw.uniform(0.1, 0.6))
                gar, acc = PUBLISHED.get((model, scenario), miss if "miss" in scenario else base)
                row = cell(model, family, scenario, 200, round(gar * 200) / 200, round(acc * 200) / 200)
                rows.append(row)
    return rows


def turns(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    draw = random.Random(6)
    rows = []
    for row in cells:
        for turn, kept in enumerate((1, 1, 0.85, 0.7, 0.4, 0.12, 0.03)):
            n = max(1, int(row["n"] * kept))
            gar = row["gar_case_any"]
            recall = gar if gar in (None, 0, 1) else round(min(1.0, gar * draw.uniform(0.5, 1.1)) * n) / n
            keys = {key: row[key] for key in ("model", "scenario", "perturbation", "labeller")}
            unknown = n if row["n_unknown_turn"] and (turn or gar is None) else 0
            recall = None if unknown else recall
            rows.append({**keys, "turn": turn, "n": n, "n_unknown": unknown, **rate("recall", recall, n)})
    return rows


def confusion(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    draw = random.Random(7)
    rows = []
    for row in cells:
        classes = (*tables.ACTIONS, "NONE", *(["NOT_RECORDED"] if row["n_unknown_turn"] else []))
        golds = {"TOOL_CALL": 3 * row["n"] + 131}
        if row["gold_action"] != "TOOL_CALL":
            golds[row["gold_action"]] = row["n"]
        for gold, total in golds.items():
            weights = [draw.random() ** 3 for _ in classes]
            weights[classes.index(gold)] += 2
            counts = [int(total * weight / sum(weights)) for weight in weights]
            counts[0] += total - sum(counts)
            keys = {key: row[key] for key in ("model", "scenario", "perturbation", "labeller")}
            for action, count in zip(classes, counts, strict=True):
                rows.append(
                    {**keys, "gold_action": gold, "action": action, "n": count, **rate("share", count / total, total)}
                )
    return rows


def slack_reasons(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    draw = random.Random(8)
    rows = []
    for row in cells:
        total = round(row["n"] * (row["share_slack"] or 0))
        counts = dict.fromkeys(REASONS, 0)
        for _ in range(total):
            counts[draw.choices(REASONS, (5, 4, 2, 1))[0]] += 1
        keys = {key: row[key] for key in ("model", "scenario", "perturbation", "gold_action", "labeller")}
        if row["n_unknown"]:
            counts, total = {"not_recorded": row["n_unknown"]}, 0
        rows += [
            {**keys, "reason": reason, "n": n, **rate("share", n / total if total else None, total)}
            for reason, n in counts.items()
            if n
        ]
    return rows


def families(cells: list[dict[str, Any]], *, alone: bool = False) -> list[dict[str, Any]]:
    """Means over each family's models, and ranks; with `alone` every model is a family."""
    data = pd.DataFrame(cells)
    if alone:
        data["family"] = data["model"]
    rates = ["acc", "gar_case_any", "share_masked"]
    keys = ["family", "scenario", "perturbation", "gold_action", "labeller"]
    grouped = data.groupby(keys, sort=False)
    means = grouped.agg(n_models=("model", "size"), n=("n", "sum"), **{r: (r, "mean") for r in rates}).reset_index()
    for name, column in (("rank_acc", "acc"), ("rank_gar", "gar_case_any")):
        means[name] = (
            means[column].astype(float).groupby([means["scenario"], means["gold_action"]]).rank(ascending=False)
        )
    return [
        {
            **row,
            **{
                key: value
                for r in rates
                for key, value in rate(r, None if pd.isna(row[r]) else row[r], row["n"]).items()
            },
        }
        for row in means.to_dict("records")
    ]


def all_tables(cells: list[dict[str, Any]], folder: Path) -> dict[str, pd.DataFrame]:
    """Every table that sums up these cells, written and read back, so that its types are the real ones."""
    alone = all(row["family"].startswith("policy/") or row["family"] in ("smollm2", row["model"]) for row in cells)
    by_turn = [row for row in cells if row["benchmark"] == "bfcl"]  # where the user speaks freely there is no such gold
    rows = {
        "cells": cells,
        "turns": turns(by_turn),
        "confusion": confusion(by_turn),
        "slack_reasons": slack_reasons(cells),
        "families": families(cells, alone=alone),
    }
    return written(rows, folder)


def written(rows: dict[str, list[dict[str, Any]]], folder: Path) -> dict[str, pd.DataFrame]:
    """Tables by name, as they are when a stage has written them and another reads them."""
    for name, content in rows.items():
        tables.write(name, tables.frame(name, content), folder / f"{name}.parquet")
    return {name: tables.read(name, folder / f"{name}.parquet") for name in rows}


ODD = (
    "$\\alpha_1$ & $x^2",
    "<b>&\"quoted'</b>",
    "_starts_with_underscore",
    "a-name-of-exactly-forty-characters-long.",
    "WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW",
    "bell\x07, tab\t, {braces} 100%",
    "an-organisation/with-a-name-that-goes-on/and-on-well-beyond-forty-characters",
    "mödèl",
)


def odd_cells() -> list[dict[str, Any]]:
    """Few models, with names that mean something to TeX, XML or matplotlib, and gaps in the rates."""
    rates = ((0.2, 0.7), (0.7, 0.2), (1.0, 1.0), (1.0, 1.0), (1.0, 1.0), (0.0, 0.0), (None, 0.5), (0.5, None))
    rows = [
        cell(name, name, scenario, 20, gar, acc)
        for scenario in GOLD
        for name, (gar, acc) in zip(ODD, rates, strict=True)
        if (name, scenario) != (ODD[0], "bfcl-base")
    ]
    rows[2]["n_missing"] = 3
    for row in rows:
        if row["scenario"] == "bfcl-long_context":
            row |= dict.fromkeys([key for key in row if key.startswith(("gar", "acc", "share", "violation"))])
    return rows


def recorded_cells() -> list[dict[str, Any]]:
    """The small panel and two recorded runs whose text was not kept: GAR is unknown where the gold is no call."""
    rows = small_cells()
    for scenario in GOLD:
        for name, acc in (("DeepSeek-V3.1-Terminus-FC", 0.415), ("claude-sonnet-4-5-20250929-FC", 0.61)):
            known = "miss" not in scenario
            row = cell(name, name, scenario, 200, 1.0 if known else None, acc)
            unknown = dict.fromkeys(UNKNOWN, 0 if known else 120) | {"n_unknown_turn": 240}
            rows.append(row | unknown | rate("gar_turn", None, 800))
    return rows


def wide_cells() -> list[dict[str, Any]]:
    """Thirty models with names of forty characters."""
    draw = random.Random(9)
    return [
        cell(f"model-{i:02}-" + "MmWwQ" * 6 + "x", f"family-{i % 13}", scenario, 200, draw.random(), draw.random())
        for scenario in GOLD
        for i in range(30)
    ]
