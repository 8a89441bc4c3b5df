"""Every table of the workflow: its columns, its key and its checks.

The one place that says what a column is. Stages read and write tables only through `read` and `write`, so a file that
exists is whole, has the columns below in this order, and holds exactly one row per key.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from toolcal import __version__
from toolcal.columns import Column, Table
from toolcal.columns import column as _c
from toolcal.confidence.parse import REASONS
from toolcal.confidence.tables import CONFIDENCE_TABLES
from toolcal.training.comparison_tables import COMPARISON_TABLES
from toolcal.training.log_tables import TRAINING_TABLES
from toolcal.training.reward_tables import REWARD_TABLES
from toolcal.utf8 import in_utf8

ACTIONS = ("TOOL_CALL", "REFUSE", "ASK", "CONFIRM", "OTHER")
"""Action classes, highest priority first (method A2)."""

EMISSION_STATUSES = ("ok", "empty", "truncated", "malformed_call", "context_exceeded", "infra_error", "not_recorded")
TURN_STATUSES = ("ok", "broken_form", *EMISSION_STATUSES[1:6])
CASE_STATUSES = ("done", "step_limit", "premature", "context_exceeded", "infra_error", "not_graded")
"""How a case ended. `premature`: a recorded run that broke off before its parties ended it, which fails it;
`infra_error` and `not_graded` (a recorded run without a verdict) have none, and are in no rate."""
USER_FAULTS = ("ends_at_once", "says_nothing", "stops_at_confirmation", "unknown_fact", "breaks_role", "out_of_scope")
"""What a simulated user can do wrong; `benchmarks.tau2.user_faults` says what each is."""
OUTCOMES = ("calibrated", "masked", "slack", "failed")
"""The four outcomes of a case in one view of GAR (method A4)."""
QUESTIONS = ("confirmed_write", "nl_assertions")
"""What a judge can be asked: had the user agreed to this write, and does what the task says of the run hold?"""

CORRECTIONS_IN_FORCE = ("applied", "upheld", "met")
"""Statuses of a reader's correction that holds."""

MEASURES = (
    *("gar_case_any", "gar_decisive", "acc", "acc_strict"),
    *(f"share_{name}{view}" for view in ("", "_decisive") for name in OUTCOMES),
)
"""Rates of the table `cells` that a perturbation is compared by."""

TURN_METRICS: Mapping[str, tuple[str, str]] = {
    "coverage": ("coverage", "share of n whose confidence could be read; all below but rate are of these"),
    "rate": ("accuracy", "share of n that are right: had the gold class, or passed"),
    "mean_confidence": ("mean_confidence", "mean stated confidence"),
    "ece": ("ece10", "expected calibration error, 10 bins of equal width; above 0 by construction"),
    "ece_debiased": ("ece_debiased", "the same without that excess: 0 in the mean where calibrated"),
    "brier": ("brier", "mean squared difference of confidence and truth"),
    "auroc": ("auroc", "chance that a right one is more confident than a wrong one, ties counting half"),
    "mcip": ("mcip", "mean confidence of the wrong ones"),
}
"""Metrics of the table `turn_calibration` -> their names in `confidence.metrics`, and what they are."""
TURN_QUANTILES: Mapping[str, tuple[float, str]] = {
    "confidence_min": (0.0, "lowest"),
    "confidence_q25": (0.25, "lower quartile"),
    "confidence_median": (0.5, "median"),
    "confidence_q75": (0.75, "upper quartile"),
    "confidence_max": (1.0, "highest"),
}
"""Columns of the table `turn_calibration` that say how the confidences are spread: the quantile, and its name."""

CELL = ("model", "scenario", "perturbation")
CASE = (*CELL, "case_id", "trial")
EMISSION = (*CASE, "turn", "step", "attempt")


class TableError(ValueError):
    """A table that breaks its own contract; the message names table, column and row."""


_KEYS = {
    "benchmark": _c("str", "benchmark, e.g. bfcl"),
    "model": _c("str", "the model's id in the configuration"),
    "family": _c("str", "the model's family in the configuration"),
    "scenario": _c("str", "benchmark and category, e.g. bfcl-miss_func"),
    "revision": _c("str", "the data set's revision"),
    "perturbation": _c("str", "context perturbation; baseline is none"),
    "case_id": _c("str", "the benchmark's own id of the conversation"),
    "trial": _c("int", "repetition, from 0"),
    "turn": _c("int", "user turn, from 0"),
    "step": _c("int", "model response within the turn, from 0"),
    "attempt": _c("int", "0, or the n-th time a probe asked again at this step"),
    "labeller": _c("str", "the labelling rules; corrected: those of the first labeller, with readers' corrections"),
    "gold_action": _c("str", "the action class that the scenario calls for", values=ACTIONS),
    "action": _c(
        "str",
        "the turn's class; NONE: it has none or was never reached; NOT_RECORDED: what decides it was not kept",
        values=(*ACTIONS, "NONE", "NOT_RECORDED"),
    ),
    "reason": _c("str", "the grader's error type"),
    "place": _c("int", "place among the messages of the conversation, from 0"),
    "call": _c("int", "place among the calls of the emission, from 0"),
    "writes": _c("str", "which calls: all, or those that were executed", values=("all", "executed")),
    "reader": _c("str", "who decided what was confirmed: rule, or the judge's model"),
    "k": _c("int", "number of trials that all have to pass"),
    "half": _c("str", "of the validity set: dev was tuned on, test was not", values=("dev", "test")),
    "measure": _c("str", "the rate of cells that is compared", values=MEASURES),
    "label": _c(
        "str",
        "action class, all or macro (mean) of the classes, sub-label of ASK and REFUSE, or confirmed (writes)",
    ),
}


def _keys(*names: str) -> dict[str, Column]:
    return {name: _KEYS[name] for name in names}


_RATE, _DIFFERENCE = "0 to 1", "-1 to 1"


def _rate(name: str, doc: str, bounds: str = _RATE, *, null: bool = True) -> dict[str, Column]:
    return {
        name: _c("float", f"{doc} ({bounds})", null=null),
        f"{name}_low": _c("float", "lower end of its 95 % interval", null=True),
        f"{name}_high": _c("float", "upper end of its 95 % interval", null=True),
    }


def _shares(suffix: str, view: str) -> dict[str, Column]:
    docs = {
        "calibrated": "gold action emitted, passed",
        "masked": "gold action not emitted, passed (violation)",
        "slack": "gold action emitted, failed (execution failure)",
        "failed": "gold action not emitted, failed",
    }
    return {k: v for o, d in docs.items() for k, v in _rate(f"share_{o}{suffix}", f"{d}; {view} view").items()}


def _table(name: str, key: Sequence[str], extra: dict[str, Column]) -> Table:
    return Table(name, tuple(key), {**_keys(*key), **extra})


_QUESTION = _c(
    "str",
    "what the judge was asked. confirmed_write: was the write confirmed? nl_assertions: is the assertion met?",
    values=QUESTIONS,
)
_JUDGE = _c("str", "the judge's model, litellm's name")
_EFFECT = {
    "n": _c("int", "pairs: case-trials with a verdict in the baseline and under the perturbation"),
    "n_unpaired": _c("int", "case-trials planned under the perturbation, without a verdict there or in the baseline"),
    "n_left_out": _c("int", "case-trials of the baseline that the perturbation leaves out"),
    "baseline": _c("float", "the measure's rate in the pairs, without the perturbation (0 to 1)", null=True),
    "perturbed": _c("float", "its rate in the pairs, with the perturbation (0 to 1)", null=True),
    "delta": _c("float", "perturbed - baseline (-1 to 1); p_reason says why it is null", null=True),
    "delta_low": _c("float", "lower end of its 95 % interval, paired and clustered", null=True),
    "delta_high": _c("float", "upper end of its 95 % interval, paired and clustered", null=True),
    "gained": _c("int", "pairs that have it with the perturbation only; null without a delta", null=True),
    "lost": _c("int", "pairs that have it without the perturbation only; null without a delta", null=True),
    "test": _c(
        "str",
        "mcnemar_exact where each cluster holds one pair, else permutation_clustered; null without a test",
        null=True,
        values=("mcnemar_exact", "permutation_clustered"),
    ),
    "p": _c("float", "of no difference, two-sided, not corrected; null where p_reason says why", null=True),
    "p_reason": _c(
        "str",
        "why p is null. no_pairs; not_defined: no decisive turn, or no strict verdict; not_recorded: unknown of some "
        "pair; no_discordant_pairs: both cells agree in every pair, so that delta is 0 and nothing is left to test",
        null=True,
        values=("no_pairs", "not_defined", "not_recorded", "no_discordant_pairs"),
    ),
    "p_holm": _c("float", "p after Holm over the comparisons", null=True),
    "comparisons": _c(
        "int",
        "of the Holm family: all rows of this perturbation, measure and labeller that have a delta; those without "
        "discordant pairs count, with a p of 1",
    ),
}
_UNKNOWN = {"": "n", "_turn": "n_turns", "_decisive": "n", "_decisive_mutating": "n"}
_UNKNOWN_DOC = "not known from what was recorded; GAR in this view, and what needs it, is then null"
_OUTCOME_DOC = "calibrated, masked, slack or failed; null where the verdict or the emission is not known"

TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        Table(
            "cases",
            ("scenario", "revision", "case_id"),
            {
                **_keys("benchmark", "scenario", "revision", "case_id"),
                "cluster_id": _c("str", "scenario number; cases with one number share their initial state"),
                "draw": _c("int", "place in the seeded order by which limits choose cases, from 0"),
                "system": _c("str", "the benchmark's own system message", null=True),
                "turns": _c("json", "list (turns) of lists of OpenAI user messages"),
                "tools": _c("json", "list of {from_turn, tool}: OpenAI tools and the turn at which each arrives"),
                "initial_state": _c("json", "the simulators' initial configuration"),
                "gold": _c("json", "list (turns) of lists of the benchmark's reference calls"),
                "gold_actions": _c("json", "list of the scenario's gold action classes"),
                "decisive_turn": _c("int", "turn at which the gold action is due", null=True),
                "excluded_turns": _c("json", "list of turns left out of turn-level views"),
            },
        ),
        _table(
            "contexts",
            ("scenario", "perturbation", "case_id"),
            {
                "system": _c("str", "system message", null=True),
                "turns": _c("json", "as in cases, after the perturbation"),
                "tools": _c("json", "as in cases, after the perturbation"),
                "renamed": _c("json", "object: name of a tool as shown -> the benchmark's; empty without a rename"),
                "probe": _c(
                    "json",
                    "{probe, parameters, version}: the probe that acts on the run, and the version of its wording",
                    null=True,
                ),
                "left_out": _c("str", "why the perturbation cannot be applied to this case", null=True),
            },
        ),
        _table(
            "trajectories",
            EMISSION,
            {
                "content": _c("str", "the message's text", null=True),
                "reasoning": _c("str", "the message's reasoning text", null=True),
                "tool_calls": _c("json", "list of OpenAI tool calls as the model gave them"),
                "tool_results": _c(
                    "json", "list of {name, arguments, result, error, executed, state_changed, held_out}, one a call"
                ),
                "executed": _c("int", "number of calls that ran on the simulators"),
                "state_changed": _c("bool", "some call changed the state that the grader compares"),
                "held_out": _c("bool", "some call named a tool that is not in this turn's list"),
                "text_recorded": _c("bool", "false where a recorded run kept no text, so that content is unknown"),
                "finish_reason": _c("str", "as the endpoint gave it", null=True),
                "status": _c("str", "status of the emission", values=EMISSION_STATUSES),
                "retracted": _c(
                    "bool",
                    "taken back whole by a probe, out of history and grading; where a later one of several calls was "
                    "suspected, those before it stay, and tool_results holds them alone",
                ),
                "origin": _c(
                    "str",
                    "who wrote it; probe: the abstention of CRI's bypass, no emission of the model; benchmark: its "
                    "engine, tau2's fixed greeting",
                    values=("model", "probe", "benchmark"),
                ),
                "prompt_tokens": _c("int", "as the endpoint counted them", null=True),
                "completion_tokens": _c("int", "as the endpoint counted them", null=True),
                "latency": _c("float", "seconds of the model call", null=True),
                "cost": _c("float", "US dollars; null where the price is unknown", null=True),
                "cached": _c("bool", "answered from the journal"),
                "replayed": _c("bool", "answered from the journal of the cell's baseline, so not asked for here"),
                "sent": _c(
                    "json", "{body: what was sent, long values as checksums; dropped: parameters left out}", null=True
                ),
                "served_by": _c("str", "model and fingerprint as the endpoint named them", null=True),
                "raw": _c("json", "the assistant message as it came, or the error", null=True),
            },
        ),
        _table(
            "probe_events",
            EMISSION,
            {
                "probe": _c("str", "the probe"),
                "seam": _c("str", "a halt, or a call before it is executed", values=("halt", "call")),
                "triggered": _c("bool", "the probe acted"),
                "reason": _c(
                    "str",
                    "sri acts at a halt: no_call, or the emission's status; cri on what its detectors suspect: mc, ur. "
                    "Not acted: once_a_turn, asks (a gate), not_suspected, arrived (the held-out tool), once_a_case, "
                    "not_decisive (bypass)",
                ),
                "detector": _c(
                    "json",
                    "object: mc, the name that is no tool's; ur, {argument: value} found nowhere. Of the emission's "
                    "first suspected call; empty without one",
                ),
                "appended": _c("str", "system message after which the model was asked again", null=True),
            },
        ),
        _table(
            "turn_confidence",
            (*CASE, "turn"),
            {
                "confidence_raw": _c("str", "the confidence as written; null where none was", null=True),
                "confidence": _c(
                    "float", "the confidence (0 to 1); null where none could be read: it is missing", null=True
                ),
                "confidence_reason": _c("str", "why the confidence is missing", null=True, values=tuple(REASONS)),
                "reasked": _c("bool", "the form was broken, and was asked for once more"),
                "status": _c(
                    "str",
                    "of the answer to the question after the turn; broken_form: without the line that was asked for, "
                    "the re-ask included; an infrastructure error is in no rate, and asked again on the next run",
                    values=TURN_STATUSES,
                ),
                "prompt_tokens": _c("int", "sum over the question and the re-ask", null=True),
                "completion_tokens": _c("int", "sum over the two", null=True),
                "latency": _c("float", "seconds, sum over the two", null=True),
                "cost": _c("float", "US dollars, sum over the two; null where the price is unknown", null=True),
                "cached": _c("bool", "answered from the journal"),
            },
        ),
        _table(
            "actions",
            (*EMISSION, "labeller"),
            {
                "status": _c("str", "status of the emission", values=EMISSION_STATUSES),
                "action": _c(
                    "str", "the class of highest priority; null where there is only a status", null=True, values=ACTIONS
                ),
                "flags": _c("json", "list of all classes that matched"),
                "sub": _c(
                    "json",
                    "list of sub-labels by words: information, consent (of ASK), transfer (of REFUSE); "
                    "empty for labellers that have none",
                ),
                "leaked": _c("bool", "a tool call that stood in the text"),
                "cue": _c("str", "the rule or words that decided the class", null=True),
            },
        ),
        _table(
            "grades",
            CASE,
            {
                "status": _c("str", "how the case ended", values=CASE_STATUSES),
                "passed": _c("bool", "the benchmark's own verdict; null for an infrastructure error", null=True),
                "passed_strict": _c(
                    "bool",
                    "with the irrelevance check on gold-empty turns; null where the benchmark has none",
                    null=True,
                ),
                "reason": _c("str", "the grader's error type", null=True),
                "reason_strict": _c("str", "the error type under the strict verdict", null=True),
                "detail": _c("str", "the grader's error message", null=True),
                "turn_checks": _c("json", "list (turns) of {state, response, irrelevance}: true, false or null"),
                "differences": _c(
                    "json",
                    "list of {of, model, reference}: what failed BFCL's check, as text; a part of the state, or a "
                    "response of a reference call that the model's calls did not give (model is null); empty elsewhere",
                ),
                "gold_met": _c(
                    "json",
                    "{gold action: true, false, or null where it is not known}, where the benchmark has rules of its "
                    "own for what counts as the gold action: tau2's (REFUSE: no write was executed; TOOL_CALL: no "
                    "reference action failed); there a gold action that is not named was met by any emission with its "
                    "flag. Null where the emissions' classes decide",
                    null=True,
                ),
                "reward": _c("float", "the reward that a recorded run was given", null=True),
                "db_match": _c(
                    "bool",
                    "the database ends as the reference actions leave it, found here by a replay; null without one",
                    null=True,
                ),
                "recorded_passed": _c("bool", "the verdict that the publisher of a recorded run gives", null=True),
                "regrade_differs": _c(
                    "bool",
                    "what is found here differs from what was recorded: the verdict, or the database's check where "
                    "that is what is replayed; null where either is",
                    null=True,
                ),
                "user_faults": _c(
                    "json",
                    "list of {fault, place, words}: what the simulated user did against its scenario or its "
                    "guidelines, found by rule; the message's place in the conversation, and what it said. Null where "
                    "the user's words are fixed, or its scenario is not known",
                    null=True,
                ),
            },
        ),
        _table(
            "user_messages",
            (*CASE, "place"),
            {
                "turn": _c("int", "user turn, from 0"),
                "role": _c("str", "system, user, or tool (the answer to a call of the user)"),
                "content": _c("str", "its text", null=True),
                "tool_calls": _c("json", "list of OpenAI tool calls that the user made"),
                "tool_call_id": _c("str", "of a tool's answer: the user's call", null=True),
            },
        ),
        _table(
            "writes",
            (*EMISSION, "call"),
            {
                "cluster_id": _c("str", "as in cases"),
                "place": _c("int", "the message's place in the conversation, from 0"),
                "tool": _c("str", "the tool that changes the database"),
                "arguments": _c("json", "object, as the model gave it"),
                "to_be_confirmed": _c("bool", "the policy wants the user's yes before it"),
                "executed": _c("bool", "false where the tool rejected the call, which then changed nothing"),
                "proposed": _c("bool", "the agent put this action, with its details, to the user before the call"),
                "agreed": _c("bool", "the user then agreed to this action, before the call"),
                "confirmed": _c("bool", "proposed and agreed"),
                "deciding_place": _c(
                    "int", "place of the message that decided it: the user's agreement, else the proposal", null=True
                ),
                "deciding_text": _c("str", "that message's text", null=True),
                "why": _c("str", "what decided it, in words"),
                "passed": _c("bool", "the run's verdict, as in grades; null without one", null=True),
            },
        ),
        Table(
            "judgements",
            (*EMISSION, "call", "assertion", "question", "judge"),
            {
                **_keys(*CASE),
                **{
                    name: replace(_KEYS[name], doc=f"{_KEYS[name].doc}; of the write, null for an assertion", null=True)
                    for name in ("turn", "step", "attempt", "call")
                },
                "assertion": _c(
                    "int",
                    "place among the task's natural-language assertions, from 0; null for a write",
                    null=True,
                ),
                "question": _QUESTION,
                "judge": _JUDGE,
                "proposed": _c("bool", "as in writes, by the judge; null where it did not decide", null=True),
                "agreed": _c("bool", "as in writes, by the judge", null=True),
                "verdict": _c(
                    "bool",
                    "a write: confirmed, that is proposed and agreed; an assertion: met; null where it did not decide",
                    null=True,
                ),
                "deciding_place": _c("int", "as in writes, by the judge", null=True),
                "reason": _c("str", "the judge's reason in its words, or why there is no verdict", null=True),
                "status": _c(
                    "str",
                    "undecided: neither of two answers could be read; infra_error: asked again on the next run",
                    values=("decided", "undecided", "context_exceeded", "infra_error"),
                ),
                "prompt_tokens": _c(
                    "int",
                    "of all its calls for this write, as the endpoint counted them; the assertions of a run are asked "
                    "together, and what that took stands with the first, 0 with the others",
                    null=True,
                ),
                "completion_tokens": _c("int", "of the same calls", null=True),
                "latency": _c("float", "seconds of the same calls", null=True),
                "cost": _c("float", "US dollars of the same calls; null where the price is unknown", null=True),
                "cached": _c("bool", "answered from the journal throughout"),
            },
        ),
        Table(
            "judge_agreement",
            (*CELL, "judge", "question"),
            {
                **_keys(*CELL),
                "judge": _JUDGE,
                "question": _QUESTION,
                "n": _c("int", "writes that need the user's yes and that the judge decided: the denominator"),
                "n_undecided": _c("int", "such writes on which it gave no verdict, though it was asked"),
                "n_missing": _c("int", "such writes without an answer of the judge (infrastructure errors, no rows)"),
                "n_rule": _c("int", "of n, confirmed by the rule"),
                "n_judge": _c("int", "of n, confirmed by the judge"),
                **_rate("agree", "share of n on which rule and judge say the same"),
                **_rate(
                    "kappa", "Cohen's, of rule and judge; null where either says one thing throughout", _DIFFERENCE
                ),
            },
        ),
        _table(
            "write_rates",
            (*CELL, "writes", "reader"),
            {
                "family": _KEYS["family"],
                "n": _c(
                    "int",
                    "write calls that need the user's yes, in runs with a verdict, that the reader decided: the "
                    "denominator of all rates",
                ),
                "n_missing": _c("int", "such calls in runs without a verdict, or that the judge did not decide"),
                **_rate("confirmed", "share of the writes that the user had agreed to: their Gold Action Recall"),
                **_rate("acc", "share of the same writes whose run passed"),
                **_rate("gap", "acc - confirmed, paired and clustered", _DIFFERENCE),
                **_shares("", "each write, its run's verdict"),
            },
        ),
        Table(
            "nl_assertions",
            (*CELL, "judge"),
            {
                **_keys(*CELL),
                "judge": _JUDGE,
                "family": _KEYS["family"],
                "n": _c(
                    "int",
                    "case-trials with a verdict whose natural-language assertions the judge decided: the denominator "
                    "of all rates but met",
                ),
                "n_undecided": _c("int", "such case-trials on which it gave no verdict, though it was asked"),
                "n_missing": _c(
                    "int",
                    "case-trials planned with assertions, but without a verdict, or without an answer of the judge",
                ),
                "n_assertions": _c("int", "assertions of the n: the denominator of met"),
                **_rate("all_met", "share of the case-trials with all assertions met"),
                **_rate("met", "share of the assertions that are met"),
                **_rate("acc", "share of the same case-trials that passed, assertions being no part of the reward"),
                **_rate("passed_unmet", "share that passed although some assertion is not met"),
                **_rate("failed_met", "share that failed although all assertions are met"),
            },
        ),
        _table(
            "pass_hat",
            (*CELL, "k"),
            {
                "family": _KEYS["family"],
                "n": _c("int", "cases with a verdict in some trial"),
                "trials_min": _c("int", "the fewest trials with a verdict that one of them has: the largest k"),
                **_rate(
                    "pass_hat",
                    "pass^k: the chance that k trials of a case, drawn without replacement, all pass; mean over cases",
                    null=False,
                ),
            },
        ),
        _table(
            "user_faults",
            (*CELL, "gold_action", "labeller"),
            {
                "family": _KEYS["family"],
                "n": _c("int", "as in cells: case-trials with a verdict"),
                "n_missing": _c("int", "as in cells"),
                "n_unread": _c("int", "of n, of no known scenario, so that nothing is known of the user's faults"),
                "n_with_fault": _c("int", "of n, in which the simulated user has some fault"),
                **{f"n_{name}": _c("int", f"of n, in which it has the fault {name}") for name in USER_FAULTS},
                **_rate("acc", "as in cells: over all n"),
                **_rate("acc_without", "the same over n - n_with_fault; null where none is left"),
                **_rate("acc_difference", "acc_without - acc, both resampled together", _DIFFERENCE),
                **_rate("gar_case_any", "as in cells: over all n"),
                **_rate("gar_case_any_without", "the same over n - n_with_fault"),
                **_rate(
                    "gar_case_any_difference", "gar_case_any_without - gar_case_any, resampled together", _DIFFERENCE
                ),
            },
        ),
        _table(
            "validity",
            ("labeller", "half", "label"),
            {
                "n": _c("int", "items"),
                "n_said": _c("int", "items to which the labeller gives the label; null for macro", null=True),
                "n_right": _c("int", "items that have it by the readers; null for macro", null=True),
                **_rate("precision", "n said and right / n said"),
                **_rate("recall", "n said and right / n right"),
                **_rate("f1", "harmonic mean of both; macro: mean of the four classes"),
                **_rate("kappa", "Cohen's, of the labeller with the readers' settled answer", _DIFFERENCE),
                "kappa_readers": _c(
                    "float", "Cohen's kappa of the two readers with each other, over both halves", null=True
                ),
            },
        ),
        Table(
            "corrections",
            ("file", "line"),
            {
                "file": _c("str", "the file of corrections, as configured"),
                "line": _c("int", "line in it, from 1"),
                **_keys(*EMISSION),
                "labeller": _c("str", "whose label was looked at"),
                "was": _c("str", "the class that it gave; null where it gave none", null=True, values=ACTIONS),
                "action": _c("str", "the message's class by the reader", values=ACTIONS),
                "note": _c("str", "the reader's word on it", null=True),
                "by": _c("str", "the reader"),
                "time": _c("str", "when it was marked, ISO 8601"),
                "labeller_version": _c("str", "of the labelling rules then", null=True),
                "status": _c(
                    "str",
                    "in force are applied (the label is another), upheld (the reader says what the labeller says) and "
                    "met (the labeller has come to say what the reader says); why says of the others why they are not",
                    values=(
                        *CORRECTIONS_IN_FORCE,
                        *("stale", "not_there", "no_class", "call", "superseded", "contradicted"),
                    ),
                ),
                "why": _c("str", "why it is not in force", null=True),
            },
        ),
        _table(
            "correction_agreement",
            ("labeller", "label"),
            {
                "n": _c(
                    "int",
                    "messages with a correction in force: the denominator of agree. Readers mark what strikes them, "
                    "mostly errors, so this is no random sample: no figure here is the labeller's on all messages",
                ),
                "n_said": _c("int", "of n, those to which the labeller gives the class; null for all", null=True),
                "n_right": _c("int", "of n, those that have it by the readers; null for all", null=True),
                **_rate("agree", "share of n on which labeller and readers say the same, of this class or of all"),
                **_rate("precision", "n said and right / n said, of the marked messages; null for all"),
                **_rate("recall", "n said and right / n right, of the marked messages; null for all"),
                **_rate(
                    "kappa",
                    "Cohen's, this class against the others; null for all, and where either says one thing throughout",
                    _DIFFERENCE,
                ),
            },
        ),
        _table(
            "outcomes",
            (*CASE, "gold_action", "labeller"),
            {
                "cluster_id": _c("str", "as in cases"),
                "status": _c(
                    "str", "how the case ended; missing where it has no rows", values=(*CASE_STATUSES, "missing")
                ),
                "emitted_case_any": _c(
                    "bool",
                    "some emission had the gold class, or the benchmark's own rule (gold_met in grades) finds the gold "
                    "action; null where what decides it was not kept",
                    null=True,
                ),
                "emitted_decisive": _c("bool", "the decisive turn had the gold class", null=True),
                "emitted_decisive_mutating": _c("bool", "the same, counting only calls that change state", null=True),
                "passed": _c("bool", "as in grades", null=True),
                "passed_strict": _c("bool", "as in grades", null=True),
                "reason": _c("str", "as in grades", null=True),
                "outcome_case_any": _c("str", _OUTCOME_DOC, null=True, values=OUTCOMES),
                "outcome_decisive": _c("str", _OUTCOME_DOC, null=True, values=OUTCOMES),
            },
        ),
        _table(
            "turns",
            (*CELL, "labeller", "turn"),
            {
                "n": _c("int", "turns counted (excluded turns and cases without a verdict are not)"),
                "n_unknown": _c("int", "of n, turns whose class was not recorded"),
                **_rate("recall", "share of turns whose class is the turn's gold; null with n_unknown"),
            },
        ),
        _table(
            "confusion",
            (*CELL, "labeller", "gold_action", "action"),
            {
                "n": _c("int", "turns with this gold and this class"),
                **_rate("share", "share of the gold's turns"),
            },
        ),
        Table(
            "cells",
            (*CELL, "gold_action", "labeller"),
            {
                **_keys("model", "family", "benchmark", "scenario", "perturbation", "gold_action", "labeller"),
                "n": _c("int", "case-trials with a verdict: the denominator of the case-level rates"),
                "n_missing": _c("int", "case-trials planned but without a verdict (infrastructure errors, no rows)"),
                "n_context_exceeded": _c("int", "of n, ended by a context overflow (counted as failed)"),
                "n_step_limit": _c("int", "of n, ended by the step limit"),
                "n_turns": _c("int", "turns counted in gar_turn"),
                "n_undecodable": _c("int", "emissions without a class (empty, truncated, malformed)"),
                **{f"n_unknown{view}": _c("int", f"of {n}, {_UNKNOWN_DOC}") for view, n in _UNKNOWN.items()},
                **_rate("gar_case_any", "Gold Action Recall, case_any view (tau2, tau1: by their rules, see gold_met)"),
                **_rate("gar_turn", "Gold Action Recall, turn view"),
                **_rate("gar_decisive", "Gold Action Recall, decisive view; null without a decisive turn"),
                **_rate("gar_decisive_mutating", "the same, counting only calls that change state"),
                **_rate("acc", "pass rate of the benchmark's own grader"),
                **_rate("acc_strict", "pass rate with the irrelevance check; null where the benchmark has none"),
                **_shares("", "case_any"),
                **_shares("_decisive", "decisive"),
                **_rate("gap", "acc - gar_case_any, paired and clustered; negative is slack", _DIFFERENCE),
                **_rate("gap_decisive", "acc - gar_decisive", _DIFFERENCE),
                "violation": _c("bool", "acc > gar_case_any", null=True),
                "violation_decisive": _c("bool", "acc > gar_decisive", null=True),
            },
        ),
        _table(
            "slack_reasons",
            (*CELL, "gold_action", "labeller", "reason"),
            {
                "n": _c(
                    "int",
                    "execution failures (case_any view) with this reason of the grader; with the reason "
                    "not_recorded, failed cases of which is not known whether the gold action was emitted",
                ),
                **_rate("share", "share of the cell's execution failures; null where some cases are not_recorded"),
            },
        ),
        _table(
            "families",
            ("family", "scenario", "perturbation", "gold_action", "labeller"),
            {
                "n_models": _c("int", "models of the family in this scenario"),
                "n": _c("int", "case-trials with a verdict"),
                **_rate("acc", "mean over its models"),
                **_rate("gar_case_any", "mean over its models; null where one has none"),
                **_rate("share_masked", "mean over its models, case_any view; null where one has none"),
                "rank_acc": _c("float", "rank by acc within the scenario, 1 best, ties averaged", null=True),
                "rank_gar": _c("float", "rank by gar_case_any within the scenario", null=True),
            },
        ),
        _table(
            "effects",
            (*CELL, "gold_action", "labeller", "measure"),
            {"family": _KEYS["family"], **_EFFECT},
        ),
        _table(
            "family_effects",
            ("family", "scenario", "perturbation", "gold_action", "labeller", "measure"),
            {"n_models": _c("int", "models of the family that have pairs: the mean is over them"), **_EFFECT},
        ),
        _table(
            "heterogeneity",
            ("scenario", "perturbation", "gold_action", "labeller", "measure"),
            {
                "n_families": _c("int", "families that have a delta"),
                "lowest": _c("float", "the lowest delta of a family (-1 to 1)", null=True),
                "lowest_family": _c("str", "whose it is; the first by name of several", null=True),
                "highest": _c("float", "the highest delta of a family (-1 to 1)", null=True),
                "highest_family": _c("str", "whose it is; the first by name of several", null=True),
                "range": _c("float", "highest - lowest (0 to 2)", null=True),
                "sign_change": _c(
                    "bool",
                    "some family's interval lies above 0 and another's below; null with fewer than two families",
                    null=True,
                ),
            },
        ),
        _table(
            "probe_rates",
            CELL,
            {
                "family": _KEYS["family"],
                "probe": _c("str", "the probe that acts here"),
                "n": _c("int", "case-trials with a verdict"),
                "n_missing": _c("int", "case-trials planned but without a verdict, in none of the rates"),
                "n_turns": _c("int", "turns that the n reached"),
                "n_events": _c("int", "decisions of the probe in these, the suppressed ones too"),
                "n_triggers": _c("int", "of n_events, those at which it acted"),
                **_rate("triggered_turns", "share of n_turns in which it acted"),
                **_rate("triggered_cases", "share of n in which it acted"),
                "n_decisive": _c("int", "of n, case-trials with a decisive turn, reached or not"),
                **_rate(
                    "precision",
                    "share of the triggers that fell on the decisive turn; null without any trigger or decisive turn",
                ),
                **_rate("recall", "share of n_decisive in which it acted at the decisive turn"),
                "n_suspected": _c("int", "of n_events, halts and suspected calls, acted on or not"),
                **_rate("detector_precision", "share of n_suspected that fell on the decisive turn"),
                **_rate("detector_recall", "share of n_decisive with a suspicion at the decisive turn"),
                "calls": _c("int", "answers of the model in the cell, runs without a verdict included"),
                "fresh": _c("int", "of these, asked for: not answered from the baseline's journal"),
                "replayed_share": _c("float", "1 - fresh / calls (0 to 1)", null=True),
            },
        ),
        Table(
            "turn_calibration",
            (*CELL, "gold_action", "labeller", "question", "action", "outcome"),
            {
                **_keys(*CELL, "gold_action", "labeller"),
                "question": _c(
                    "str",
                    "what the confidence is held against. turn_gold: the turn had the gold class (a row a turn of the "
                    "turn view, its own confidence); case_passed: the case passed (a row a case, the confidence after "
                    "the last turn that the model ended)",
                    values=("turn_gold", "case_passed"),
                ),
                "action": _c(
                    "str",
                    "the class of the turn whose confidence it is; all: of any class",
                    values=("all", *ACTIONS, "NONE", "NOT_RECORDED"),
                ),
                "outcome": _c("str", "the case's outcome (case_any view); all: of any", values=("all", *OUTCOMES)),
                "n": _c("int", "turns or cases with a verdict; those without a confidence are among them"),
                "n_missing": _c("int", "turns or cases without one, or whose question the endpoint did not answer"),
                "n_asked": _c("int", "of n, after which the model was asked: the others were never ended"),
                "n_confident": _c("int", "of n, with a confidence that could be read"),
                "n_wrong": _c("int", "of n_confident, wrong: what mcip is over"),
                "n_clusters": _c("int", "scenario numbers among the n, which the intervals resample"),
                **{
                    column: spec
                    for name, (_, doc) in TURN_METRICS.items()
                    for column, spec in {
                        **_rate(name, doc, _DIFFERENCE if name == "ece_debiased" else _RATE),
                        f"{name}_reason": _c(
                            "str",
                            "why it is null",
                            null=True,
                            values=("no_answers", "no_confidence", "no_errors", "no_right_answers"),
                        ),
                    }.items()
                },
                **{
                    name: _c("float", f"{doc} of the n_confident confidences (0 to 1)", null=True)
                    for name, (_, doc) in TURN_QUANTILES.items()
                },
            },
        ),
        Table(
            "reproduce",
            ("source", "model", "scenario", "perturbation", "gold_action", "measure"),
            {
                "source": _c("str", "where the figure was published"),
                "model": _c("str", "the model's name as published"),
                "scenario": _c("str", "as in cells; bfcl is the mean over its four scenarios"),
                "perturbation": _KEYS["perturbation"],
                "gold_action": _c(
                    "str", "as in cells; null where the figure is not of one gold action", null=True, values=ACTIONS
                ),
                "measure": _c(
                    "str",
                    "gar_case_any, acc: as in cells; writes_confirmed, writes_acc, writes_gap: confirmed, acc and gap "
                    "in write_rates, of all calls, read by the rule; delta_...: delta in effects",
                    values=(
                        "gar_case_any",
                        "acc",
                        "writes_confirmed",
                        "writes_acc",
                        "writes_gap",
                        "delta_acc",
                        "delta_gar_case_any",
                    ),
                ),
                "published": _c("float", "the published figure, as a rate (gap and deltas: -1 to 1)"),
                **_rate("ours", "the same figure of this run", "gap and deltas: -1 to 1"),
                "difference": _c("float", "ours - published", null=True),
                "n": _c("int", "what ours is over: case-trials with a verdict, or writes", null=True),
                "inside": _c("bool", "the published figure lies in the interval of ours", null=True),
                "panel_model": _c("str", "the model's id in the configuration", null=True),
                "labeller": _c("str", "of gar_case_any; null where a figure rests on no labels", null=True),
                "why": _c("str", "why there is no figure of ours; null where there is one", null=True),
                "note": _c("str", "what the published figure holds of, or how it was stated", null=True),
            },
        ),
        *CONFIDENCE_TABLES,
        *COMPARISON_TABLES,
        *TRAINING_TABLES,
        *REWARD_TABLES,
    )
}


def dumps(value: Any) -> str:
    """Canonical JSON for a `json` column: stable, compact, valid UTF-8 (lone surrogates are escaped)."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return text


def text_or_json(value: Any) -> str | None:
    """A message's text for a `str` column: lone surrogates become ?, other values become JSON."""
    if value is None:
        return None
    return str(in_utf8(value if isinstance(value, str) else dumps(value)))


def frame(name: str, rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Rows as a DataFrame with the table's columns, in order (an empty one has them too)."""
    given, columns = list(rows), list(TABLES[name].columns)
    try:
        return pd.DataFrame(given, columns=columns)
    except UnicodeEncodeError:  # names, reasons, ids out of a recording or an answer
        texts = [{key: in_utf8(cell) if isinstance(cell, str) else cell for key, cell in row.items()} for row in given]
        return pd.DataFrame(texts, columns=columns)


def records(data: pd.DataFrame) -> list[dict[str, Any]]:
    """A table's rows as dicts of Python values, null as None."""
    rows = data.astype(object).where(data.notna(), None).to_dict("records")
    return [{str(name): value for name, value in row.items()} for row in rows]


def check(name: str, data: pd.DataFrame) -> pa.Table:
    """The rows as an Arrow table, or a TableError that says which column or row breaks the contract."""
    table = TABLES[name]
    unknown, absent = set(data.columns) - set(table.columns), set(table.columns) - set(data.columns)
    if unknown or absent:
        raise TableError(f"table {name}: unknown columns {sorted(unknown)}, absent columns {sorted(absent)}")
    data = data[list(table.columns)]
    doubled = data.duplicated(list(table.key))
    if doubled.any():
        key = data.loc[doubled, list(table.key)].iloc[0].to_dict()
        raise TableError(f"table {name}: {int(doubled.sum())} rows share a key, e.g. {key}")
    for column, spec in table.columns.items():
        if not spec.null and data[column].isna().any():
            raise TableError(f"table {name}: column {column} is null in {int(data[column].isna().sum())} rows")
        if spec.values is not None:
            odd = set(data[column].dropna().unique()) - set(spec.values)
            if odd:
                raise TableError(f"table {name}: column {column} holds {sorted(odd)}, allowed {list(spec.values)}")
    try:
        return pa.Table.from_pandas(data, schema=table.schema, preserve_index=False)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise TableError(f"table {name}: {error}") from error


def write(name: str, data: pd.DataFrame, path: str | Path, metadata: Mapping[str, Any] | None = None) -> None:
    """Check and write a table whole: to a temporary name, then renamed.

    Args:
        name: the table's name in `TABLES`.
        data: its rows, one per key.
        path: the Parquet file.
        metadata: what goes into the file's Arrow metadata under the key `toolcal`, as JSON, beside toolcal's version.

    Raises:
        TableError: where the rows break the table's contract; nothing is written.
    """
    arrow = check(name, data)
    existing = arrow.schema.metadata or {}
    about = {"toolcal": __version__, **(metadata or {})}
    arrow = arrow.replace_schema_metadata({**existing, b"toolcal": json.dumps(about).encode()})
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        pq.write_table(arrow, temporary, compression="zstd")
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def read(name: str, *paths: str | Path, columns: Sequence[str] | None = None) -> pd.DataFrame:
    """One or more files of one table as a DataFrame (nullable dtypes, so null stays null).

    Raises:
        TableError: where a file is not of this table.
    """
    parts = []
    for path in paths:
        schema = pq.read_schema(path)
        if set(schema.names) != set(TABLES[name].columns):
            raise TableError(f"{path}: not a table of kind {name} of this version; remove it and run again")
        parts.append(pq.read_table(path, columns=list(columns) if columns else None, partitioning=None))
    if not parts:
        return frame(name, [])
    data: pd.DataFrame = pa.concat_tables(parts).to_pandas(types_mapper=_NULLABLE.get)
    return data


def metadata(path: str | Path) -> dict[str, Any]:
    """What `write` put into the file's metadata."""
    found: dict[str, Any] = json.loads((pq.read_schema(path).metadata or {}).get(b"toolcal", b"{}"))
    return found


_NULLABLE = {pa.bool_(): pd.BooleanDtype(), pa.int64(): pd.Int64Dtype()}
