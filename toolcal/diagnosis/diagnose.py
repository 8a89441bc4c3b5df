"""The diagnosis as a whole: the tables of the run in, the tables of the diagnosis out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import pandas as pd

from toolcal.corrections import CORRECTED
from toolcal.diagnosis import gar, summaries
from toolcal.diagnosis.cells import cells as cell_table
from toolcal.diagnosis.correction_agreement import correction_agreement
from toolcal.diagnosis.effects import effects
from toolcal.diagnosis.heterogeneity import heterogeneity
from toolcal.diagnosis.judge_agreement import judge_agreement, judged_writes, judges
from toolcal.diagnosis.nl_assertions import nl_assertions
from toolcal.diagnosis.outcomes import outcomes as outcome_table
from toolcal.diagnosis.pass_hat import pass_hat
from toolcal.diagnosis.plan import PlannedCell, graded_runs
from toolcal.diagnosis.probe_rates import probe_rates
from toolcal.diagnosis.turn_calibration import turn_calibration
from toolcal.diagnosis.user_faults import user_faults
from toolcal.diagnosis.write_rates import write_rates
from toolcal.tables import TABLES, frame


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
    writes: pd.DataFrame | None = None,
    judgements: pd.DataFrame | None = None,
    questions: Collection[str] = (),
    probe_events: pd.DataFrame | None = None,
    probes: Mapping[str, str] | None = None,
    turn_confidence: pd.DataFrame | None = None,
    corrections: pd.DataFrame | None = None,
) -> dict[str, pd.DataFrame]:
    """All tables of the diagnosis.

    Args:
        cases: table `cases`.
        trajectories: table `trajectories`; of its columns only the key, status, state_changed, text_recorded,
            retracted, origin, and replayed where there are probes.
        actions: table `actions`; of its columns only the key, action and flags.
        grades: table `grades`.
        plan: the planned cells; rows outside it are not looked at, planned runs without rows count as missing.
        families: the family of each model.
        labellers: the labellers of the configuration, so that a cell without any label still has its rows.
        seed: of the bootstrap, from the configuration, not negative.
        writes: table `writes`; None where no user could have agreed to any.
        judgements: table `judgements`; None where there is no judge.
        questions: what the judge is asked, of `tables.QUESTIONS`; none without a judge.
        probe_events: table `probe_events`; None where there are no probes.
        probes: the probe of each perturbation that is one.
        turn_confidence: table `turn_confidence`; None where nobody is asked after a turn.
        corrections: table `corrections`; None where there are none. `actions` has the labels of `corrected` already.

    Returns:
        The tables `outcomes`, `turns`, `confusion`, `cells`, `slack_reasons`, `families`, `effects`,
        `family_effects`, `heterogeneity`, `probe_rates`, `pass_hat`, `write_rates`, `user_faults`, and where a
        judge is asked about writes `judge_agreement`, about assertions `nl_assertions`, where models are asked after
        each turn `turn_calibration`, where readers marked messages `correction_agreement`; each passes `tables.check`
        and is sorted by its key.

    Raises:
        ValueError: where the tables contradict each other or the plan, or the identity of method A4 breaks.
    """
    runs = graded_runs(cases, grades, plan)
    emissions = gar.labelled_emissions(trajectories, actions, runs, labellers)
    classes = gar.turn_classes(emissions)
    outcomes = outcome_table(runs, gar.emitted(runs, emissions, classes, labellers))
    scored = gar.scored_turns(runs, emissions, classes, labellers)
    cells = cell_table(outcomes, scored, emissions, runs, families, seed=seed)
    by_model, by_family = effects(outcomes, runs, families, seed=seed)
    written = frame("writes", []) if writes is None else writes
    judged = frame("judgements", []) if judgements is None else judgements
    return {
        "outcomes": outcomes,
        "turns": summaries.turns(scored, seed=seed),
        "confusion": summaries.confusion(scored, seed=seed),
        "cells": cells,
        "slack_reasons": summaries.slack_reasons(outcomes, seed=seed),
        "families": summaries.families(outcomes, cells, seed=seed),
        "effects": by_model,
        "family_effects": by_family,
        "heterogeneity": heterogeneity(by_family),
        "probe_rates": probe_rates(trajectories, probe_events, runs, probes or {}, families, seed=seed),
        "pass_hat": pass_hat(runs, families, seed=seed),
        "write_rates": _write_rates(written, judged, families, seed),
        "user_faults": user_faults(outcomes, runs, families, seed=seed),
        **({"judge_agreement": judge_agreement(written, judged, seed=seed)} if "confirmed_write" in questions else {}),
        **({"nl_assertions": nl_assertions(judged, runs, families, seed=seed)} if "nl_assertions" in questions else {}),
        **(
            {}
            if turn_confidence is None
            else {"turn_calibration": turn_calibration(turn_confidence, runs, outcomes, scored, classes, seed=seed)}
        ),
        **({} if corrections is None else _agreement(corrections, actions, cases, labellers, seed)),
    }


def _agreement(
    corrections: pd.DataFrame, actions: pd.DataFrame, cases: pd.DataFrame, labellers: Sequence[str], seed: int
) -> dict[str, pd.DataFrame]:
    """Of the labellers that go by rules: `corrected` agrees with the corrections by its making."""
    rules = [name for name in labellers if name != CORRECTED]
    return {"correction_agreement": correction_agreement(corrections, actions, cases, rules, seed=seed)}


def _write_rates(
    writes: pd.DataFrame, judgements: pd.DataFrame, families: Mapping[str, str], seed: int
) -> pd.DataFrame:
    """By the rule, and by each judge."""
    by_rule = write_rates(writes, families, seed=seed)
    by_judges = [
        write_rates(judged_writes(writes, judgements, judge), families, seed=seed, reader=judge)
        for judge in judges(judgements)
    ]
    return pd.concat([by_rule, *by_judges]).sort_values(list(TABLES["write_rates"].key), ignore_index=True)
