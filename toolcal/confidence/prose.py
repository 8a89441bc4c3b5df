"""The generated world in prose: one passage a firm and year, whose sentences state its row and some colour besides.

Sentences follow fixed patterns, several for each fact. The first one names the firm and the year; the others are of
both.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from toolcal.confidence.firms import Value

_FIRST = {
    "town": (
        "In {year}, {firm} had its head office in {town}.",
        "The head office of {firm} stood in {town} in {year}.",
        "{firm} was run from its head office in {town} in {year}.",
    ),
    "chief": (
        "In {year}, {firm} was led by {chief} as chief executive.",
        "{chief} was the chief executive of {firm} in {year}.",
        "The chief executive of {firm} in {year} was {chief}.",
    ),
    "staff": (
        "In {year}, {firm} had {staff} people on its staff.",
        "{staff} people worked for {firm} in {year}.",
        "{firm} employed {staff} people in {year}.",
    ),
    "revenue": (
        "In {year}, {firm} took in {revenue} million crowns of revenue.",
        "The revenue of {firm} in {year} was {revenue} million crowns.",
        "{firm} reported a revenue of {revenue} million crowns for {year}.",
    ),
}
_LATER = {
    "town": (
        "Its head office that year was in {town}.",
        "It kept its head office in the town of {town}.",
        "The head office was found in {town}.",
    ),
    "chief": (
        "Its chief executive that year was {chief}.",
        "{chief} led it as chief executive.",
        "The post of chief executive was held by {chief}.",
    ),
    "staff": (
        "The staff numbered {staff} people.",
        "It employed {staff} people that year.",
        "On its staff were {staff} people.",
    ),
    "revenue": (
        "Revenue for the year came to {revenue} million crowns.",
        "It earned a revenue of {revenue} million crowns.",
        "The year's revenue stood at {revenue} million crowns.",
    ),
}
_SILENT = ("Much was written about {firm} in {year}.", "{firm} had a lively {year}, by all accounts.")
_COLOUR = (
    "Visitors praised the new canteen, which looks out on a row of old lime trees.",
    "A long winter had closed the road to the warehouse more than once.",
    "The works choir sang at the spring fair and won a small prize.",
    "Apprentices painted the east gate in the colours of the town.",
    "A customer abroad returned a whole shipment and later ordered it again.",
    "The annual outing led to the lake, where it rained from noon to night.",
    "Neighbours complained about the noise of the loading yard and were heard.",
    "An old boiler was sold to a museum, which came to fetch it by barge.",
    "The library for employees was moved to a brighter room on the upper floor.",
    "A film crew used the courtyard for a week and left it cleaner than before.",
    "Two retired foremen wrote a short history of the workshops.",
    "The football team lost its cup match and celebrated all the same.",
    "A fire drill took so long that it was held again the next morning.",
    "The packing hall was given a roof of glass and a floor of oak.",
    "Swallows nested above the main door, which stayed shut until August.",
    "The catalogue appeared late, with a misprint on its cover that became a joke.",
    "A delegation of students spent a day among the machines.",
    "The night watch found a lost dog and took turns to feed it.",
    "Rumours of a merger were denied by everybody who was asked.",
    "The bicycle shed was doubled in size at the wish of the works council.",
)
_WORDS = range(60, 91)
"""Length of a passage, so that a small model can read some of them."""


def title(firm: str, year: int) -> str:
    """The title of the passages on a firm and year."""
    return f"{firm} in {year}"


def stating(firm: str, year: int, facts: Mapping[str, Value], chance: random.Random) -> str:
    """A passage that states all facts of a firm and year.

    Args:
        firm: its name.
        year: the year.
        facts: by column.
        chance: what draws sentences, their order and the colour between them.
    """
    order = chance.sample(list(_FIRST), len(_FIRST))
    patterns = [chance.choice(_FIRST[order[0]]), *(chance.choice(_LATER[column]) for column in order[1:])]
    sentences = [pattern.format(firm=firm, year=year, **facts) for pattern in patterns]
    return _filled(sentences, chance)


def silent(firm: str, year: int, chance: random.Random) -> str:
    """A passage on a firm and year that states none of its facts."""
    return _filled([chance.choice(_SILENT).format(firm=firm, year=year)], chance)


def _filled(sentences: Sequence[str], chance: random.Random) -> str:
    """The sentences with colour put between them until there are enough words; the first stays first."""
    text = list(sentences)
    count = sum(len(sentence.split()) for sentence in text)
    for colour in chance.sample(_COLOUR, len(_COLOUR)):
        if count >= _WORDS[0]:
            break
        text.insert(chance.randrange(1, len(text) + 1), colour)
        count += len(colour.split())
    return " ".join(text)
