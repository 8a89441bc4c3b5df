"""A judge's job: every item of a model is put to it, and what has no verdict is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from toolcal import logs, unfinished
from toolcal.judging.judge import judgements, open_judge
from toolcal.judging.question import CONFIRMED_WRITE, NL_ASSERTIONS, RIGHT_ANSWER, Item

_WHAT = {CONFIRMED_WRITE.name: "writes", NL_ASSERTIONS.name: "assertions", RIGHT_ANSWER.name: "answers"}


async def judged(
    config: Mapping[str, Any], about: Mapping[str, Any], items: Sequence[Item], table: str = "judgements"
) -> pd.DataFrame:
    """Put the items to the configuration's judge.

    Args:
        config: the configuration, validated.
        about: the `model` that the items are of, and the `journal` of the judge's answers.
        items: what is asked about.
        table: the table that its verdicts are rows of.

    Returns:
        The table, in the order of its key. Where the endpoint gave no answer, the journal is marked as unfinished.

    Raises:
        JournalError: the journal is in use or broken.
    """
    async with open_judge(
        config["judge"],
        about["journal"],
        results=Path(config["results"]),
        endpoints=config["endpoints"],
        limits=config["limits"],
        seed=config["seed"],
        table=table,
    ) as judge:
        data = await judgements(about["model"], items, judge)
    broken = data[data["status"] == "infra_error"]
    undecided = data[data["status"].isin(["undecided", "context_exceeded"])]
    if not broken.empty:
        unfinished.note(about["journal"])
        logs.warn(
            f"{_amounts(broken, data)} of {about['model']} have no answer of the judge; the first: "
            f"{broken['reason'].iloc[0]}; run again to go on"
        )
    if not undecided.empty:
        logs.warn(
            f"the judge decided nothing on {_amounts(undecided, data)} of {about['model']}; the first: "
            f"{undecided['reason'].iloc[0]}"
        )
    return data


def _amounts(part: pd.DataFrame, data: pd.DataFrame) -> str:
    """How many of each kind, e.g. 1 of 7 writes and 2 of 30 assertions."""
    of_kind = {name: ((part["question"] == name).sum(), (data["question"] == name).sum()) for name in _WHAT}
    return " and ".join(f"{some} of {all_} {_WHAT[name]}" for name, (some, all_) in of_kind.items() if some)
