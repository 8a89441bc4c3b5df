from __future__ import annotations

import json
import sys

import pytest
import yaml

from tests.conftest import ROOT
from toolcal import configuration, tables
from toolcal.confidence.sets import question_set
from toolcal.training import training_plan
from toolcal.training.gathering import gathered
from toolcal.training.libraries import MissingLibraryError
from toolcal.training.rewards import design_of
from toolcal.training.tasks import Place
from toolcal.training.train import train


@pytest.fixture
def config():
    config = yaml.safe_load((ROOT / "config.yaml").read_text())
    entry = {"source": "world", "seed": 2, "questions": 16, "noise": [0, 0.5], "tools": ["search"]}
    config["training"] = {
        **{"model": "smollm2-135m", "rewards": ["rlcr"], "sets": {"practice": entry}},
        **{"steps": 3, "prompts": 2, "completions": 2},
    }
    return configuration.validated(config, configuration.load_schema(ROOT / "schemas/config.schema.yaml"))


@pytest.fixture
def put_together(config, tmp_path):
    return together(config, tmp_path)


def together(config, tmp_path, code="before"):
    """A training whose tables were made by this code."""

    def written(name, level):
        made = question_set(name, training_plan.sets(config)[name], level, config["seed"])
        paths = {key: tmp_path / f"{name}.{level}.{key}" for key in ("questions", "passages", "rows")}
        tables.write("questions", made.questions, paths["questions"], {"code": code})
        tables.write("passages", made.passages, paths["passages"], {})
        paths["rows"].write_text(made.rows)
        return paths

    base = tmp_path / "base"
    base.mkdir(exist_ok=True)
    (base / "model.safetensors").write_bytes(b"weights")
    return gathered(
        design_of("rlcr", config["rewards"]["rlcr"]),
        {Place(*place): written(*place[:2]) for place in training_plan.places(config)},
        [written("world", 0.0)["questions"]],
        settings=training_plan.settings(config),
        asking=training_plan.asking(config),
        model=config["models"]["smollm2-135m"],
        limits=training_plan.limits(config, "training"),
        study_limits=training_plan.limits(config, "confidence"),
        base=base,
        progress=tmp_path / "progress",
    )


def test_a_training_is_asked_as_the_study_asks_and_has_tasks_for_all_steps(put_together, config):
    assert len(put_together.tasks) == 3 * 2
    assert {task.place.noise for task in put_together.tasks} == {0.0, 0.5}
    way, study = put_together.way, config["confidence"]
    assert (way.scale, way.wording.name, way.steps) == (study["scale"], study["wording"], study["steps"])
    assert (way.json_mode, way.again) == (True, False)
    assert len(put_together.desks[put_together.tasks[0].place].using._tool.find("crowns")) == study["search"]["k"]


def test_what_decides_what_is_learnt_is_compared_before_a_training_goes_on(put_together):
    about = json.loads(json.dumps(put_together.about))
    assert set(about["weights"]) == {"model.safetensors"}
    assert about["asking"]["scale"] == "percent"
    assert len(about["questions"]) == 2
    assert {"model", "rewards", "sets"}.isdisjoint(put_together.settings)


def test_a_training_goes_on_after_an_edit_of_the_code_and_not_with_other_questions(config, tmp_path):
    before, after = (together(config, tmp_path, code).about["questions"] for code in ("before", "after"))
    assert before == after
    config["training"]["sets"]["practice"]["seed"] = 3
    assert together(config, tmp_path).about["questions"] != before


@pytest.mark.parametrize("name", ["torch", "trl"])
def test_without_the_extra_one_line_says_what_to_install(put_together, monkeypatch, name):
    monkeypatch.setitem(sys.modules, name, None)
    for other in {"torch", "transformers", "trl", "peft", "llguidance"} - {name}:
        monkeypatch.setitem(sys.modules, other, sys)
    with pytest.raises(MissingLibraryError, match=f"needs the package {name}: install the extra `train`") as raised:
        train(put_together)
    assert "\n" not in str(raised.value)
