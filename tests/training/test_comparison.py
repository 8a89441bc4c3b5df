"""The comparison of checkpoints, on made-up studies whose answers are known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tests.confidence import scripted
from tests.figures.trained import CHECKPOINTS, study
from tests.figures.trained import comparison as made_up
from toolcal import tables
from toolcal.training.comparison import METRICS, Study, comparison, rescaled
from toolcal.training.designs import design_of
from toolcal.training.settings import WANTED, Place, setting_of
from toolcal.training.shown import shown

TRAINED_ON = [Place("world", "search", 0.0)]


@pytest.fixture(scope="module")
def table():
    return pd.DataFrame(made_up())


def of(table, **wanted):
    for column, value in wanted.items():
        table = table[table[column] == value]
    return table


def test_every_method_has_every_metric_in_every_setting_and_the_table_keeps_its_contract(table):
    tables.check("comparison", table)
    assert set(table["method"]) == {"untreated", "temperature", "rlcr", "supervised"}
    sizes = table.groupby(["method", "setting"]).size()
    assert set(table["setting"]) == set(WANTED)
    assert (sizes[:, "in_distribution"] == len(METRICS)).all()
    assert (sizes[:, "other_tool"] == 2 * len(METRICS)).all()  # at two levels of noise
    empty = of(table, setting="maths")
    assert set(empty["value_reason"]) == {"not_asked"}
    assert empty[["value", "delta", "p"]].isna().all(axis=None)


def test_a_frank_checkpoint_is_better_calibrated_and_as_often_right(table):
    rows = of(table, method="rlcr", setting="in_distribution").set_index("metric")
    assert rows.loc["ece10", "relative"] < -0.5
    assert rows.loc["ece10", "delta_high"] < 0
    assert rows.loc["ece10", "p_holm"] < 0.2
    assert rows.loc["accuracy", "delta"] == 0
    assert np.isnan(rows.loc["accuracy", "p"])
    assert rows.loc["ece10", "comparisons"] == 3 * 4


def test_rewards_are_the_designs_own_on_either_side(table):
    rows = of(table, setting="in_distribution", metric="reward").set_index("method")
    assert rows.loc["rlcr", "delta"] == pytest.approx(rows.loc["rlcr", "value"] - rows.loc["rlcr", "untreated"])
    assert rows.loc["rlcr", "delta"] > 0
    assert rows.loc["supervised", "value_reason"] == rows.loc["temperature", "value_reason"] == "no_design"


def test_a_missing_confidence_breaks_the_form_and_is_in_no_calibration_error(table):
    rows = of(table, method="supervised", setting="in_distribution").set_index("metric")
    assert rows.loc["format_share", "value"] == rows.loc["coverage", "value"] == 0.75
    assert rows.loc["ece10", "n_pairs"] == 60
    assert rows.loc["coverage", "p"] < 0.05


def test_temperature_scaling_is_judged_on_what_it_was_not_fitted_on_and_changes_no_order(table):
    rows = of(table, method="temperature", setting="in_distribution").set_index("metric")
    assert rows.loc["ece10", "n"] == rows.loc["ece10", "n_pairs"] == 40
    assert rows.loc["ece10", "relative"] < -0.3
    assert abs(rows.loc["auroc", "delta"]) < 0.1  # but for ties beyond 0.001 and 0.999
    data = study({"small": scripted.frank}, noises=(0.0,), n=40).answers
    answers = data[(data["model"] == "small") & (data["tool"] == "search")].reset_index(drop=True)
    answers["correct"] = answers["correct"].astype(float)
    scaled = rescaled(answers, seed=0)
    judged = answers["question_id"].isin(scaled["question_id"])
    flipped = answers.assign(correct=np.where(judged, 1 - answers["correct"], answers["correct"]))
    assert rescaled(flipped, seed=0)["confidence"].equals(scaled["confidence"])
    assert not rescaled(answers.assign(correct=1.0), seed=0)["confidence"].equals(scaled["confidence"])


def test_a_model_that_gave_nothing_has_no_rates_and_spoils_none():
    whole = study(noises=(0.0,), n=40)
    dead = whole.answers["model"] == "small-rlcr"
    answers = pd.concat([whole.answers[~dead], scripted.failed(whole.answers[dead])], ignore_index=True)
    data = Study(answers, whole.questions, whole.cells, whole.limits, 1, whole.services, 0)
    designs = {"rlcr": design_of("rlcr", {"formula": "rlcr"})}
    found = comparison(data, CHECKPOINTS, designs, TRAINED_ON, resamples=20, swaps=19)
    tables.check("comparison", found[list(tables.TABLES["comparison"].columns)])
    rows = of(found, method="rlcr", setting="in_distribution")
    assert set(rows["value_reason"]) == {"no_answers"}
    assert rows["delta"].isna().all()
    assert of(found, method="untreated", setting="in_distribution", metric="accuracy")["n"].tolist() == [40]


@pytest.mark.parametrize(
    ("source", "service", "tool", "noise", "setting"),
    [
        ("world", "passages", "search", 0.3, "in_distribution"),
        ("world", "passages", "search", 0.6, "higher_noise"),
        ("world", "passages", "search", 0.0, "lower_noise"),
        ("world", "passages", "python", 0.6, "other_tool"),
        ("math_500", "serper", "python", 0.0, "maths"),
        ("nq", "serper", "search", 0.0, "web"),
        ("nq", "passages", "search", 0.0, "other_set"),
    ],
)
def test_the_setting_of_a_cell(source, service, tool, noise, setting):
    assert setting_of(Place(source, tool, noise), service, [Place("world", "search", 0.3)]) == setting


def test_in_markdown_there_is_a_line_a_method_and_what_was_not_asked_is_named(table):
    said = shown(table)
    assert said.count("| rlcr |") == said.count("| temperature |") == 4
    assert said.endswith("Not asked: maths, web.")
    assert "**higher noise**: world, search, noise 0.5" in said
