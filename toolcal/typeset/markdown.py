"""A Grid as Markdown, as GitHub and others read it."""

from __future__ import annotations

import re

from tabulate import tabulate

from toolcal.typeset.grid import Grid, Line


def markdown(grid: Grid) -> str:
    """The caption, the table and its notes."""
    heading = ["model", *(escaped(" ".join(dict.fromkeys(levels))) for levels in grid.heading)]
    rows = [[_label(line), *(_text(line, at) for at in range(len(line.texts)))] for line in grid.lines]
    table = tabulate(rows, heading, tablefmt="pipe", disable_numparse=True, colalign=_aligned(len(heading)))
    notes = "\n".join(f"- {escaped(note)}" for note in grid.notes)
    return f"**{escaped(grid.caption)}**\n\n{table}\n\n{notes}\n"


def escaped(text: str) -> str:
    """Text that is no markup, in one line."""
    return re.sub(r"([\\`*_|<>\[\]$~])", r"\\\1", re.sub(r"\s+", " ", text))


def _label(line: Line) -> str:
    return f"*{escaped(line.label)}*" if line.below else escaped(line.label)


def _text(line: Line, at: int) -> str:
    text = escaped(line.texts[at])
    return f"**{text}**" if text and at in line.bold else text


def _aligned(columns: int) -> list[str]:
    return ["left", *["center"] * (columns - 1)]
