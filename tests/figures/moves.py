"""Made-up effects of a perturbation: on few models, on a large panel, on policies, and with odd names and gaps."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from tests.figures.frames import GOLD, LARGE, ODD

PROBED = {
    "Qwen3": ("Qwen3-8B",),
    "ToolACE-2": ("ToolACE-2-8B",),
    "xLAM-2": ("xLAM-2-8b-fc-r",),
    "Hammer-2.1": ("Hammer-2.1-7B",),
    "Watt-Tool": ("Watt-Tool-8B",),
    "Llama-3.1": ("Llama-3.1-8B-Instruct",),
}
PUBLISHED = {("ToolACE-2-8B", "bfcl-base"): (0, -42), ("Qwen3-8B", "bfcl-base"): (0, 23)}
"""GAR's and Acc's differences in cases of 200, as published for SRI."""

KEY = ("scenario", "perturbation", "gold_action", "labeller", "measure")


def effect(n: int, held: int, gained: int, lost: int, comparisons: int = 24) -> dict[str, Any]:
    """The columns of a paired difference: of n pairs, `held` have it without the perturbation."""
    delta, differ = (gained - lost) / n, gained + lost
    half = 1.96 * math.sqrt(max(differ / n - delta**2, 1 / n**2) / n)
    tail = sum(math.comb(differ, k) for k in range(min(gained, lost) + 1)) / 2**differ
    p = min(1.0, 2 * tail) if differ else None
    return {
        "n": n,
        "n_unpaired": 0,
        "n_left_out": 0,
        "baseline": held / n,
        "perturbed": (held + gained - lost) / n,
        "delta": delta,
        "delta_low": max(-1.0, delta - half),
        "delta_high": min(1.0, delta + half),
        "gained": gained,
        "lost": lost,
        "test": "mcnemar_exact" if differ else None,
        "p": p,
        "p_reason": None if differ else "no_discordant_pairs",
        "p_holm": None if p is None else min(1.0, p * comparisons),
        "comparisons": comparisons,
    }


def without_delta(row: dict[str, Any], why: str) -> dict[str, Any]:
    """The same row where there is no delta."""
    null = ("baseline", "perturbed", "delta", "delta_low", "delta_high", "gained", "lost", "test", "p", "p_holm")
    return row | dict.fromkeys(null) | {"p_reason": why}


def effects(families: Mapping[str, Sequence[str]], scenarios: Sequence[str] = tuple(GOLD)) -> list[dict[str, Any]]:
    """Rows of table effects under `sri-full`: GAR moves where the gold action is no call, Acc everywhere."""
    draw = random.Random(13)
    rows = []
    for (family, models), scenario in product(families.items(), scenarios):
        for model in models:
            held = draw.randint(10, 160) if "miss" in scenario else 200, draw.randint(20, 150)
            drift = draw.gauss(0, 14), draw.gauss(0, 12)
            for place, measure in enumerate(("gar_case_any", "acc")):
                still = scenario in ("bfcl-base", "bfcl-long_context") and not place
                change = PUBLISHED.get((model, scenario), tuple(map(int, drift)))[place]
                noise = 0 if still else draw.randint(0, 9)
                gained = min(200 - held[place], noise + max(change, 0))
                lost = min(held[place], noise + max(-change, 0))
                keys = {"model": model, "scenario": scenario, "perturbation": "sri-full", "gold_action": GOLD[scenario]}
                rows.append(
                    keys
                    | {"labeller": "paper_like", "measure": measure, "family": family}
                    | effect(200, held[place], *((0, 0) if still else (gained, lost)))
                )
    return rows


def family_effects(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Rows of table family_effects: each family's pairs together (its models have equally many)."""
    groups: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["family"], *(row[key] for key in KEY)), []).append(row)
    found = []
    for (family, *values), members in groups.items():
        keys = {"family": family, "n_models": len(members)} | dict(zip(KEY, values, strict=True))
        n, gained, lost = (sum(row[name] or 0 for row in members) for name in ("n", "gained", "lost"))
        held = sum(round((row["baseline"] or 0) * row["n"]) for row in members)
        apart = {name: sum(row[name] for row in members) for name in ("n_unpaired", "n_left_out")}
        whole = effect(n or 1, held, gained, lost) | apart | {"n": n}
        null = [row["p_reason"] for row in members if row["delta"] is None]
        found.append(keys | (without_delta(whole, null[0]) if null else whole))
    return found


def by_policies() -> list[dict[str, Any]]:
    """What two policies and a small model do under a probe, in one scenario."""
    rows = []
    of = {"halts_early": ("policy/halts_early", 200, 0, 200), "oracle": ("policy/oracle", 200, 200, 0)}
    for model, (family, n, held, gained) in (of | {"smollm2-135m": ("SmolLM2", 8, 0, 1)}).items():
        keys = {"model": model, "scenario": "bfcl-base", "perturbation": "sri-full", "gold_action": "TOOL_CALL"}
        keys |= {"labeller": "paper_like", "family": family}
        rows.append(keys | {"measure": "gar_case_any"} | effect(n, n, 0, 0, 3))
        rows.append(keys | {"measure": "acc"} | effect(n, held, gained, 0, 3))
    return rows


def odd() -> list[dict[str, Any]]:
    """Names that mean something to TeX, XML or matplotlib; pairs that lack, cells that lack, and deltas that lack."""
    rows = effects({name: (name,) for name in ODD}, ("bfcl-base", "bfcl-miss_func"))
    rows = [row for row in rows if (row["model"], row["scenario"]) != (ODD[0], "bfcl-base")]
    for row in rows:
        if row["model"] == ODD[2]:
            row |= {"n": 197, "n_unpaired": 1, "n_left_out": 2}
        if (row["model"], row["scenario"], row["measure"]) == (ODD[3], "bfcl-base", "gar_case_any"):
            row |= without_delta(row, "not_recorded")
        if (row["model"], row["scenario"]) == (ODD[4], "bfcl-miss_func"):
            row |= without_delta(row, "no_pairs") | {"n": 0, "n_unpaired": 200}
    return rows


def rows_of(kind: str) -> dict[str, list[dict[str, Any]]]:
    """Both tables of effects of a panel, by name."""
    made = {"policies": by_policies, "odd": odd}
    rows = made[kind]() if kind in made else effects({"probed": PROBED, "large": LARGE}[kind])
    return {"effects": rows, "family_effects": family_effects(rows)}
