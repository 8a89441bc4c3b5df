"""Was a write proposed to the user with its details, and did the user agree to it, before it was made?

A rule after the guidelines of the validity set, of few pieces of evidence. The conversation before the call is read as
exchanges: what the agent said in one go, and what the user replied. The last one whose words name this action, and ask
for agreement or tell what will be done, decides: does the reply agree, did that last, and do the words say anything
that the call does otherwise?
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolcal.writes import asks, replies, spoken, talk
from toolcal.writes import details as d
from toolcal.writes.words import WORDS, sentences

VERSION = 3
"""Raised with each change that moves decisions."""
_NEAR = 2
"""So many exchanges before a question may have told what it is about."""


@dataclass(frozen=True)
class Decision:
    """Whether a call was proposed and agreed to.

    Attributes:
        proposed: the agent put this action to the user.
        agreed: the user then agreed to it.
        message: the index of the message that decided: the agreement, else the proposal; None without either.
        why: in words.
    """

    proposed: bool
    agreed: bool
    message: int | None
    why: str

    @property
    def confirmed(self) -> bool:
        """Proposed and agreed to."""
        return self.proposed and self.agreed


def decide(messages: Sequence[Mapping[str, Any]], at: int, call: int) -> Decision:
    """Judge one call of a write tool.

    Args:
        messages: the conversation, as OpenAI messages; a tool's may have `failed`.
        at: the index of the assistant's message with the call.
        call: which of its calls.

    Raises:
        IndexError: there is no such call.
    """
    made = talk.calls_of(messages, at)[call]
    if made.unreadable:
        return Decision(False, False, None, "the call's arguments cannot be read, so nobody agreed to them")
    return _Judge(messages, at, call, made).decide()


class _Judge:
    """One call and the conversation before it."""

    def __init__(self, messages: Sequence[Mapping[str, Any]], at: int, call: int, made: talk.Made) -> None:
        start = talk.window(messages, at)
        self._made = made
        self._messages = messages[:at]
        self._exchanges = talk.exchanges(messages, start, at)
        self._turns = [asks.read(exchange.agent) for exchange in self._exchanges]
        self._replies = [replies.read(exchange.reply) for exchange in self._exchanges]
        self._earlier = talk.calls(messages, start, at) + talk.calls_of(messages, at)[:call]
        self._action = asks.action(made.name)
        self._call = d.Call(made.arguments, talk.Known(messages, at))

    def decide(self) -> Decision:
        places = [place for place in range(len(self._exchanges)) if self._put(place)]
        # What the agent says after the last reply is on the way to the call.
        places = [place for place in places if self._exchanges[place].reply_at is not None] or places
        if not places:
            return Decision(False, False, None, f"no agent message puts this to the user: {self._action.name}")
        place = places[-1]
        proposal, reply = self._exchanges[place].at, self._exchanges[place].reply_at
        if found := self._difference(place):
            return Decision(False, False, None, f"message {proposal} puts another action: {found}")
        if reply is None:
            return Decision(True, False, proposal, f"message {proposal} proposes it, and nothing came in reply")
        agreed = reply
        if why := self._not_agreed(place):
            later = self._later_yes(place)
            if later is None:
                return Decision(True, False, proposal, f"message {proposal} proposes it, but message {reply} {why}")
            agreed = later
        if why := self._ended(place, agreed):
            return Decision(True, False, proposal, why)
        return Decision(
            True, True, agreed, f"the user's reply in message {agreed} agrees to the proposal in message {proposal}"
        )

    def _put(self, place: int) -> bool:
        """Whether an exchange puts this action: it asks or tells, and names it, or points to what named it before."""
        turn, reply = self._turns[place], self._replies[place]
        later = self._later_yes(place)
        if turn.asks == asks.NOTHING or (turn.asks == asks.ANNOUNCED and not (reply.yes or later)):
            return False
        at = self._exchanges[place].at
        if any(self._call.other(one, turn.set_out) or self._unknown(one, at) for one in self._call.records):
            return False
        goes = reply.yes and (self._wanted(place) or WORDS["go_ahead"].search(self._exchanges[place].reply))
        if turn.asks == asks.OPEN and not (goes or self._picked(place) or later):
            return False
        if turn.asks == asks.CONSENT and not any(map(self._this, turn.questions)):
            return False
        if self._names(turn.set_out):
            return True
        told = "\n".join(turn.set_out for turn in self._turns[max(0, place - _NEAR) : place + 1])
        # What names another action only is about that one.
        other = asks.families(turn.set_out) and not self._action.verb.search(turn.set_out)
        return turn.asks == asks.CONSENT and not other and self._names(told)

    def _unknown(self, record: d.Detail, at: int | None) -> bool:
        """Whether a record first came up after a message, so that this cannot be about it."""
        heard = (i for i, message in enumerate(self._messages) if record.form in talk.words(message).lower())
        return at is not None and next(heard, at) > at

    def _names(self, text: str) -> bool:
        """Whether two things tell the action: its verb, what it works on, the record, what sets it apart."""
        verb = self._action.verb.search(text) is not None
        topic = self._action.topic is not None and self._action.topic.search(text) is not None
        if verb and not (self._action.topic or any(one.kind != d.RECORD for one in self._call.telling)):
            return True
        told = {
            one.kind == d.RECORD
            for one in self._call.telling
            if one.kind not in (d.PAYMENT, d.SUM) and self._call.told(one, text)
        }
        if self._action.topic and not topic:
            told.discard(True)
        return verb + topic + len(told) > 1

    def _this(self, question: str) -> bool:
        """Whether a question can be about this action: it names it, or none at all."""
        if WORDS["human"].search(question):
            return False
        return bool(self._action.verb.search(question)) or not WORDS["elsewhere"].search(question)

    def _difference(self, place: int) -> str | None:
        """What the call does other than was put, in words."""
        own = [exchange.reply for exchange in self._exchanges]
        texts = [f"{turn.set_out}\n{reply}" for turn, reply in zip(self._turns, own, strict=True)]
        near, seen, after = (
            "\n".join(texts[max(0, place - 1) : place + 1]),
            "\n".join(texts[: place + 1]),
            "\n".join(own[place + 1 :]),
        )
        for one in self._call.details:
            if one in self._call.records or (one not in self._call.telling and one.kind != d.WORD):
                continue
            # How to pay is often settled last.
            if one.kind == d.PAYMENT and self._call.told(one, f"{own[place]}\n{after}"):
                continue
            if one.kind == d.THING and self._turns[place].open:
                continue
            here = one.kind in (d.THING, d.SUM) or (one.kind == d.WORD and self._call.told(one, texts[place]))
            found = self._call.other(one, texts[place] if here else near)
            if found and not (one.kind in (d.SUM, d.DATE, d.COUNT) and self._call.told(one, seen)):
                return found
        if found := self._paid_otherwise(place):
            return found
        if untold := self._call.untold(f"{seen}\n{after}"):
            return f"{untold.key.replace('_', ' ')} {untold.value} was never put to the user"
        if self._call.pays and not WORDS["money"].search("\n".join(f"{e.agent}\n{e.reply}" for e in self._exchanges)):
            return "nothing was said about the payment"
        return None

    def _paid_otherwise(self, place: int) -> str | None:
        """A way to pay that was settled last and that the call does not use."""
        mine = {spoken.kind_of(one.value) for one in self._call.details if one.kind == d.PAYMENT}
        asked = [question for question in self._turns[place].questions if not WORDS["choice"].search(question)]
        told = [part for exchange in self._exchanges[place:] for part in sentences(exchange.reply) if "?" not in part]
        for part in (*reversed(told), *asked) if mine and None not in mine else ():
            wanted, unwanted = spoken.kinds_in(part), spoken.kinds_in(part, unwanted=True)
            if (refused := unwanted & mine - wanted) or (wanted and wanted - mine):
                return f"{min(refused or wanted - mine)} is{' not' if refused else ''} to pay".replace("_", " ")
            if wanted:
                break
        shared: set[str] = set()
        for part in sentences(self._turns[place].set_out):
            if spoken.sums(part) and WORDS["paying"].search(part) and not WORDS["back"].search(part):
                shared |= spoken.kinds_in(part)
        if mine and len(shared) > 1 and shared - mine and not self._turns[place].open:
            return f"{min(shared - mine)} is to pay too".replace("_", " ")
        return None

    def _not_agreed(self, place: int) -> str | None:
        """Why a reply to the proposal is no agreement; None where it is one."""
        turn, reply = self._turns[place], self._replies[place]
        if reply.held:
            return "holds back"
        asked_for = self._wanted(place) and not turn.open
        if not (reply.yes or reply.weak or asked_for or self._picked(place)):
            return "does not agree"
        return self._limited(place) or self._other_wanted(place)

    def _other_wanted(self, place: int) -> str | None:
        """What a reply wants in place of what the call has."""
        said = sentences(self._exchanges[place].reply)
        text = "\n".join(one for one in said if WORDS["agree"].search(one) or WORDS["instead"].search(one))
        chosen = [one for one in self._call.telling if one.kind in (d.RECORD, d.THING)]
        chosen = [one for one in chosen if not self._call.told(one, self._exchanges[place].reply)]
        return next((f"wants {found}" for one in chosen if (found := self._call.other(one, text))), None)

    def _wanted(self, place: int) -> bool:
        """Whether a reply asks for this action."""
        return any(self._action.verb.search(part) or self._names(part) for part in self._replies[place].requests)

    def _picked(self, place: int) -> bool:
        """Whether a reply picks, among what the agent set out with its price, what sets the call apart."""
        text, put = self._exchanges[place].reply, self._turns[place].set_out
        ready = all(WORDS[cue].search(put) for cue in ("choice", "announce"))
        if self._replies[place].asks or not ready:
            return False
        chosen = [one for one in self._call.telling if one.kind == d.THING and self._call.told(one, put)]
        return bool(chosen) and (any(self._call.told(one, text) for one in chosen) or _ordinal(text))

    def _limited(self, place: int) -> str | None:
        """Why a reply leaves this action out, or is for others only."""
        reply = self._replies[place]
        for clause in reply.without:
            found = WORDS["without"].search(clause)
            if found and self._about(clause[found.end() : found.end() + 30]):
                return (
                    None if any(self._about(other) for other in reply.clauses if other != clause) else "leaves it out"
                )
        return None

    def _about(self, text: str) -> bool:
        """Whether a part of a reply speaks of this action rather than of another one."""
        return (self._action.topic or self._action.verb).search(text) is not None

    def _later_yes(self, place: int) -> int | None:
        """The message of a later yes to words that ask nothing of their own."""
        for later in range(place + 1, len(self._exchanges)):
            reply, asked = self._replies[later], self._turns[later].asks
            if reply.yes and not reply.held and (asked in (asks.NOTHING, asks.ANNOUNCED) or self._wanted(later)):
                return self._exchanges[later].reply_at
        return None

    def _ended(self, place: int, agreed: int) -> str | None:
        """What became of an agreement: it was taken back, or one call used it up."""
        for later in range(place + 1, len(self._exchanges)):
            reply_at = self._exchanges[later].reply_at or 0
            if reply_at > agreed and (self._replies[later].stops or self._limited(later)):
                return f"message {reply_at} takes the agreement back"
            if reply_at > agreed and (found := self._other_wanted(later)):
                return f"message {reply_at} {found}"
        mine = _content(self._call.details)
        for made in self._earlier:
            if made.at <= agreed or made.name != self._made.name:
                continue
            other = _content(d.of(made.arguments))
            if made.done and other == mine:
                return f"the agreement in message {agreed} was used by an earlier call"
            if made.failed and other > mine:
                return f"the agreement in message {agreed} was for more than this call does"
        return None


def _content(details: Sequence[d.Detail]) -> set[d.Detail]:
    """What a call does, however it is paid."""
    return {one for one in details if one.kind not in (d.PAYMENT, d.SUM)}


def _ordinal(text: str) -> bool:
    """Whether a text names a place in a list."""
    return any(words.search(text) for words in WORDS["ordinal"].values())
