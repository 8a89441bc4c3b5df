"""Noise in the generated world: what goes wrong with the support of a question, in passages and rows alike.

The noise level is the share of questions, of each difficulty, whose support is corrupted. Which these are depends on
the seed alone and is nested: what is corrupted at 0.3 is corrupted at 0.6 too, in the same way. A question that is
corrupted is so in both arms, so that search and code meet the same questions with and without support; all the passages
or rows that its answer is computed from are corrupted together, so that a harder question is not a noisier one. Nothing
else in the world changes.

| search | python | what the asked cells say then |
|---|---|---|
| irrelevant: the passage is of the same firm and year, and states no fact | missing: the row is gone | nothing |
| missing: the passage is gone | missing | nothing |
| outdated: the passage gives last year's value as this year's | outdated: so does the row | the year before |
| contradictory: two passages that differ, both wrong | wrong: as the first of the two | something else |
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product

import pandas as pd

from toolcal.confidence import prose
from toolcal.confidence.asked import Asked, Cell, values_of
from toolcal.confidence.firms import TEXTS, Firm, Value
from toolcal.confidence.names import Names
from toolcal.confidence.questions import DIFFICULTIES, Arm, Passage
from toolcal.confidence.world import World

KINDS: Mapping[str, str] = {
    "irrelevant": "missing",
    "outdated": "outdated",
    "contradictory": "wrong",
    "missing": "missing",
}
"""What may be done to the passages of a question, and what is then done to its rows."""
NONE = "none"
_TRIES = 1000

Values = Mapping[Cell, Value]


@dataclass(frozen=True)
class Corruption:
    """What is done to one question: `search` and `python` as in `Arm.done`; `versions` of its cells that are stated
    instead of the true one, of which the table has the first. None where nothing is stated."""

    search: str
    versions: tuple[Values, ...]

    @property
    def python(self) -> str:
        """What is done to its rows."""
        return KINDS[self.search]


def arm(world: World, noise: float, seed: int) -> Arm:
    """What search and code see of a world at a noise level.

    Args:
        world: the world.
        noise: the share of corrupted questions of each difficulty, 0 to 1, rounded to whole questions. At 0 the world
            is seen as it is; at 1 neither arm holds the answer to any question.
        seed: from the configuration; the same for all levels that are to be compared.

    Raises:
        ValueError: where the noise is not within 0 and 1.
    """
    if not 0 <= noise <= 1:
        raise ValueError(f"noise must be within 0 and 1, not {noise}")
    met = {question: kind for question, (rank, kind) in _order(world, seed).items() if rank < noise}
    corrupted = {question: _corruption(world, question, kind, seed) for question, kind in met.items()}
    cells = {cell: found for question, found in corrupted.items() for cell in world.asked[question].cells}
    return Arm(
        passages=_passages(world, corrupted, cells, seed),
        rows=_rows(world, corrupted, cells),
        done={
            name: {"search": corrupted[name].search, "python": corrupted[name].python}
            if name in corrupted
            else {"search": NONE, "python": NONE}
            for name in world.asked
        },
    )


def _order(world: World, seed: int) -> dict[str, tuple[float, str]]:
    """Of each question, the noise above which it is corrupted (evenly spread in each difficulty), and how."""
    found: dict[str, tuple[float, str]] = {}
    for difficulty in DIFFICULTIES:
        chance = random.Random(f"order {seed} {difficulty}")
        names = [name for name, asked in world.asked.items() if asked.difficulty == difficulty]
        chance.shuffle(names)
        kinds: list[str] = []
        while len(kinds) < len(names):
            # Four in a row are all different: each kind is as frequent at any level.
            kinds += chance.sample(list(KINDS), len(KINDS))
        for place, name in enumerate(names):
            found[name] = ((place + 0.5) / len(names), kinds[place])
    return found


def _corruption(world: World, question: str, kind: str, seed: int) -> Corruption:
    asked = world.asked[question]
    if kind == "outdated":
        return Corruption(kind, (values_of(asked, world.firms, back=1),))
    if kind == "contradictory":
        return Corruption(kind, _two_wrong(asked, world.firms, random.Random(f"wrong {seed} {question}")))
    return Corruption(kind, ())


def _two_wrong(asked: Asked, firms: Mapping[str, Firm], chance: random.Random) -> tuple[Values, Values]:
    """Two versions of the cells that differ in each of them and give a wrong answer, however they are mixed."""
    true = values_of(asked, firms)
    right = asked.answer(true)
    versions = _wrong(asked, true, firms, chance)
    for _ in range(_TRIES):
        one, other = next(versions), next(versions)
        if any(one[cell] == other[cell] for cell in asked.cells):
            continue
        mixtures = product(*((one[cell], other[cell]) for cell in asked.cells))
        if all(asked.answer(dict(zip(asked.cells, mixture, strict=True))) != right for mixture in mixtures):
            return one, other
    raise RuntimeError(f"no wrong values found for: {asked.text}")


def _wrong(asked: Asked, true: Values, firms: Mapping[str, Firm], chance: random.Random) -> Iterator[Values]:
    """Wrong values without end: invented names, or numbers 8 to 40 % off, of which a sum has all on one side."""
    if asked.column in TEXTS:
        names = Names(chance, {str(facts[asked.column]) for firm in firms.values() for facts in firm.facts.values()})
        while True:
            yield {cell: names.town() if asked.column == "town" else names.person() for cell in true}
    while True:
        one_side = chance.choice((-1, 1))
        sides = {cell: one_side if asked.rule == "sum" else chance.choice((-1, 1)) for cell in true}
        yield {cell: _other_number(int(value), sides[cell], firms[cell[0]], chance) for cell, value in true.items()}


def _other_number(value: int, side: int, firm: Firm, chance: random.Random) -> int:
    own = {fact for facts in firm.facts.values() for fact in facts.values()}
    while (found := round(value * (1 + side * chance.uniform(0.08, 0.4)))) in own:
        pass
    return found


def _passages(
    world: World, corrupted: Mapping[str, Corruption], cells: Mapping[Cell, Corruption], seed: int
) -> tuple[Passage, ...]:
    """The passages in the world's order; a second version of one stands at the end, numbered on."""
    columns = _columns(world, corrupted)
    of_title = {prose.title(*cell): cell for cell in cells}
    kept: list[Passage] = []
    added: list[Passage] = []
    for passage in world.passages:
        cell = of_title.get(passage.title)
        if cell is None:
            kept.append(passage)
            continue
        chance = random.Random(f"passage {seed} {passage.title}")
        if cells[cell].search == "irrelevant":
            kept.append(replace(passage, text=prose.silent(*cell, chance)))
        for version in cells[cell].versions:
            facts = {**world.firms[cell[0]].facts[cell[1]], columns[cell]: version[cell]}
            said = replace(passage, text=prose.stating(*cell, facts, chance))
            if version is cells[cell].versions[0]:
                kept.append(said)
            else:
                added.append(replace(said, passage_id=f"p{len(world.passages) + len(added):05d}"))
    return (*kept, *added)


def _rows(world: World, corrupted: Mapping[str, Corruption], cells: Mapping[Cell, Corruption]) -> pd.DataFrame:
    columns = _columns(world, corrupted)
    rows = []
    for row in world.table.to_dict(orient="records"):
        cell = (row["firm"], row["year"])
        if cell in cells:
            if not cells[cell].versions:
                continue
            row[columns[cell]] = cells[cell].versions[0][cell]
        rows.append(row)
    return pd.DataFrame(rows, columns=world.table.columns).astype(world.table.dtypes.to_dict())


def _columns(world: World, corrupted: Mapping[str, Corruption]) -> dict[Cell, str]:
    """Of each corrupted cell, the column that was asked for."""
    return {cell: world.asked[name].column for name in corrupted for cell in world.asked[name].cells}
