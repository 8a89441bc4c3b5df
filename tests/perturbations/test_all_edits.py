"""What holds for every static edit, on all 800 cases."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import cache

import jsonschema
import pytest

from tests.conftest import ROOT
from tests.perturbations.specs import SPECS
from toolcal import configuration, perturbations, tables
from toolcal.perturbations import registry
from toolcal.perturbations.static.ours import ours

SCHEMA = configuration.load_schema(ROOT / "schemas/config.schema.yaml")


def without_words(schema):
    """A tool's parameters without what is only description."""
    if isinstance(schema, dict):
        return {
            key: without_words(value)
            for key, value in schema.items()
            if not (key == "description" and isinstance(value, str))
        }
    return schema


def by_name(tools, renamed):
    """Benchmark's name -> (turn of arrival, parameters)."""
    return {
        renamed.get(tool["function"]["name"], tool["function"]["name"]): (turn, tool["function"]["parameters"])
        for turn, tool in tools
    }


@cache
def is_schema(text):
    jsonschema.Draft202012Validator.check_schema(json.loads(text))
    return True


@pytest.mark.parametrize("name", SPECS)
def test_gold_stays_valid_in_every_case(name, bfcl_cases):
    for case in (case for cases in bfcl_cases.values() for case in cases):
        context = registry.apply(case, SPECS[name], 0)
        assert context.left_out is None, case.case_id
        names = [tool["function"]["name"] for _, tool in context.tools]
        assert len(set(names)) == len(names)
        assert all(re.fullmatch("[A-Za-z0-9_-]{1,64}", name) for name in names)
        assert all(is_schema(tables.dumps(tool["function"]["parameters"])) for _, tool in context.tools)
        before, after = by_name(case.tools, {}), by_name(context.tools, context.renamed)
        for tool, (turn, parameters) in before.items():
            assert after[tool][0] == turn, "a tool arrives when it did"
            assert without_words(after[tool][1]) == without_words(parameters)
        assert set(context.renamed) == (set(names) if context.renamed else set())
        assert [len(messages) for messages in context.turns] == [len(messages) for messages in case.turns]
        assert context.probe is None


@pytest.mark.parametrize("name", SPECS)
def test_an_edit_changes_what_it_is_for_and_nothing_else(name, bfcl_cases):
    case = bfcl_cases["miss_func"][7]
    context = registry.apply(case, SPECS[name], 0)
    changed = {field for field in ("system", "turns", "tools") if getattr(context, field) != getattr(case, field, None)}
    assert changed == {"system_hint": {"system"}, "message_edit": {"turns"}}.get(SPECS[name]["edit"], {"tools"})
    assert bool(context.renamed) == (SPECS[name]["edit"] == "tool_rename")


@pytest.mark.parametrize("name", ["order", "distractors", "misleading"])
def test_draws_depend_on_seed_perturbation_and_case_alone(name, bfcl_cases):
    cases = bfcl_cases["miss_func"][:40:4]
    forwards = {case.case_id: registry.apply(case, SPECS[name], 3) for case in cases}
    assert {case.case_id: registry.apply(case, SPECS[name], 3) for case in reversed(cases)} == forwards
    for case in cases:
        context = forwards[case.case_id]
        assert registry.apply(case, SPECS[name], 4).tools != context.tools
        assert registry.apply(case, {**SPECS[name], "name": "another"}, 3).tools != context.tools
    one, other = [case for case in bfcl_cases["base"] if case.initial_state["classes"] == ["TravelAPI"]][:2]
    assert registry.apply(one, SPECS[name], 3).tools != registry.apply(other, SPECS[name], 3).tools


def test_the_baseline_is_the_benchmarks_own(bfcl_cases):
    case = bfcl_cases["base"][0]
    assert registry.apply(case, None, 3) == perturbations.baseline(case)


def test_contexts_come_back_from_their_table_as_they_went_in(bfcl_cases):
    cases = bfcl_cases["miss_func"][:3]
    left_out = perturbations.Context(None, cases[2].turns, cases[2].tools, left_out="for a reason")
    probed = perturbations.Context(None, cases[1].turns, cases[1].tools, probe={"probe": "sri", "parameters": {}})
    contexts = [registry.apply(cases[0], SPECS["misleading"], 0), probed, left_out]
    data = perturbations.to_frame(cases, "mixed", contexts)
    tables.check("contexts", data)
    assert list(perturbations.from_frame(data).values()) == contexts


def test_schema_and_code_know_the_same_edits_and_presets():
    definitions = SCHEMA["$defs"]
    edits = definitions["static"]["properties"]["edit"]["enum"]
    assert set(edits) == set(registry.EDITS) == {spec["edit"] for spec in SPECS.values()}
    assert set(definitions["system_hint"]["properties"]["preset"]["enum"]) == set(ours("system_hint")["presets"])
    for kind, named_by in (("static", "edit"), ("probe", "probe")):
        for branch, name in zip(
            definitions[kind]["allOf"], definitions[kind]["properties"][named_by]["enum"], strict=True
        ):
            assert branch["if"]["properties"][named_by]["const"] == name
            assert branch["then"]["properties"]["parameters"]["$ref"] == f"#/$defs/{name}"


def test_a_probe_leaves_the_context_as_it_is_and_stands_beside_it(bfcl_cases):
    case, parameters = bfcl_cases["base"][0], {"variant": "full", "gate": "none"}
    context = registry.apply(case, {"name": "p", "kind": "probe", "probe": "sri", "parameters": parameters}, 0)
    assert replace(context, probe=None) == perturbations.baseline(case)
    assert context.probe["probe"] == "sri"
    assert context.probe["parameters"] == parameters


def test_everything_that_has_words_of_ours_has_a_version():
    probes = [{"kind": "probe", "probe": name} for name in SCHEMA["$defs"]["probe"]["properties"]["probe"]["enum"]]
    for spec in [*SPECS.values(), *probes]:
        assert re.fullmatch(r"\d+", registry.version(spec))
