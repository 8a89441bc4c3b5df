"""Two ways to an answer that share no code with the generator: SQL from the question's words, and a reader of prose."""

from __future__ import annotations

import re
import sqlite3
from functools import cache
from itertools import product

import pandas as pd

NAME = r"([A-Z]\w+ [A-Z]\w+)"
YEAR = r"(20\d\d)"
THREE = rf"{NAME}, {NAME} and {NAME}"
COLUMN = {"In which town": "town", "Who was": "chief", "How many people": "staff", "What was the revenue": "revenue"}

FACTS = {
    "town": [
        r"had its head office in (\w+)\.",
        r"^The head office of .+ stood in (\w+) in \d+\.",
        r"^.+ was run from its head office in (\w+) in \d+\.",
        r"^Its head office that year was in (\w+)\.",
        r"^It kept its head office in the town of (\w+)\.",
        r"^The head office was found in (\w+)\.",
    ],
    "chief": [
        r"was led by (\w+ \w+) as chief executive\.",
        r"^(\w+ \w+) was the chief executive of .+ in \d+\.",
        r"^The chief executive of .+ in \d+ was (\w+ \w+)\.",
        r"^Its chief executive that year was (\w+ \w+)\.",
        r"^(\w+ \w+) led it as chief executive\.",
        r"^The post of chief executive was held by (\w+ \w+)\.",
    ],
    "staff": [
        r"had (\d+) people on its staff\.",
        r"^(\d+) people worked for .+ in \d+\.",
        r"employed (\d+) people (?:that year|in \d+)\.",
        r"^The staff numbered (\d+) people\.",
        r"^On its staff were (\d+) people\.",
    ],
    "revenue": [
        r"took in (\d+) million crowns of revenue\.",
        r"^The revenue of .+ was (\d+) million crowns\.",
        r"reported a revenue of (\d+) million crowns for \d+\.",
        r"^Revenue for the year came to (\d+) million crowns\.",
        r"^It earned a revenue of (\d+) million crowns\.",
        r"^The year's revenue stood at (\d+) million crowns\.",
    ],
}


TRADES = "Mills Foundry Shipping Glassworks Press Instruments Brewery Textiles Quarries Optics Ceramics Timber Tools"
FIRM = rf"[A-Z]\w+ (?:{'|'.join(TRADES.split())}|Dairy|Paper|Chemicals)"


@cache
def facts(text):
    """What one passage states, of the firm and year that its first sentence names."""
    sentences = re.split(r"(?<=\.) ", text)
    found = {"firm": re.search(FIRM, sentences[0])[0], "year": int(re.search(YEAR, sentences[0])[1])}
    for column, patterns in FACTS.items():
        values = {m[1] for s in sentences for p in patterns if (m := re.search(p, s))}
        assert len(values) <= 1, (column, text)
        for value in values:
            found[column] = int(value) if column in ("staff", "revenue") else value
    return found


def read(passages):
    """A row per passage that states any fact."""
    rows = [found for passage in passages if len(found := facts(passage.text)) > 2]
    return pd.DataFrame(rows, columns=["firm", "year", *FACTS])


def asked(text):
    """(column, rule, firms or the chief who leads to one, years) of a question, from its words alone."""
    column = next((column for words, column in COLUMN.items() if text.startswith(words)), "revenue")
    if m := re.search(rf"firm that {NAME} led in {YEAR}", text):
        return column, "led", [m[1]], [int(re.search(rf"in {YEAR}", text)[1]), int(m[2])]
    if m := re.search(rf"total revenue of {NAME} over the years {YEAR} to {YEAR}", text):
        return "revenue", "sum", [m[1]], list(range(int(m[2]), int(m[3]) + 1))
    if m := re.search(rf"{THREE} together in {YEAR}", text):
        return column, "sum", [m[1], m[2], m[3]], [int(m[4])]
    if m := re.match(rf"Which of {THREE} had the (highest revenue|fewest people on its staff) in {YEAR}\?", text):
        rule = ("max", "revenue") if m[4].startswith("highest") else ("min", "staff")
        return rule[1], rule[0], [m[1], m[2], m[3]], [int(m[5])]
    if m := re.match(
        rf"Whose revenue rose by the most between {YEAR} and {YEAR}: that of {NAME}, {NAME} or {NAME}\?", text
    ):
        return "revenue", "growth", [m[3], m[4], m[5]], [int(m[1]), int(m[2])]
    (firm,) = re.findall(NAME, re.sub(r"^(In|Who|How|What)\b", "", text))
    return column, "value", [firm], [int(re.search(YEAR, text)[1])]


class Table:
    """Rows in SQLite, asked in the words of a question."""

    def __init__(self, rows):
        self.base = sqlite3.connect(":memory:")
        rows.to_sql("t", self.base, index=False)
        self.base.execute("create index by_firm on t (firm, year)")
        self.base.execute("create index by_chief on t (chief, year)")

    def one(self, query, *values):
        found = self.base.execute(query, values).fetchall()
        return found[0][0] if len(found) == 1 else None

    def answer(self, text):
        """The answer, or None where the table does not hold it."""
        column, rule, names, years = asked(text)
        if rule == "value":
            return self.one(f"select {column} from t where firm = ? and year = ?", names[0], years[0])
        if rule == "led":
            both = f"select b.{column} from t a join t b on a.firm = b.firm"
            return self.one(f"{both} where a.chief = ? and a.year = ? and b.year = ?", names[0], years[1], years[0])
        among = f"firm in ({','.join('?' * len(names))}) and year in ({','.join(map(str, years))})"
        if self.one(f"select count({column}) from t where {among}", *names) != len(names) * len(years):
            return None
        if rule == "sum":
            return self.one(f"select sum({column}) from t where {among}", *names)
        if rule == "growth":
            score = f"sum(case when year = {years[1]} then {column} else -{column} end)"
            scores = f"select firm, {score} as score from t where {among} group by firm"
            return self.one(f"with s as ({scores}) select firm from s where score = (select max(score) from s)", *names)
        best = f"(select {rule}({column}) from t where {among})"
        return self.one(f"select firm from t where {among} and {column} = {best}", *names, *names)


def possible_answers(text, stated):
    """All answers that can be put together from what passages state, of cells that they state more than once.

    Args:
        text: the question.
        stated: `facts` of all passages on the firms of the question.
    """
    column, rule, names, years = asked(text)
    if rule == "led":
        led = [row["firm"] for row in stated if (row.get("chief"), row["year"]) == (names[0], years[1])]
        names, years = list(dict.fromkeys(led)), years[:1]
    cells = [(name, year) for name in names for year in years]
    choices = [
        {row[column] for row in stated if (row["firm"], row["year"]) == cell and column in row} for cell in cells
    ]
    found = set()
    for values in product(*choices):
        if rule in ("value", "led"):
            found |= set(values)
            continue
        held = dict(zip(cells, values, strict=True))
        if rule == "sum":
            found.add(sum(values))
            continue
        score = {f: held[f, years[-1]] - (held[f, years[0]] if rule == "growth" else 0) for f in names}
        best = (min if rule == "min" else max)(score.values())
        if list(score.values()).count(best) == 1:
            found.add(next(f for f in names if score[f] == best))
    return found
