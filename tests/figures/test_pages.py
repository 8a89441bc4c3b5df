"""Which pages a figure has, which rows each shows, and what its caption says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import docutils.core
import pandas as pd
import pytest

from toolcal import figures
from toolcal.figures.about import about

REPORT = Path(__file__).parents[2] / "report"
VALUES = {
    "labeller": ["refined", "paper_like"],
    "perturbation": ["ask-hint", "sri-full"],
    "question_set": ["world", "nq"],
}
SRI: dict[str, Any] = {
    "kind": "probe",
    "probe": "sri",
    "parameters": {"variant": "full", "gate": "none"},
    "rationale": "shows the state",
}
CRI: dict[str, Any] = {
    "kind": "probe",
    "probe": "cri",
    "parameters": {"variant": "retry", "detectors": ["mc", "ur"], "ur": "verbatim"},
    "rationale": "takes a call back",
}


def test_a_page_is_of_a_labeller_of_a_perturbation_and_one_or_of_neither() -> None:
    assert figures.pages("gar_acc", VALUES) == [".refined", ".paper_like"]
    assert figures.pages("validity", VALUES) == [""]
    assert figures.pages("reliability", VALUES) == [".world", ".nq"]
    assert figures.pages("forest", VALUES) == [
        ".ask-hint.refined",
        ".ask-hint.paper_like",
        ".sri-full.refined",
        ".sri-full.paper_like",
    ]


def test_without_perturbations_their_figures_have_no_page() -> None:
    none = VALUES | {"perturbation": []}
    assert [name for name in figures.FIGURES if not figures.pages(name, none)] == ["dumbbells", "forest", "movement"]


def test_a_page_shows_its_rows_and_the_baseline_where_it_is_of_no_perturbation() -> None:
    data = pd.DataFrame(
        [(p, name) for p in ("baseline", "sri-full") for name in ("refined", "paper_like")],
        columns=["perturbation", "labeller"],
    )
    assert figures.rows("gar_acc", data, ".refined").index.to_list() == [0]
    assert figures.rows("forest", data, ".sri-full.paper_like").index.to_list() == [3]
    assert figures.rows("confirmed_writes", data, "").index.to_list() == [0, 1]
    assert figures.rows("validity", data[["labeller"]], "").index.to_list() == [0, 1, 2, 3]


def caption(text: str) -> str:
    """A caption as the report shows it."""
    settings = {"halt_level": 2, "report_level": 2}
    return str(docutils.core.publish_parts(text, writer="html", settings_overrides=settings)["body"])


@pytest.mark.parametrize("name", [*figures.FIGURES, "workflow"])
def test_captions_are_there_and_parse(name: str) -> None:
    assert caption((REPORT / f"{name}.rst").read_text(encoding="utf-8"))


def test_the_caption_of_cri_says_that_false_alarms_spend_the_trigger() -> None:
    verbatim = caption(about("cri-retry", CRI))
    assert "cri-retry (probe cri; variant retry, detectors mc and ur, ur verbatim): takes a call back." in verbatim
    assert "false alarms spend the trigger" in verbatim
    assert "71" in verbatim
    refined = about("cri-refined", CRI | {"parameters": CRI["parameters"] | {"ur": "refined"}})
    assert "false alarms spend the trigger" in refined
    assert "71" not in refined


@pytest.mark.parametrize("parameters", [{"detectors": ["mc"]}, {"variant": "bypass"}])
def test_other_captions_do_not(parameters: dict[str, Any]) -> None:
    assert "alarm" not in about("cri", CRI | {"parameters": CRI["parameters"] | parameters})
    assert "alarm" not in about("sri-full", SRI)


def test_a_rationale_is_no_markup() -> None:
    odd = SRI | {"rationale": "*emphatic*, `quoted, a_link_, |bar| <b>, back\\slash"}
    said = caption(about("sri-full", odd))
    assert "*emphatic*, `quoted, a_link_, |bar| &lt;b&gt;, back\\slash." in said
