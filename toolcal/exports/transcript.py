"""A run as one list of messages, out of the tables: what the model read and said, and what it was told."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolcal.benchmarks.protocol import Message
from toolcal.utf8 import in_utf8
from toolcal.writes.conversation import Place, conversation, place_of

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Transcript:
    """OpenAI messages, and of the model's emissions among them where they stand and which row they are."""

    messages: Sequence[Message]
    emissions: Mapping[int, Row]
    taken_back: Sequence[Row]
    """Rows of what the model said, but a probe took back or had said again: no part of the conversation."""


def transcript(emissions: Sequence[Row], user_messages: Sequence[Row], context: Row) -> Transcript:
    """The conversation of one run.

    Args:
        emissions: the run's rows of table `trajectories`, in the order of its key.
        user_messages: its rows of table `user_messages`; none where the turns are fixed.
        context: its row of table `contexts`: the system message, and the turns where they are fixed.
    """
    messages: list[Message] = []
    places: dict[Place, int] = {}
    turns = json.loads(context["turns"])
    parts = [(emissions, user_messages)] if user_messages else _by_turn(emissions, len(turns))
    if context["system"] and not (user_messages and user_messages[0]["role"] == "system"):
        messages.append({"role": "system", "content": context["system"]})
    for turn, (rows, others) in enumerate(parts):
        if not user_messages and turn < len(turns):
            messages += turns[turn]
        said, at = conversation(rows, others)
        places |= {place: len(messages) + number for place, number in at.items()}
        messages += said
    by_place = {place_of(row): row for row in emissions}
    gone = [row for place, row in by_place.items() if place not in places and row["status"] != "infra_error"]
    return Transcript(in_utf8(messages), {at: by_place[place] for place, at in places.items()}, gone)


def _by_turn(emissions: Sequence[Row], turns: int) -> list[tuple[Sequence[Row], Sequence[Row]]]:
    """The emissions of each turn up to the last one that was reached."""
    last = max((row["turn"] for row in emissions), default=-1)
    empty: Sequence[Row] = ()
    return [([row for row in emissions if row["turn"] == turn], empty) for turn in range(max(last + 1, min(1, turns)))]
