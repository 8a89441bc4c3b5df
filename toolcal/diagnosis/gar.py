"""Gold Action Recall: what each turn did, and whether the gold action was there (method A3).

What a recorded run did not keep is unknown, and may have been anything, a call that leaked into the text too. It is
never counted as absent: where something known does not decide, the class and what needs it are null.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import pandas as pd

from toolcal.diagnosis.plan import first
from toolcal.tables import ACTIONS, CASE, CELL

NONE = "NONE"
"""The class of a turn without any: no emission had a class, or the run ended before it."""

NOT_RECORDED = "NOT_RECORDED"
"""The class of a turn that may have had a higher one than is known."""

CLASSES = (*ACTIONS, NONE, NOT_RECORDED)
"""Classes of a turn, highest priority first; a class is kept as its place in here, so that a minimum decides."""

_CALL, _REFUSE, _NONE, _NOT_RECORDED = (CLASSES.index(name) for name in ("TOOL_CALL", "REFUSE", NONE, NOT_RECORDED))

_STEP = ["run", "turn", "step", "attempt"]


def labelled_emissions(
    trajectories: pd.DataFrame, actions: pd.DataFrame, runs: pd.DataFrame, labellers: Sequence[str]
) -> pd.DataFrame:
    """The model's own, standing emissions in runs with a verdict, with their classes.

    What a probe took back, or a probe or the benchmark wrote itself, is left out.

    Args:
        trajectories: table `trajectories`.
        actions: table `actions`; labellers that are not asked for are ignored.
        runs: from `plan.graded_runs`.
        labellers: the labellers of the diagnosis.

    Returns:
        One row per emission x labeller: `run` (index of `runs`), `turn`, `labeller`, `status`, `rank` (place of the
        class in `CLASSES`) and `rank_mutating` (the same, where calls that change no state are none), with the rank of
        `NONE` where the class is unknown; `flags` (JSON), and `dropped` where its text may have had more; `unknown`,
        `unknown_mutating` and `lost` (it stands for a whole run of which only the error was kept).

    Raises:
        ValueError: where an emission has no label, a label no emission, or a graded run no emission at all.
    """
    facts = ["status", "state_changed", "text_recorded", "retracted", "origin"]
    told = _in_plan(trajectories, ["turn", "step", "attempt", *facts], runs)
    silent = ~runs.index[runs["verdict"]].isin(told["run"])
    if silent.any():
        run = first(runs[runs["verdict"]].loc[silent, list(CASE)])
        raise ValueError(f"{silent.sum()} runs were graded, but have no trajectory, e.g. {run}")
    labels = _in_plan(
        actions[actions["labeller"].isin(labellers)], ["turn", "step", "attempt", "labeller", "action", "flags"], runs
    )
    asked = pd.DataFrame({"labeller": pd.Series(list(labellers), dtype="str")})
    joined = told.merge(asked, how="cross").merge(
        labels, on=[*_STEP, "labeller"], how="left", validate="one_to_one", indicator="found"
    )
    own = joined["origin"] == "model"
    bare = (joined["found"] == "left_only") & own
    if bare.any():
        named = joined.loc[bare, ["run", "turn", "step", "labeller"]].join(runs[list(CASE)], on="run")
        raise ValueError(f"{bare.sum()} emissions have no label, e.g. {first(named.drop(columns='run'))}")
    if strange := len(labels) - int((joined["found"] == "both").sum()):
        raise ValueError(f"{strange} labels belong to no emission: label again")
    standing = ~joined["retracted"].astype(bool) & own
    columns = ["run", "turn", "labeller", "status", "rank", "rank_mutating", "flags", "dropped"]
    return _ranked(joined[standing])[[*columns, "unknown", "unknown_mutating", "lost"]]


def _in_plan(rows: pd.DataFrame, columns: Sequence[str], runs: pd.DataFrame) -> pd.DataFrame:
    """The rows of runs with a verdict, with their `run` in place of the case's key."""
    wanted = runs.loc[runs["verdict"], list(CASE)]
    types = {key: wanted[key].dtype for key in CASE}
    chosen = rows[[*CASE, *columns]].astype(types | dict.fromkeys({"turn", "step", "attempt"} & {*columns}, "int64"))
    return chosen.merge(wanted.rename_axis("run").reset_index(), on=list(CASE))[["run", *columns]]


def _ranked(emissions: pd.DataFrame) -> pd.DataFrame:
    place = {action: rank for rank, action in enumerate(CLASSES)}
    rank = emissions["action"].astype("object").map(place).fillna(place[NONE]).astype("int64")
    flags = emissions["flags"].astype("object")
    # Few distinct sets of flags occur: decode each once.
    second = {
        text: min((place[flag] for flag in json.loads(text) if flag != "TOOL_CALL"), default=place[NONE])
        for text in flags.unique()
    }
    idle = (rank == _CALL) & ~emissions["state_changed"].astype(bool)
    dropped = ~emissions["text_recorded"].astype(bool)
    lost = dropped & (emissions["status"] == "context_exceeded")
    unknown = lost | (emissions["status"] == "not_recorded")
    return emissions.assign(
        rank=rank,
        rank_mutating=rank.mask(idle, flags.map(second)).astype("int64"),
        dropped=dropped,
        unknown=unknown,
        unknown_mutating=unknown | (idle & dropped),
        lost=lost,
    )


def turn_classes(emissions: pd.DataFrame) -> pd.DataFrame:
    """The class of each turn that was reached: the one of highest priority among its emissions.

    An unknown emission leaves it open, unless nothing could outrank what is known: a call; and of `rank_mutating` a
    refusal too, for what an unknown emission did to the state is known.

    Args:
        emissions: from `labelled_emissions`.

    Returns:
        One row per run x labeller x turn: `run`, `labeller`, `turn`, `rank`, `rank_mutating`.
    """
    turns = emissions.groupby(["run", "labeller", "turn"], as_index=False)
    known = turns[["rank", "rank_mutating"]].min()
    unknown = turns[["unknown", "unknown_mutating"]].any()
    for suffix, highest in (("", _CALL), ("_mutating", _REFUSE)):
        rank = known[f"rank{suffix}"]
        known[f"rank{suffix}"] = rank.mask(unknown[f"unknown{suffix}"] & (rank > highest), _NOT_RECORDED)
    return known


def emitted(
    runs: pd.DataFrame, emissions: pd.DataFrame, classes: pd.DataFrame, labellers: Sequence[str]
) -> pd.DataFrame:
    """Whether each planned run showed its gold action, in each case-level view.

    Where the benchmark has rules of its own (`gold_met`), they stand in place of the case_any view of method A3.

    Args:
        runs: from `plan.graded_runs`.
        emissions: from `labelled_emissions`.
        classes: from `turn_classes`.
        labellers: the labellers of the diagnosis.

    Returns:
        One row per planned run x gold action x labeller: `run`, `gold_action`, `labeller`, `emitted_case_any`,
        `emitted_decisive`, `emitted_decisive_mutating` (boolean; null without a verdict and where it is unknown, the
        latter two also without a decisive turn).
    """
    rows = _by_gold(runs, ["verdict", "decisive_turn", "gold_met"], labellers)
    gold = rows["gold_action"].map({action: rank for rank, action in enumerate(CLASSES)}).astype("int64")
    shown = pd.MultiIndex.from_frame(emissions[["run", "labeller", "rank"]].drop_duplicates())
    rows["emitted_case_any"] = pd.MultiIndex.from_frame(rows[["run", "labeller"]].assign(rank=gold)).isin(shown)
    turn = rows["decisive_turn"].fillna(-1).astype("int64")
    decisive = _of_turns(rows[["run", "labeller"]].assign(turn=turn), emissions, classes)
    rows["emitted_decisive"] = (decisive["rank"] == gold).to_numpy()
    rows["emitted_decisive_mutating"] = (decisive["rank_mutating"] == gold).to_numpy()
    views = ["emitted_case_any", "emitted_decisive", "emitted_decisive_mutating"]
    rows = rows.astype(dict.fromkeys(views, "boolean"))
    open_runs = emissions.loc[emissions["unknown"], "run"]
    rows.loc[rows["run"].isin(open_runs) & ~rows["emitted_case_any"], "emitted_case_any"] = pd.NA
    rows.loc[(decisive["rank"] == _NOT_RECORDED).to_numpy(), "emitted_decisive"] = pd.NA
    ruled = rows["gold_met"].notna()
    rows.loc[ruled, "emitted_case_any"] = _by_rule(rows[ruled], emissions)
    # That no call changed the state is known, unless the whole run was lost.
    lost = rows["run"].isin(emissions.loc[emissions["lost"], "run"])
    open_turns = (decisive["rank_mutating"] == _NOT_RECORDED).to_numpy() & ((gold != _CALL) | lost)
    rows.loc[open_turns, "emitted_decisive_mutating"] = pd.NA
    rows.loc[~rows["verdict"], views] = pd.NA
    rows.loc[rows["decisive_turn"].isna(), views[1:]] = pd.NA
    return rows[["run", "gold_action", "labeller", *views]]


def _by_rule(rows: pd.DataFrame, emissions: pd.DataFrame) -> pd.Series[bool]:
    """Whether the gold action was there by the benchmark's rules (method A7).

    What they do not name is told by the emissions, read multi-label: any with the action's flag, beside whatever else.
    """
    asked = emissions[emissions["run"].isin(rows["run"])]
    texts = asked.groupby(["run", "labeller"])["flags"].agg(set).to_dict()
    dropped = set(asked.loc[asked["dropped"], "run"])
    found: list[object] = []
    for run, labeller, gold, text in zip(
        *(rows[c] for c in ("run", "labeller", "gold_action", "gold_met")), strict=True
    ):
        met = json.loads(text)
        if gold in met:
            found.append(pd.NA if met[gold] is None else met[gold])
        else:
            shown = any(gold in json.loads(flags) for flags in texts.get((run, labeller), ()))
            found.append(pd.NA if not shown and run in dropped else shown)
    return pd.Series(found, index=rows.index, dtype="boolean")


def scored_turns(
    runs: pd.DataFrame, emissions: pd.DataFrame, classes: pd.DataFrame, labellers: Sequence[str]
) -> pd.DataFrame:
    """Every turn that counts, reached or not, with its gold and its class.

    The gold is TOOL_CALL, but at the decisive turn the scenario's gold action. Excluded turns and runs without a
    verdict are left out; a turn that the run never reached has the class `NONE`.

    Args:
        runs: from `plan.graded_runs`.
        emissions: from `labelled_emissions`.
        classes: from `turn_classes`.
        labellers: the labellers of the diagnosis.

    Returns:
        One row per run x turn x gold action of the case x labeller: `run`, the columns of `tables.CELL`, `cluster_id`,
        `gold_action` (the scenario's), `labeller`, `turn`, `gold` and `action` (the turn's), `hit` (boolean; null where
        the class is `NOT_RECORDED`).
    """
    kept = runs[runs["verdict"]].explode("counted_turns").dropna(subset="counted_turns")
    kept = kept.rename(columns={"counted_turns": "turn"}).astype({"turn": "int64"})
    turns = _of_turns(_by_gold(kept, [*CELL, "cluster_id", "decisive_turn", "turn"], labellers), emissions, classes)
    decisive = (turns["turn"] == turns["decisive_turn"]).fillna(False).astype(bool)
    turns["gold"] = turns["gold_action"].where(decisive, "TOOL_CALL")
    turns["action"] = pd.Series(np.array(CLASSES)[turns["rank"]], index=turns.index, dtype="str")
    turns["hit"] = (turns["gold"] == turns["action"]).astype("boolean").mask(turns["rank"] == _NOT_RECORDED)
    return turns[["run", *CELL, "cluster_id", "gold_action", "labeller", "turn", "gold", "action", "hit"]]


def _of_turns(rows: pd.DataFrame, emissions: pd.DataFrame, classes: pd.DataFrame) -> pd.DataFrame:
    """Rows of run x labeller x turn, in their order, with the turn's ranks; one never reached has those of `NONE`.

    Of a run that was lost, it is not known which turns it reached.
    """
    found = rows.merge(classes, on=["run", "labeller", "turn"], how="left")
    lost = found["run"].isin(emissions.loc[emissions["lost"], "run"])
    for rank in ("rank", "rank_mutating"):
        found[rank] = found[rank].fillna(_NONE).astype("int64").mask(lost, _NOT_RECORDED)
    return found


def _by_gold(runs: pd.DataFrame, columns: Sequence[str], labellers: Sequence[str]) -> pd.DataFrame:
    """Rows of runs (index `run`), once per gold action of the case and labeller."""
    rows = (
        runs[[*columns, "gold_actions"]]
        .rename_axis("run")
        .reset_index()
        .explode("gold_actions")
        .dropna(subset="gold_actions")
    )
    rows = rows.rename(columns={"gold_actions": "gold_action"}).astype({"gold_action": "str"})
    return rows.merge(pd.DataFrame({"labeller": pd.Series(list(labellers), dtype="str")}), how="cross")
