"""Runs under a probe, for the tests of what then comes out."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

import pandas as pd

from toolcal import perturbations, rollout, tables
from toolcal.actions.label import label_trajectories
from toolcal.benchmarks.case_table import to_frame
from toolcal.benchmarks.grades import grade_trajectories
from toolcal.cells import Cell
from toolcal.models.policies import Policy


def context(case, probe=None, **parameters):
    """The baseline's context, with a probe if one is named."""
    spec = {"probe": probe, "parameters": parameters, "version": "1"} if probe else None
    return replace(perturbations.baseline(case), probe=spec)


@dataclass
class Run:
    """A cell that was run."""

    cases: list
    trajectories: pd.DataFrame
    events: pd.DataFrame

    @property
    def triggers(self):
        return self.events[self.events["triggered"].astype(bool)]

    def triggered(self, *reasons):
        """The cases in which the probe acted, for one of these reasons."""
        return set(self.triggers[self.triggers["reason"].isin(reasons)]["case_id"])

    @property
    def passed(self):
        grades = grade_trajectories(self.trajectories, to_frame(self.cases, 0))
        return set(grades[grades["passed"].astype(bool)]["case_id"])

    @property
    def gold_at_decisive(self):
        """The cases whose decisive turn has the gold class."""
        standing = self.trajectories[~self.trajectories["retracted"].astype(bool)]
        tools = {
            (case.scenario, "p", case.case_id): [(turn, tool["function"]["name"]) for turn, tool in case.tools]
            for case in self.cases
        }
        actions = label_trajectories(standing, tools, ["paper_like"])
        decisive = {case.case_id: case.decisive_turn for case in self.cases}
        actions = actions[actions["action"].notna() & (actions["turn"] == actions["case_id"].map(decisive))]
        classes = actions.groupby("case_id")["action"].agg(lambda found: min(found, key=tables.ACTIONS.index))
        return set(classes.index[classes == self.cases[0].gold_actions[0]])


def run(bfcl, cases, model, probe=None, **parameters):
    """Run a policy (by name) or a model on cases under a probe."""
    contexts = {case.case_id: context(case, probe, **parameters) for case in cases}
    model = Policy(model, bfcl) if isinstance(model, str) else model
    found = asyncio.run(rollout.run_cell(Cell("m", cases[0].scenario, "p"), cases, contexts, model, bfcl))
    for name, data in found._asdict().items():
        tables.check(name, data)
    return Run(cases, found.trajectories, found.probe_events)
