"""Edits of tools: order, distractors, names and descriptions."""

from __future__ import annotations

import pytest

from tests.perturbations.specs import SPECS, static
from toolcal.benchmarks.bfcl.cases import DOMAINS, domains
from toolcal.models import json_mode, python_list
from toolcal.models.protocol import Request
from toolcal.perturbations import registry
from toolcal.perturbations.names import with_new_names
from toolcal.perturbations.static.ours import ours

HELD_OUT = 49
"""A case of miss_func with a tool that arrives later."""


def names(tools):
    return [tool["function"]["name"] for _, tool in tools]


@pytest.fixture
def case(bfcl_cases):
    return bfcl_cases["miss_func"][HELD_OUT]


@pytest.fixture(scope="module")
def domain_of():
    return {tool["function"]["name"]: domain for domain, tools in domains().items() for tool in tools}


def test_another_order_holds_the_same_tools_and_the_held_out_ones_last(case):
    context = registry.apply(case, SPECS["order"], 0)
    assert sorted(names(context.tools)) == sorted(names(case.tools))
    assert names(context.tools) != names(case.tools)
    turns = [turn for turn, _ in context.tools]
    assert turns == sorted(turns)
    assert turns[-1] > 0


def test_the_domains_are_those_of_the_cases(bfcl_cases, domain_of):
    used = {name for cases in bfcl_cases.values() for case in cases for name in case.initial_state["classes"]}
    assert used == set(DOMAINS)
    assert len(domain_of) == 128, "no name is in two domains, so no distractor can clash"


def test_no_distractor_could_solve_a_case(bfcl, bfcl_cases, domain_of):
    groups = [set(group) for group in ours("distractor_tools")["same_purpose"]]
    for cases in bfcl_cases.values():
        for case in cases[::5]:
            own = set(names(case.tools))
            context = registry.apply(case, SPECS["distractors"], 0)
            added = [name for name in names(context.tools) if name not in own]
            assert len(added) == len(set(added)) == SPECS["distractors"]["parameters"]["n"]
            assert [name for name in names(context.tools) if name in own] == names(case.tools), "their order stays"
            assert not {domain_of[name] for name in added} & set(case.initial_state["classes"])
            for group in groups:
                assert not (group & own and group & set(added))
    outcome = bfcl.environment(case).execute(added[0], {})
    assert not outcome.executed
    assert not outcome.state_changed


def test_distractors_stand_among_the_tools_of_the_start(case):
    context = registry.apply(case, SPECS["distractors"], 0)
    own = set(names(case.tools))
    added = [place for place, name in enumerate(names(context.tools)) if name not in own]
    assert all(context.tools[place][0] == 0 for place in added)
    assert len(added) < max(added) - min(added) + 1, "they do not stand in a row"
    assert [turn for turn, _ in context.tools] == sorted(turn for turn, _ in context.tools)


def test_a_case_without_enough_distractors_is_left_out_with_its_context_as_it_was(case):
    context = registry.apply(case, static("distractor_tools", n=120), 0)
    assert context.left_out.startswith("only ")
    assert context.left_out.endswith("tools of other domains can be added, not 120")
    assert context.tools == case.tools


def test_groups_of_one_purpose_name_tools_of_several_domains(domain_of):
    for group in ours("distractor_tools")["same_purpose"]:
        assert len({domain_of[name] for name in group}) > 1, group
        assert len(group) == len(set(group))


def test_neutral_names_are_numbers(case):
    context = registry.apply(case, SPECS["neutral"], 0)
    assert names(context.tools) == [f"tool_{number}" for number in range(1, len(case.tools) + 1)]
    assert [context.renamed[name] for name in names(context.tools)] == names(case.tools)


def test_misleading_names_are_those_of_other_tools(bfcl_cases):
    for case in bfcl_cases["miss_func"][::10]:
        context = registry.apply(case, SPECS["misleading"], 0)
        own = names(case.tools)
        assert [context.renamed[name] for name in names(context.tools)] == own
        assert set(names(context.tools)) == set(own)
        assert all(shown != name for shown, name in context.renamed.items())


def test_a_users_text_that_names_a_tool_names_it_still(bfcl_cases):
    for category, cases in bfcl_cases.items():
        for number, command in ((47, "find"), (48, "ls")):
            case = cases[number]
            context = registry.apply(case, SPECS["misleading"], 0)
            shown = {name: new for new, name in context.renamed.items()}
            text = "".join(message["content"] for messages in context.turns for message in messages)
            assert f"using '{shown[command]}'" in text, category
        changed = sum(registry.apply(case, SPECS["neutral"], 0).turns != case.turns for case in cases[::2])
        assert changed == 1, "of the even ones, 48 alone"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Call get_tweet, then lockDoors.", "Call tool_1, then tool_2."),
        ("Use 'find' or “find” or `find` or find().", "Use 'tool_3' or “tool_3” or `tool_3` or tool_3()."),
        ("Please find the file; don't findings.", "Please find the file; don't findings."),
        ("'find the file'", "'find the file'"),
        ("get_tweets forget_tweet", "get_tweets forget_tweet"),
        ("swap: cd 'cd' ls_all", "swap: cd 'ls_all' cd"),
        (
            "GorillaFileSystem.cd() missing 1 argument: 'find'",
            "GorillaFileSystem.ls_all() missing 1 argument: 'tool_3'",
        ),
        ("", ""),
    ],
)
def test_what_names_a_tool(text, expected):
    shown = {"get_tweet": "tool_1", "lockDoors": "tool_2", "find": "tool_3", "cd": "ls_all", "ls_all": "cd"}
    assert with_new_names(text, shown) == expected


def test_descriptions_that_name_a_tool_name_it_still(case):
    turn, tool = case.tools[0]
    described = {**tool, "function": {**tool["function"], "description": "After lockDoors.", "name": "a_tool"}}
    other = {**tool, "function": {**tool["function"], "name": "lockDoors"}}
    other["function"]["parameters"] = {
        "type": "object",
        "properties": {"description": {"type": "string", "description": "as a_tool gave it", "default": "a_tool"}},
    }
    edited = registry.apply(
        type(case)(**{**vars(case), "tools": ((turn, described), (turn, other))}), SPECS["neutral"], 0
    )
    one, two = (tool["function"] for _, tool in edited.tools)
    assert one["description"] == "After tool_2."
    assert two["parameters"]["properties"]["description"] == {
        "type": "string",
        "description": "as tool_1 gave it",
        "default": "a_tool",
    }


def test_a_case_whose_tools_have_the_neutral_names_is_left_out(case):
    turn, tool = case.tools[0]
    clash = {**tool, "function": {**tool["function"], "name": "tool_1"}}
    edited = registry.apply(type(case)(**{**vars(case), "tools": ((turn, clash),)}), SPECS["neutral"], 0)
    assert edited.left_out == "a tool of the benchmark is called tool_1"
    assert edited.renamed == {}


def test_descriptions_are_shortened_dropped_or_praised(bfcl_cases):
    case = bfcl_cases["base"][0]
    texts = {
        mode: {
            tool["function"]["name"]: tool["function"]["description"]
            for _, tool in registry.apply(case, SPECS[mode], 0).tools
        }
        for mode in ("shorten", "drop", "assertive")
    }
    assert texts["shorten"]["cp"] == "Copy a file or directory from one location to another."
    assert set(texts["drop"].values()) == {""}
    before = next(tool["function"]["description"] for _, tool in case.tools if tool["function"]["name"] == "cp")
    cue = f" ({ours('description_edit')['assertive']})"
    assert texts["assertive"]["cp"].replace(cue, "") == before
    assert all(cue in text for text in texts["assertive"].values())
    own = registry.apply(case, static("description_edit", mode="assertive", cue="use {me}"), 0)
    assert all("(use {me})" in tool["function"]["description"] for _, tool in own.tools)


def test_every_tool_mode_shows_the_praise(bfcl_cases):
    case = bfcl_cases["base"][0]
    tools = registry.apply(case, SPECS["assertive"], 0).tools_at(0)
    request = Request(case, 0, 0, 0, 0, (), 0, tools, 0)
    for messages in (json_mode.prompt(request)[0], python_list.prompt(request)):
        assert messages[0]["content"].count(ours("description_edit")["assertive"]) == len(tools)
