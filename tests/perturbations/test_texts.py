"""Edits of the system message and of the user's messages."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.perturbations.specs import SPECS, static
from toolcal import perturbations
from toolcal.models import json_mode, python_list
from toolcal.models.protocol import Request
from toolcal.perturbations import registry
from toolcal.perturbations.static.ours import ours
from toolcal.perturbations.static.texts import message_edit, system_hint

PRESETS = ours("system_hint")["presets"]


def test_a_hint_is_the_system_message(bfcl_cases):
    case = bfcl_cases["base"][0]
    assert registry.apply(case, SPECS["own hint"], 0).system == "Answer in English."
    for name, text in PRESETS.items():
        assert registry.apply(case, static("system_hint", preset=name), 0).system == text


def test_a_hint_comes_after_a_system_message_that_is_there(bfcl_cases):
    case = bfcl_cases["base"][0]
    given = replace(perturbations.baseline(case), system="Be brief.")
    assert system_hint(case, given, {"text": "Be kind."}, None).system == "Be brief.\n\nBe kind."


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_of_one_paragraph_and_name_no_tool(name, bfcl_cases):
    assert "\n" not in PRESETS[name]
    assert PRESETS[name] == PRESETS[name].strip()
    assert "_" not in PRESETS[name]


def test_every_tool_mode_shows_the_hint(bfcl_cases):
    case = bfcl_cases["base"][0]
    system = {"role": "system", "content": registry.apply(case, SPECS["hint"], 0).system}
    request = Request(case, 0, 0, 0, 0, (system, *case.turns[0]), 1, tuple(case.tools_at(0)), 0)
    for messages in (json_mode.prompt(request)[0], python_list.prompt(request)):
        assert PRESETS["ask_when_missing"] in messages[0]["content"]


def test_a_template_goes_over_every_message_of_the_user(bfcl_cases):
    case = bfcl_cases["miss_func"][0]
    context = registry.apply(case, SPECS["hurry"], 0)
    for before, after in zip(case.turns, context.turns, strict=True):
        expected = [{**message, "content": f"{message['content']}\n\nPlease hurry."} for message in before]
        assert list(after) == expected


def test_a_template_leaves_other_roles_alone_and_reads_no_braces_in_a_message(bfcl_cases):
    case = bfcl_cases["base"][0]
    turns = (({"role": "system", "content": "x"}, {"role": "user", "content": "{text} {0}"}),)
    edited = message_edit(case, replace(perturbations.baseline(case), turns=turns), {"template": "<{text}>"}, None)
    assert [message["content"] for message in edited.turns[0]] == ["x", "<{text} {0}>"]
