"""Cases as rows of the table `cases`, and back; and which of them a run takes."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Sequence

import pandas as pd

from toolcal import tables
from toolcal.benchmarks.protocol import Case, Message, Tool


def to_frame(cases: Sequence[Case], seed: int) -> pd.DataFrame:
    """The table `cases`, with each case's place in the seeded draw.

    Cases of one scenario number get the same place in every scenario, so that limits choose the same numbers.
    """
    order = draw_order({case.cluster_id for case in cases}, seed)
    return tables.frame(
        "cases",
        (
            {
                "benchmark": case.benchmark,
                "scenario": case.scenario,
                "revision": case.revision,
                "case_id": case.case_id,
                "cluster_id": case.cluster_id,
                "draw": order[case.cluster_id],
                "system": case.system,
                "turns": tables.dumps(case.turns),
                "tools": tools_to_json(case.tools),
                "initial_state": tables.dumps(case.initial_state),
                "gold": tables.dumps(case.gold),
                "gold_actions": tables.dumps(case.gold_actions),
                "decisive_turn": case.decisive_turn,
                "excluded_turns": tables.dumps(case.excluded_turns),
            }
            for case in cases
        ),
    )


def from_frame(data: pd.DataFrame) -> list[Case]:
    """The cases of a table `cases`, in its order."""
    return [
        Case(
            **{name: row[name] for name in ("benchmark", "scenario", "revision", "case_id", "cluster_id")},
            system=row["system"],
            turns=turns_from_json(row["turns"]),
            tools=tools_from_json(row["tools"]),
            initial_state=json.loads(row["initial_state"]),
            gold=tuple(tuple(calls) for calls in json.loads(row["gold"])),
            gold_actions=tuple(json.loads(row["gold_actions"])),
            decisive_turn=row["decisive_turn"],
            excluded_turns=tuple(json.loads(row["excluded_turns"])),
        )
        for row in tables.records(data)
    ]


def tools_to_json(tools: Iterable[tuple[int, Tool]]) -> str:
    """The column `tools`, of cases and contexts, from (turn of arrival, tool)."""
    return tables.dumps([{"from_turn": turn, "tool": tool} for turn, tool in tools])


def tools_from_json(text: str) -> tuple[tuple[int, Tool], ...]:
    """(turn of arrival, tool) from the column `tools`."""
    return tuple((item["from_turn"], item["tool"]) for item in json.loads(text))


def turns_from_json(text: str) -> tuple[tuple[Message, ...], ...]:
    """Messages by turn from the column `turns`, of cases and contexts."""
    return tuple(tuple(messages) for messages in json.loads(text))


def draw_order(clusters: Iterable[str], seed: int) -> dict[str, int]:
    """Cluster -> its place in a seeded shuffle, from 0; the first n make a sample of n that grows with n."""
    names = sorted(clusters)
    random.Random(f"draw {seed}").shuffle(names)
    return {name: place for place, name in enumerate(names)}


def select(cases: pd.DataFrame, limit: int | None = None, case_ids: Sequence[str] | None = None) -> pd.DataFrame:
    """The cases that a run takes: those named, of these the first `limit` in the draw, in the benchmark's order.

    Raises:
        ValueError: for a case id that the scenario does not have.
    """
    if case_ids is not None:
        unknown = sorted(set(case_ids) - set(cases["case_id"]))
        if unknown:
            scenario = cases["scenario"].iloc[0]
            raise ValueError(f"scenarios.{scenario}.case_ids: no case {unknown[0]!r} in this scenario")
        cases = cases[cases["case_id"].isin(case_ids)]
    if limit is not None:
        cases = cases[cases["draw"].rank(method="first") <= limit]
    return cases
