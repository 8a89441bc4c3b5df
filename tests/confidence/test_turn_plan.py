"""Which cells are asked after each turn, and where that is written."""

from __future__ import annotations

import pytest
import yaml

from tests.conftest import ROOT
from toolcal import configuration
from toolcal.cells import Cell
from toolcal.confidence import turn_plan

SCHEMA = configuration.load_schema(ROOT / "schemas/config.schema.yaml")
TABLES = ("trajectories", "turn_confidence")


def config(**wanted):
    given = yaml.safe_load((ROOT / "config.yaml").read_text())
    given["models"]["called"] = {"source": "api", "family": "f", "model": "openai/x"}
    return configuration.validated(given | wanted, SCHEMA)


def asked(checked):
    return {cell: found for cell in configuration.cells(checked) if (found := turn_plan.settings(checked, cell))}


def test_off_without_the_key():
    checked = config()
    assert "turn_confidence" not in checked
    assert asked(checked) == {}
    assert turn_plan.tables(TABLES, checked) == ["trajectories"]


def test_all_models_that_are_called_are_asked_in_their_mode_under_every_perturbation():
    checked = config(turn_confidence={})
    found = asked(checked)
    assert {cell.model for cell in found} == {"smollm2-135m", "called"}
    assert set(found) == {cell for cell in configuration.cells(checked) if cell.model in ("smollm2-135m", "called")}
    assert {cell.perturbation for cell in found} == {"baseline", "ask-hint"}
    assert {cell.scenario for cell in found} >= {"bfcl-base", "tau2-airline"}
    for cell, settings in found.items():
        assert settings == {"scale": "percent", "in_json": cell.model == "smollm2-135m"}
    assert turn_plan.tables(TABLES, checked) == [*TABLES]


def test_models_scenarios_and_scale_can_be_named():
    wanted = {"scale": "unit", "models": ["called"], "scenarios": ["bfcl-base", "tau2-airline"]}
    checked = config(turn_confidence=wanted)
    assert {(cell.model, cell.scenario) for cell in asked(checked)} == {
        ("called", "bfcl-base"),
        ("called", "tau2-airline"),
    }
    assert turn_plan.settings(checked, Cell("called", "bfcl-base", "baseline")) == {"scale": "unit", "in_json": False}


@pytest.mark.parametrize("table", TABLES)
def test_only_the_tables_own_file_says_how_was_asked(table):
    checked = config(turn_confidence={})
    told = turn_plan.metadata(table, turn_plan.settings(checked, Cell("called", "bfcl-base", "baseline")))
    assert told == ({} if table == "trajectories" else {"question": {"scale": "percent", "version": 1}})
