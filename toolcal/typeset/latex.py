"""A Grid as LaTeX, with booktabs."""

from __future__ import annotations

import re

import pandas as pd
from pandas.io.formats.style import Styler

from toolcal.typeset.grid import DASH, DELTA, MINUS, Grid, Line

_COMMANDS = str.maketrans({DASH: "--", MINUS: "$-$", DELTA: r"$\Delta$", "<": "$<$"})
"""For the characters of ours that pdflatex would not print."""


def latex(grid: Grid) -> str:
    """The table as a float, to be read in by a document that uses the package booktabs."""
    notes = "\n\n".join(map(escaped, grid.notes))
    return (
        "% Needs \\usepackage{booktabs}; in two columns, table* in place of table.\n"
        "\\begin{table}\n\\centering\n\\footnotesize\n\\setlength{\\tabcolsep}{4pt}\n"
        f"\\caption{{{escaped(grid.caption)}}}\n\\label{{tab:{grid.name}}}\n\\smallskip\n"
        f"{_tabular(grid)}\n\\par\\smallskip\n"
        f"\\parbox{{\\linewidth}}{{\\scriptsize {notes}}}\n\\end{{table}}\n"
    )


def escaped(text: str) -> str:
    """Text that LaTeX prints as it stands, in one line: an empty line would end a caption."""
    line = re.sub(r"\s+", " ", text)
    # A table of this one text: pandas keeps its escapes to itself.
    cell = Styler(pd.DataFrame([[line]])).hide(axis=0).hide(axis=1).format(escape="latex").to_latex()
    return str(cell).split("\n")[1].removesuffix(r" \\").translate(_COMMANDS)


def _tabular(grid: Grid) -> str:
    """The part between \\begin{tabular} and \\end{tabular}, with both."""
    levels = [pd.Index(names) for names in zip(*grid.heading, strict=True)]
    heading = levels[0] if len(levels) == 1 else pd.MultiIndex.from_arrays(levels)
    data = pd.DataFrame([line.texts for line in grid.lines], columns=heading, dtype=object)
    data.index = pd.Index([line.label for line in grid.lines])
    styles = pd.DataFrame([_styles(line) for line in grid.lines], index=data.index, columns=heading)
    style = data.reset_index(drop=True).style.apply(lambda _: styles.reset_index(drop=True), axis=None)
    style = style.format(escape="latex").relabel_index([_label(line) for line in grid.lines], axis=0)
    style = style.format_index(escape="latex", axis=1)
    text = style.to_latex(hrules=True, column_format="l" + "c" * len(heading), multicol_align="c")
    return _spaced(text.rstrip("\n").translate(_COMMANDS), grid)


def _label(line: Line) -> str:
    text = rf"\quad {{\scriptsize {escaped(line.label)}}}" if line.below else escaped(line.label)
    return text.replace("{", "{{").replace("}", "}}")  # pandas formats what it is given


def _styles(line: Line) -> list[str]:
    """How pandas is to wrap each text of a line."""
    return [
        "scriptsize: --wrap;" if line.below and text else "textbf: --rwrap;" if at in line.bold else ""
        for at, text in enumerate(line.texts)
    ]


def _spaced(text: str, grid: Grid) -> str:
    """A little space before each model but the first."""
    rows = text.split("\n")
    first = rows.index(r"\midrule") + 1
    for at in range(len(grid.lines) - 1, 0, -1):
        if not grid.lines[at].below:
            rows.insert(first + at, r"\addlinespace")
    return "\n".join(rows)
