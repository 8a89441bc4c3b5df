"""All perturbations: from an entry of the configuration to what a model reads of a case.

A perturbation is given as `configuration.perturbation` states it: {name, kind, edit or probe, parameters}; None is the
baseline. Its draws for a case depend on the configuration's seed, its name and the case's id, and on nothing else.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from toolcal.benchmarks.protocol import Case
from toolcal.perturbations import probes
from toolcal.perturbations.context import Context, baseline
from toolcal.perturbations.static.ours import ours
from toolcal.perturbations.static.renaming import tool_rename
from toolcal.perturbations.static.texts import description_edit, message_edit, system_hint
from toolcal.perturbations.static.tool_lists import distractor_tools, tool_order

Spec = Mapping[str, Any]
Edit = Callable[[Case, Context, Mapping[str, Any], random.Random], Context]

EDITS: dict[str, Edit] = {
    edit.__name__: edit
    for edit in (system_hint, tool_order, distractor_tools, tool_rename, description_edit, message_edit)
}


def apply(case: Case, spec: Spec | None, seed: int) -> Context:
    """What a model reads of a case under a perturbation.

    Args:
        case: the case.
        spec: the perturbation, or None for the baseline.
        seed: the configuration's seed.

    Returns:
        The context. Where the perturbation cannot be applied, the benchmark's own, with the reason in `left_out`.
    """
    context = baseline(case)
    if spec is None:
        return context
    if spec["kind"] == "probe":
        probe = {"probe": spec["probe"], "parameters": dict(spec["parameters"]), "version": version(spec)}
        return replace(context, probe=probe)
    rng = random.Random(f"{seed} {spec['name']} {case.case_id}")
    edited = EDITS[spec["edit"]](case, context, spec["parameters"], rng)
    return replace(context, left_out=edited.left_out) if edited.left_out else edited


def version(spec: Spec) -> str:
    """The version of what is ours in a perturbation: an edit's wording, a probe's cues."""
    if spec["kind"] == "static":
        return str(ours(spec["edit"])["version"])
    path = Path(probes.__file__).with_name(f"{spec['probe']}.yaml")
    return str(yaml.safe_load(path.read_text(encoding="utf-8"))["version"])
