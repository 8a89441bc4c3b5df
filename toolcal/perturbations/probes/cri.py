"""The probe CRI, call reconciliation at the call seam: a call is looked at before it is executed.

The calls of one emission are looked at one after the other, each when its turn has come, with the results of those
before it observed. The suspected call is taken back with those after it; what was executed before it stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

import yaml

from toolcal.perturbations.probes import detectors as _detectors
from toolcal.perturbations.probes.protocol import Decision, Seen


class Cri:
    """The probe `cri`. It acts once in a case, and not once a held-out tool has arrived.

    Args:
        variant: `retry` asks again, with the instruction not to call; `bypass` puts a fixed abstention in the answer's
            place, at the decisive turn alone.
        detectors: what makes a call suspect, `mc`, `ur` or both.
        ur: how `ur` looks for values, `verbatim` or `refined`.
    """

    name = "cri"

    def __init__(
        self,
        variant: Literal["retry", "bypass"] = "retry",
        detectors: Sequence[str] = ("mc", "ur"),
        ur: Literal["verbatim", "refined"] = "verbatim",
    ) -> None:
        if variant not in ("retry", "bypass") or ur not in ("verbatim", "refined") or {*detectors} - {"mc", "ur"}:
            raise ValueError(f"cri has no variant {variant!r} with detectors {list(detectors)} and ur {ur!r}")
        self._variant = variant
        self._detectors = tuple(detectors)
        self._refined = ur == "refined"

    def decide(self, seen: Seen) -> Decision | None:
        """Act on a suspected call; one that is suppressed (the reason says why) does not use up the case's one."""
        if seen.call is None:
            return None
        found = _detectors.suspicions(seen, self._detectors, refined=self._refined)
        if not found:
            return Decision("call", False, "not_suspected")
        if reason := self._suppressed(seen):
            return Decision("call", False, reason, found)
        bypass = self._variant == "bypass"
        return Decision(
            "call",
            True,
            "+".join(name for name in ("mc", "ur") if name in found),
            found,
            emission="retract",
            appended=None if bypass else wording()["retry"],
            replacement=wording()["abstention"] if bypass else None,
        )

    def _suppressed(self, seen: Seen) -> str | None:
        if seen.arrived:
            return "arrived"
        if seen.acted_in_case:
            return "once_a_case"
        return "not_decisive" if self._variant == "bypass" and not seen.decisive else None


@cache
def wording() -> dict[str, Any]:
    """The file `cri.yaml`."""
    found: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("cri.yaml").read_text(encoding="utf-8"))
    return found
