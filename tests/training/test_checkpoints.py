"""Checkpoints as entries of the panel."""

from __future__ import annotations

import copy

import pytest
import yaml

from tests.conftest import ROOT
from toolcal import configuration
from toolcal.training import checkpoints
from toolcal.training.invented import examples, names

SCHEMA = configuration.load_schema(ROOT / "schemas/config.schema.yaml")
CONFIG = yaml.safe_load(
    """
    scenarios: {bfcl-base: {limit: 1}}
    models:
      small: {source: embedded, family: f, weights: {path: small.gguf}, scenarios: []}
      before: {source: embedded, family: f, checkpoint: untreated, scenarios: []}
      after: {source: embedded, family: f, checkpoint: rlcr, base_model: before, scenarios: []}
      served: {source: vllm, family: f, checkpoint: supervised, base_model: before, tool_parser: hermes}
    rewards: {rlcr: {formula: rlcr}}
    training:
      model: small
      rewards: [rlcr]
      sets: {practice: {source: world, seed: 7}}
      supervised: {}
    confidence: {models: [before, after], sets: {world: {source: world}}}
    """
)


def test_an_entry_with_a_checkpoint_is_served_from_the_files_of_the_training():
    config = configuration.validated(CONFIG, SCHEMA)
    assert checkpoints.checkpoints(config) == ["untreated", "supervised", "rlcr"]
    assert checkpoints.files(config["models"]["after"]) == ["results/training/rlcr/model.gguf"]
    assert checkpoints.files(config["models"]["served"]) == ["results/training/supervised/model"]
    assert checkpoints.files(config["models"]["small"]) == []
    assert config["training"]["supervised"]["abstaining"] == 0


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"models.after.checkpoint": "mscr"}, "models.after.checkpoint: found 'mscr', allowed: untreated, supervised"),
        ({"models.after.base_model": None}, "models.after.base_model: is missing; name the model whose checkpoint is"),
        ({"models.before.base_model": "small"}, "models.before.base_model: the untreated checkpoint was not trained"),
        (
            {"models.after.weights": {"path": "x"}},
            "models.after: found .*allowed: either the keys weights, or check",
        ),
        ({"training": None}, "models.before.checkpoint: found 'untreated', and the configuration has no key training"),
        ({"rewards.base": {"formula": "rlcr"}, "training.rewards": ["base"]}, "rewards.base: is the name of a checkpo"),
    ],
)
def test_a_checkpoint_that_cannot_be_is_told_in_one_line(changes, said):
    config = copy.deepcopy(CONFIG)
    for path, value in changes.items():
        *parents, key = path.split(".")
        place = config
        for parent in parents:
            place = place[parent]
        if value is None:
            del place[key]
        else:
            place[key] = value
    with pytest.raises(configuration.ConfigError, match=said):
        configuration.validated(config, SCHEMA)


def test_invented_examples_are_seeded_call_or_report_and_abstain_only_where_asked():
    made = examples(3, 60)
    assert made == examples(3, 60) != examples(4, 60)
    assert {example.action for example in made} == {"call", "done"}
    abstaining = [example.action for example in examples(3, 60, abstaining=0.5)]
    assert (abstaining.count("ask"), abstaining.count("refuse")) == (15, 15)


def test_invented_tools_are_no_benchmarks(bfcl_cases):
    theirs = {tool["function"]["name"] for cases in bfcl_cases.values() for case in cases for _, tool in case.tools} | {
        "search",
        "python",
        "set_alarm",
        "switch_lamp",
        "current_song",
    }
    assert len(names()) == 20
    assert names().isdisjoint(theirs)
