"""Invented names: pronounceable, each given once."""

from __future__ import annotations

import random
from collections.abc import Iterable


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_STARTS = _words("br d dr f g gl h k kr l m n p qu r s sk t tr v z")
_MIDDLES = _words("b d dv g l lm m n nd r rv s sk t v z")
_VOWELS = _words("a e i o u")
_FIRM_ENDS = _words("nek rix lund vask tor mond zel quist")
_PEOPLE_ENDS = _words("ssen wick dran relli mov stane vane lotte")
_TOWN_ENDS = _words("stad holm mere burg ford haven wold brook")
_GIVEN = _words(
    "Alda Bero Cilla Dorin Edda Falk Gerda Hanno Ilka Jorun Kaspar Levke "
    "Merle Nilo Orla Pavo Runa Silvan Tova Ulf Vesna Wido Ylva Zeno"
)
_TRADES = _words(
    "Mills Foundry Shipping Glassworks Press Instruments Brewery Textiles Quarries Optics "
    "Ceramics Timber Tools Dairy Paper Chemicals"
)


class Names:
    """A source of names that never gives one twice; firms, people and towns end differently (67,200 names of each).

    Args:
        chance: what draws them.
        used: names that it may not give either.
    """

    def __init__(self, chance: random.Random, used: Iterable[str] = ()) -> None:
        self._chance = chance
        self._used = {name.split()[-1] for name in used}

    def firm(self) -> str:
        """A firm, as `Drovanek Mills`; its first word is its own."""
        return f"{self._new(_FIRM_ENDS)} {self._chance.choice(_TRADES)}"

    def person(self) -> str:
        """A person, as `Runa Kelodran`; the surname is their own."""
        return f"{self._chance.choice(_GIVEN)} {self._new(_PEOPLE_ENDS)}"

    def town(self) -> str:
        """A town, as `Trevaholm`."""
        return self._new(_TOWN_ENDS)

    def _new(self, ends: tuple[str, ...]) -> str:
        parts = (_STARTS, _VOWELS, _MIDDLES, _VOWELS, ends)
        while (name := "".join(map(self._chance.choice, parts)).capitalize()) in self._used:
            pass
        self._used.add(name)
        return name
