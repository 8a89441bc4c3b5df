"""The diagnosis as a whole: the tables of the run in, the tables of the diagnosis out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from toolcal.diagnosis import gar, summaries
from toolcal.diagnosis.cells import cells as cell_table
from toolcal.diagnosis.outcomes import outcomes as outcome_table
from toolcal.diagnosis.plan import PlannedCell, graded_runs


def diagnose(
    cases: pd.DataFrame,
    trajectories: pd.DataFrame,
    actions: pd.DataFrame,
    grades: pd.DataFrame,
    plan: Sequence[PlannedCell],
    families: Mapping[str, str],
    *,
    labellers: Sequence[str],
    seed: int,
) -> dict[str, pd.DataFrame]:
    """All tables of the diagnosis.

    Args:
        cases: table `cases`.
        trajectories: table `trajectories`; of its columns only the key, status, state_changed, text_recorded,
            retracted, origin.
        actions: table `actions`; of its columns only the key, action and flags.
        grades: table `grades`.
        plan: the planned cells; rows outside it are not looked at, planned runs without rows count as missing.
        families: the family of each model.
        labellers: the labellers of the configuration, so that a cell without any label still has its rows.
        seed: of the bootstrap, from the configuration, not negative.

    Returns:
        The tables `outcomes`, `turns`, `confusion`, `cells`, `slack_reasons`, `families`, each passing
        `tables.check` and sorted by its key.

    Raises:
        ValueError: where the tables contradict each other or the plan, or the identity of method A4 breaks.
    """
    runs = graded_runs(cases, grades, plan)
    emissions = gar.labelled_emissions(trajectories, actions, runs, labellers)
    classes = gar.turn_classes(emissions)
    outcomes = outcome_table(runs, gar.emitted(runs, emissions, classes, labellers))
    scored = gar.scored_turns(runs, emissions, classes, labellers)
    cells = cell_table(outcomes, scored, emissions, runs, families, seed=seed)
    return {
        "outcomes": outcomes,
        "turns": summaries.turns(scored, seed=seed),
        "confusion": summaries.confusion(scored, seed=seed),
        "cells": cells,
        "slack_reasons": summaries.slack_reasons(outcomes, seed=seed),
        "families": summaries.families(outcomes, cells, seed=seed),
    }
