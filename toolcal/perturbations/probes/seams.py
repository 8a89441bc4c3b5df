"""A probe in one run of one case: what it was shown at each seam, what it decided, and the log of that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolcal import calls, tables
from toolcal.benchmarks.protocol import Case, Tool
from toolcal.perturbations import probes
from toolcal.perturbations.context import Context
from toolcal.perturbations.probes.protocol import Decision, Seen
from toolcal.perturbations.probes.state import Observed


class Seams:
    """The seams of one run; without a probe, nothing is decided at any.

    Args:
        case: the case; of its gold only which turn is decisive is shown.
        context: what the model reads of it, with the probe.
    """

    def __init__(self, case: Case, context: Context) -> None:
        self._case = case
        self._context = context
        self._probe = probes.of(context.probe)
        self._acted: list[int] = []
        self.observed = Observed()
        """What tools have said so far; whoever runs the calls keeps it up to date."""
        self.events: list[dict[str, Any]] = []
        """Rows of the table `probe_events`; they lack the cell's, the case's and the trial's columns."""

    def decide(
        self, turn: int, requests: Sequence[str], tools: Sequence[Tool], text: str, status: str, call: calls.Call | None
    ) -> Decision | None:
        """What the probe decides; None where there is no probe, or it does not act at such a seam.

        Args:
            turn: the turn, from 0.
            requests: the user's words, one text a turn, this turn's last.
            tools: this turn's tools, as shown.
            text: the emission's visible text.
            status: the emission's status.
            call: the call that is about to be executed; None at the halt seam.
        """
        if self._probe is None:
            return None
        return self._probe.decide(
            Seen(
                scenario=self._case.scenario,
                turn=turn,
                requests=tuple(requests),
                tools=tuple(tools),
                observed=self.observed,
                text=text,
                status=status,
                call=call,
                decisive=turn == self._case.decisive_turn,
                arrived=any(0 < arrives <= turn for arrives, _ in self._context.tools),
                acted_in_turn=turn in self._acted,
                acted_in_case=bool(self._acted),
            )
        )

    def note(self, decision: Decision | None, turn: int, step: int, attempt: int) -> Decision | None:
        """Log a decision about an emission; it is returned if it is to act."""
        if decision is None or self._probe is None:
            return None
        self.events.append(
            {
                "turn": turn,
                "step": step,
                "attempt": attempt,
                "probe": self._probe.name,
                "seam": decision.seam,
                "triggered": decision.triggered,
                "reason": decision.reason,
                "detector": tables.dumps(decision.detector),
                "appended": tables.text_or_json(decision.appended),
            }
        )
        if not decision.triggered:
            return None
        self._acted.append(turn)
        return decision


def weightiest(decisions: Sequence[Decision]) -> Decision | None:
    """Of the decisions about the calls of one emission the one to log: to act, or else what was found first."""
    return max(decisions, key=lambda decision: (decision.triggered, bool(decision.detector)), default=None)
