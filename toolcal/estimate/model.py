"""The estimate of one model, from what is left of its cells."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from toolcal.estimate.remaining import Measured, Remaining, Run
from toolcal.estimate.work import Work
from toolcal.models import prices
from toolcal.models.entries import endpoint_name

JOURNAL, OTHER_JOURNALS, SIZES = "journal", "journals of other scenarios", "case sizes"

Place = tuple[str, str]
"""(scenario, perturbation)."""
Sizes = Callable[[Place], Mapping[str, Work]]
"""Gives case id -> work of one case-trial; called only where it is needed."""
Endpoints = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Line:
    """What a model has still to do: case-trials of those planned, calls and tokens, US dollars, seconds, the basis.

    `cost` and `seconds` are None where they are unknown; with `at_least` the seconds are a lower bound. A model that is
    not `paid` runs on a machine of the user's.
    """

    model: str
    planned: int
    left: float
    work: Work
    paid: bool
    cost: float | None
    seconds: float | None
    at_least: bool
    basis: tuple[str, ...]


def line(
    model: str, entry: Mapping[str, Any], cells: Mapping[Place, Remaining], sizes: Sizes, endpoints: Endpoints
) -> Line:
    """The estimate of a model.

    A cell is estimated from its own journal, else from the model's other journals, else from the sizes of its cases.

    Args:
        model: its id.
        entry: its entry, validated.
        cells: what is left of its cells.
        sizes: the work of a case-trial by its sizes.
        endpoints: the configuration's endpoints.
    """
    anywhere = sum((cell.measured for cell in cells.values()), Measured())
    open_cells = {place: cell for place, cell in cells.items() if cell.left}
    price = prices.of(entry, endpoints) if open_cells else None
    total, costs, times, basis = Work(), list[float | None](), list[tuple[float | None, bool]](), list[str]()
    for place, cell in open_cells.items():
        known, source = (cell.measured, JOURNAL) if cell.measured.runs else (anywhere, OTHER_JOURNALS)
        work, source = _work(cell.left, known, source, partial(sizes, place))
        total += work
        costs.append(_cost(work, known.mean("cost"), price))
        times.append(seconds(work, known.mean("latency"), len(cell.left), entry, endpoints))
        basis.append(source)
    return Line(
        model=model,
        planned=sum(cell.planned for cell in cells.values()),
        left=math.fsum(share for cell in open_cells.values() for share in cell.left.values()),
        work=total,
        paid=entry["source"] == "api",
        cost=_sum(costs),
        seconds=_sum([time for time, _ in times]),
        at_least=any(bound for _, bound in times),
        basis=tuple(dict.fromkeys(basis)),
    )


def seconds(
    work: Work, latency: float | None, runs: int, entry: Mapping[str, Any], endpoints: Endpoints
) -> tuple[float | None, bool]:
    """How long a cell takes: its calls' latency, as many at once as may be, but no less than the endpoint's limits ask.

    Args:
        work: its calls and tokens.
        latency: seconds a call, or None.
        runs: its case-trials; each makes one call at a time.
        entry: the model's entry.
        endpoints: the configuration's endpoints.

    Returns:
        (seconds, whether that is a lower bound only); (None, False) where neither latency nor a limit is known.
    """
    limits = endpoints[endpoint_name(entry)] if entry["source"] == "api" else entry
    used = {"requests_per_minute": work.calls, "tokens_per_minute": work.prompt_tokens + work.answer_tokens}
    bounds = [60 * amount / limits[limit] for limit, amount in used.items() if limit in limits]
    if latency is None:
        return max(bounds, default=None), bool(bounds)
    return max(work.calls * latency / min(runs, limits.get("concurrency", 1)), *bounds, 0.0), False


def _work(
    left: Mapping[Run, float], known: Measured, source: str, sizes: Callable[[], Mapping[str, Work]]
) -> tuple[Work, str]:
    """The work that is left, and the name of what it was taken from."""
    prompt, answer = known.mean("prompt_tokens"), known.mean("completion_tokens")
    calls = known.calls / known.runs * math.fsum(left.values()) if known.runs else None
    if calls is not None and prompt is not None and answer is not None:
        return Work(calls, calls * prompt, calls * answer), source
    by_case = sizes()
    work = sum((by_case[case_id].times(share) for (case_id, _), share in left.items()), Work())
    if calls is None:
        return work, SIZES
    return work.times(calls / work.calls), f"{source}, tokens by {SIZES}"


def _cost(work: Work, a_call: float | None, price: prices.Prices | None) -> float | None:
    if a_call is not None:
        return a_call * work.calls
    return None if price is None else work.prompt_tokens * price.input + work.answer_tokens * price.output


def _sum(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return math.fsum(known) if len(known) == len(values) else None
