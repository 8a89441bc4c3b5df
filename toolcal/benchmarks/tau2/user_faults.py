"""Faults of the simulated user, told from the agent's by rule: what it says against its scenario and its guidelines.

- `ends_at_once`: its first message ends the conversation.
- `says_nothing`: the run broke off because it said nothing.
- `stops_at_confirmation`: it ends the conversation while the agent waits for its consent, or for a value that it has.
- `unknown_fact`: it tells an identifier that nobody gave it.
- `breaks_role`: it speaks as the agent, or as a machine.
- `out_of_scope`: it says itself that its scenario does not tell how to go on.

Precision goes before recall: a run that is tagged has the fault, one that is not may still have one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from toolcal.benchmarks.protocol import Case, Message
from toolcal.benchmarks.tau2 import user_facts
from toolcal.benchmarks.tau2.user_closings import leaves_open
from toolcal.recordings.run import Run
from toolcal.writes.words import fold

_END = re.compile(r"###(?:STOP|TRANSFER|OUT-OF-SCOPE)###")  # tau2's tokens; tau-bench's is the first
_OUT_OF_SCOPE = "###OUT-OF-SCOPE###"
_HAND_OVER = "transfer_to_human_agents"
_QUOTED = re.compile(r'"[^"]*"')
_DONE = r"(?:cancel|updat|modif|process|book|chang|upgrad|refund|exchang|issu|submitt|add)\w*"
_THEIRS = r"(?:reservation|order|booking|flight|ticket|account|request|refund|return|exchange|address|payment|bag)s?"
_AGENTS_WORDS = re.compile(
    r"\bhow (?:can|may) i (?:help|assist) you\b"
    r"|\byou(?:'re| are) (?:now )?being transferred\b"
    r"|\bi(?:'ll| will|'m going to| am going to) transfer you\b|\bi(?:'m| am) transferring you\b"
    rf"|\b(?:i|we)(?:'ve| have)(?: now| just| successfully)* {_DONE} your {_THEIRS}\b"
    r"|\b(?:as an ai|i(?:'m| am) an ai|language model)\b"
    r"|\bthank you for (?:contacting|calling|reaching out to|choosing) (?:us|our)\b"
    r"|\b(?:provide|share|give|tell)(?: me)?(?: with)? your"
    r" (?:user id|(?:reservation|order|confirmation)(?: id| number)?|zip code|e-?mail|date of birth)\b"
)
_ECHO = 60
"""Characters: a message as long as this, in the agent's very words, is no coincidence."""


@dataclass(frozen=True)
class Fault:
    """One fault.

    Attributes:
        fault: one of `tables.USER_FAULTS`.
        place: the message's place in the conversation, from 0; behind the last one where no message came.
        words: what it said: of an unknown fact the value, else the message.
    """

    fault: str
    place: int
    words: str


def scenario_of(case: Case) -> str | None:
    """All that the user was told: tau2's scenario, tau-bench's instruction; None where there is none."""
    field = {"tau2": "user_scenario", "tau1": "instruction"}.get(case.benchmark)
    return "\n".join(_texts(case.initial_state["task"].get(field))).strip() or None if field else None


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(part)


def user_faults(run: Run, case: Case) -> list[Fault]:
    """The simulated user's faults in a run, held or recorded, in the order of the messages.

    Args:
        run: the run.
        case: its case, of tau2 or tau-bench.

    Raises:
        ValueError: the case has no scenario for a user.
    """
    scenario = scenario_of(case)
    if scenario is None:
        raise ValueError(f"{case.scenario}, case {case.case_id}: no scenario says what its user knows")
    said = [(at, message["content"] or "") for at, message in enumerate(run.messages) if _is_users(message)]
    found = [
        *_ends_at_once(said),
        *_says_nothing(run),
        *_stops_at_confirmation(run, said, scenario),
        *_unknown_facts(run, said, scenario),
        *_breaks_role(run, said),
        *(Fault("out_of_scope", at, text) for at, text in said if _OUT_OF_SCOPE in text),
    ]
    return sorted(found, key=lambda fault: fault.place)


def _is_users(message: Message) -> bool:
    return message["role"] == "user" and not message.get("tool_calls")


def _ends_at_once(said: list[tuple[int, str]]) -> Iterator[Fault]:
    if said and _END.search(said[0][1]):
        yield Fault("ends_at_once", *said[0])


def _says_nothing(run: Run) -> Iterator[Fault]:
    if run.verdict.reason == "user_error":
        yield Fault("says_nothing", len(run.messages), "")


def _stops_at_confirmation(run: Run, said: list[tuple[int, str]], scenario: str) -> Iterator[Fault]:
    """After a hand-over to a human agent nothing is open any more."""
    for at, text in said:
        heard = _last_words(run, at)
        if not _END.search(text) or _OUT_OF_SCOPE in text or not heard or _handed_over(run, at):
            continue
        if leaves_open(heard, _END.sub(" ", text), scenario, list(_exchanged(run, at))):
            yield Fault("stops_at_confirmation", at, text)


def _last_words(run: Run, at: int) -> str:
    """What the agent said last before a message of the user, since the one before."""
    for message in reversed(run.messages[:at]):
        if _is_users(message):
            return ""
        if message["role"] == "assistant" and message["content"]:
            return str(message["content"])
    return ""


def _handed_over(run: Run, at: int) -> bool:
    calls = (call for message in run.messages[:at] for call in message.get("tool_calls", ()))
    return any(call["function"]["name"] == _HAND_OVER for call in calls)


def _unknown_facts(run: Run, said: list[tuple[int, str]], scenario: str) -> Iterator[Fault]:
    """Each value once, where it is told first."""
    for at, text in said:
        for value in user_facts.unknown(text, [scenario, *_exchanged(run, at)], _last_words(run, at)):
            yield Fault("unknown_fact", at, value)


def _exchanged(run: Run, until: int) -> Iterator[str]:
    """What the user has said and heard before a message; of results, those of its own calls."""
    own: set[str] = set()
    for message in run.messages[:until]:
        role = message["role"]
        if role == "user":
            own |= {call["id"] for call in message.get("tool_calls", ())}
        if role in ("user", "assistant") or (role == "tool" and message["tool_call_id"] in own):
            yield str(message["content"] or "")


def _breaks_role(run: Run, said: list[tuple[int, str]]) -> Iterator[Fault]:
    for at, text in said:
        words = fold(text)
        echoes = len(words) >= _ECHO and any(
            words == fold(message["content"] or "") for message in run.messages[:at] if message["role"] == "assistant"
        )
        if echoes or _AGENTS_WORDS.search(_QUOTED.sub(" ", words)):
            yield Fault("breaks_role", at, text)
