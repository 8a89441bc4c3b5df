"""What a probe sees at a seam, and what it decides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from toolcal.benchmarks.protocol import Tool
from toolcal.calls import Call
from toolcal.perturbations.probes.state import Observed

Seam = Literal["halt", "call"]


@dataclass(frozen=True)
class Seen:
    """The conversation at a seam. Only `decisive` is of gold; no detector looks at it."""

    scenario: str
    turn: int
    requests: tuple[str, ...]
    """The user's words, one text a turn, the current turn's last."""
    tools: tuple[Tool, ...]
    """This turn's tools, as shown."""
    observed: Observed
    """What tools have said so far, the earlier calls of this emission among them."""
    text: str
    """The emission's visible text."""
    status: str
    """The emission's status."""
    call: Call | None
    """The call that is about to be executed; None at the halt seam."""
    decisive: bool
    """Whether this is the decisive turn."""
    arrived: bool
    """Whether a tool that was held out at first is there by now."""
    acted_in_turn: bool
    acted_in_case: bool


@dataclass(frozen=True)
class Decision:
    """What to do at a seam; a row of the table `probe_events`."""

    seam: Seam
    triggered: bool
    reason: str
    """Of acting, or of not acting."""
    detector: Mapping[str, Any] = field(default_factory=dict)
    """What a detector found; empty where it found nothing, or where there is none."""
    emission: Literal["keep", "drop", "retract"] = "keep"
    """`drop`: out of the history, though it was emitted. `retract`: the call, and those after it in its emission, are
    not executed, and are out of history and grading."""
    appended: str | None = None
    """System message after which the model is asked again."""
    replacement: str | None = None
    """Text that takes the place of the model's answer, and ends the turn."""


class Probe(Protocol):
    """A probe, with its parameters."""

    name: str

    def decide(self, seen: Seen) -> Decision | None:
        """The decision at this seam; None where the probe does not act at seams of this kind. Pure."""
