"""Every figure, drawn from a small panel, a large one and one with odd names and gaps."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from tests.figures import frames, made
from tests.figures.seen import clipped, crowded, marks, overlapping, place, words
from toolcal import tables
from toolcal.figures import FIGURES, draw
from toolcal.figures.panels import POLICY
from toolcal.figures.save import save
from toolcal.figures.style import ALERT, extent, plain, wrap

TABLES = {name: figure.table for name, figure in FIGURES.items()}
OF_LABELS = [name for name, figure in FIGURES.items() if figure.by]
OF_CASES = ("gar_acc", "shares", "ranks", "slack_reasons")
DRAWN = [
    *(("small", name) for name in FIGURES),
    *((panel, name) for panel in ("large", "odd") for name in OF_LABELS),
    *(("recorded", name) for name in (*OF_CASES, "confusion", "recall_by_turn", "dumbbells", "forest", "movement")),
    *(("joint", name) for name in OF_CASES),
]
"""Panels and figures that are looked at: where the table is the same in every panel, one of them."""
BY_FAMILY = ("ranks", "dumbbells")
NEEDED = {
    "gar_acc": ["gar_case_any", "acc"],
    "shares": ["share_masked"],
    "ranks": ["rank_gar"],
    "recall_by_turn": ["recall"],
    "slack_reasons": ["share"],
    "confidence_by_outcome": ["mean_confidence"],
    "confirmed_writes": ["confirmed"],
    "validity": ["f1"],
    "dumbbells": ["delta"],
    "forest": ["delta"],
    "movement": ["delta"],
    "comparison": ["value"],
    "reward_curves": ["expected_reward"],
    "reward_optima": ["cost_at_1"],
    "tabular_calibration": ["confidence"],
    "tabular_outcomes": ["mean"],
    "tabular_collapse": ["share"],
}


def written(figure: Figure, data: pd.DataFrame, folder: Path) -> dict[str, Path]:
    """A figure's files. It is drawn for them at another resolution, so it must be none of those that tests share."""
    paths = {kind: folder / f"figure.{kind}" for kind in ("svg", "pdf", "csv")}
    save(figure, data, svg=paths["svg"], pdf=paths["pdf"], csv=paths["csv"])
    return paths


def texts(svg: Path) -> str:
    """All text of an SVG file, line by line; also proof that it is well-formed."""
    return "\n".join("".join(node.itertext()) for node in ET.parse(svg).iter("{http://www.w3.org/2000/svg}text"))


def names(name: str, rows: pd.DataFrame) -> list[str]:
    """The models or families that a figure has to name."""
    if name in BY_FAMILY:
        return [str(family).removeprefix(POLICY) for family in rows["family"].unique()]
    if name == "comparison":
        return list(rows["method"].unique())
    return list(rows["model"].unique()) if "model" in rows else []


@pytest.mark.parametrize(("panel", "name"), DRAWN)
@pytest.mark.filterwarnings("error:constrained_layout")
def test_names_are_there_and_nothing_is_clipped(panel: str, name: str) -> None:
    rows, figure = made.rows(panel, name), made.drawn(panel, name)
    found = words(figure)
    assert "labeller" not in rows or rows["labeller"].iloc[0] in found
    assert "perturbation" not in rows or f"context {rows['perturbation'].iloc[0]}" in found
    joined = found.replace("\n", "").replace(" ", "")
    for shown in names(name, rows):
        if panel == "odd" and name == "gar_acc" and "…" in plain(shown):
            continue  # without a rate; named above the panels, perhaps across a line's end
        assert plain(shown).replace(" ", "") in joined, shown
    for scenario in rows["scenario"].unique() if "scenario" in rows else []:
        assert scenario in found
    assert clipped(figure) == []
    inside = figure.get_tightbbox()
    assert inside.x0 >= -0.01
    assert inside.y0 >= -0.01
    assert inside.x1 <= figure.get_figwidth() + 0.01
    assert inside.y1 <= figure.get_figheight() + 0.01


@pytest.fixture
def without_pdf(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not write what takes longest."""
    monkeypatch.setattr("toolcal.figures.save.FigureCanvasPdf.print_figure", lambda *_, **__: None)


@pytest.mark.parametrize("name", OF_LABELS)
@pytest.mark.usefixtures("without_pdf")
def test_odd_names_are_text_in_the_file(name: str, tmp_path: Path) -> None:
    rows = made.rows("odd", name)
    found = texts(written(draw(name, rows), rows, tmp_path)["svg"]).replace("\n", "")
    for shown in names(name, rows):
        if "…" not in plain(shown):
            assert plain(shown).replace(" ", "") in found.replace(" ", ""), shown


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.usefixtures("without_pdf")
def test_equal_data_gives_equal_bytes_and_the_csv_is_the_data(name: str, tmp_path: Path) -> None:
    rows = made.rows("small", name)
    rows = rows[rows["scenario"] == rows["scenario"].iloc[0]] if "scenario" in rows else rows
    first = written(draw(name, rows), rows, tmp_path / "a")
    second = written(draw(name, rows.copy()), rows.copy(), tmp_path / "b")
    back = pd.read_csv(first["csv"], keep_default_na=False, na_values=[""], dtype=str)
    assert list(back.columns) == list(rows.columns)
    assert len(back) == len(rows)
    for column in rows.columns:
        assert [str(v) for v in back[column].dropna()] == [str(v) for v in rows[column].dropna().to_list()], column
    for kind in ("svg", "csv"):
        assert first[kind].read_bytes() == second[kind].read_bytes()
    assert "dc:date" not in first["svg"].read_text()


@pytest.mark.parametrize("name", ["gar_acc", "confusion", "forest"])
def test_equal_figures_give_equal_pdfs_with_fonts_that_journals_take(name: str, tmp_path: Path) -> None:
    rows = made.rows("small", name)
    figure = draw(name, rows)
    first, second = (written(figure, rows, tmp_path / folder)["pdf"].read_bytes() for folder in "ab")
    assert first == second
    assert b"CreationDate" not in first
    assert b"/Type3" not in first


@pytest.mark.parametrize("name", ["gar_acc", "shares", "ranks"])
def test_thirty_models_with_names_of_forty_characters(name: str) -> None:
    cells = [row for row in frames.wide_cells() if "miss" in row["scenario"]]
    rows = tables.frame(TABLES[name], frames.families(cells) if name == "ranks" else cells)
    assert clipped(draw(name, rows)) == []


@pytest.mark.parametrize("name", FIGURES)
def test_an_empty_table_gives_a_figure_that_says_so(name: str) -> None:
    table = TABLES[name]
    empty = tables.frame(table, [])
    said = words(draw(name, empty))
    assert "No execution failures" in said if name == "slack_reasons" else f"table {table} has no rows" in said


@pytest.mark.parametrize("name", NEEDED)
def test_null_columns_give_a_figure_that_names_them(name: str) -> None:
    rows = made.rows("small", name).assign(**dict.fromkeys(NEEDED[name]))
    said = words(draw(name, rows))
    for column in NEEDED[name]:
        assert column in said


@pytest.mark.parametrize("name", FIGURES)
def test_one_row_is_enough(name: str) -> None:
    rows = made.rows("small", name)
    assert clipped(draw(name, rows[rows["measure"] == "acc"].head(1) if "measure" in rows else rows.head(1))) == []


@pytest.mark.parametrize(
    ("name", "column"), [(name, key) for name in FIGURES for key in sorted({"perturbation", *FIGURES[name].by})]
)
def test_mixed_rows_are_refused(name: str, column: str) -> None:
    rows = made.rows("small", name).head(40)
    if column not in rows:
        return
    with pytest.raises(ValueError, match=f"one {column}"):
        draw(name, pd.concat([rows, rows.assign(**{column: "another"})]))


@pytest.mark.parametrize("panel", made.CELLS)
def test_violations_and_only_they_have_the_alert_colour_and_mark(panel: str) -> None:
    cells, figure = made.rows(panel, "gar_acc"), made.drawn(panel, "gar_acc")
    drawn = cells[cells["gar_case_any"].notna() & cells["acc"].notna()]
    broken = drawn[drawn["violation"]]
    diamonds, circles = marks(figure, "D"), marks(figure, "o")
    assert sorted(map(place, diamonds)) == sorted(zip(broken["gar_case_any"], broken["acc"], strict=True))
    assert {to_hex(line.get_markeredgecolor()) for line in diamonds} <= {ALERT.lower()}
    assert len(circles) == len(drawn) - len(broken)
    assert ALERT.lower() not in {to_hex(line.get_markeredgecolor()) for line in circles}


@pytest.mark.parametrize("panel", made.CELLS)
def test_labels_do_not_overlap(panel: str) -> None:
    assert crowded(made.drawn(panel, "gar_acc")) == []


@pytest.mark.parametrize("scenarios", [1, 2, 3, 5])
def test_heading_titles_axis_names_and_legend_do_not_overlap(scenarios: int) -> None:
    cells = made.rows("small", "gar_acc")
    first = cells[cells["scenario"] == cells["scenario"].iloc[0]]
    figure = draw("gar_acc", pd.concat([first.assign(scenario=f"bfcl-{n}") for n in range(scenarios)]))
    assert overlapping(figure, around(figure)) == []


def around(figure: Figure) -> list[Any]:
    """Heading, titles, axis names and legends."""
    parts = [figure._suptitle, *figure.legends]
    for axes in figure.axes:
        parts += [axes._left_title, *([axes.xaxis.label] if axes.get_xlabel() else [])]
    return parts


def test_whom_panels_lack_stands_between_them_and_the_legend() -> None:
    figure = made.drawn("odd", "movement")
    assert "GAR\nnot recorded" in figure.axes[0].get_xlabel()
    assert overlapping(figure, around(figure)) == []


def test_coincident_points_share_a_label() -> None:
    figure = made.drawn("small", "gar_acc")
    labels = [text.get_text() for text in figure.axes[2].texts if text.get_gid() == "label"]
    assert sorted(labels) == [
        "always_ask\nsilent",
        "always_refuse",
        "explore_first\nguess_early",
        "oracle",
        "smollm2-135m (n = 8)",
    ]


def test_every_model_of_a_large_panel_is_in_the_key() -> None:
    cells = made.rows("large", "gar_acc")
    found = words(made.drawn("large", "gar_acc"))
    for number, model in enumerate(cells["model"].unique(), 1):
        assert f"{number} {model}" in found


def test_the_labels_of_a_tie_stand_apart_around_its_rank() -> None:
    figure = made.drawn("small", "ranks")
    for axes in figure.axes:
        ticks = list(axes.get_yticks())
        assert min(b - a for a, b in pairwise(ticks)) == pytest.approx(1)


def test_turns_with_few_cases_are_hollow() -> None:
    turns = made.rows("small", "recall_by_turn")
    figure = made.drawn("small", "recall_by_turn")
    hollow = sum(
        len(line.get_xdata())
        for axes in figure.findobj(matplotlib.axes.Axes)
        for line in axes.lines
        if line.get_markerfacecolor() == "white"
    )
    assert hollow == (turns["n"] < 10).sum()


def test_rows_of_the_confusion_add_up() -> None:
    rows = made.rows("small", "confusion")
    pooled = words(made.drawn("small", "confusion"))
    oracle = rows[rows["model"] == "oracle"]
    for total in oracle.groupby("gold_action")["n"].sum():
        assert str(total) in pooled.split("\n")
    assert "no turn has gold CONFIRM" in pooled.replace("\n", " ")
    one = words(draw("confusion", rows, scenario="bfcl-base"))
    assert "REFUSE or ASK or CONFIRM" in one
    none = words(draw("confusion", rows, scenario="elsewhere"))
    assert "no rows of scenario elsewhere" in none


@pytest.mark.parametrize("name", ["gar_acc", "shares"])
def test_the_decisive_view(name: str) -> None:
    figure = made.drawn("small", name, view="decisive")
    assert "decisive view" in words(figure)
    assert clipped(figure) == []


def test_missing_cases_and_cells_are_shown() -> None:
    shares = words(made.drawn("odd", "shares"))
    assert "20 (3)" in shares
    assert "not run" in shares
    assert "no share, n = 20" in shares
    points = words(made.drawn("odd", "gar_acc"))
    assert "no rates" in points
    assert "mödèl" in points


def test_what_was_not_recorded_is_said_and_not_drawn() -> None:
    cells = made.rows("recorded", "gar_acc")
    for view in ("case_any", "decisive"):
        figure = made.drawn("recorded", "gar_acc", **({} if view == "case_any" else {"view": view}))
        said = words(figure)
        assert "not drawn" not in said or view == "decisive"
        under = [axes.get_xlabel().replace("\n", " ") for axes in figure.axes]
        lacking = "GAR not recorded: DeepSeek-V3.1-Terminus-FC, claude-sonnet-4-5-20250929-FC"
        titles = [axes.get_title("left") for axes in figure.axes]
        assert [lacking in label for label in under] == ["miss" in title for title in titles]
        known = cells[f"gar_{view}"].notna()
        assert len(marks(figure, "D", "o")) == known.sum()
    assert words(made.drawn("recorded", "shares")).count("not recorded, n = 200") == 4
    assert words(made.drawn("recorded", "slack_reasons")).split("\n").count("not recorded") == 4
    assert "NOT_RECORDED: not known" in words(made.drawn("recorded", "confusion"))
    turns = words(made.drawn("recorded", "recall_by_turn"))
    assert "DeepSeek-V3.1-Terminus-FC*" in turns
    assert "smollm2-135m*" not in turns


def test_a_panel_of_which_nothing_was_recorded_says_so() -> None:
    rows = [row for row in made.CELLS["recorded"] if row["model"].startswith("DeepSeek")]
    data = tables.frame("cells", rows)
    figure = draw("gar_acc", data)
    assert len(figure.axes) == 2
    assert "bfcl-miss_func gold REFUSE: GAR not recorded" in words(figure)


def test_a_family_without_a_rate_moves_no_other() -> None:
    cells = made.CELLS["recorded"]
    apart = [row for row in cells if not row["model"].startswith(("DeepSeek", "claude"))]
    ranks = [tables.frame("families", frames.families(rows, alone=True)) for rows in (cells, apart)]
    figures = [draw("ranks", rows[rows["scenario"] == "bfcl-miss_param"]) for rows in ranks]
    lines = [[(line.get_ydata()[0], line.get_ydata()[1]) for line in marks(figure, "o")] for figure in figures]
    assert lines[0] == lines[1]


def test_the_state_of_matplotlib_is_left_alone(tmp_path: Path) -> None:
    before = dict(matplotlib.rcParams)
    rows = made.rows("small", "shares").head(3)
    written(draw("shares", rows), rows, tmp_path)
    assert dict(matplotlib.rcParams) == before


def test_matplotlib_comes_late_and_pyplot_never() -> None:
    code = """
import sys
from toolcal import figures
assert "matplotlib" not in sys.modules
from toolcal import tables
for name, figure in figures.FIGURES.items():
    figures.draw(name, tables.frame(figure.table, []))
assert "matplotlib.figure" in sys.modules
assert "matplotlib.pyplot" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_names_become_plain_lines() -> None:
    assert plain("a\nb\x00\ud800") == "a b��"
    assert plain("$x_1$") == "$x_1$"
    assert extent(plain("x" * 90), 7)[0] <= 175
    assert plain("start-" + "x" * 90 + "-end").startswith("start-")
    assert plain("start-" + "x" * 90 + "-end").endswith("-end")


def test_wrapping_keeps_every_word() -> None:
    text = "some words and averyveryveryverylongoneindeed more"
    wrapped = wrap(text, 60, 7)
    assert all(extent(line, 7)[0] <= 60 for line in wrapped.split("\n"))
    assert wrapped.replace("\n", "").replace(" ", "") == text.replace(" ", "")
