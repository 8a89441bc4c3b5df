"""What the figures share: which rows they got, what is missing, and a grid of titled panels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure, SubFigure
from numpy.typing import NDArray

from toolcal.figures.style import GREY, INK, LARGE, NORMAL, PAGE, SMALL, extent, plain, wrap

Canvas: TypeAlias = Figure | SubFigure

POLICY = "policy/"
"""How the families of scripted agents begin."""

_RULED = ("tau1-", "tau2-")
"""Scenarios whose benchmark says itself when the gold action was there."""


def blank(height: float, width: float = PAGE) -> Figure:
    """A figure of this many inches whose layout keeps every label inside."""
    return Figure(figsize=(width, height), layout="constrained")


def settle(figure: Figure) -> Figure:
    """Lay a finished figure out, once: it then looks the same in every format, and is written faster."""
    FigureCanvasAgg(figure)
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    return figure


def selection(data: pd.DataFrame) -> str:
    """Which labeller, perturbation and question set the rows are of, in words.

    Raises:
        ValueError: where the rows are of several: a figure that mixed them would mislead.
    """
    words = []
    for column, word in (("labeller", "labeller {}"), ("perturbation", "context {}"), ("question_set", "set {}")):
        if column not in data:
            continue
        found = list(data[column].unique())
        if len(found) > 1:
            raise ValueError(f"a figure shows one {column}, the rows are of {sorted(map(str, found))}")
        words.append(word.format(plain(found[0])))
    return ", ".join(words)


def view(data: pd.DataFrame, name: str) -> str:
    """The view of GAR, in words; tau2 and tau-bench have rules of their own (method A7) in place of case_any."""
    ruled = data["scenario"].map(lambda scenario: str(scenario).startswith(_RULED))
    if name != "case_any" or not ruled.any():
        return f"{name} view"
    own = "the benchmark's own rules"
    return f"by {own}" if ruled.all() else f"{name} view; tau panels: by {own}"


def missing(table: str, data: pd.DataFrame, columns: Sequence[str]) -> str | None:
    """What a figure cannot do without and does not find in the rows; None where all is there."""
    absent = [column for column in columns if column not in data]
    if absent:
        return f"Nothing to show: table {table} has no column {', '.join(absent)}."
    if data.empty:
        return f"Nothing to show: table {table} has no rows for this selection."
    null = [column for column in columns if data[column].isna().all()]
    if null:
        return f"Nothing to show: in table {table}, null in all {len(data)} rows: {', '.join(null)}."
    return None


def notice(text: str) -> Figure:
    """A figure that only says why there is nothing to show."""
    figure = blank(1.2)
    figure.text(0.5, 0.5, wrap(text, PAGE * 72 * 0.9, NORMAL), ha="center", va="center", color=INK)
    return figure


def numbers(data: pd.DataFrame, column: str) -> NDArray[np.float64]:
    """A column's values as floats, NaN for null."""
    return data[column].to_numpy(dtype=np.float64, na_value=np.nan)


def truths(data: pd.DataFrame, column: str) -> NDArray[np.bool_]:
    """A column's values as booleans, False for null."""
    return np.equal(numbers(data, column), 1)


def span(values: Sequence[float] | NDArray[np.float64]) -> str:
    """Counts in words: `n = 200`, or `n = 8 to 200` where they differ; no line breaks in it."""
    low, high = int(min(values)), int(max(values))
    words = f"n = {low}" if low == high else f"n = {low} to {high}"
    return words.replace(" ", "\N{NO-BREAK SPACE}")


def by_scenario(data: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """The rows of each panel with its heading: scenario, and gold action where the table has one."""
    keys = [key for key in ("scenario", "gold_action") if key in data]
    for values, rows in data.groupby(keys):
        scenario, *gold = map(plain, values)
        yield "\ngold ".join([scenario, *gold]), rows


def heading(canvas: Canvas, text: str, width: float = PAGE) -> None:
    """Say above the panels what is shown, of which rows."""
    canvas.suptitle(wrap(text, width * 72 * 0.96, NORMAL), x=0.008, ha="left", color=INK)


def grid(
    canvas: Canvas,
    titles: Sequence[str],
    columns: int,
    *,
    width: float,
    sharex: bool = True,
    sharey: bool = True,
    xlabel: str = "",
    ylabel: str = "",
    align: Literal["left", "center"] = "left",
    heights: Sequence[float] | None = None,
) -> list[Axes]:
    """Titled panels, row by row; titles are wrapped to `width` inches, axes are named at the left and at the bottom."""
    rows = -(-len(titles) // columns)
    panels = list(
        canvas.subplots(rows, columns, sharex=sharex, sharey=sharey, squeeze=False, height_ratios=heights).flat
    )
    for surplus in panels[len(titles) :]:
        surplus.remove()
    for panel, title in zip(panels, titles, strict=False):
        panel.set_title(wrap(title, width * 72, LARGE), loc=align)
    used = panels[: len(titles)]
    for panel in used[-columns:]:  # where the last row is not full, those above the gap
        panel.xaxis.set_tick_params(labelbottom=True)
        panel.set_xlabel(xlabel)
    for panel in used[::columns]:
        panel.set_ylabel(ylabel)
    return used


def remark(panel: Axes, text: str) -> None:
    """Say in the middle of a panel why it is empty."""
    panel.text(
        0.5, 0.5, text, transform=panel.transAxes, ha="center", va="center", color=GREY, fontsize=SMALL, style="italic"
    )


def group_names(panel: Axes, names: Mapping[int, str], labels: Sequence[str]) -> None:
    """Names of groups of lines, in bold from the left edge of the lines' labels; a long one goes on over the panels.

    Args:
        panel: the leftmost one; its y axis counts the places.
        names: place of a line that holds no marks -> the name of the lines below it.
        labels: the lines' labels.
    """
    left = max((extent(label, SMALL)[0] + 4 for label in labels), default=0.0)
    panel.set_zorder(2)
    panel.patch.set_visible(False)
    for place, words in names.items():
        written = panel.annotate(
            words,
            (0, place),
            (-left, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            va="center_baseline",
            fontsize=SMALL,
            fontweight="bold",
            annotation_clip=False,
        )
        written.set_in_layout(False)


def columns_beside(
    panel: Axes, columns: Sequence[tuple[str, Sequence[str]]], *, head_at: float, gap: float, lift: float
) -> None:
    """Columns of words on the right of a panel, a line each place from 0, under their heads.

    Args:
        panel: its y axis counts the places.
        columns: (head, a word for each place).
        head_at: where the heads stand, in places.
        gap: between columns, in points.
        lift: of the heads, in points.
    """
    edge = 2.0
    for head, words in columns:
        edge += max(extent(word, SMALL)[0] for word in [head, *words]) + gap
        for place, word in [(head_at, head), *enumerate(words)]:
            panel.annotate(
                word,
                (1, place),
                (edge, lift if word is head else 0),
                xycoords=("axes fraction", "data"),
                textcoords="offset points",
                ha="right",
                va="bottom" if word is head else "center_baseline",
                fontsize=SMALL,
                color=GREY if word is head else INK,
                annotation_clip=False,
            )
