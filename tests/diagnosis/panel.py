"""Small panels for the tests: compact descriptions in, the workflow's tables out."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from toolcal import tables
from toolcal.diagnosis.diagnose import diagnose
from toolcal.diagnosis.plan import PlannedCell, graded_runs

NOW = ("model", "bfcl-miss_func", "none")
"""The cell that most tests look at."""


@dataclass(frozen=True)
class E:
    """One emission: its class (None for a status alone) and what else is not ordinary."""

    action: str | None
    status: str = "ok"
    flags: tuple[str, ...] | None = None
    state_changed: bool = False
    retracted: bool = False
    origin: str = "model"
    text_recorded: bool = True


CALL, WRITE, ASK, REFUSE = E("TOOL_CALL"), E("TOOL_CALL", state_changed=True), E("ASK"), E("REFUSE")
CONFIRM, OTHER, EMPTY = E("CONFIRM"), E("OTHER"), E(None, "empty")
UNKNOWN = E(None, "not_recorded", text_recorded=False)
MUTE_CALL, MUTE_WRITE = E("TOOL_CALL", text_recorded=False), E("TOOL_CALL", state_changed=True, text_recorded=False)
LOST = E(None, "context_exceeded", text_recorded=False)


@dataclass
class Panel:
    """Tables under construction; `run` adds a run, `tables` gives the arguments of `diagnose`."""

    labellers: tuple[str, ...] = ("paper_like",)
    rows: dict[str, list[dict]] = field(
        default_factory=lambda: {name: [] for name in ("cases", "trajectories", "actions", "grades")}
    )
    plan: list[PlannedCell] = field(default_factory=list)
    families: dict[str, str] = field(default_factory=lambda: {"model": "family"})

    def case(self, case_id, *, scenario=NOW[1], turns=2, gold=("REFUSE",), decisive=None, excluded=(), cluster=None):
        self.rows["cases"].append(
            {
                "benchmark": scenario.split("-")[0],
                "scenario": scenario,
                "revision": "r1",
                "case_id": case_id,
                "cluster_id": cluster or case_id,
                "draw": len(self.rows["cases"]),
                "turns": json.dumps([[{"role": "user", "content": "x"}]] * turns),
                "tools": "[]",
                "initial_state": "{}",
                "gold": "[]",
                "gold_actions": json.dumps(list(gold)),
                "decisive_turn": decisive,
                "excluded_turns": json.dumps(list(excluded)),
            }
        )

    def planned(self, *case_ids, cell=NOW, trials=1):
        self.plan.append(PlannedCell(*cell, case_ids=case_ids, trials=trials))

    def run(
        self,
        case_id,
        turns,
        passed,
        *,
        strict=None,
        status="done",
        reason=None,
        trial=0,
        cell=NOW,
        others=None,
        met=None,
        faults=None,
    ):
        """A run: a list (turns) of lists of emissions; `others` gives other labellers' classes for them.

        `faults` names those of a simulated user; None where there is none.
        """
        key = dict(zip(tables.CELL, cell, strict=True)) | {"case_id": case_id, "trial": trial}
        for labeller in self.labellers:
            seen = (others or {}).get(labeller, turns)
            for turn, emissions in enumerate(seen):
                for step, e in enumerate(emissions):
                    flags = e.flags if e.flags is not None else ([e.action] if e.action else [])
                    self.rows["actions"].append(
                        key
                        | {"turn": turn, "step": step, "attempt": 0, "labeller": labeller, "status": e.status}
                        | {"action": e.action, "flags": json.dumps(list(flags)), "sub": "[]", "leaked": False}
                        | {"cue": None}
                    )
        for turn, emissions in enumerate(turns):
            for step, e in enumerate(emissions):
                self.rows["trajectories"].append(
                    dict.fromkeys(tables.TABLES["trajectories"].columns)
                    | key
                    | {"turn": turn, "step": step, "attempt": 0, "tool_calls": "[]", "tool_results": "[]"}
                    | {
                        "executed": 0,
                        "held_out": False,
                        "cached": False,
                        "replayed": False,
                        "status": e.status,
                        "origin": e.origin,
                    }
                    | {"state_changed": e.state_changed, "retracted": e.retracted, "text_recorded": e.text_recorded}
                )
        self.rows["grades"].append(
            key
            | {"status": status, "passed": passed, "passed_strict": passed if strict is None else strict}
            | {"reason": reason, "reason_strict": None, "detail": None, "turn_checks": "[]"}
            | {"differences": "[]"}
            | {"gold_met": None if met is None else json.dumps(met)}
            | {"user_faults": None if faults is None else json.dumps([told(name) for name in faults])}
        )

    def tables(self) -> dict[str, pd.DataFrame]:
        return {name: typed(name, rows) for name, rows in self.rows.items()}

    def graded(self) -> pd.DataFrame:
        """The planned runs, for a table that needs no more than these."""
        given = self.tables()
        return graded_runs(given["cases"], given["grades"], self.plan)

    def diagnose(self, seed=0, **changed):
        given = self.tables() | {"plan": self.plan, "families": self.families, "labellers": self.labellers} | changed
        found = diagnose(**given, seed=seed)
        for name, frame in found.items():
            tables.check(name, frame)
        return found


def told(fault):
    """A fault as `grades` holds it."""
    return {"fault": fault, "place": 1, "words": "x"}


def typed(name, rows):
    """Rows as `tables.read` gives them back."""
    nullable = {"bool": "boolean", "int": "Int64", "float": "float64"}
    columns = tables.TABLES[name].columns.items()
    return tables.frame(name, rows).astype({column: nullable.get(spec.type, "str") for column, spec in columns})


def row(frame, **where):
    """The one row that matches."""
    for column, value in where.items():
        frame = frame[frame[column] == value]
    assert len(frame) == 1, f"{len(frame)} rows match {where}"
    return frame.iloc[0]


def random_panel(seed, *, models=2, cases=12, trials=2, labellers=("paper_like", "refined"), more=()):
    """A panel in which everything happens: all statuses, missing runs, probes, exclusions, several gold actions.

    `more` are further emissions; each occurs about as often as one of the usual eleven.
    """
    rng = np.random.default_rng(seed)
    panel = Panel(labellers=labellers, families={f"m{i}": f"f{i % 2}" for i in range(models)})
    kinds = [CALL, WRITE, ASK, REFUSE, CONFIRM, OTHER, EMPTY, E(None, "truncated"), E("TOOL_CALL", retracted=True)]
    kinds += [E("REFUSE", origin="probe"), E("TOOL_CALL", flags=("TOOL_CALL", "ASK", "CONFIRM")), *more]
    golds = {"bfcl-base": ["TOOL_CALL"], "bfcl-miss_func": ["REFUSE"], "bfcl-miss_param": ["ASK"]}
    golds["tau2-airline"] = ["REFUSE", "ASK"]
    for scenario, gold in golds.items():
        ids = [f"{scenario}_{i}" for i in range(cases)]
        lengths = rng.integers(1, 5, cases)
        for i, (case_id, turns) in enumerate(zip(ids, lengths, strict=True)):
            decisive = None if scenario == "bfcl-base" else int(rng.integers(turns))
            excluded = [t for t in range(turns) if t != decisive and rng.random() < 0.1]
            case_gold = [gold[0]] if i % 2 else gold
            panel.case(
                case_id,
                scenario=scenario,
                turns=int(turns),
                gold=case_gold,
                decisive=decisive,
                excluded=excluded,
                cluster=str(i // 2),
            )
        for model in panel.families:
            cell = (model, scenario, "none")
            panel.planned(*ids, cell=cell, trials=trials)
            for case_id, turns in zip(ids, lengths, strict=True):
                for trial in range(trials):
                    if rng.random() < 0.1:
                        continue
                    status = rng.choice(tables.CASE_STATUSES, p=[0.6, 0.1, 0.1, 0.1, 0.05, 0.05])
                    reached = int(turns) if status == "done" else int(rng.integers(1, turns + 1))
                    told = [
                        [kinds[k] for k in rng.integers(len(kinds), size=rng.integers(1, 4))] for _ in range(reached)
                    ]
                    passed = None if status in ("infra_error", "not_graded") else bool(rng.random() < 0.5)
                    reason = None if passed or rng.random() < 0.3 else str(rng.choice(["state", "response"]))
                    panel.run(
                        case_id,
                        told,
                        passed,
                        strict=passed and bool(rng.random() < 0.5),
                        status=str(status),
                        reason=reason,
                        trial=trial,
                        cell=cell,
                    )
    return panel
