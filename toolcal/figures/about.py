"""What the caption of an effect's figure says of its perturbation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_UR = (
    "CRI acts on a call once in a case, and suspects more than calls of a tool that is not there (MC): its detector UR "
    "looks for required values that neither the user, nor the state, nor the schema gave, and is wrong where a value "
    "was put in other words. {alarms} UR's false alarms spend the trigger: after one before the decisive turn none is "
    "left for that turn, so that GAR and Acc gain less, and Acc can fall with it, than with MC alone."
)
_BYPASS = (
    "The abstention is the probe's and never counts as an action of the model: GAR stays, while Acc and strict Acc "
    "judge the run as it then went, so that a rise into the region above the bound is the probe's doing."
)
_ALARMS = {
    "verbatim": "Of the 200 right runs of the policy ``oracle`` it stops a call in 170 (``base``), 171 "
    "(``long_context``), 71 (``miss_func``) and 170 (``miss_param``).",
    "refined": "``refined`` forgives case, number forms and values named in descriptions, and has fewer of these.",
}


def about(name: str, spec: Mapping[str, Any]) -> str:
    """The perturbation in words, as reStructuredText.

    Args:
        name: its name.
        spec: its entry in the configuration.
    """
    parameters = spec["parameters"]
    kind = f"static edit {spec['edit']}" if spec["kind"] == "static" else f"probe {spec['probe']}"
    given = ", ".join(f"{key} {_words(value)}" for key, value in parameters.items())
    words = [_escaped(f"Perturbation {name} ({kind}{'; ' * bool(given)}{given}): {spec['rationale']}.")]
    if spec.get("probe") == "cri" and parameters["variant"] == "retry" and "ur" in parameters["detectors"]:
        words.append(_UR.format(alarms=_ALARMS[parameters["ur"]]))
    if spec.get("probe") == "cri" and parameters["variant"] == "bypass":
        words.append(_BYPASS)
    return " ".join(words)


def _words(value: object) -> str:
    return " and ".join(map(str, value)) if isinstance(value, list) else str(value)


def _escaped(text: str) -> str:
    """Text that is no markup."""
    return re.sub(r"([\\*`|_<>])", r"\\\1", text)
