"""Probes: what acts at a seam of the running conversation (method A6), and logs every decision.

`sri` reconciles state where a model halts without a call, `cri` reconciles a call before it is executed. A probe is a
pure function of what was seen so far; the rollout does what it decides. Wording and cues stand beside each, versioned.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolcal.perturbations.probes.cri import Cri
from toolcal.perturbations.probes.protocol import Decision, Probe, Seen
from toolcal.perturbations.probes.sri import Sri

__all__ = ["PROBES", "Decision", "Probe", "Seen", "of"]

PROBES: dict[str, type[Sri] | type[Cri]] = {"sri": Sri, "cri": Cri}


def of(spec: Mapping[str, Any] | None) -> Probe | None:
    """The probe of a context; None where none acts.

    Args:
        spec: `Context.probe`.

    Raises:
        ValueError: for an unknown probe, or a parameter that it does not have.
    """
    if spec is None:
        return None
    if spec["probe"] not in PROBES:
        raise ValueError(f"no probe is called {spec['probe']!r}; there are {', '.join(PROBES)}")
    return PROBES[spec["probe"]](**spec.get("parameters", {}))
