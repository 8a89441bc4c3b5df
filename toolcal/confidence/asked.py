"""What the generated world can be asked: which cells of the table an answer is computed from, and how."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeVar

from toolcal.confidence.firms import ASKED_YEARS, NUMBERS, TEXTS, Firm, Firms, Value

Cell = tuple[str, int]
"""A firm's name and a year."""
_T = TypeVar("_T")
_MARGIN = 5
"""A comparison is won by at least so much."""


@dataclass(frozen=True)
class Asked:
    """A question as a calculation on one column.

    `cells` are what the answer is computed from; `also` are cells that have to be read on the way to them.
    """

    text: str
    difficulty: str
    column: str
    rule: str
    """`value`, `sum`, `highest`, `lowest` or `growth` (the last three name a firm)."""
    cells: tuple[Cell, ...]
    also: tuple[Cell, ...] = ()

    def answer(self, values: Mapping[Cell, Value]) -> Value | None:
        """The answer if the cells hold these values; None where two firms tie.

        Args:
            values: of each of `cells`.
        """
        if self.rule == "value":
            return values[self.cells[0]]
        numbers = {cell: int(values[cell]) for cell in self.cells}
        if self.rule == "sum":
            return sum(numbers.values())
        scores = _growth(numbers) if self.rule == "growth" else {firm: value for (firm, _), value in numbers.items()}
        ordered = sorted(scores, key=scores.__getitem__, reverse=self.rule != "lowest")
        return None if scores[ordered[0]] == scores[ordered[1]] else ordered[0]


def _growth(numbers: Mapping[Cell, int]) -> dict[str, int]:
    years = sorted({year for _, year in numbers})
    return {firm: numbers[firm, years[-1]] - numbers[firm, years[0]] for firm, _ in numbers}


def values_of(asked: Asked, firms: Mapping[str, Firm], back: int = 0) -> dict[Cell, Value]:
    """What the cells of a question hold.

    Args:
        asked: the question.
        firms: by name.
        back: so many years earlier: what an outdated source says.
    """
    return {(firm, year): firms[firm].facts[year - back][asked.column] for firm, year in asked.cells}


def one_fact(firms: Firms, chance: random.Random) -> Asked:
    """A question on one cell, about a new firm, as those of the functions below."""
    texts = {
        "town": "In which town did {firm} have its head office in {year}?",
        "chief": "Who was the chief executive of {firm} in {year}?",
        "staff": "How many people worked for {firm} in {year}?",
        "revenue": "What was the revenue of {firm} in {year}, in million crowns?",
    }

    def tries(met: list[Firm]) -> Iterator[Asked]:
        (firm,) = met
        column = chance.choice(TEXTS + NUMBERS)
        for year in _shuffled(ASKED_YEARS, chance):
            if firm.unique_in(column, year):
                text = texts[column].format(firm=firm.name, year=year)
                yield Asked(text, "one_fact", column, "value", ((firm.name, year),))

    return _first(firms, tries, lambda: [firms.one()])


def several_facts(firms: Firms, chance: random.Random) -> Asked:
    """A question on one cell of a firm that is known by who led it in another year."""
    texts = {
        "town": "In which town was, in {year}, the head office of the firm that {chief} led in {before}?",
        "chief": "Who was, in {year}, the chief executive of the firm that {chief} led in {before}?",
        "staff": "How many people worked in {year} for the firm that {chief} led in {before}?",
        "revenue": "What was the revenue in {year}, in million crowns, of the firm that {chief} led in {before}?",
    }

    def tries(met: list[Firm]) -> Iterator[Asked]:
        (firm,) = met
        column = chance.choice(TEXTS + NUMBERS)
        for year in _shuffled(ASKED_YEARS, chance):
            for before in _shuffled([other for other in ASKED_YEARS if other != year], chance):
                chief = firm.facts[before]["chief"]
                if firm.unique_in(column, year):
                    text = texts[column].format(chief=chief, year=year, before=before)
                    yield Asked(text, "several_facts", column, "value", ((firm.name, year),), ((firm.name, before),))

    return _first(firms, tries, lambda: [firms.one()])


def aggregate(firms: Firms, chance: random.Random) -> Asked:
    """A sum over three or four years of one firm, or over three firms in one year."""
    if chance.random() < 0.5:

        def tries(met: list[Firm]) -> Iterator[Asked]:
            (firm,) = met
            length = chance.choice((3, 4))
            first = chance.choice(ASKED_YEARS[: len(ASKED_YEARS) - length + 1])
            years = range(first, first + length)
            text = "What was the total revenue of {} over the years {} to {}, in million crowns?"
            text = text.format(firm.name, years[0], years[-1])
            yield Asked(text, "aggregate", "revenue", "sum", tuple((firm.name, year) for year in years))

        return _first(firms, tries, lambda: [firms.one()])

    def together(met: list[Firm]) -> Iterator[Asked]:
        column, year = chance.choice(NUMBERS), chance.choice(ASKED_YEARS)
        text = {
            "staff": "How many people worked for {}, {} and {} together in {}?",
            "revenue": "What was the revenue of {}, {} and {} together in {}, in million crowns?",
        }[column].format(*(firm.name for firm in met), year)
        yield Asked(text, "aggregate", column, "sum", tuple((firm.name, year) for firm in met))

    return _first(firms, together, lambda: [firms.one() for _ in range(3)])


def comparison(firms: Firms, chance: random.Random) -> Asked:
    """Which of three firms of like size had the most, the fewest, or grew by the most."""
    texts = {
        "highest": "Which of {}, {} and {} had the highest revenue in {}?",
        "lowest": "Which of {}, {} and {} had the fewest people on its staff in {}?",
        "growth": "Whose revenue rose by the most between {3} and {4}: that of {0}, {1} or {2}?",
    }

    def tries(met: list[Firm]) -> Iterator[Asked]:
        rule = chance.choice(tuple(texts))
        column = "staff" if rule == "lowest" else "revenue"
        pairs = list(combinations(ASKED_YEARS, 2)) if rule == "growth" else [(year,) for year in ASKED_YEARS]
        names = [firm.name for firm in met]
        for years in _shuffled(pairs, chance):
            cells = tuple((name, year) for name in names for year in years)
            asked = Asked(texts[rule].format(*names, *years), "comparison", column, rule, cells)
            if _clear(asked, values_of(asked, {firm.name: firm for firm in met})):
                yield asked

    def alike() -> list[Firm]:
        size = chance.randrange(100, 600)
        return [firms.one(size) for _ in range(3)]

    return _first(firms, tries, alike)


MAKERS = {
    "one_fact": one_fact,
    "several_facts": several_facts,
    "aggregate": aggregate,
    "comparison": comparison,
}


def _first(firms: Firms, tries: Callable[[list[Firm]], Iterator[Asked]], draw: Callable[[], list[Firm]]) -> Asked:
    """The first question whose answer an outdated source would get wrong; firms that allow none stay in the world."""
    while True:
        for asked in tries(draw()):
            right = asked.answer(values_of(asked, firms.made))
            if right is not None and right != asked.answer(values_of(asked, firms.made, back=1)):
                return asked


def _clear(asked: Asked, values: Mapping[Cell, Value]) -> bool:
    """Whether a comparison is won by a margin, in the direction that it names."""
    numbers = {cell: int(value) for cell, value in values.items()}
    scores = sorted(_growth(numbers).values() if asked.rule == "growth" else numbers.values())
    if asked.rule == "lowest":
        return scores[1] - scores[0] >= _MARGIN
    return scores[-1] - scores[-2] >= _MARGIN and scores[-1] > 0


def _shuffled(items: Sequence[_T], chance: random.Random) -> list[_T]:
    return chance.sample(list(items), len(items))
