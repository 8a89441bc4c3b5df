from __future__ import annotations

import re
from types import SimpleNamespace

import pytest

from tests.diagnosis.panel import ASK, CALL, REFUSE, Panel, random_panel
from toolcal import tables
from toolcal.diagnosis.reproduce import load_published, reproduce
from toolcal.typeset import Page, pages
from toolcal.typeset.grid import Grid, Line, Nulls, interval, percent, usual
from toolcal.typeset.latex import latex
from toolcal.typeset.markdown import markdown
from toolcal.typeset.page import grid

SCENARIOS = ("bfcl-base", "bfcl-long_context", "bfcl-miss_func", "bfcl-miss_param", "tau2-airline")
NAMES = {"mine_1": "xLAM-2-8b-fc-r", "other": "other"}


@pytest.fixture(scope="module")
def found():
    """mine_1 passes both cases of miss_func without its gold action, without a probe; other has no runs."""
    panel = Panel(families=dict.fromkeys(NAMES, "f"))
    for scenario, gold in (("bfcl-miss_func", "REFUSE"), ("bfcl-miss_param", "ASK")):
        for number in range(2):
            panel.case(f"{scenario}_{number}", scenario=scenario, turns=1, gold=(gold,), cluster=str(number))
    for perturbation, said in (("baseline", CALL), ("cri-retry", REFUSE)):
        cell = ("mine_1", "bfcl-miss_func", perturbation)
        panel.planned("bfcl-miss_func_0", "bfcl-miss_func_1", cell=cell)
        for number in range(2):
            panel.run(f"bfcl-miss_func_{number}", [[said]], said is CALL, cell=cell)
    for model in NAMES:
        panel.planned("bfcl-miss_param_0", "bfcl-miss_param_1", cell=(model, "bfcl-miss_param", "baseline"))
    panel.run("bfcl-miss_param_0", [[ASK]], False, cell=("mine_1", "bfcl-miss_param", "baseline"))
    made = panel.diagnose()
    compared = {name: made[name] for name in ("cells", "outcomes", "write_rates", "effects")}
    return compared | {"reproduce": reproduce(load_published(), **compared, names=NAMES, seed=0)}


def made(page, found):
    return grid(page, found, models=list(NAMES), scenarios=SCENARIOS, seed=0)


def test_the_published_layout_with_intervals_n_and_published_figures(found):
    table = made(Page("gar_acc", "bfcl", "paper_like"), found)
    assert table.name == "gar_acc.bfcl.paper_like"
    assert table.heading == (("miss_func", "REFUSE", "n = 2"), ("miss_param", "ASK", "n = 1"))
    assert [(line.label, *line.texts) for line in table.lines] == [
        ("mine_1", "0.0 / 100.0", "100.0 / 0.0"),
        ("95 %", "[0, 66] / [34, 100]", "[21, 100] / [0, 79]"),
        ("published", "10.0 / 73.5", "19.5 / –"),
        ("other", "", "– / –"),
        ("95 %", "", "– / – (n = 0)"),
    ]
    assert table.lines[0].bold == {0}
    notes = " ".join(table.notes)
    assert "3 planned case-trials have no verdict" in notes
    assert "–: no case-trial has a verdict (other miss_param ASK)." in notes


def test_changes_under_probes(found):
    table = made(Page("shifts", labeller="paper_like"), found)
    assert (table.lines[0].label, *table.lines[0].texts) == ("cri-retry: mine_1", "+100.0 / −100.0")
    assert table.lines[1].texts == ("[−32, 100] / [−100, 32]",)
    assert table.heading == (("bfcl-miss_func", "REFUSE", "n = 2"),)


def test_latex_is_whole_and_prints_names_as_they_are(found):
    text = latex(made(Page("gar_acc", "bfcl", "paper_like"), found))
    rows = text.partition(r"\midrule")[2].partition(r"\bottomrule")[0]
    lines = [line for line in rows.strip().split("\n") if line != r"\addlinespace"]
    assert len(lines) == 5
    assert all(line.endswith(r"\\") and len(re.findall(r"(?<!\\)&", line)) == 2 for line in lines)
    assert r"mine\_1 & \textbf{0.0 / 100.0} & 100.0 / 0.0 \\" in lines
    assert rows.count(r"\addlinespace") == 1
    assert text.count("{") == text.count("}")
    assert text.isascii()


@pytest.mark.parametrize("text", ["a_b", "50 % & more", "x^2 #1 {y} $z$ ~", r"back\slash", "<b>*|`[1]", "a\n\n# b"])
def test_no_text_is_markup(text):
    table = Grid("name", text, (("h", text),), (Line(text, (text,)), Line(text, (text,), below=True)), (text,))
    tex, words = latex(table), markdown(table)
    assert not re.search(r"(?<!\\)[#&_%](?! |\n|Needs)", tex.replace(" & ", " ").replace("% Needs", ""))
    row = next(line for line in words.split("\n") if line.startswith("| "))
    assert len(re.findall(r"(?<!\\)\|", row)) == 3
    assert not re.search(r"(?<!\\)[<`$~]", words)
    assert len(words.split("\n")) == 9


def test_every_table_can_be_made_of_a_panel_in_which_everything_happens():
    panel = random_panel(3)
    made_of = panel.diagnose()
    for name in ("cells", "effects", "outcomes"):
        made_of[name] = made_of[name].assign(perturbation=made_of[name]["perturbation"].replace("none", "baseline"))
    models, labellers = list(panel.families), list(panel.labellers)
    made_of["reproduce"] = tables.frame("reproduce", [])
    wanted = pages(["bfcl", "tau2", "bfcl"], labellers, perturbed=True, with_user=True)
    assert len({page.name for page in wanted}) == 2 * 2 + 2 + 1
    for page in wanted:
        found = grid(page, made_of, models=models, scenarios=SCENARIOS, seed=0)
        assert {len(line.texts) for line in found.lines} <= {len(found.heading)}
        assert latex(found).count("tabular}") == 2
        assert markdown(found).startswith("**")


def test_scenarios_of_two_benchmarks_with_one_name_stand_apart():
    """Both have a domain `airline`."""
    rates = dict.fromkeys(tables.TABLES["write_rates"].columns, 0.5) | {"model": "m", "reader": "rule", "n": 3}
    rows = [
        rates | {"scenario": scenario, "perturbation": "baseline", "writes": "all"}
        for scenario in ("tau1-airline", "tau2-airline")
    ]
    given = {"write_rates": tables.frame("write_rates", rows), "reproduce": tables.frame("reproduce", [])}
    order = ("tau2-airline", "tau1-airline")
    found = grid(Page("confirmed_writes"), given, models=["m"], scenarios=order, seed=0)
    assert [line.label for line in found.lines if not line.below] == ["tau2-airline: m", "tau1-airline: m"]
    assert len(found.heading) == 3
    assert " & n & confirmed / Acc & Acc $-$ confirmed " in latex(found)


def test_a_table_of_nothing_is_one_too(found):
    """Runs without gold actions, without writes, without a pair of cases."""
    nothing = {name: data.iloc[:0] for name, data in found.items()}
    for page in pages(["openai"], ["refined"], perturbed=True, with_user=True):
        table = made(page, nothing)
        for text in (latex(table), markdown(table)):
            assert "nothing to show" in text
            assert "('" not in text


def test_numbers():
    assert (percent(-0.035, signed=True), percent(0.5), percent(0.0, signed=True)) == ("−3.5", "50.0", "+0.0")
    assert (interval(-0.004, 0.996), interval(-0.5, -0.001)) == ("[0, 100]", "[−50, 0]")
    assert (usual([200, 200, 6]), usual([5, 6])) == (200, 6)
    nulls = Nulls()
    nulls.dash("why", "here")
    nulls.dash("why", "there")
    assert nulls.notes() == ["–: why (here, there)."]
    with pytest.raises(KeyError):
        grid(SimpleNamespace(name="x"), {}, models=(), scenarios=(), seed=0)
