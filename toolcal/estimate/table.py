"""The estimate as text for a terminal."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from toolcal.estimate import sizes
from toolcal.estimate.model import SIZES, Line
from toolcal.estimate.work import Work

_TITLES = ("model", "case-trials", "calls", "prompt tokens", "answer tokens", "cost in USD", "time", "basis")


def shown(
    models: Sequence[Line],
    silent: Sequence[str],
    *,
    max_usd: float | None,
    spent: float,
    judge: Line | None = None,
    unheld: Sequence[str] = (),
) -> str:
    """A line a model and the total, with what they rest on above and the budget below.

    Args:
        models: the estimates.
        silent: models that make no calls.
        max_usd: `limits.max_usd`, or None.
        spent: US dollars that the calls made so far cost, as far as known.
        judge: the judge's estimate, in calls; None without one.
        unheld: models whose conversations or answers, which the judge would read, are not all there yet.
    """
    parts = []
    lines = [*models, *([judge] if judge else [])]
    if models:
        parts += _opening(models)
    if judge:
        parts.append(
            f"The judge has {_count(_whole(judge))} of {_count(judge.planned)} calls to make: one for each write that "
            "needs a yes, for each run with assertions and for each answer of the study, as far as its `questions` ask."
        )
    if unheld:
        parts.append(f"Not among them, as what it would read is still to be made: {', '.join(unheld)}.")
    if lines:
        rows = [_TITLES, *map(_row, lines), *([_total(lines)] if len(lines) > 1 else [])]
        parts += ["", *_aligned(rows), ""]
    if silent:
        parts.append(f"No calls: {', '.join(silent)}.")
    unknown = sum(line.paid and line.cost is None for line in lines)
    if unknown:
        needed = "" if max_usd is None else "; without them limits.max_usd cannot be kept"
        parts.append(f"The cost is unknown for {unknown} of the models: give their entries prices{needed}.")
    if max_usd is not None:
        known = math.fsum(line.cost or 0.0 for line in lines if line.paid)
        parts.append(_budget(known, bool(unknown), max_usd, spent))
    return "\n".join(parts).rstrip()


def _opening(lines: Sequence[Line]) -> list[str]:
    left, planned = sum(map(_whole, lines)), sum(line.planned for line in lines)
    if not left:
        return [f"Nothing is left to ask: all {_count(planned)} case-trials (one case or question, once) are done."]
    used = {basis for line in lines for basis in line.basis}
    words = [
        f"Still to ask: about {_count(left)} of {_count(planned)} case-trials (one case or question, once).",
        "What the numbers rest on:",
    ]
    if any(basis.startswith("journal") for basis in used):
        words.append("- journal: means over the model's own case-trials that the journals hold whole")
    if any(basis.endswith(SIZES) for basis in used):
        words += [f"- {SIZES}: a guess, within about a factor of 2, that takes", *(f"  {line}" for line in sizes.WORDS)]
    return words


def _row(line: Line) -> tuple[str, ...]:
    cost = _or_unknown(_dollars, [line.cost]) if line.paid else "-"
    return (
        *_amount(line.model, [line]),
        cost,
        _or_unknown(_time, [line.seconds], line.at_least),
        "; ".join(line.basis),
    )


def _total(lines: Sequence[Line]) -> tuple[str, ...]:
    paid = [line.cost for line in lines if line.paid]
    cost = _or_unknown(_dollars, paid) if paid else "-"
    time = _or_unknown(_time, [line.seconds for line in lines], any(line.at_least for line in lines))
    return (*_amount("total", lines), cost, time, "models one after the other")


def _amount(name: str, lines: Sequence[Line]) -> tuple[str, ...]:
    left, planned = sum(map(_whole, lines)), sum(line.planned for line in lines)
    work = sum((line.work for line in lines), Work())
    amounts = map(_count, (work.calls, work.prompt_tokens, work.answer_tokens))
    return (name, f"{_count(left)} of {_count(planned)}", *amounts)


def _whole(line: Line) -> int:
    """Case-trials left, those that are begun among them."""
    return math.ceil(line.left)


def _or_unknown(form: Callable[[float], str], values: Sequence[float | None], at_least: bool = False) -> str:
    """The sum, `at least` where a part of it is unknown or a lower bound."""
    known = [value for value in values if value is not None]
    if not any(known) and len(known) < len(values):
        return "unknown"
    return ("at least " if at_least or len(known) < len(values) else "") + form(math.fsum(known))


def _budget(known: float, unknown: bool, max_usd: float, spent: float) -> str:
    left = max_usd - spent
    words = f"limits.max_usd is {_dollars(max_usd)}: {_dollars(spent)} spent so far, {_dollars(max(0, left))} left; "
    if known > left:
        return (
            f"{words}by the estimate, {'at least ' if unknown else ''}{_dollars(known)}, it would stop before its end."
        )
    return f"{words}the estimate fits{', as far as it is known' if unknown else ''}."


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows in columns: names and words to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    words = (0, len(widths) - 1)
    return [
        "  ".join(
            text.ljust(width) if place in words else text.rjust(width)
            for place, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _count(number: float) -> str:
    """A number without decimals; above zero, at least 1."""
    return f"{max(1, round(number)) if number > 0 else 0:,}"


def _dollars(amount: float) -> str:
    return "under 0.01" if 0 < amount < 0.01 else f"{amount:,.2f}"


def _time(seconds: float) -> str:
    minutes = round(seconds / 60)
    if seconds < 90:
        return f"{round(seconds)} s"
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02d} min"
