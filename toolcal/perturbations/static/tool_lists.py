"""Edits of the list of tools: their order, and tools besides that are of no use."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from toolcal.benchmarks.bfcl.cases import domains
from toolcal.benchmarks.protocol import Case, Tool
from toolcal.perturbations.context import Context
from toolcal.perturbations.static.ours import ours

Parameters = Mapping[str, Any]


def tool_order(case: Case, context: Context, parameters: Parameters, rng: random.Random) -> Context:
    """The tools in another order; those that arrive later still stand at the end, as in BFCL."""
    shuffled: list[tuple[int, Tool]] = []
    for turn in sorted({turn for turn, _ in context.tools}):
        arriving = [item for item in context.tools if item[0] == turn]
        rng.shuffle(arriving)
        shuffled += arriving
    return replace(context, tools=tuple(shuffled))


def distractor_tools(case: Case, context: Context, parameters: Parameters, rng: random.Random) -> Context:
    """`n` tools of the benchmark's other domains among those that are there from the start.

    None of them solves the case. None is of the case's own domains, to which held-out tools belong as well. None has
    the purpose of one of the case's tools (`same_purpose` in edits.yaml). And a call of one is not executed, for its
    domain is not part of the case: the model reads that the name is not defined.
    """
    there = {tool["function"]["name"] for _, tool in context.tools}
    unwanted = {name for group in _same_purpose() if group & there for name in group} | there
    if case.benchmark == "tau2":
        own, others = [case.initial_state["domain"]], _tau2_domains()
    else:
        own, others = case.initial_state["classes"], _domains()
    possible = [
        tool
        for domain, tools in others.items()
        if domain not in own
        for tool in tools
        if tool["function"]["name"] not in unwanted
    ]
    n = parameters["n"]
    if n > len(possible):
        return replace(context, left_out=f"only {len(possible)} tools of other domains can be added, not {n}")
    first = [tool for turn, tool in context.tools if turn == 0]
    later = [item for item in context.tools if item[0] > 0]
    for tool in rng.sample(possible, n):
        first.insert(rng.randint(0, len(first)), tool)
    return replace(context, tools=(*((0, tool) for tool in first), *later))


@cache
def _domains() -> dict[str, list[Tool]]:
    return domains()


@cache
def _tau2_domains() -> dict[str, list[Tool]]:
    from toolcal.benchmarks.tau2 import engine

    return {name: list(engine.domain(name).tools) for name in engine.DOMAINS}


@cache
def _same_purpose() -> tuple[frozenset[str], ...]:
    return tuple(map(frozenset, ours("distractor_tools")["same_purpose"]))
