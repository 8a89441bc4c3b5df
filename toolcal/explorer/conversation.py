"""One conversation with all that is known of it: what was said and done, and what each stage made of it."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolcal.writes.conversation import Place, place_of
from toolcal.writes.conversation import conversation as placed

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Rows:
    """The rows of one run, by table, as dicts in the order of the table's key.

    `user_messages` is None where the user's words are fixed, and then `context` has them.
    """

    case: Row
    context: Row
    grade: Row
    emissions: Sequence[Row]
    actions: Sequence[Row] = ()
    outcomes: Sequence[Row] = ()
    probe_events: Sequence[Row] = ()
    turn_confidence: Sequence[Row] = ()
    user_messages: Sequence[Row] | None = None
    writes: Sequence[Row] = ()
    judgements: Sequence[Row] = field(default=())


def told(rows: Rows) -> dict[str, Any]:
    """A conversation as the page shows it; what is null, false or empty is left out.

    Returns:
        `case` (its facts; where users speak freely also the `gold` calls of the task, which belong to no turn),
        `grade`, `outcomes` (a row per gold action and labeller), `assertions` (a judge's verdicts) and `turns`, each
        with the `gold` calls of the benchmark, its `confidence`, and `items` in the order in which they were said:
        messages of others, and emissions with their calls, labels, probe decisions and writes.
    """
    case = rows.case
    items = list(_items(rows))
    gold = json.loads(case["gold"])
    free = rows.user_messages is not None
    confidence = {row["turn"]: row for row in rows.turn_confidence}
    turns = 1 + max((turn for turn, _ in items), default=-1)
    return _kept(
        {
            "case": _kept(
                {name: case[name] for name in ("revision", "cluster_id", "decisive_turn")}
                | {name: json.loads(case[name]) for name in ("gold_actions", "excluded_turns")}
                | {"gold": [call for calls in gold for call in calls] if free else []}
                | {"probe": _json(rows.context["probe"]), "renamed": _json(rows.context["renamed"])}
            ),
            "grade": _kept(
                {name: rows.grade[name] for name in _GRADE}
                | {name: _json(rows.grade[name]) for name in ("turn_checks", "differences", "gold_met", "user_faults")}
            ),
            "outcomes": [_kept({name: row[name] for name in _OUTCOME}) for row in rows.outcomes],
            "assertions": [
                {name: row[name] for name in ("assertion", "verdict", "reason", "judge")}
                for row in rows.judgements
                if row["assertion"] is not None
            ],
            "turns": [
                _kept(
                    {
                        "gold": gold[turn] if not free and turn < len(gold) else [],
                        "confidence": _confidence(confidence.get(turn)),
                        "items": [item for at, item in items if at == turn],
                    }
                )
                for turn in range(turns if free else max(turns, len(gold)))
            ],
        }
    )


_GRADE = (
    *("status", "passed", "passed_strict", "reason", "reason_strict", "detail", "reward", "db_match"),
    *("recorded_passed", "regrade_differs"),
)
_OUTCOME = (
    *("gold_action", "labeller", "emitted_case_any", "emitted_decisive"),
    *("outcome_case_any", "outcome_decisive"),
)
_WRITE = ("call", "tool", "to_be_confirmed", "executed", "proposed", "agreed", "confirmed", "deciding_text", "why")


def _items(rows: Rows) -> Iterator[tuple[int, dict[str, Any]]]:
    """(turn, item) of all that was said."""
    labels = _grouped(rows.actions)
    events = _grouped(rows.probe_events)
    writes = _grouped(rows.writes)
    judged = _grouped(row for row in rows.judgements if row["turn"] is not None)
    said = _Said(rows)
    places = {} if rows.user_messages is None else placed(rows.emissions, rows.user_messages)[1]
    for row in rows.emissions:
        key = place_of(row)
        yield from said(row["turn"], places.get(key))
        yield (
            row["turn"],
            _emission(row)
            | _kept(
                {
                    "labels": {label["labeller"]: _label(label) for label in labels.get(key, [])},
                    "events": [_event(event) for event in events.get(key, [])],
                    "writes": [
                        _kept({name: write[name] for name in _WRITE} | {"judged": _judged(write, judged.get(key, []))})
                        for write in writes.get(key, [])
                    ],
                }
            ),
        )
    yield from said(None, None)


class _Said:
    """Messages of others, each once, before what the model said after it."""

    def __init__(self, rows: Rows):
        if rows.user_messages is None:
            turns = json.loads(rows.context["turns"])
            self.free = False
            self.left = [
                (turn, turn, {"role": message["role"], "content": message.get("content")})
                for turn, messages in enumerate(turns)
                for message in messages
            ]
        else:
            self.free = True
            self.left = [(row["place"], row["turn"], _message(row)) for row in rows.user_messages]

    def __call__(self, turn: int | None, place: int | None) -> Iterator[tuple[int, dict[str, Any]]]:
        """Those that come before an emission of this turn, which stands at this place; all that are left, for None."""
        upto = place if self.free and turn is not None else turn
        while self.left and (turn is None or (upto is not None and self.left[0][0] <= upto)):
            _, at, message = self.left.pop(0)
            yield at, message


def _message(row: Row) -> dict[str, Any]:
    calls = [_call(call, None) for call in json.loads(row["tool_calls"])]
    return _kept({"role": row["role"], "content": row["content"], "calls": calls})


def _emission(row: Row) -> dict[str, Any]:
    calls = json.loads(row["tool_calls"])
    results = json.loads(row["tool_results"])
    return _kept(
        {
            "role": "assistant",
            **{name: row[name] for name in ("step", "attempt", "content", "reasoning", "retracted")},
            "origin": None if row["origin"] == "model" else row["origin"],
            "status": None if row["status"] == "ok" else row["status"],
            "text_lost": not row["text_recorded"],
            "calls": [_call(call, result) for call, result in itertools.zip_longest(calls, results)],
        }
    )


def _call(call: Any, result: Row | None) -> dict[str, Any]:
    """A call as the model gave it, with what came of it; of one that leaked into the text only the latter is there."""
    function = call.get("function") if isinstance(call, Mapping) else None
    given = function if isinstance(function, Mapping) else {}
    made = result or {}
    return _kept(
        {
            "name": given.get("name", made.get("name")),
            "arguments": given.get("arguments", made.get("arguments")),
            **{name: made.get(name) for name in ("result", "error", "state_changed", "held_out")},
            "executed": made.get("executed"),
            "dropped": result is None,
        }
    )


def _label(row: Row) -> dict[str, Any]:
    flags, sub = json.loads(row["flags"]), json.loads(row["sub"])
    return _kept(
        {"action": row["action"], "cue": row["cue"], "leaked": row["leaked"], "sub": sub}
        | {"flags": flags if len(flags) > 1 else []}
    )


def _event(row: Row) -> dict[str, Any]:
    return _kept(
        {name: row[name] for name in ("probe", "seam", "triggered", "reason", "appended")}
        | {"detector": json.loads(row["detector"])}
    )


def _judged(write: Row, judgements: Sequence[Row]) -> list[dict[str, Any]]:
    return [
        {name: row[name] for name in ("judge", "verdict", "reason")}
        for row in judgements
        if row["call"] == write["call"]
    ]


def _confidence(row: Row | None) -> dict[str, Any] | None:
    names = ("confidence", "confidence_raw", "confidence_reason", "status")
    return None if row is None else {name: row[name] for name in names if row[name] is not None}


def _grouped(rows: Iterable[Row]) -> dict[Place, list[Row]]:
    found: dict[Place, list[Row]] = {}
    for row in rows:
        found.setdefault(place_of(row), []).append(row)
    return found


def _json(text: str | None) -> Any:
    return None if text is None else json.loads(text)


def _kept(value: Mapping[str, Any]) -> dict[str, Any]:
    """Without what says nothing; a 0, and a false that is an answer to a question (`passed`), say something."""
    return {
        name: item
        for name, item in value.items()
        if item is not None and item != [] and item != {} and item != "" and not (item is False and name in _FLAGS)
    }


_FLAGS = ("leaked", "retracted", "text_lost", "state_changed", "held_out", "dropped", "triggered")
