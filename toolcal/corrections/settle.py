"""Corrections held against the labels of a run: which are in force, and what labels they make."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd

from toolcal import tables
from toolcal.corrections import CORRECTED
from toolcal.corrections.lines import Correction, Emission
from toolcal.tables import ACTIONS, CORRECTIONS_IN_FORCE, EMISSION

_SUB_LABELS_OF = {"information": "ASK", "consent": "ASK", "transfer": "REFUSE"}
"""The class that a sub-label is of."""


class Settled(NamedTuple):
    """Table `corrections`, and the labels that differ from the base labeller's: rows of `actions`."""

    corrections: pd.DataFrame
    labels: pd.DataFrame


@dataclass
class _Word:
    """A correction, and what has become of it."""

    said: Correction
    status: str
    why: str | None = None

    @property
    def in_force(self) -> bool:
        return self.status in CORRECTIONS_IN_FORCE


def settle(given: Sequence[Correction], actions: pd.DataFrame, labellers: Sequence[str]) -> Settled:
    """Decide on each correction, and make the labels of `CORRECTED` where they differ from the first labeller's.

    One is in force where its message is there and its labeller still says what it said when it was marked, or says by
    now what the reader does. Of several by one reader of one label the latest holds; where those in force of one
    message differ, none of them is.

    Args:
        given: the corrections.
        actions: rows of table `actions`, at least those of the messages that are named.
        labellers: those of the configuration, the base first.

    Returns:
        Both tables, sorted by their keys.
    """
    labels = _by_emission(actions, {one.emission for one in given})
    words = [_Word(one, *_against_label(one, labels.get(one.emission, {}), labellers)) for one in given]
    _take_the_latest(words)
    by_emission: dict[Emission, list[_Word]] = defaultdict(list)
    for word in words:
        if word.in_force:
            by_emission[word.said.emission].append(word)
    made = []
    for emission, those in sorted(by_emission.items()):
        if _agreed(those):
            base, said = labels[emission][labellers[0]], those[0].said
            if base["action"] != said.action:
                made.append(relabelled(base, said.action, f"correction by {said.by}"))
    rows = [word.said.columns() | {"status": word.status, "why": word.why} for word in words]
    order = list(tables.TABLES["corrections"].key)
    return Settled(
        tables.frame("corrections", rows).sort_values(order, ignore_index=True), tables.frame("actions", made)
    )


def relabelled(row: Mapping[str, Any], action: str, cue: str) -> dict[str, Any]:
    """A row of `actions` of the labeller `CORRECTED` with another class.

    The class is the one of highest priority, so that classes above it among the flags go; those below it stay, as do
    sub-labels of a class that stays. OTHER stands alone.
    """
    below = ACTIONS[ACTIONS.index(action) :]
    kept = {flag for flag in json.loads(row["flags"]) if flag in below and flag != "OTHER"}
    flags = [flag for flag in ACTIONS if flag in kept | {action}]
    sub = [name for name in json.loads(row["sub"]) if _SUB_LABELS_OF[name] in flags]
    return dict(row) | {
        "labeller": CORRECTED,
        "action": action,
        "flags": tables.dumps(flags),
        "sub": tables.dumps(sub),
        "leaked": action == "TOOL_CALL",
        "cue": cue,
    }


def overlay(actions: pd.DataFrame, labels: pd.DataFrame, base: str) -> pd.DataFrame:
    """Table `actions` with the labels of `CORRECTED` besides: those of the base labeller, but where corrected.

    Args:
        actions: rows of table `actions`.
        labels: the rows that `settle` makes.
        base: the labeller that is corrected.
    """
    corrected = actions[actions["labeller"] == base].assign(labeller=CORRECTED)
    named = pd.MultiIndex.from_frame(labels[list(EMISSION)])
    rest = corrected[~pd.MultiIndex.from_frame(corrected[list(EMISSION)]).isin(named)]
    return pd.concat([actions, rest, labels.astype(actions.dtypes.to_dict())], ignore_index=True)


def _by_emission(actions: pd.DataFrame, named: Iterable[Emission]) -> dict[Emission, dict[str, dict[str, Any]]]:
    """Message -> labeller -> its row, of those that are named."""
    wanted = pd.MultiIndex.from_tuples(sorted(named), names=EMISSION) if named else pd.MultiIndex.from_arrays([[]] * 8)
    found: dict[Emission, dict[str, dict[str, Any]]] = defaultdict(dict)
    for row in tables.records(actions[pd.MultiIndex.from_frame(actions[list(EMISSION)]).isin(wanted)]):
        found[tuple(row[name] for name in EMISSION)][row["labeller"]] = row
    return dict(found)


def _against_label(
    said: Correction, rows: Mapping[str, Mapping[str, Any]], labellers: Sequence[str]
) -> tuple[str, str | None]:
    """The status of a correction by itself, and why it is not in force."""
    if said.labeller not in labellers:
        return "not_there", f"labeller {said.labeller} is none of this run's ({', '.join(labellers)})"
    if said.labeller not in rows:
        return "not_there", "this run has no such message of the model"
    now, leaked = rows[said.labeller]["action"], rows[said.labeller]["leaked"]
    if now is None:
        return "no_class", f"the message has no class to correct, its status is {rows[said.labeller]['status']}"
    if now == said.action:
        return ("upheld" if said.was == now else "met"), None
    if now == "TOOL_CALL" and not leaked:
        return "call", "the message makes a call, which is told by its form and not by words"
    if now != said.was:
        then = said.was or "nothing"
        return "stale", f"{said.labeller} said {then} when it was marked, and says {now} now: look at it again"
    return "applied", None


def _take_the_latest(words: Sequence[_Word]) -> None:
    latest: dict[tuple[str, str, Emission], _Word] = {}
    for word in sorted(words, key=lambda one: one.said.moment):
        key = (word.said.by, word.said.labeller, word.said.emission)
        if key in latest:
            last = word.said
            latest[key].status = "superseded"
            latest[key].why = f"{last.by} marked it again later ({last.file} line {last.line})"
        latest[key] = word


def _agreed(words: Sequence[_Word]) -> bool:
    """Whether those in force of one message say the same; else none of them stays in force."""
    if len({word.said.action for word in words}) == 1:
        return True
    told = ", ".join(f"{one.said.by} {one.said.action} ({one.said.file} line {one.said.line})" for one in words)
    for word in words:
        word.status, word.why = "contradicted", f"of this message it is said: {told}; take out all but one"
    return False
