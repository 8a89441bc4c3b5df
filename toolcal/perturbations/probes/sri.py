"""The probe SRI, state reconciliation at the halt seam: a model that ends its turn is shown the state, and asked again.

Every emission that leaves nothing to execute is a halt: text, silence, a call that cannot be read, and a call that
leaked into the text where the model's mode does not execute those. It acts at a turn's first halt.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Literal

import yaml

from toolcal.perturbations.probes.protocol import Decision, Seen

EARLIER = 4
"""Earlier requests that the message holds."""
REQUEST_LENGTH = 700
"""Characters of each."""
STATE_LENGTH = 2400
"""Characters of the state."""
RESULTS, RESULT_LENGTH = 3, 1200
"""In tau2's form of SRI the state is the last results of tools, and characters of each (an entry of its databases
is too large to be told key by key)."""

_PARTS = {
    "full": ("earlier", "current", "state", "rule"),
    "no_history_edit": ("earlier", "current", "state", "rule"),
    "no_state": ("earlier", "current", "rule"),
    "state_only": ("state",),
}
_PLAIN = str.maketrans("’‘？", "''?")


class Sri:
    """The probe `sri`.

    Args:
        variant: `full`; `no_history_edit`, where the halting message stays; `no_state` and `state_only`, whose message
            lacks the state, or all but header and state.
        gate: where a halt that asks the user for something is left alone: in no scenario, in all, in `miss_param`.
    """

    name = "sri"

    def __init__(
        self,
        variant: Literal["full", "no_history_edit", "no_state", "state_only"] = "full",
        gate: Literal["none", "all", "miss_param"] = "none",
    ) -> None:
        if variant not in _PARTS or gate not in ("none", "all", "miss_param"):
            raise ValueError(f"sri has no variant {variant!r} with gate {gate!r}")
        self._variant = variant
        self._gate = gate

    def decide(self, seen: Seen) -> Decision | None:
        """Act at the turn's first halt, unless a gate leaves it alone; the reason to act is the kind of halt."""
        if seen.call is not None:
            return None
        if seen.acted_in_turn:
            return Decision("halt", False, "once_a_turn")
        if self._gated(seen.scenario) and asks(seen.text):
            return Decision("halt", False, "asks")
        return Decision(
            "halt",
            True,
            "no_call" if seen.status == "ok" else seen.status,
            emission="keep" if self._variant == "no_history_edit" else "drop",
            appended=message(seen, self._variant),
        )

    def _gated(self, scenario: str) -> bool:
        return self._gate == "all" or (self._gate == "miss_param" and scenario.endswith("-miss_param"))


def message(seen: Seen, variant: str) -> str:
    """The system message of a variant."""
    words = wording()["message"]
    *earlier, current = seen.requests
    if seen.scenario.startswith("tau2-"):
        state = seen.observed.latest(RESULTS, RESULT_LENGTH)
    else:
        state = seen.observed.shown(STATE_LENGTH)
    latest = [text[:REQUEST_LENGTH] for text in reversed(earlier)][:EARLIER]
    parts = {
        "earlier": "\n".join([words["earlier"], *(f"- {text}" for text in latest)]) if latest else "",
        "current": f"{words['current']}\n{current}",
        "state": f"{words['state']}\n{state}" if state else words["no_state"],
        "rule": words["rule"],
    }
    return "\n\n".join([words["header"], *(parts[part] for part in _PARTS[variant] if parts[part])])


def asks(text: str) -> bool:
    """Whether a halt asks the user for something, by the probe's own cues."""
    plain = " ".join(text.lower().translate(_PLAIN).split())
    return any(cue in plain for cue in wording()["asks"])


@cache
def wording() -> dict[str, Any]:
    """The file `sri.yaml`."""
    found: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("sri.yaml").read_text(encoding="utf-8"))
    return found
