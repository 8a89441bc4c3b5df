from __future__ import annotations

import pytest

from tests.perturbations.probes.test_sri import observed, seen
from toolcal.calls import Call
from toolcal.perturbations.probes.detectors import suspicions

TOOL = {
    "type": "function",
    "function": {
        "name": "book",
        "description": "Book a room, e.g. in Room Blue.",
        "parameters": {
            "type": "object",
            "properties": {
                "room": {"type": "string", "description": "Its name."},
                "beds": {"type": "number", "description": "At most 4 of them."},
                "size": {"type": "string", "description": "One of Single, Double.", "enum": ["single"]},
                "paid": {"type": "boolean"},
                "guests": {"type": "array"},
                "note": {"type": "string"},
                "floor": {"type": "integer", "default": 11},
            },
            "required": ["room", "beds", "size", "paid", "guests", "floor"],
        },
    },
}
OTHERS = {"room": "Green", "beds": 4, "size": "single", "guests": ["nobody"], "floor": 11}


def found(ur="verbatim", detectors=("mc", "ur"), name="book", state=(), **arguments):
    call = Call(name, {"room": "Green", **arguments})
    at = seen(requests=("Book Green for 30.5 or 1,500, 30 or 25 nights.", "Go on."), tools=(TOOL,), call=call)
    return suspicions(seen(**vars(at) | {"observed": observed(*state)}), detectors, refined=ur == "refined")


def test_mc_names_a_tool_that_is_not_there():
    assert found(name="fly") == {"mc": "fly"}
    assert found(name="fly", detectors=("ur",)) == {}
    assert found() == {}


@pytest.mark.parametrize(
    ("arguments", "verbatim", "refined"),
    [
        ({"room": "Red"}, True, True),
        ({"room": "green"}, True, False),
        ({"room": "Blue"}, True, False),  # stands in the tool's description
        ({"room": "x"}, False, False),  # too short
        ({"room": ""}, False, False),
        ({"room": None}, False, False),
        ({"beds": 30}, False, False),
        ({"beds": 25.0}, True, False),
        ({"beds": 1500}, True, False),
        ({"beds": 1500.0}, True, False),
        ({"beds": 77}, True, True),
        ({"beds": 7}, False, False),
        ({"size": "single"}, False, False),
        ({"size": "Double"}, True, False),
        ({"size": "Triple"}, True, True),
        ({"paid": True}, True, False),
        ({"guests": ["nobody"]}, False, False),
        ({"note": "made up"}, False, False),  # not required
        ({"floor": 11}, False, False),
        ({"floor": 12}, True, True),
        ({"floor": 10**400}, True, True),
    ],
)
def test_ur_looks_for_required_values(arguments, verbatim, refined):
    [value] = arguments.items()
    assert found(**arguments) == ({"ur": dict([value])} if verbatim else {})
    assert found(ur="refined", **arguments) == ({"ur": dict([value])} if refined else {})
    assert found(detectors=("mc",), **arguments) == {}


def test_what_was_observed_is_known():
    assert found(room="Red", state=[("list_rooms", '{"rooms": ["Red", "Green"]}')]) == {}


def test_a_tool_without_a_schema_suspects_nothing():
    bare = {"type": "function", "function": {"name": "book"}}
    assert suspicions(seen(tools=(bare,), call=Call("book", {"room": "Red"})), ("mc", "ur"), refined=True) == {}
