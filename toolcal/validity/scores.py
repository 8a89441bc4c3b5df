"""Table `validity`: how far the labels made here agree with what careful readers say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import takewhile
from pathlib import Path
from typing import Any

import pandas as pd

from toolcal.actions.before import Before
from toolcal.actions.label import LABELLERS, label
from toolcal.diagnosis.two_readers import SCORES, TwoReaders, macro_f1
from toolcal.tables import TABLES
from toolcal.validity import agreement
from toolcal.validity.agreement import CLASSES, Labels
from toolcal.validity.conversations import Conversation, Message, ValidityError, read_all
from toolcal.validity.draw import Item, read_items
from toolcal.writes.consent import decide

RULE = "rule"
"""The name under which the rule for confirmed writes stands among the labellers."""
SUB_LABELS = ("information", "consent", "transfer")


def validity(recorded: Path, *, seed: int) -> pd.DataFrame:
    """Table `validity`.

    Args:
        recorded: the folder of recorded runs, which holds the items' texts.
        seed: of the bootstrap, from the configuration.

    Returns:
        One row per labeller x half x label, sorted by the table's key: precision, recall and F1 of each label, and
        Cohen's kappa with the readers' settled answer; intervals by a bootstrap over conversations.

    Raises:
        ValidityError: where the folder or an item in it is missing.
    """
    right = agreement.settled()
    readers = agreement.kappas()
    rows: list[dict[str, Any]] = []
    items = read_items()
    told = pd.DataFrame(answers(items, read_all(recorded, {item.file for item in items}), right))
    for (labeller, half), part in told.groupby(["labeller", "half"], sort=True):
        of = {
            name: TwoReaders(one["said"], one["right"], one["cluster_id"], seed=seed)
            for name, one in part.groupby("label", sort=False)
        }
        rows += [{"labeller": labeller, "half": half, "label": name, **_row(found)} for name, found in of.items()]
        if classes := [of[name] for name in CLASSES if name in of]:
            whole = {"n": classes[0].n, "n_said": None, "n_right": None, **macro_f1(classes)}
            rows.append({"labeller": labeller, "half": half, "label": "macro", **whole})
    table = pd.DataFrame(rows)
    table["kappa_readers"] = table["label"].map(readers)
    spec = TABLES["validity"]
    return table.reindex(columns=list(spec.columns)).sort_values(list(spec.key), ignore_index=True)


def _row(found: TwoReaders) -> dict[str, Any]:
    counts = {"n": found.n, "n_said": found.n_said, "n_right": found.n_right}
    return counts | {column: value for name in SCORES for column, value in found.score(name).items()}


def answers(
    items: Iterable[Item], conversations: Iterable[Conversation], right: Mapping[str, Labels]
) -> Iterator[dict[str, Any]]:
    """What each labeller says of each item and label, beside what is right.

    Yields:
        labeller, half, label, item, cluster_id (the conversations that resemble each other), said, right (bool).

    Raises:
        ValidityError: an item's conversation is not among those given, or has other messages.
    """
    by_record = {(c.file, c.record): c for c in conversations}
    for item in items:
        conversation = by_record.get((item.file, item.record))
        if conversation is None:
            raise ValidityError(
                f"recorded_folder: {item.file} with the run {item.record} is missing there, or cannot be used, and the "
                "validity set was drawn from it; get the file (README, Recorded runs), or set validity: false"
            )
        about = {"half": item.split, "item": item.id, "cluster_id": f"{conversation.stratum} {conversation.cluster}"}
        found = _writes if item.kind == "write" else _emissions
        for labeller, name, said, true in found(item, conversation, right[item.id]):
            yield {"labeller": labeller, "label": name, **about, "said": said, "right": true}


def _emissions(item: Item, conversation: Conversation, right: Labels) -> Iterator[tuple[str, str, bool, bool]]:
    message = _message(item, conversation)
    before = before_message(message, conversation)
    for labeller in LABELLERS:
        found = label(_chat(message), None, "ok", conversation.tools, labeller, before)
        # A call has its class by syntax: what is compared is what the words say.
        said = {name for name in found.flags if name != "TOOL_CALL"} or {"OTHER"}
        for name in CLASSES:
            yield labeller, name, name in said, name in right.labels
        if labeller != "paper_like":
            for name in SUB_LABELS:
                yield labeller, name, name in found.sub, name in right.sub


def _message(item: Item, conversation: Conversation) -> Message:
    """The model's message that an item is of, or that makes its call."""
    found = next((m for m in conversation.messages if m.of_model and m.position == item.message), None)
    if found is None or (item.call and int(item.call) >= len(found.calls)):
        raise ValidityError(
            f"recorded_folder: {item.file}: message {item.message} of the run {item.record} is not the one that the "
            "validity set was drawn from; get the file again (README, Recorded runs), or set validity: false"
        )
    return found


def before_message(message: Message, conversation: Conversation) -> Before:
    """What the user asked for before a message, and which tools were called since; a call that failed is not counted.

    BFCL keeps no results of calls: there all count.
    """
    before = Before()
    for place, one in enumerate(conversation.messages):
        if one is message:
            break
        if one.role == "user":
            before = before.asked(one.text)
        elif one.of_model:
            results = [*takewhile(lambda after: after.role == "tool", conversation.messages[place + 1 :])]
            ran = [not result.text.startswith("Error") for result in results] or [True] * len(one.calls)
            before = before.called(call.name for call, well in zip(one.calls, ran, strict=False) if well)
    return before


def _chat(message: Message) -> dict[str, Any]:
    return {"role": "assistant", "content": message.text}


def _writes(item: Item, conversation: Conversation, right: Labels) -> Iterator[tuple[str, str, bool, bool]]:
    _message(item, conversation)
    decision = decide(conversation.recorded, int(item.message), int(item.call))
    yield RULE, "confirmed", decision.confirmed, right.confirmed
