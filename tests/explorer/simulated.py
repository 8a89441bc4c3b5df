"""Trajectories of a simulated model, as many as a full panel has of each: what the explorer's size is measured on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from toolcal import tables
from toolcal.explorer.model import CellFiles, ModelFiles

SCENARIOS = ("bfcl-base", "bfcl-long_context", "bfcl-miss_func", "bfcl-miss_param", "tau2-airline", "tau2-retail")
GOLD = ("TOOL_CALL", "TOOL_CALL", "REFUSE", "ASK", "TOOL_CALL", "REFUSE")
LABELLERS = ("refined", "paper_like")
TURNS, STEPS = 4, 3


def model_files(folder: Path, *, cases: int, perturbations: int, model: str = "m0", seed: int = 0) -> ModelFiles:
    """Write the tables of one model: six scenarios, each with `cases` runs under each perturbation.

    A run has four turns of three emissions, with about 60 words a text and 90 a tool's result (and one of 4,000 in
    long_context), which is about what BFCL's runs of large models have.
    """
    rng = np.random.default_rng(seed)
    words = rng.choice([*"abcdefghijklmnopqrstuvwxyz"], (4000, 6)).view("<U6").ravel().tolist()
    texts = [" ".join(rng.choice(words, 60)) for _ in range(3000)]
    results = [" ".join(rng.choice(words, 90)) for _ in range(3000)]
    long = [" ".join(rng.choice(words, 4000)) for _ in range(40)]
    names = ["baseline", *(f"p{i}" for i in range(1, perturbations))]
    actions, outcomes, cells = [], [], []
    for scenario, gold in zip(SCENARIOS, GOLD, strict=True):
        ids = [f"{scenario}_{i}" for i in range(cases)]
        decisive = None if gold == "TOOL_CALL" else 1
        about = _write(folder, "cases", scenario, [_case(scenario, case_id, gold, decisive) for case_id in ids])
        for perturbation in names:
            key = {"model": model, "scenario": scenario, "perturbation": perturbation, "trial": 0}
            rows = pd.DataFrame(
                [(case_id, turn, step) for case_id in ids for turn in range(TURNS) for step in range(STEPS)],
                columns=["case_id", "turn", "step"],
            ).assign(**key, attempt=0)
            called = rng.random(len(rows)) < 0.6
            told = rows.assign(**dict.fromkeys(tables.TABLES["trajectories"].columns, None) | key)
            told[["case_id", "turn", "step", "attempt"]] = rows[["case_id", "turn", "step", "attempt"]]
            told["content"] = [None if call else texts[i] for call, i in _draw(rng, called, texts)]
            told["tool_calls"] = [CALL if call else "[]" for call in called]
            told["tool_results"] = [_result(results[i]) if call else "[]" for call, i in _draw(rng, called, results)]
            if scenario == "bfcl-long_context":
                told.loc[::12, "tool_results"] = [_result(long[i % 40]) for i in range(len(ids))]
            told = told.assign(executed=called.astype(int), state_changed=called, held_out=False, text_recorded=True)
            told = told.assign(status="ok", retracted=False, origin="model", cached=False, replayed=False)
            passed = rng.random(cases) < 0.5
            grades = pd.DataFrame({"case_id": ids, "passed": passed, "passed_strict": passed}).assign(**key)
            grades = grades.assign(status="done", turn_checks="[]", differences="[]")
            grades["reason"] = [None if good else "multi_turn:instance_state_mismatch" for good in passed]
            for labeller in LABELLERS:
                seen = rng.choice(["ASK", "REFUSE", "CONFIRM", "OTHER"], len(rows))
                seen = np.where(called, "TOOL_CALL", seen)
                actions.append(
                    rows.assign(
                        labeller=labeller, status="ok", action=seen, flags=[f'["{one}"]' for one in seen], sub="[]"
                    ).assign(leaked=False, cue=[f"words of {one}" for one in seen])
                )
                had = rng.random(cases) < 0.5
                view = np.select([had & passed, had, passed], ["calibrated", "slack", "masked"], "failed")
                outcomes.append(
                    grades[["case_id", "passed", "passed_strict", "reason", "status"]].assign(
                        **key,
                        gold_action=gold,
                        labeller=labeller,
                        cluster_id="0",
                        emitted_case_any=had,
                        emitted_decisive=had if decisive else None,
                        emitted_decisive_mutating=None,
                        outcome_case_any=view,
                        outcome_decisive=view if decisive else None,
                    )
                )
            name = f"{scenario}.{perturbation}"
            cells.append(
                CellFiles(
                    model,
                    scenario,
                    perturbation,
                    about,
                    _write(folder, "contexts", name, [_context(scenario, perturbation, case_id) for case_id in ids]),
                    _write(folder, "trajectories", name, told),
                    _write(folder, "grades", name, grades),
                    user_messages=_write(folder, "user_messages", name, _said(key, ids, texts))
                    if scenario.startswith("tau2")
                    else None,
                )
            )
    return ModelFiles(
        cells,
        _write(folder, "outcomes", model, pd.concat(outcomes)),
        _write(folder, "actions", model, pd.concat(actions)),
    )


CALL = tables.dumps(
    [{"id": "1", "type": "function", "function": {"name": "cd", "arguments": '{"folder": "workspace"}'}}]
)


def _result(text: str) -> str:
    made = {"name": "cd", "arguments": {"folder": "workspace"}, "result": text, "error": None}
    return tables.dumps([made | {"executed": True, "state_changed": True, "held_out": False}])


def _draw(rng, called, texts):
    return zip(called, rng.integers(len(texts), size=len(called)), strict=True)


def _case(scenario, case_id, gold, decisive):
    return {
        "benchmark": scenario.split("-")[0],
        "scenario": scenario,
        "revision": "r1",
        "case_id": case_id,
        "cluster_id": case_id,
        "draw": 0,
        "turns": TOLD,
        "tools": "[]",
        "initial_state": "{}",
        "gold": tables.dumps([["cd(folder='workspace')"]] * TURNS),
        "gold_actions": tables.dumps([gold]),
        "decisive_turn": decisive,
        "excluded_turns": "[]",
    }


TOLD = tables.dumps([[{"role": "user", "content": "Go to the folder and tell me what is in it, please."}]] * TURNS)


def _context(scenario, perturbation, case_id):
    return {
        "scenario": scenario,
        "perturbation": perturbation,
        "case_id": case_id,
        "turns": TOLD,
        "tools": "[]",
        "renamed": "{}",
    }


def _said(key, ids, texts):
    return [
        key
        | {
            "case_id": case_id,
            "place": 5 * turn,
            "turn": turn,
            "role": "user",
            "content": texts[i % 3000],
            "tool_calls": "[]",
        }
        for i, case_id in enumerate(ids)
        for turn in range(TURNS)
    ]


def _write(folder: Path, table: str, name: str, rows) -> str:
    data = pd.DataFrame(rows).reset_index(drop=True)
    path = folder / table / f"{name}.parquet"
    tables.write(table, data.reindex(columns=list(tables.TABLES[table].columns)), path)
    return str(path)
