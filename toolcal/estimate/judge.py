"""The estimate of the judge: what its journals have no answer for, and how long the prompts are."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from toolcal.estimate.model import Endpoints, Line, seconds
from toolcal.estimate.sizes import CHARACTERS_PER_TOKEN
from toolcal.estimate.work import Work
from toolcal.journal import whole_entries
from toolcal.judging.asking import Asking
from toolcal.judging.question import Item
from toolcal.models import prices
from toolcal.models.entries import identity_of

ANSWER_TOKENS = 100
"""Of an answer, where no journal tells: the verdict, and a reason in a sentence or two. Reasoning is not in it."""

BASIS = f"calls; prompts at {CHARACTERS_PER_TOKEN} characters a token"


def judge_line(
    entry: Mapping[str, Any],
    asked: Iterable[tuple[Sequence[Item], str | Path]],
    seed: int,
    endpoints: Endpoints,
) -> Line:
    """The estimate of the judge, in calls where a model's is in case-trials; a second asking is not foreseen.

    Args:
        entry: the configuration's `judge`, validated.
        asked: of each model what there is to ask, a call an item, and the judge's journal.
        seed: the configuration's seed.
        endpoints: the configuration's endpoints.
    """
    asking = Asking(identity_of(entry), entry["parameters"], seed)
    planned, lengths, answers, latencies = 0, list[int](), list[float](), list[float]()
    for items, journal in asked:
        made = {entry["key"]: entry["record"] for entry in whole_entries(journal)}
        for item in items:
            planned += 1
            put = asking.put(item)
            if put.key not in made:
                lengths.append(sum(len(message["content"]) for message in put.body["messages"]))
                continue
            answers += _known(made[put.key].get("completion_tokens"))
            latencies += _known(made[put.key].get("latency"))
    left = len(lengths)
    work = Work(left, sum(lengths) / CHARACTERS_PER_TOKEN, left * (_mean(answers) or ANSWER_TOKENS))
    api = {**entry, "source": "api"}
    price = prices.of(api, endpoints) if left else None
    time, bound = seconds(work, _mean(latencies), left, api, endpoints) if left else (0.0, False)
    cost = work.prompt_tokens * price.input + work.answer_tokens * price.output if price else None
    return Line(
        model=f"judge {entry['model']}",
        planned=planned,
        left=left,
        work=work,
        paid=True,
        cost=cost if left else 0.0,
        seconds=time,
        at_least=bound,
        basis=(BASIS,),
    )


def _known(value: Any) -> list[float]:
    return [value] if isinstance(value, int | float) else []


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
