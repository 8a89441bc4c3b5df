"""Runs under a static edit of the tools: whoever acts right under the benchmark's names does so under those shown."""

from __future__ import annotations

import asyncio
import json

import pytest

from tests.conftest import CATEGORIES
from tests.perturbations.specs import SPECS
from toolcal import rollout
from toolcal.benchmarks.case_table import to_frame
from toolcal.benchmarks.grades import grade_trajectories
from toolcal.cells import Cell
from toolcal.models.policies import Policy
from toolcal.perturbations import registry


class Watched(Policy):
    """A policy that notes what it was given."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.requests = []

    async def respond(self, request):
        self.requests.append(request)
        return await super().respond(request)


def run(cases, name, bfcl):
    contexts = {case.case_id: registry.apply(case, SPECS[name], 0) for case in cases}
    model = Watched("oracle", bfcl)
    cell = Cell("oracle", cases[0].scenario, name)
    found = asyncio.run(rollout.run_cell(cell, cases, contexts, model, bfcl))
    return found.trajectories, model.requests


@pytest.mark.parametrize("name", ["neutral", "misleading", "order", "distractors"])
@pytest.mark.parametrize("category", CATEGORIES)
def test_the_oracle_passes(category, name, bfcl, bfcl_cases):
    cases = bfcl_cases[category][::10]
    data, _ = run(cases, name, bfcl)
    grades = grade_trajectories(data, to_frame(cases, 0), {})
    assert len(grades) == len(cases)
    assert grades["passed"].all()
    assert grades["passed_strict"].all()


@pytest.mark.parametrize("name", ["neutral", "misleading"])
def test_a_renamed_tool_has_its_new_name_wherever_the_model_looks(name, bfcl, bfcl_cases):
    case = bfcl_cases["base"][0]
    data, requests = run([case], name, bfcl)
    context = registry.apply(case, SPECS[name], 0)
    shown = {benchmark: new for new, benchmark in context.renamed.items()}
    read = [call["function"]["name"] for message in requests[-1].messages for call in message.get("tool_calls", ())]
    made = [call["function"]["name"] for calls in data["tool_calls"] for call in json.loads(calls)]
    executed = [result["name"] for results in data["tool_results"] for result in json.loads(results)]
    assert made == [shown[name] for name in executed]
    assert read == made
    assert executed == [name for turn in range(len(case.turns)) for name, _ in bfcl.reference_calls(case, turn)]
    assert not data["held_out"].any()


def test_an_error_names_the_tool_as_shown(bfcl, bfcl_cases):
    case = bfcl_cases["base"][0]
    context = registry.apply(case, SPECS["neutral"], 0)
    shown = {benchmark: new for new, benchmark in context.renamed.items()}

    class Forgetful(Watched):
        async def respond(self, request):
            reply = await super().respond(request)
            for call in reply.message.get("tool_calls", ()):
                call["function"]["arguments"] = "{}"
            return reply

    model = Forgetful("oracle", bfcl)
    rows = asyncio.run(rollout.run_case(case, context, model, bfcl)).trajectories
    first = json.loads(rows[0]["tool_results"])[0]
    assert first["error"].startswith(f"GorillaFileSystem.{first['name']}() missing 1 required")
    read = next(message["content"] for message in model.requests[-1].messages if message["role"] == "tool")
    assert read == first["result"]
    assert f"GorillaFileSystem.{shown[first['name']]}() missing 1 required" in read


def test_a_name_that_was_never_shown_does_not_run(bfcl, bfcl_cases):
    """A model may know the benchmark's names by heart."""
    case = bfcl_cases["base"][0]
    context = registry.apply(case, SPECS["neutral"], 0)

    class Learned(Watched):
        async def respond(self, request):
            reply = await super().respond(request)
            for call in reply.message.get("tool_calls", ()):
                name = call["function"]["name"]
                call["function"]["name"] = context.renamed.get(name, name)
            return reply

    rows = asyncio.run(rollout.run_case(case, context, Learned("oracle", bfcl), bfcl)).trajectories
    results = [result for row in rows for result in json.loads(row["tool_results"])]
    assert results
    assert not any(result["executed"] or result["held_out"] for result in results)
    assert results[0]["error"] == f"name {results[0]['name']!r} is not defined"
