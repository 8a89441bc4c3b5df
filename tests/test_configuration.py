from __future__ import annotations

import copy

import jsonschema
import pytest
import yaml

from tests.conftest import CATEGORIES, ROOT
from toolcal import configuration
from toolcal.actions.label import LABELLERS
from toolcal.benchmarks.tau2.cases import ASK_SUBSETS
from toolcal.benchmarks.tau2.engine import DOMAINS
from toolcal.models.policies import POLICIES
from toolcal.repeated_keys import repeated_keys

SCHEMA = configuration.load_schema(ROOT / "schemas/config.schema.yaml")


@pytest.fixture
def config():
    return yaml.safe_load((ROOT / "config.yaml").read_text())


def every_key(schema, path=""):
    for name, spec in schema.get("properties", {}).items():
        yield f"{path}.{name}", spec
        yield from every_key(spec, f"{path}.{name}")
    if isinstance(schema.get("additionalProperties"), dict):
        yield from every_key(schema["additionalProperties"], f"{path}.*")
    for name, spec in schema.get("$defs", {}).items():
        yield from every_key(spec, f"{path}.$defs.{name}")


def test_the_schema_is_one_describes_every_key_and_refuses_others():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    for path, spec in every_key(SCHEMA):
        assert "$ref" in spec or spec.get("description"), path
        if "properties" in spec and spec.get("type") == "object":
            assert spec["additionalProperties"] is False or path == ".models", path


def test_schema_and_code_know_the_same_names():
    properties = SCHEMA["properties"]
    assert set(SCHEMA["$defs"]["policy"]["properties"]["policy"]["enum"]) == set(POLICIES)
    assert set(properties["labellers"]["items"]["enum"]) == set(LABELLERS)
    ours = {f"bfcl-{category}" for category in CATEGORIES} | {f"tau{n}-{domain}" for n in (1, 2) for domain in DOMAINS}
    assert set(properties["scenarios"]["propertyNames"]["anyOf"][0]["enum"]) == ours
    asked = properties["scenarios"]["additionalProperties"]["properties"]["ask_tasks"]
    assert tuple(asked["enum"]) == ASK_SUBSETS


def test_the_default_configuration_states_the_schemas_defaults(config):
    checked = configuration.validated(config, SCHEMA)
    bare = configuration.validated({key: config[key] for key in ("models", "scenarios")}, SCHEMA)
    own = ("seed", "perturbations", "confidence", "explorer", "rewards")
    assert checked == bare | {key: checked[key] for key in own}
    assert bare["perturbations"] == {}
    embedded = copy.deepcopy(config)
    kept = ("source", "family", "weights", "scenarios", "limit")
    entry = embedded["models"]["smollm2-135m"]
    embedded["models"]["smollm2-135m"] = {key: entry[key] for key in kept}
    assert configuration.validated(embedded, SCHEMA) == checked


def test_the_default_panel(config):
    cells = configuration.cells(configuration.validated(config, SCHEMA))
    assert len(cells) == len(set(cells))
    assert sum(cell.perturbation == "baseline" for cell in cells) == 6 * 4 + 2 + 3 + 3 * 2
    assert {cell for cell in cells if cell.perturbation != "baseline"} == {
        ("smollm2-135m", "bfcl-miss_param", "ask-hint"),
        ("halts_early", "bfcl-base", "sri-full"),
        ("calls_held_out", "bfcl-miss_func", "cri-bypass"),
    }


AUDIT = {"source": "audit", "pair": "idle", "family": "f"}
RECORDED = {"source": "recorded", "format": "tau2", "results": "r", "family": "f"}
ORACLE = {"source": "policy", "policy": "oracle", "family": "f"}
API = {"source": "api", "model": "openai/gpt-5-mini", "family": "f"}
SRI = {"kind": "probe", "probe": "sri", "rationale": "why"}
HINT = {"kind": "static", "edit": "system_hint", "parameters": {"text": "x"}, "rationale": "why"}


def test_every_model_that_is_asked_here_is_perturbed_unless_a_perturbation_names_others(config):
    del config["confidence"]
    config["scenarios"] |= {"tau2-airline": None}
    config["models"] = {
        "a": ORACLE,
        "b": ORACLE | {"scenarios": ["bfcl-miss_func"]},
        "c": {"source": "recorded", "format": "bfcl", "results": "r", "family": "f"},
        "d": RECORDED,
    }
    config["perturbations"] = {
        "all": HINT,
        "some": SRI | {"models": ["b", "a"], "scenarios": ["bfcl-miss_func", "bfcl-base"]},
    }
    cells = configuration.cells(configuration.validated(config, SCHEMA))
    assert [cell[1:] for cell in cells if cell.model == "b"] == [
        ("bfcl-miss_func", name) for name in ("baseline", "all", "some")
    ]
    found = {cell.scenario for cell in cells if cell.model == "a" and cell.perturbation == "all"}
    assert found == {f"bfcl-{category}" for category in CATEGORIES}
    assert {cell.scenario for cell in cells if cell[::2] == ("a", "some")} == {"bfcl-miss_func", "bfcl-base"}
    assert {cell.perturbation for cell in cells if cell.model in "cd"} == {"baseline"}


def test_a_perturbation_gets_the_defaults_of_its_edit_or_probe(config):
    config["perturbations"] = {
        "hint": HINT,
        "more": {"kind": "static", "edit": "distractor_tools", "rationale": "why"},
        "sri": SRI,
        "cri": {"kind": "probe", "probe": "cri", "rationale": "why", "parameters": {"detectors": ["mc"]}},
    }
    checked = configuration.validated(config, SCHEMA)
    assert configuration.perturbation(checked, "baseline") is None
    assert {name: configuration.perturbation(checked, name) for name in config["perturbations"]} == {
        "hint": {"name": "hint", "kind": "static", "edit": "system_hint", "parameters": {"text": "x"}},
        "more": {"name": "more", "kind": "static", "edit": "distractor_tools", "parameters": {"n": 10}},
        "sri": {"name": "sri", "kind": "probe", "probe": "sri", "parameters": {"variant": "full", "gate": "none"}},
        "cri": {
            "name": "cri",
            "kind": "probe",
            "probe": "cri",
            "parameters": {"variant": "retry", "detectors": ["mc"], "ur": "verbatim"},
        },
    }
    assert checked["perturbations"]["sri"]["replay"]
    assert "replay" not in checked["perturbations"]["hint"]


def test_the_smaller_limit_counts(config):
    config["scenarios"]["bfcl-base"] = {"limit": 5}
    config["models"]["oracle"]["limit"] = 9
    checked = configuration.validated(config, SCHEMA)
    limits = {
        (cell.model, cell.scenario): configuration.selection(checked, cell)["limit"]
        for cell in configuration.cells(checked)
    }
    assert limits["oracle", "bfcl-base"] == 5
    assert limits["oracle", "bfcl-miss_func"] == 9
    assert limits["silent", "bfcl-miss_func"] is None


def put(*path):
    """A change of the configuration: the last of `path` is the value."""

    def change(config):
        *keys, last, value = path
        for key in keys:
            config = config[key]
        config[last] = value

    return change


def both(*changes):
    """Several changes at once."""

    def change(config):
        for one in changes:
            one(config)

    return change


def training(**changed):
    """Adds a training to the configuration, with some keys changed."""
    sets = {"practice": {"source": "world", "seed": 2, "tools": ["search"]}}
    return put("training", {"model": "smollm2-135m", "rewards": ["rlcr"], "sets": sets, **changed})


MISTAKES = {
    "unknown key": (put("seeds", 3), "seeds: unknown key, allowed here: confidence, conversations, endpoints"),
    "wrong type": (put("seed", "x"), "seed: found 'x', allowed: integer"),
    "too small": (put("trials", 0), "trials: found 0, allowed: 1 or more"),
    "no such corrections": (
        put("labels", {"corrections": ["/nowhere.jsonl"]}),
        "labels.corrections: there is no file /nowhere.jsonl; save one in the explorer",
    ),
    "labels without corrections": (put("labels", {}), "labels: 'corrections' is a required property"),
    "unknown export": (put("exports", ["csv"]), "exports.0: found 'csv', allowed: one of inspect, dataset"),
    "no labeller": (put("labellers", []), "labellers: found [], allowed: a list of at least 1"),
    "unknown labeller": (put("labellers", ["mine"]), "labellers.0: found 'mine', allowed: one of refined"),
    "unknown scenario": (
        put("scenarios", "bfcl-bse", None),
        "scenarios.bfcl-bse: not a name allowed here, one of bfcl",
    ),
    "unknown scenario key": (put("scenarios", "bfcl-base", {"limt": 2}), "scenarios.bfcl-base.limt: unknown key"),
    "model name": (
        put("models", "a/b", ORACLE),
        "models.a/b: not a name allowed here, text that matches",
    ),
    "model name with a line's end": (put("models", "a\n", ORACLE), r"models.'a\n': not a name allowed here, text"),
    "results": (put("results", "{model}"), "results: found '{model}', allowed: text that matches"),
    "package": (
        put("models", "smollm2-135m", "weights", "package", "a.b"),
        "weights.package: found 'a.b', allowed: text",
    ),
    "model name is a number": (put("models", 4.1, ORACLE), "models.4.1: not a name allowed here, string"),
    "model without entry": (put("models", "m", None), "models.m: found None, allowed: object"),
    "no source": (put("models", "m", {"family": "f"}), "models.m: 'source' is a required property"),
    "unknown source": (put("models", "oracle", "source", "apy"), "models.oracle.source: found 'apy', allowed: one of"),
    "unknown policy": (put("models", "oracle", "policy", "orcle"), "models.oracle.policy: found 'orcle', allowed: one"),
    "another source's key": (put("models", "oracle", "threads", 2), "models.oracle.threads: unknown key, allowed here"),
    "unknown scenario of a model": (
        put("models", "oracle", "scenarios", ["bfcl-bse"]),
        "models.oracle.scenarios: found 'bfcl-bse', allowed are the keys of scenarios: bfcl-base",
    ),
    "after turns, a model that is not called": (
        put("turn_confidence", {"models": ["oracle"]}),
        "turn_confidence.models: found 'oracle', allowed: smollm2-135m",
    ),
    "after turns, an unknown scenario": (
        put("turn_confidence", {"scenarios": ["bfcl-bse"]}),
        "turn_confidence.scenarios: found 'bfcl-bse', allowed: bfcl-base, ",
    ),
    "after turns, an unknown scale": (
        put("turn_confidence", {"scale": "stars"}),
        "turn_confidence.scale: found 'stars', allowed: one of unit, percent",
    ),
    "after turns, nobody to ask": (
        both(
            put("turn_confidence", {}),
            lambda config: config.pop("confidence"),
            put("models", {"oracle": {"source": "policy", "policy": "oracle", "family": "f"}}),
            put("perturbations", {}),
        ),
        "turn_confidence: no model is called here (source embedded, api, vllm), leave the key out",
    ),
    "names that share a file": (
        put("models", "Oracle", ORACLE),
        "models: 'oracle' and 'Oracle' would share files",
    ),
    "checksum": (put("models", "smollm2-135m", "weights", "sha256", "no"), "weights.sha256: found 'no', allowed: text"),
    "no weights": (
        put("models", "smollm2-135m", "weights", {"file": "x"}),
        "models.smollm2-135m.weights: found {'file': 'x'}, allowed: either the keys package and file, or path",
    ),
    "a key among the parameters": (
        put("models", "m", API | {"parameters": {"api_key": "sk-1"}}),
        "models.m.parameters.api_key: not a name allowed here, anything but api_base, api_key",
    ),
    "a key in an address": (
        put("endpoints", {"e": {"api_base": "https://me:secret@host/v1"}}),
        "endpoints.e.api_base: found 'https://me:secret@host/v1', allowed: text that matches",
    ),
    "an endpoint that is not there": (
        put("models", "m", API | {"endpoint": "elsewhere"}),
        "models.m.endpoint: found 'elsewhere', allowed are the keys of endpoints",
    ),
    "no provider": (
        put("models", "m", API | {"model": "gpt-5"}),
        "models.m.model: found 'gpt-5', allowed: text that matches ^[a-z0-9_]+/",
    ),
    "half a price": (
        put("models", "m", API | {"prices": {"input": 1}}),
        "models.m.prices: 'output' is a required property",
    ),
    "no concurrency": (
        put("endpoints", {"e": {"concurrency": 0}}),
        "endpoints.e.concurrency: found 0, allowed: 1 or more",
    ),
    "a limit that is no number": (
        put("limits", {"max_usd": float("nan")}),
        "limits.max_usd: found nan, allowed: number",
    ),
    "a count that is a float": (put("trials", 2.0), "trials: found 2.0, allowed: integer"),
    "a parameter that JSON has not": (
        put("models", "m", API | {"parameters": {"logit_bias": {"1": float("inf")}}}),
        "models.m.parameters.logit_bias.1: found inf, allowed: a finite number",
    ),
    "nothing to spend": (put("limits", {"max_usd": 0}), "limits.max_usd: found 0, allowed: more than 0"),
    "native tools without their parser": (
        put("models", "m", {"source": "vllm", "model": "a/b", "family": "f"}),
        "models.m.tool_parser: is missing, native tool calls need vLLM's parser",
    ),
    "an option in place of a model": (
        put("models", "m", {"source": "vllm", "model": "--help", "family": "f"}),
        "models.m.model: found '--help', allowed: text",
    ),
    "a scenario without fixed turns": (
        both(put("scenarios", "tau2-airline", None), put("models", "oracle", "scenarios", ["tau2-airline"])),
        "models.oracle.scenarios: tau2-airline cannot be run by source policy",
    ),
    "another format's scenario": (
        put("models", "m", {**RECORDED, "scenarios": ["bfcl-base"]}),
        "models.m.scenarios: bfcl-base cannot be run by source recorded, format tau2",
    ),
    "no scenario of its format": (
        put("models", "m", RECORDED | {"format": "tau1"}),
        "models.m: none of the scenarios is one that it can be",
    ),
    "ask_tasks of another benchmark": (
        put("scenarios", "bfcl-base", {"ask_tasks": "valid"}),
        "scenarios.bfcl-base.ask_tasks: is for tau2's scenarios only",
    ),
    "an empty published name": (
        put("models", "oracle", "published_as", ""),
        "models.oracle.published_as: found '', allowed: text of at least 1 character",
    ),
    "recorded without files": (
        put("models", "m", {"source": "recorded", "format": "bfcl", "family": "f"}),
        "models.m: 'results' is a required property",
    ),
    "a perturbation called baseline": (
        put("perturbations", {"baseline": HINT}),
        "perturbations.baseline: not a name allowed here, anything but baseline",
    ),
    "a perturbation's name with a dot": (
        put("perturbations", {"a.b": HINT}),
        "perturbations.a.b: not a name allowed here, text that matches",
    ),
    "a perturbation without reason": (
        put("perturbations", {"p": {"kind": "static", "edit": "tool_order"}}),
        "perturbations.p: 'rationale' is a required property",
    ),
    "a reason of two lines": (
        put("perturbations", {"p": HINT | {"rationale": "one\ntwo"}}),
        "perturbations.p.rationale: found 'one\\ntwo', allowed: text that matches",
    ),
    "unknown kind of perturbation": (
        put("perturbations", {"p": HINT | {"kind": "prob"}}),
        "perturbations.p.kind: found 'prob', allowed: one of static, probe",
    ),
    "unknown edit": (
        put("perturbations", {"p": HINT | {"edit": "hint"}}),
        "perturbations.p.edit: found 'hint', allowed: one of system_hint, tool_order",
    ),
    "an edit without its parameters": (
        put("perturbations", {"p": {"kind": "static", "edit": "tool_rename", "rationale": "why"}}),
        "perturbations.p: 'parameters' is a required property",
    ),
    "unknown preset": (
        put("perturbations", {"p": HINT | {"parameters": {"preset": "ask"}}}),
        "perturbations.p.parameters.preset: found 'ask', allowed: one of ask_when_missing",
    ),
    "two hints in one": (
        put("perturbations", {"p": HINT | {"parameters": {"preset": "ask_when_missing", "text": "x"}}}),
        "allowed: either the keys preset, or text",
    ),
    "a parameter where there is none": (
        put("perturbations", {"p": HINT | {"edit": "tool_order"}}),
        "perturbations.p.parameters.text: unknown key, allowed here: none",
    ),
    "a template without its field": (
        put("perturbations", {"p": HINT | {"edit": "message_edit", "parameters": {"template": "{txt}!"}}}),
        "perturbations.p.parameters.template: found '{txt}!', allowed: text that matches",
    ),
    "a cue of another mode": (
        put(
            "perturbations",
            {"p": HINT | {"edit": "description_edit", "parameters": {"mode": "drop", "cue": "x"}}},
        ),
        "perturbations.p.parameters.mode: found 'drop', allowed: assertive",
    ),
    "a probe's key in an edit": (
        put("perturbations", {"p": HINT | {"replay": False}}),
        "perturbations.p.replay: unknown key, allowed here: edit, kind",
    ),
    "unknown variant": (
        put("perturbations", {"p": SRI | {"parameters": {"variant": "fulll"}}}),
        "perturbations.p.parameters.variant: found 'fulll', allowed: one of full, no_history_edit",
    ),
    "unknown model of a perturbation": (
        put("perturbations", {"p": SRI | {"models": ["orcle"]}}),
        "perturbations.p.models: found 'orcle', allowed are the keys of models: oracle",
    ),
    "unknown scenario of a perturbation": (
        put("perturbations", {"p": SRI | {"scenarios": ["bfcl-bse"]}}),
        "perturbations.p.scenarios: found 'bfcl-bse', allowed are the keys of scenarios: bfcl-base",
    ),
    "a recorded model of a perturbation": (
        both(put("models", "m", RECORDED | {"format": "bfcl"}), put("perturbations", {"p": SRI | {"models": ["m"]}})),
        "perturbations.p.models: m is there as recorded runs, what it read cannot be changed any more",
    ),
    "a scenario that is recorded only": (
        both(
            put("scenarios", "tau1-airline", None),
            put("models", "m", RECORDED | {"format": "tau1"}),
            put("perturbations", {"p": SRI | {"scenarios": ["tau1-airline"]}}),
        ),
        "perturbations.p.scenarios: tau1-airline is there as recorded runs only, allowed are bfcl's and tau2's",
    ),
    "an audit of a perturbation": (
        both(put("models", "m", AUDIT), put("perturbations", {"p": SRI | {"models": ["m"]}})),
        "perturbations.p.models: m is a scripted audit, which reads nothing that could be changed",
    ),
    "messages to edit where the user speaks freely": (
        put(
            "perturbations",
            {
                "p": HINT
                | {"edit": "message_edit", "parameters": {"template": "{text}!"}, "scenarios": ["tau2-airline"]}
            },
        ),
        "perturbations.p.scenarios: in tau2-airline the user speaks freely, this one needs turns known before",
    ),
    "an audit in bfcl": (
        put("models", "m", AUDIT | {"scenarios": ["bfcl-base"]}),
        "models.m.scenarios: bfcl-base cannot be run by source audit",
    ),
    "an unknown pair": (
        put("models", "m", AUDIT | {"pair": "polite"}),
        "models.m.pair: found 'polite', allowed: one of",
    ),
    "a user that is no model": (
        put("conversations", {"user": "nobody"}),
        "conversations.user: found 'nobody', allowed: scripted, smollm2-135m",
    ),
    "a user that has a script": (
        put("conversations", {"user": "oracle"}),
        "conversations.user: found 'oracle', allowed: scripted, smollm2-135m",
    ),
    "a model without any part": (
        put("models", "m", {"source": "policy", "policy": "oracle", "family": "f", "scenarios": []}),
        "models.m.scenarios: is empty, and the model neither plays the user nor is in the confidence study, nor",
    ),
    "a training of a model that is not there": (
        training(model="nobody"),
        "training.model: found 'nobody', allowed are",
    ),
    "a training of a script": (
        training(model="oracle"),
        "training.model: found 'oracle', allowed are models of source",
    ),
    "a design that is not there": (
        training(rewards=["rlc"]),
        "training.rewards: found 'rlc', allowed are the keys of rew",
    ),
    "a training without a step": (training(steps=0), "training.steps: found 0, allowed: 1 or more"),
    "a training that compares an answer with itself": (
        training(completions=1),
        "training.completions: found 1, allowed",
    ),
    "a batch that cannot be cut": (training(micro_batches=3), "training.micro_batches: found 3, allowed: a divisor of"),
    "vllm for a model in JSON mode": (training(rollouts="vllm"), "training.rollouts: vllm holds nothing to a schema"),
    "vllm's settings for no vllm": (training(vllm={"gpu_memory": 0.5}), "training.vllm: is for rollouts: vllm"),
    "training on what the study asks": (
        training(sets={"mine": {"source": "world", "seed": 54}}),
        "training.sets.mine.seed: is that of the study's world",
    ),
    "a training set with the name of one of the study": (
        training(sets={"world": {"source": "world", "seed": 2}}),
        "training.sets.world: the study has a set of this name",
    ),
    "a training set without passages": (
        training(sets={"nq": {"source": "nq", "path": "nq.jsonl"}}),
        "training.sets.nq.passages: is missing",
    ),
    "a training without tools": (
        training(sets={"mine": {"source": "world", "seed": 2, "tools": []}}),
        "training.sets.mine.tools: is empty",
    ),
    "a training without a study": (
        lambda config: (training()(config), config.pop("confidence")),
        "training: is asked as the confidence study asks",
    ),
    "a key of training that is not there": (training(step=3), "training.step: unknown key, allowed here: beta, "),
    "a study of a model that answers nothing": (
        put("confidence", "models", ["oracle"]),
        "confidence.models: found 'oracle', allowed are models that can be asked: smollm2-135m",
    ),
    "a published set without passages": (
        put("confidence", "sets", {"nq": {"source": "nq"}}),
        "confidence.sets.nq.passages: is missing; name a folder for search, or the web in confidence.search.service",
    ),
    "a world with a file": (
        put("confidence", "sets", {"w": {"source": "world", "path": "x"}}),
        "confidence.sets.w.path: is not for source world",
    ),
    "noise in a published set": (
        put("confidence", "sets", {"aime": {"source": "aime_2024", "noise": [0.5]}}),
        "confidence.sets.aime.noise: is not for source aime_2024",
    ),
    "too much noise": (
        put("confidence", "sets", {"w": {"source": "world", "noise": [2]}}),
        "confidence.sets.w.noise.0: found 2, allowed: 1 or less",
    ),
    "noise that no file name shows": (
        put("confidence", "sets", {"w": {"source": "world", "noise": [0.5, 1e-7]}}),
        "confidence.sets.w.noise: found 1e-07, allowed: 0 to 1 with at most 4 decimals",
    ),
    "questions without end": (
        put("confidence", "trials", 10**9),
        "confidence.trials: found 1000000000, allowed: 1000 or less",
    ),
    "a model that was trained from itself": (
        put("models", "smollm2-135m", "base_model", "smollm2-135m"),
        "models.smollm2-135m.base_model: the model would be trained from itself",
    ),
    "a world on the web": (
        put("confidence", "search", {"service": "serper"}),
        "confidence.sets.world: the web does not know this world",
    ),
    "a model with the name of the script": (
        put("models", "scripted", {"source": "policy", "policy": "oracle", "family": "f"}),
        "models.scripted: is the name of the user that is no model (conversations.user); rename it",
    ),
    "passages that nobody searches": (
        put("confidence", "sets", {"aime": {"source": "aime_2024", "passages": "p"}}),
        "confidence.sets.aime.passages: is for the tool search, and the set is answered without it",
    ),
    "calls without end": (
        put("confidence", "steps", 10**9),
        "confidence.steps: found 1000000000, allowed: 100 or less",
    ),
    "a model with the user's journal": (
        put("models", "user", {"source": "policy", "policy": "oracle", "family": "f"}),
        "models.user: journal/user would hold this model's calls and other ones; rename it",
    ),
    "a perturbation of nothing": (
        put("perturbations", {"p": SRI | {"models": ["smollm2-135m"], "scenarios": ["bfcl-long_context"]}}),
        "perturbations.p: no model that it is for runs in a scenario that it is for",
    ),
    "nothing to run": (
        lambda config: (config.pop("confidence"), config["scenarios"].clear()),
        "scenarios: none is there, and no confidence study (key confidence) either: there is nothing to run",
    ),
    "one noise level": (
        put("confidence", {"models": ["m"], "sets": {"w": {"source": "world", "noise": 0.3}}}),
        "confidence.sets.w.noise: found 0.3, allowed: a list, such as [0, 0.3, 0.6]",
    ),
    "no models": (put("models", {}), "models: found {}, allowed: at least 1 entry"),
}


def test_a_study_needs_no_scenarios_but_questions_after_turns_do(config):
    alone = {
        "models": {"m": config["models"]["smollm2-135m"]},
        "confidence": {"models": ["m"], "sets": {"world": {"source": "world"}}},
    }
    del alone["models"]["m"]["scenarios"]
    checked = configuration.validated(alone, SCHEMA)
    assert checked["scenarios"] == {}
    assert configuration.cells(checked) == []
    with pytest.raises(configuration.ConfigError, match="turn_confidence: no scenario is run"):
        configuration.validated(alone | {"turn_confidence": {}}, SCHEMA)
    alone["models"]["other"] = {**alone["models"]["m"]}
    with pytest.raises(configuration.ConfigError, match=r"models\.other: none of the scenarios .*: none is there"):
        configuration.validated(alone, SCHEMA)


def test_every_source_gets_its_defaults_and_every_provider_its_endpoint(config):
    del config["confidence"]
    config["perturbations"] = {}
    config["endpoints"] = {"mine": {"api_base": "http://localhost:1/v1"}}
    config["models"] = {
        "a": API,
        "b": API | {"model": "openai/x", "endpoint": "mine", "tool_mode": "json"},
        "c": {"source": "vllm", "model": "a/b", "family": "f", "tool_parser": "hermes"},
        "d": {"source": "recorded", "format": "bfcl", "results": "r", "family": "f"},
    }
    checked = configuration.validated(config, SCHEMA)
    assert checked["models"]["a"]["tool_mode"] == "native"
    assert checked["models"]["b"]["tool_mode"] == "json"
    assert checked["models"]["c"]["arguments"] == []
    assert checked["models"]["c"]["concurrency"] == 16
    assert checked["models"]["d"]["tool_mode"] == "native"
    assert set(checked["endpoints"]) == {"mine", "openai"}
    assert checked["endpoints"]["openai"] == {"concurrency": 16, "timeout": 600, "attempts": 8, "max_wait": 300}
    assert checked["limits"] == {}


def test_a_model_of_any_source_can_have_a_published_name():
    for source in SCHEMA["properties"]["models"]["additionalProperties"]["properties"]["source"]["enum"]:
        spec = SCHEMA["$defs"][source]["properties"]["published_as"]
        assert spec == {"$ref": "#/$defs/published_as"}, source


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_gets_one_line_with_path_find_and_choice(config, name):
    change, expected = MISTAKES[name]
    change(config)
    with pytest.raises(configuration.ConfigError) as raised:
        configuration.validated(config, SCHEMA)
    lines = str(raised.value).splitlines()
    assert any(expected in line for line in lines), lines
    assert len(lines) == 1


def test_all_mistakes_are_told_at_once(config):
    config |= {"seed": -1, "trials": "two", "nope": 1}
    with pytest.raises(configuration.ConfigError) as raised:
        configuration.validated(config, SCHEMA)
    assert len(str(raised.value).splitlines()) == 3


def test_a_key_given_twice_is_told(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text("seed: 1\nmodels:\n  a: &a {source: policy}\n  b:\n    <<: *a\n    family: x\n  a: {}\nseed: 2\n")
    assert repeated_keys(path) == [
        "models.a: is given twice, in lines 3 and 7; remove or rename one",
        "seed: is given twice, in lines 1 and 8; remove or rename one",
    ]
    path.write_text("a: [")
    assert repeated_keys(path) == []
    assert repeated_keys(ROOT / "config.yaml") == []
