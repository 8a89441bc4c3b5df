"""The firms of the generated world: what is true of each of them in each year."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from toolcal.confidence.names import Names

YEARS = range(2011, 2017)
ASKED_YEARS = YEARS[1:]
"""Questions leave out the first year, so that each asked year has one before it: what an outdated source would say."""
TEXTS, NUMBERS = ("town", "chief"), ("staff", "revenue")
COLUMNS: Mapping[str, str] = {
    "firm": "name of the firm",
    "year": f"{YEARS[0]} to {YEARS[-1]}",
    "town": "town of its head office in that year",
    "chief": "its chief executive in that year",
    "staff": "people who worked for it in that year",
    "revenue": "its revenue in that year, in million crowns",
}
_LEAST, _MOST = 40, 980
"""Of numbers: three digits at most, so that none looks like a year."""

Value = str | int


@dataclass(frozen=True)
class Firm:
    """A firm and its facts: year -> column -> value."""

    name: str
    facts: Mapping[int, Mapping[str, Value]]

    @property
    def short(self) -> str:
        """The first word of the name, which no other firm has."""
        return self.name.split()[0]

    def unique_in(self, column: str, year: int) -> bool:
        """Whether the value of that year is that of no other year."""
        return sum(facts[column] == self.facts[year][column] for facts in self.facts.values()) == 1


class Firms:
    """A source of firms.

    A chief works for one firm only, without a break; head offices move and never return. All numbers of one firm
    differ from each other.

    Args:
        names: where names come from.
        chance: what draws the rest.
        towns: number of towns in the world.
    """

    def __init__(self, names: Names, chance: random.Random, towns: int) -> None:
        self._names, self._chance = names, chance
        self.made: dict[str, Firm] = {}
        """All firms so far, by name."""
        self._towns = [names.town() for _ in range(towns)]

    def one(self, size: int | None = None) -> Firm:
        """A new firm.

        Args:
            size: about how large its numbers are; without it, any size.
        """
        used: set[int] = set()
        staff, revenue = (self._numbers(size or self._chance.randrange(80, 700), used) for _ in NUMBERS)
        towns, chiefs = self._over_time(self._town, 0.6), self._over_time(lambda _: self._names.person(), 0.6)
        facts: dict[int, Mapping[str, Value]] = {
            year: {"town": towns[i], "chief": chiefs[i], "staff": staff[i], "revenue": revenue[i]}
            for i, year in enumerate(YEARS)
        }
        firm = Firm(self._names.firm(), facts)
        self.made[firm.name] = firm
        return firm

    def _numbers(self, start: int, used: set[int]) -> list[int]:
        """A number a year, each 3 to 25 % off the one before, none of them in `used`, to which they are added."""
        found: list[int] = []
        value = start
        while len(found) < len(YEARS):
            change = self._chance.choice((-1, 1)) * self._chance.uniform(0.03, 0.25)
            new = round(value * (1 + change))
            if _LEAST <= new <= _MOST and new not in used:
                found.append(new)
                used.add(new)
                value = new
        return found

    def _over_time(self, another: Callable[[list[str]], str], change: float) -> list[str]:
        """A text a year, which becomes another one with this chance and never returns to an earlier one."""
        found = [another([])]
        while len(found) < len(YEARS):
            found.append(another(found) if self._chance.random() < change else found[-1])
        return found

    def _town(self, before: list[str]) -> str:
        while (town := self._chance.choice(self._towns)) in before:
            pass
        return town
