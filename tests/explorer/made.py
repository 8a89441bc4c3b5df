"""A small panel with conversations, as the workflow's files, and the explorer made of it."""

from __future__ import annotations

import json
from itertools import product

from tests.diagnosis.panel import ASK, CALL, CONFIRM, OTHER, REFUSE, WRITE, E, Panel, typed
from toolcal import tables
from toolcal.explorer import model, site

MODELS = {"alpha": "A", "beta v2 #1%": "B"}
"""One has a name that stands in no address as it is."""
LABELLERS = ("refined", "paper_like")
FUNC, AIR, SRI = "bfcl-miss_func", "tau2-airline", "sri-full"
IDS = [f"case_{i}" for i in range(1, 12)]
LONG = "x" * 1_000_000
HOSTILE = "\n".join(
    [
        "</script><script>window.hurt = 1</script>",
        "<img src=x onerror='window.hurt = 2'><svg onload='window.hurt = 3'>",
        "[a link](javascript:window.hurt=4) <a href='javascript:window.hurt=5'>b</a>",
        "\x1b[31mred\x1b[0m \x00 \u202egnirts\u202c zero\u200bwidth",
        "<iframe srcdoc='<script>parent.hurt = 6</script>'></iframe> `${window.hurt = 7}` {{7*7}}",
    ]
)
WORDS = {"ASK": "Which file do you mean?", "REFUSE": "I cannot do that.", "CONFIRM": "Done.", "OTHER": "Well."}


def panel() -> Panel:
    """`alpha` refuses half of the time, `beta` guesses; a probe is on both; one run is missing, one is hostile."""
    made = Panel(labellers=LABELLERS, families=dict(MODELS))
    for i, case_id in enumerate(IDS):
        made.case(case_id, scenario=FUNC, turns=3, decisive=1, cluster=str(i))
    for case_id in ("0", "1"):
        made.case(case_id, scenario=AIR, turns=1, gold=("TOOL_CALL", "ASK"))
    for name, perturbation in product(MODELS, ("baseline", SRI)):
        cell = (name, FUNC, perturbation)
        made.planned(*IDS, cell=cell)
        for i, case_id in enumerate(IDS):
            if (i, name, perturbation) == (10, "alpha", "baseline"):
                continue
            due = [REFUSE] if i % 2 and name == "alpha" else [CALL, WRITE]
            others = {"paper_like": [[CALL, OTHER], [ASK] * len(due), [CALL, WRITE, CONFIRM]]} if i == 0 else None
            told = [[CALL, CONFIRM], due, [E("TOOL_CALL", retracted=True), WRITE, CONFIRM]]
            wrong = {"reason": "multi_turn:instance_state_mismatch"} if i % 3 == 0 else {}
            made.run(case_id, told, not wrong, strict=False, cell=cell, others=others, **wrong)
    cell = ("alpha", AIR, "baseline")
    made.planned("0", "1", cell=cell)
    for case_id in ("0", "1"):
        made.run(
            case_id, [[ASK], [WRITE, CONFIRM]], case_id == "0", cell=cell, met={"TOOL_CALL": True}, reason="reward"
        )
    return made


def write(folder) -> site:
    """Write the tables as the stages do, and the explorer; returns its folder."""
    made = panel()
    frames = made.tables()
    frames["trajectories"] = typed("trajectories", spoken(made))
    frames["grades"] = typed("grades", [graded(row) for row in made.rows["grades"]])
    extra = {name: typed(name, rows) for name, rows in others(made).items()}
    results = made.diagnose(
        trajectories=frames["trajectories"],
        grades=frames["grades"],
        writes=extra["writes"],
        probe_events=extra["probe_events"],
        probes={SRI: "sri"},
        turn_confidence=extra["turn_confidence"],
    )
    frames |= extra | {"contexts": contexts(frames["cases"])}
    paths = {name: folder / f"{name}.parquet" for name in frames}
    for name, path in paths.items():
        tables.write(name, frames[name], path)
    tables.write("outcomes", results["outcomes"], folder / "outcomes.parquet")
    out = folder / "explorer"
    for name in MODELS:
        files = model.ModelFiles(
            [
                model.CellFiles(
                    name,
                    scenario,
                    perturbation,
                    *(str(paths[part]) for part in ("cases", "contexts", "trajectories", "grades", "probe_events")),
                    turn_confidence=str(paths["turn_confidence"]),
                    user_messages=str(paths["user_messages"]) if scenario == AIR else None,
                )
                for of, scenario, perturbation in {plan[:3] for plan in map(cell_of, made.plan)}
                if of == name
            ],
            folder / "outcomes.parquet",
            paths["actions"],
            [paths["writes"]],
        )
        model.write(out / "data/conversations" / name, files, "all", 0)
    site.write_data(out / "data/tables", results, manifest(), list(MODELS))
    site.write_page(out)
    return out


def cell_of(planned):
    return planned.model, planned.scenario, planned.perturbation


def spoken(made):
    """The emissions, with words and calls of their classes."""
    said = {
        tuple(row[name] for name in tables.EMISSION): row["action"]
        for row in made.rows["actions"]
        if row["labeller"] == "refined"
    }
    return [worded(row, said[tuple(row[name] for name in tables.EMISSION)]) for row in made.rows["trajectories"]]


def worded(row, said):
    hostile = row["case_id"] == "case_5" and row["model"] == "alpha"
    if said == "TOOL_CALL":
        arguments = {"path": HOSTILE if hostile else f"dir {row['turn']}"}
        whole = LONG if hostile and row["turn"] == 0 else '{"files": ["a", "b"]}'
        result = {"name": "ls", "arguments": arguments, "result": whole}
        result |= {"error": None, "executed": True, "state_changed": bool(row["state_changed"]), "held_out": False}
        call = {"id": "1", "type": "function", "function": {"name": "ls", "arguments": json.dumps(arguments)}}
        row = row | {"tool_calls": tables.dumps([call]), "tool_results": tables.dumps([result]), "executed": 1}
    return row | {"content": HOSTILE if hostile else WORDS.get(said)}


def graded(row):
    if row["reason"] != "multi_turn:instance_state_mismatch":
        return row
    return row | {"differences": tables.dumps([{"of": "ticket.7", "model": "open", "reference": "closed"}])}


def others(made):
    """Rows of the tables that not every run has."""
    events, sure = [], []
    for row in made.rows["trajectories"]:
        key = {name: row[name] for name in tables.EMISSION}
        if row["perturbation"] == SRI and row["step"] == (row["turn"] != 1):
            events.append(
                key
                | {"probe": "sri", "seam": "halt", "triggered": row["turn"] == 1, "reason": "no_call"}
                | {"detector": "{}", "appended": "What is left to do?" if row["turn"] == 1 else None}
            )
        if row["model"] == "alpha" and row["scenario"] == FUNC and row["step"] == 0:
            stated = {"confidence_raw": "90", "confidence": 0.9 if row["turn"] else 0.4, "status": "ok"}
            sure.append(
                {name: row[name] for name in (*tables.CASE, "turn")} | stated | {"reasked": False, "cached": False}
            )
    air = {"model": "alpha", "scenario": AIR, "perturbation": "baseline", "trial": 0}
    said = [("0", 0, 0, "Change my flight."), ("0", 2, 1, "Yes, do."), ("1", 0, 0, "Hello?"), ("1", 2, 1, "Yes.")]
    return {
        "probe_events": events,
        "turn_confidence": sure,
        "user_messages": [
            air
            | {"case_id": case_id, "place": place, "turn": turn, "role": "user", "content": text, "tool_calls": "[]"}
            for case_id, place, turn, text in said
        ],
        "writes": [
            air
            | {
                "case_id": "0",
                "turn": 1,
                "step": 0,
                "attempt": 0,
                "call": 0,
                "cluster_id": "0",
                "place": 3,
                "tool": "ls",
            }
            | {"arguments": "{}", "to_be_confirmed": True, "executed": True, "proposed": True, "agreed": True}
            | {
                "confirmed": True,
                "deciding_place": 2,
                "deciding_text": "Yes, do.",
                "why": "agreed to it",
                "passed": True,
            }
        ],
    }


def contexts(cases):
    rows = []
    for case, perturbation in product(tables.records(cases), ("baseline", SRI)):
        probe = {"probe": "sri", "parameters": {"variant": "full"}, "version": 1} if perturbation == SRI else None
        tool = {"type": "function", "function": {"name": "ls", "parameters": {}}}
        rows.append(
            {name: case[name] for name in ("scenario", "case_id", "turns")}
            | {
                "perturbation": perturbation,
                "system": "Be good.",
                "tools": tables.dumps([{"from_turn": 2, "tool": tool}]),
            }
            | {"renamed": "{}", "probe": probe and tables.dumps(probe)}
        )
    return typed("contexts", rows)


def manifest():
    return {
        "toolcal": "0",
        "git": {"commit": "0" * 40, "dirty": False},
        "seed": 1,
        "revisions": {FUNC: "r1"},
        "packages": {},
        "config": {
            "results": "results",
            "labellers": list(LABELLERS),
            "models": {name: {"family": family, "source": "api"} for name, family in MODELS.items()},
            "scenarios": {FUNC: {}, AIR: {}},
            "perturbations": {SRI: {"kind": "probe", "probe": "sri", "rationale": "shows the state"}},
            "explorer": {"cases": "all", "sample": 20},
        },
    }
