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
    assert checked == bare | {"seed": config["seed"]}
    embedded = copy.deepcopy(config)
    kept = ("source", "family", "weights", "scenarios", "limit")
    entry = embedded["models"]["smollm2-135m"]
    embedded["models"]["smollm2-135m"] = {key: entry[key] for key in kept}
    assert configuration.validated(embedded, SCHEMA) == checked


def test_the_default_panel(config):
    cells = configuration.cells(configuration.validated(config, SCHEMA))
    assert len(cells) == len(set(cells)) == 6 * 4 + 3
    assert {cell.perturbation for cell in cells} == {"baseline"}


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


RECORDED = {"source": "recorded", "format": "tau2", "results": "r", "family": "f"}
ORACLE = {"source": "policy", "policy": "oracle", "family": "f"}

API = {"source": "api", "model": "openai/gpt-5-mini", "family": "f"}

MISTAKES = {
    "unknown key": (put("seeds", 3), "seeds: unknown key, allowed here: endpoints, labellers, limits, models, results"),
    "wrong type": (put("seed", "x"), "seed: found 'x', allowed: integer"),
    "too small": (put("trials", 0), "trials: found 0, allowed: 1 or more"),
    "no labeller": (put("labellers", []), "labellers: found [], allowed: a list of at least 1"),
    "unknown labeller": (put("labellers", ["mine"]), "labellers.0: found 'mine', allowed: one of paper_like"),
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
        "models.oracle.scenarios: tau2-airline cannot be run by source policy; tau2's are there as recorded runs",
    ),
    "another format's scenario": (
        put("models", "m", {**RECORDED, "scenarios": ["bfcl-base"]}),
        "models.m.scenarios: bfcl-base cannot be run by source recorded, format tau2",
    ),
    "no scenario of its format": (
        put("models", "m", RECORDED),
        "models.m: none of the scenarios is one that it can be",
    ),
    "ask_tasks of another benchmark": (
        put("scenarios", "bfcl-base", {"ask_tasks": "valid"}),
        "scenarios.bfcl-base.ask_tasks: is for tau2's scenarios only",
    ),
    "recorded without files": (
        put("models", "m", {"source": "recorded", "format": "bfcl", "family": "f"}),
        "models.m: 'results' is a required property",
    ),
    "no models": (put("models", {}), "models: found {}, allowed: at least 1 entry"),
}


def test_every_source_gets_its_defaults_and_every_provider_its_endpoint(config):
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
