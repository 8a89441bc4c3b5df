"""Asking the judge: every call once, through a journal; what is no verdict is told apart."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from toolcal import tables
from toolcal.calls import content_of
from toolcal.journal import Journal
from toolcal.judging.answer import Unreadable
from toolcal.judging.asking import Asking
from toolcal.judging.question import Item
from toolcal.progress import Progress

if TYPE_CHECKING:
    from toolcal.models.calling import Caller

ASKINGS = 2
"""How often an item is put to the judge, where its answers cannot be read."""

_USED = ("prompt_tokens", "completion_tokens", "latency", "cost")

Record = dict[str, Any]


class Judge:
    """A language model that decides about writes, assertions, or answers.

    Args:
        name: in the column `judge`.
        asking: how an item is put to it.
        journal: open.
        caller: makes the calls.
        table: the table that its verdicts are rows of.
    """

    def __init__(self, name: str, asking: Asking, journal: Journal, caller: Caller, table: str = "judgements") -> None:
        self.table = table
        self.concurrency = caller.concurrency
        self._name = name
        self._asking = asking
        self._journal = journal
        self._caller = caller

    async def decide(self, item: Item) -> list[Record]:
        """Ask about an item, and once more where the answer cannot be read.

        Returns:
            The item's rows of the table `judgements`.

        Raises:
            OSError: the journal cannot be written.
            ModelError: its key is missing, or `limits.max_usd` is set and the call's cost cannot be bounded.
        """
        calls: list[Record] = []
        wrong: str | None = None
        for _ in range(ASKINGS):
            record = await self._asked(item, wrong)
            calls.append(record)
            if record["failure"]:
                return self._rows(item, record["failure"], calls, [{"reason": record["error"]} for _ in item.keys])
            try:
                return self._rows(item, "decided", calls, item.read(content_of(record["message"])))
            except Unreadable as error:
                wrong = str(error)
        cut = "; it was cut at max_tokens" if calls[-1]["finish_reason"] == "length" else ""
        why = {"reason": f"the answer cannot be used: {wrong}{cut}"}
        return self._rows(item, "undecided", calls, [why for _ in item.keys])

    async def _asked(self, item: Item, wrong: str | None) -> Record:
        """The record of a call, from the journal where that holds it (then `cached`)."""
        put = self._asking.put(item, wrong)
        record = self._journal.get(put.key)
        if record is not None:
            return record | {"cached": True}
        record = await self._caller.call(put.body, self._journal.path)
        if record["failure"] != "infra_error":
            self._journal.put(put.key, put.call, record)
        return record | {"cached": False}

    def _rows(
        self, item: Item, status: str, calls: Sequence[Record], decided: Sequence[Mapping[str, Any]]
    ) -> list[Record]:
        """A row a key of the item; the first tells what the calls used, so that sums over rows are right."""
        used = {name: _sum(calls, name) for name in _USED}
        return [
            {
                **dict.fromkeys(tables.TABLES[self.table].columns),
                **key,
                "question": item.question.name,
                "judge": self._name,
                **row,
                "reason": tables.text_or_json(row["reason"]),
                "status": status,
                **(used if place == 0 else dict.fromkeys(_USED, 0)),
                "cached": all(call["cached"] for call in calls),
            }
            for place, (key, row) in enumerate(zip(item.keys, decided, strict=True))
        ]


@asynccontextmanager
async def open_judge(
    entry: Mapping[str, Any],
    journal: str | Path,
    *,
    results: Path,
    endpoints: Mapping[str, Mapping[str, Any]],
    limits: Mapping[str, Any],
    seed: int,
    table: str = "judgements",
) -> AsyncIterator[Judge]:
    """The judge of the configuration.

    Args:
        entry: the configuration's `judge`, validated.
        journal: the journal file of what is judged.
        results: the results folder, in which the jobs that share an endpoint or the budget meet.
        endpoints: the configuration's endpoints.
        limits: the configuration's limits.
        seed: the configuration's seed.
        table: the table that its verdicts are rows of.

    Raises:
        JournalError: the journal is in use or broken.
    """
    from toolcal.models import sources

    api = {**entry, "source": "api"}
    caller, identity = sources.api("judge", api, results=results, endpoints=endpoints, limits=limits)
    try:
        with Journal(journal) as kept, caller.booked(kept.path):
            yield Judge(entry["model"], Asking(identity, entry["parameters"], seed), kept, caller, table)
    finally:
        await caller.close()


async def judgements(name: str, items: Sequence[Item], judge: Judge) -> pd.DataFrame:
    """Put every item to the judge, as many at once as its endpoint takes.

    Args:
        name: the model that these are of, for the progress.
        items: what is asked about.
        judge: decides.

    Returns:
        The judge's table, in the order of its key.
    """
    slots = asyncio.Semaphore(judge.concurrency)
    progress = Progress(f"judge of {name}", len(items))

    async def one(item: Item) -> list[Record]:
        async with slots:
            rows = await judge.decide(item)
        progress.case_done(rows[:1])  # one answer, whatever it decides
        return rows

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(item)) for item in items]
    except ExceptionGroup as failed:  # a full disk or a missing key ends the job
        raise failed.exceptions[0] from None
    data = tables.frame(judge.table, (row for task in tasks for row in task.result()))
    return data.sort_values(list(tables.TABLES[judge.table].key), ignore_index=True)


def _sum(calls: Sequence[Record], name: str) -> Any:
    """The sum over the calls; None where that of one is unknown."""
    values = [call.get(name) for call in calls]
    return None if any(value is None for value in values) else sum(value for value in values if value is not None)
