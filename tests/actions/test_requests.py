"""What stood before each emission, from invented tables."""

from __future__ import annotations

import json

import pandas as pd

from toolcal import tables
from toolcal.actions.before import Before
from toolcal.actions.requests import before_each, from_tables

CASE = ("m", "bfcl-base", "baseline", "c", 0)
CONTEXTS = pd.DataFrame(
    [
        {
            "scenario": "bfcl-base",
            "perturbation": "baseline",
            "case_id": "c",
            "turns": json.dumps(
                [
                    [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "List the files."}],
                    [{"role": "user", "content": "Delete a."}],
                    [],
                ]
            ),
        }
    ]
)
NOBODY = tables.frame("user_messages", [])


def emissions(*rows):
    key = dict(zip(tables.CASE, CASE, strict=True))
    return pd.DataFrame([key | {"turn": 0, "tool_results": "[]", "retracted": False} | row for row in rows])


def called(name, error=None):
    return json.dumps([{"name": name, "error": error}])


def test_fixed_turns_are_in_the_contexts():
    requests_of = from_tables(CONTEXTS, NOBODY)
    assert requests_of(CASE) == {0: "List the files.", 1: "Delete a.", 2: ""}
    assert requests_of(("other", *CASE[1:4], 7)) == requests_of(CASE), "of every model and trial"
    assert requests_of(("m", "bfcl-base", "baseline", "d", 0)) == {}


def test_what_a_free_user_said_is_in_the_messages():
    rows = [
        {"turn": 0, "role": "system", "content": "The policy."},
        {"turn": 0, "role": "user", "content": "Hello."},
        {"turn": 1, "role": "user", "content": "Cancel it."},
        {"turn": 1, "role": "user", "content": None},
        {"turn": 1, "role": "tool", "content": "{}"},
    ]
    messages = pd.DataFrame([dict(zip(tables.CASE, CASE, strict=True)) | row for row in rows])
    said = from_tables(CONTEXTS, messages)(CASE)
    assert {turn: words.strip() for turn, words in said.items()} == {0: "Hello.", 1: "Cancel it."}


def test_what_stood_before_each_emission():
    found = before_each(
        emissions(
            {"tool_results": called("ls")},
            {},
            {"turn": 1, "tool_results": called("rm", error="no such file")},
            {"turn": 1, "tool_results": called("rm"), "retracted": True},
            {"turn": 1, "tool_results": called("rm")},
            {"turn": 1},
            {"turn": 2},
        ),
        from_tables(CONTEXTS, NOBODY),
    )
    both = "List the files.\nDelete a."
    assert found == [
        Before("List the files."),
        Before("List the files.", ("ls",)),
        Before(both),
        Before(both),  # a call that failed leaves the request open
        Before(both),  # so does one that a probe took back
        Before(both, ("rm",)),
        Before(""),
    ]


def test_turns_without_an_emission_are_heard():
    found = before_each(emissions({"turn": 1}), from_tables(CONTEXTS, NOBODY))
    assert found == [Before("List the files.\nDelete a.")]
