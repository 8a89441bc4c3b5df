"""Every figure, drawn from a small panel, a large one and one with odd names and gaps."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ET
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import docutils.core
import matplotlib
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from tests.figures import frames, talks
from tests.figures.seen import clipped, words
from toolcal import tables
from toolcal.figures import FIGURES, draw
from toolcal.figures.save import save
from toolcal.figures.style import ALERT, extent, plain, wrap

TABLES = {name: figure.table for name, figure in FIGURES.items()}
PANELS = {
    "small": frames.small_cells(),
    "large": frames.large_cells(),
    "odd": frames.odd_cells(),
    "recorded": frames.recorded_cells(),
    "joint": talks.joint_cells(),
}
NEEDED = {
    "gar_acc": ["gar_case_any", "acc"],
    "shares": ["share_masked"],
    "ranks": ["rank_gar"],
    "recall_by_turn": ["recall"],
    "slack_reasons": ["share"],
    "confirmed_writes": ["confirmed"],
    "validity": ["f1"],
}


def every_table(panel: str, folder: Path) -> dict[str, pd.DataFrame]:
    own = {"write_rates": talks.write_rates(), "validity": talks.validity()}
    return {**frames.all_tables(PANELS[panel], folder), **frames.written(own, folder)}


@pytest.fixture(scope="module", params=PANELS)
def panel(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, Any]]:
    return request.param, every_table(request.param, tmp_path_factory.mktemp(request.param))


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> dict[str, pd.DataFrame]:
    return every_table("small", tmp_path_factory.mktemp("small"))


def written(figure: Figure, data: pd.DataFrame, folder: Path) -> dict[str, Path]:
    paths = {kind: folder / f"figure.{kind}" for kind in ("svg", "pdf", "csv")}
    save(figure, data, svg=paths["svg"], pdf=paths["pdf"], csv=paths["csv"])
    return paths


def texts(svg: Path) -> str:
    """All text of an SVG file, line by line; also proof that it is well-formed."""
    return "\n".join("".join(node.itertext()) for node in ET.parse(svg).iter("{http://www.w3.org/2000/svg}text"))


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.filterwarnings("error:constrained_layout")
def test_names_are_in_the_file_and_nothing_is_clipped(name: str, panel: Any, tmp_path: Path) -> None:
    kind, data = panel
    if not FIGURES[name].by_labeller and kind != "small":
        pytest.skip("its table is the same in every panel")
    rows = data[TABLES[name]]
    figure = draw(name, rows)
    found = texts(written(figure, rows, tmp_path)["svg"])
    assert "labeller" not in rows or "refined" in found
    assert "perturbation" not in rows or "baseline" in found
    joined = found.replace("\n", "")
    for shown in rows["family" if name == "ranks" else "model"].unique() if "model" in rows or name == "ranks" else []:
        shown = shown.removeprefix("policy/") if name == "ranks" else shown
        if kind == "odd" and name == "gar_acc" and "…" in plain(shown):
            continue  # without a rate; named above the panels, perhaps across a line's end
        assert plain(shown).replace(" ", "") in joined.replace(" ", ""), shown
    for scenario in rows["scenario"].unique() if "scenario" in rows else []:
        assert scenario in found
    assert clipped(figure) == []
    inside = figure.get_tightbbox()
    assert inside.x0 >= -0.01
    assert inside.y0 >= -0.01
    assert inside.x1 <= figure.get_figwidth() + 0.01
    assert inside.y1 <= figure.get_figheight() + 0.01


@pytest.mark.parametrize("name", TABLES)
def test_equal_data_gives_equal_bytes_and_the_csv_is_the_data(
    name: str, small: dict[str, pd.DataFrame], tmp_path: Path
) -> None:
    rows = small[TABLES[name]]
    first = written(draw(name, rows), rows, tmp_path / "a")
    second = written(draw(name, rows.copy()), rows.copy(), tmp_path / "b")
    back = pd.read_csv(first["csv"], keep_default_na=False, na_values=[""], dtype=str)
    assert list(back.columns) == list(rows.columns)
    assert len(back) == len(rows)
    for column in rows.columns:
        assert [str(v) for v in back[column].dropna()] == [str(v) for v in rows[column].dropna().to_list()], column
    for kind in first:
        assert first[kind].read_bytes() == second[kind].read_bytes()
    assert b"CreationDate" not in first["pdf"].read_bytes()
    assert b"/Type3" not in first["pdf"].read_bytes()
    assert "dc:date" not in first["svg"].read_text()


@pytest.mark.parametrize("name", ["gar_acc", "shares", "ranks"])
def test_thirty_models_with_names_of_forty_characters(name: str) -> None:
    cells = frames.wide_cells()
    rows = tables.frame(TABLES[name], frames.families(cells) if name == "ranks" else cells)
    assert clipped(draw(name, rows)) == []


@pytest.mark.parametrize("name", TABLES)
def test_an_empty_table_gives_a_figure_that_says_so(name: str) -> None:
    table = TABLES[name]
    empty = tables.frame(table, [])
    said = words(draw(name, empty))
    assert "No execution failures" in said if name == "slack_reasons" else f"table {table} has no rows" in said


@pytest.mark.parametrize("name", NEEDED)
def test_null_columns_give_a_figure_that_names_them(name: str, small: dict[str, pd.DataFrame]) -> None:
    rows = small[TABLES[name]].assign(**dict.fromkeys(NEEDED[name]))
    said = words(draw(name, rows))
    for column in NEEDED[name]:
        assert column in said


@pytest.mark.parametrize("name", TABLES)
def test_one_row_is_enough(name: str, small: dict[str, pd.DataFrame]) -> None:
    assert clipped(draw(name, small[TABLES[name]].head(1))) == []


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("column", ["labeller", "perturbation"])
def test_mixed_rows_are_refused(name: str, column: str, small: dict[str, pd.DataFrame]) -> None:
    rows = small[TABLES[name]]
    if column not in rows or (column == "labeller" and not FIGURES[name].by_labeller):
        return
    with pytest.raises(ValueError, match=f"one {column}"):
        draw(name, pd.concat([rows, rows.assign(**{column: "another"})]))


def marks(figure: Figure, marker: str) -> list[Any]:
    return [line for axes in figure.axes for line in axes.lines if line.get_marker() == marker]


def test_violations_and_only_they_have_the_alert_colour_and_mark(panel: Any) -> None:
    cells = panel[1]["cells"]
    drawn = cells[cells["gar_case_any"].notna() & cells["acc"].notna()]
    figure = draw("gar_acc", cells)
    broken = drawn[drawn["violation"]]
    diamonds, circles = marks(figure, "D"), marks(figure, "o")
    assert sorted((line.get_xdata()[0], line.get_ydata()[0]) for line in diamonds) == sorted(
        zip(broken["gar_case_any"], broken["acc"], strict=True)
    )
    assert {to_hex(line.get_markeredgecolor()) for line in diamonds} <= {ALERT.lower()}
    assert len(circles) == len(drawn) - len(broken)
    assert ALERT.lower() not in {to_hex(line.get_markeredgecolor()) for line in circles}


def test_labels_do_not_overlap(panel: Any) -> None:
    figure = draw("gar_acc", panel[1]["cells"])
    renderer = FigureCanvasAgg(figure).get_renderer()
    for axes in figure.axes:
        labels = [text for text in axes.texts if text.get_gid() == "label"]
        for one, other in combinations(labels, 2):
            a, b = (text.get_window_extent(renderer).padded(-1) for text in (one, other))
            assert not a.overlaps(b), (one.get_text(), other.get_text())


@pytest.mark.parametrize("scenarios", [1, 2, 3, 4, 5])
def test_heading_titles_axis_names_and_legend_do_not_overlap(small: dict[str, pd.DataFrame], scenarios: int) -> None:
    cells = small["cells"]
    first = cells[cells["scenario"] == cells["scenario"].iloc[0]]
    figure = draw("gar_acc", pd.concat([first.assign(scenario=f"bfcl-{n}") for n in range(scenarios)]))
    renderer = FigureCanvasAgg(figure).get_renderer()
    parts = [figure._suptitle, *figure.legends]
    for axes in figure.axes:
        parts += [axes._left_title, *([axes.xaxis.label] if axes.get_xlabel() else [])]
    for one, other in combinations(parts, 2):
        a, b = (part.get_window_extent(renderer).padded(-1) for part in (one, other))
        assert not a.overlaps(b), (one, other)


def test_coincident_points_share_a_label(small: dict[str, pd.DataFrame]) -> None:
    figure = draw("gar_acc", small["cells"])
    labels = [text.get_text() for text in figure.axes[2].texts if text.get_gid() == "label"]
    assert sorted(labels) == [
        "always_ask\nsilent",
        "always_refuse",
        "explore_first\nguess_early",
        "oracle",
        "smollm2-135m (n = 8)",
    ]


def test_every_model_of_a_large_panel_is_in_the_key() -> None:
    cells = tables.frame("cells", PANELS["large"])
    found = words(draw("gar_acc", cells))
    for number, model in enumerate(cells["model"].unique(), 1):
        assert f"{number} {model}" in found


def test_the_labels_of_a_tie_stand_apart_around_its_rank(small: dict[str, pd.DataFrame]) -> None:
    figure = draw("ranks", small["families"])
    for axes in figure.axes:
        ticks = list(axes.get_yticks())
        assert min(b - a for a, b in pairwise(ticks)) == pytest.approx(1)


def test_turns_with_few_cases_are_hollow(small: dict[str, pd.DataFrame]) -> None:
    turns = small["turns"]
    figure = draw("recall_by_turn", turns)
    hollow = sum(
        len(line.get_xdata())
        for axes in figure.findobj(matplotlib.axes.Axes)
        for line in axes.lines
        if line.get_markerfacecolor() == "white"
    )
    assert hollow == (turns["n"] < 10).sum()


def test_rows_of_the_confusion_add_up(small: dict[str, pd.DataFrame]) -> None:
    rows = small["confusion"]
    pooled = words(draw("confusion", rows))
    oracle = rows[rows["model"] == "oracle"]
    for total in oracle.groupby("gold_action")["n"].sum():
        assert str(total) in pooled.split("\n")
    assert "no turn has gold CONFIRM" in pooled.replace("\n", " ")
    one = words(draw("confusion", rows, scenario="bfcl-base"))
    assert "REFUSE or ASK or CONFIRM" in one
    none = words(draw("confusion", rows, scenario="elsewhere"))
    assert "no rows of scenario elsewhere" in none


@pytest.mark.parametrize("name", ["gar_acc", "shares"])
def test_the_decisive_view(name: str, small: dict[str, pd.DataFrame]) -> None:
    figure = draw(name, small["cells"], view="decisive")
    assert "decisive view" in words(figure)
    assert clipped(figure) == []


def test_missing_cases_and_cells_are_shown() -> None:
    cells = tables.frame("cells", PANELS["odd"])
    shares = words(draw("shares", cells))
    assert "20 (3)" in shares
    assert "not run" in shares
    assert "no share, n = 20" in shares
    points = words(draw("gar_acc", cells))
    assert "no rates" in points
    assert "mödèl" in points


def test_what_was_not_recorded_is_said_and_not_drawn(tmp_path: Path) -> None:
    data = frames.all_tables(PANELS["recorded"], tmp_path)
    cells = data["cells"]
    for view in ("case_any", "decisive"):
        figure = draw("gar_acc", cells, view=view)
        said = words(figure)
        assert "not drawn" not in said or view == "decisive"
        under = [axes.get_xlabel().replace("\n", " ") for axes in figure.axes]
        lacking = "GAR not recorded: DeepSeek-V3.1-Terminus-FC, claude-sonnet-4-5-20250929-FC"
        titles = [axes.get_title("left") for axes in figure.axes]
        assert [lacking in label for label in under] == ["miss" in title for title in titles]
        points = [*marks(figure, "D"), *marks(figure, "o")]
        known = cells[f"gar_{view}"].notna()
        assert len(points) == known.sum()
    assert words(draw("shares", cells)).count("not recorded, n = 200") == 4
    assert words(draw("slack_reasons", data["slack_reasons"])).split("\n").count("not recorded") == 4
    assert "NOT_RECORDED: not known" in words(draw("confusion", data["confusion"]))
    turns = words(draw("recall_by_turn", data["turns"]))
    assert "DeepSeek-V3.1-Terminus-FC*" in turns
    assert "smollm2-135m*" not in turns


def test_a_panel_of_which_nothing_was_recorded_says_so() -> None:
    rows = [row for row in PANELS["recorded"] if row["model"].startswith("DeepSeek")]
    data = tables.frame("cells", rows)
    figure = draw("gar_acc", data)
    assert len(figure.axes) == 2
    assert "bfcl-miss_func gold REFUSE: GAR not recorded" in words(figure)


def test_a_family_without_a_rate_moves_no_other() -> None:
    cells = PANELS["recorded"]
    apart = [row for row in cells if not row["model"].startswith(("DeepSeek", "claude"))]
    ranks = [tables.frame("families", frames.families(rows, alone=True)) for rows in (cells, apart)]
    figures = [draw("ranks", rows[rows["scenario"] == "bfcl-miss_param"]) for rows in ranks]
    lines = [[(line.get_ydata()[0], line.get_ydata()[1]) for line in marks(figure, "o")] for figure in figures]
    assert lines[0] == lines[1]


def test_the_state_of_matplotlib_is_left_alone(small: dict[str, pd.DataFrame], tmp_path: Path) -> None:
    before = dict(matplotlib.rcParams)
    written(draw("shares", small["cells"]), small["cells"], tmp_path)
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


@pytest.mark.parametrize("name", [*TABLES, "workflow"])
def test_captions_are_there_and_parse(name: str) -> None:
    caption = Path(__file__).parents[2] / "report" / f"{name}.rst"
    docutils.core.publish_string(caption.read_text(), settings_overrides={"halt_level": 2, "report_level": 2})


def test_names_become_plain_lines() -> None:
    assert plain("a\nb\x00\ud800") == "a b��"
    assert plain("$x_1$") == "$x_1$"
    assert extent(plain("x" * 300), 7)[0] <= 175
    assert plain("start-" + "x" * 300 + "-end").startswith("start-")
    assert plain("start-" + "x" * 300 + "-end").endswith("-end")


def test_wrapping_keeps_every_word() -> None:
    text = "some words and averyveryveryverylongoneindeed more"
    wrapped = wrap(text, 60, 7)
    assert all(extent(line, 7)[0] <= 60 for line in wrapped.split("\n"))
    assert wrapped.replace("\n", "").replace(" ", "") == text.replace(" ", "")
