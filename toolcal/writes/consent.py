"""Was a write proposed to the user with its details, and did the user agree to it, before it was made?

A rule after the guidelines of the validity set. The conversation before the call is read as exchanges: what the agent
said in one go, and what the user replied. From the last one back, the first that puts this action to the user decides:
was what it put the same in all that the user cares about, did the user agree, and did the agreement last?
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolcal.writes import asks, replies, talk
from toolcal.writes import details as facts
from toolcal.writes.compare import PART, SAME, Comparison
from toolcal.writes.proposals import Proposals
from toolcal.writes.words import WORDS, sentences

VERSION = 2
"""Raised with each change that moves decisions."""


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
        self._exchanges = talk.exchanges(messages, start, at)
        self._earlier = talk.calls(messages, start, at) + talk.calls_of(messages, at)[:call]
        self._known = talk.Known(messages, at)
        action = asks.action(made.name)
        self._call = Comparison(facts.of(made.arguments), self._known, action.verb)
        self._proposals = Proposals(self._exchanges, self._earlier, action, self._call)

    def decide(self) -> Decision:
        back: str | None = None
        yes_at: int | None = None
        for place in range(len(self._exchanges) - 1, -1, -1):
            exchange = self._exchanges[place]
            mended = self._proposals.mended(place)
            if core := mended or self._proposals.put(place):
                return self._judged(place, core, mended is not None, back, yes_at)
            if exchange.reply_at is not None:
                back = back or self._taken_back(place)
                yes_at = exchange.reply_at if not back and self._goes_ahead(place) else yes_at
        what = self._proposals.action.name
        return Decision(False, False, None, f"no agent message puts this to the user: {what}")

    def _judged(self, place: int, core: str, mended: bool, back: str | None, yes_at: int | None) -> Decision:
        """The decision from the exchange that puts the action, and from what came after it."""
        exchange = self._exchanges[place]
        if found := self._difference(place, core, mended):
            return Decision(False, False, None, f"message {exchange.at} puts another action: {found}")
        if exchange.reply_at is None:
            return Decision(True, False, exchange.at, f"message {exchange.at} proposes it, and nothing came in reply")
        agreed = exchange.reply_at
        if not mended and (why := self._not_agreed(place, core)):
            if yes_at is None:
                why = f"message {exchange.at} proposes it, but message {agreed} {why}"
                return Decision(True, False, exchange.at, why)
            agreed = yes_at
        if back:
            return Decision(True, False, exchange.at, back)
        if why := self._used(agreed):
            return Decision(True, False, exchange.at, f"the agreement in message {agreed} {why}")
        why = f"the user's reply in message {agreed} agrees to the proposal in message {exchange.at}"
        return Decision(True, True, agreed, why)

    def _difference(self, place: int, core: str, mended: bool) -> str | None:
        """What the call does other than was put, in words. Of each detail, the nearest words that tell it count."""
        seen, later = self._exchanges[: place + 1], self._exchanges[place + 1 :]
        own = self._proposals.own
        here = f"{core}\n{own(seen[-1].reply)}"
        near, before = ("\n".join(f"{e.agent}\n{own(e.reply)}" for e in some) for some in (seen[-3:], seen))
        after = "\n".join(own(e.reply) for e in later)
        for one in self._call.details:
            # How to pay is often settled last.
            first = {facts.PAYMENT: (after,), facts.RECORD: (core,)}.get(one.kind, ())
            texts = (*first, here, near, before)
            told = [found for text in texts if (found := self._call.told(one, text))]
            if part := next((found for found in told if found.endswith(PART)), None):
                return part
            if self._call.current(one):
                continue
            if not told:
                if not mended and self._call.matters(one):
                    return f"{one.key.replace('_', ' ')} {one.value} was never put to the user"
            elif told[0] != SAME and not (one.kind in (facts.DATE, facts.WORD) and SAME in told):
                return told[0]
        pays = any(one.kind in (facts.PAYMENT, facts.PAID) for one in self._call.details)
        if pays and not WORDS["money"].search(here):
            # What it costs may have been told before it was put; prices of other things are nothing to it.
            earlier = "\n".join(f"{e.agent}\n{e.reply}" for e in self._exchanges)
            costs = self._call.prices()
            if not (costs & facts.sums(earlier) if costs else WORDS["money"].search(earlier)):
                return "nothing was said about the payment"
        return None

    def _not_agreed(self, place: int, core: str) -> str | None:
        """Why a reply to the proposal is no agreement; None where it is one."""
        turn, text = self._proposals.turn(place), self._exchanges[place].reply
        reply = replies.read(text)
        if reply.held:
            return "holds back"
        asked = any(map(self._proposals.asked_for, reply.requests)) or self._proposals.picked(turn, text)
        one_of_several = len(_listed(core)) > 1 and bool(_ordinals(text)) and not reply.asks
        if turn.asks != asks.OPEN and not (reply.yes or reply.weak or asked or one_of_several):
            return "does not agree"
        return self._limited(text, core) or self._changed(text, core)

    def _limited(self, text: str, core: str) -> str | None:
        """Why a reply leaves this action out, or is for others only."""
        reply = replies.read(text)
        if self._left_out(reply):
            return "leaves it out"
        if WORDS["all"].search(text):
            return None
        named, listed = _ordinals(text), _listed(core)
        if named and len(listed) > 1:
            ranks = {n: self._proposals.about(line) + self._proposals.touched(line) for n, line in listed.items()}
            mine = {n for n, rank in ranks.items() if rank == max(ranks.values())}
            return None if mine & named else f"is for number {min(named)}"
        for clause in reply.clauses:
            only = WORDS["only"].match(clause) and len(clause.split()) < 8 and not WORDS["generic"].search(clause)
            if only and not self._proposals.about(clause) and not self._proposals.touched(clause):
                return "is for something else only"
        return None

    def _left_out(self, reply: replies.Reply) -> bool:
        """Whether a part of a reply takes this action out, and no other part is about it."""
        for clause in reply.without:
            found = WORDS["without"].search(clause)
            if found and self._proposals.about(clause[found.end() : found.end() + 30]):
                return not any(self._proposals.about(other) for other in reply.clauses if other != clause)
        return False

    def _changed(self, text: str, core: str) -> str | None:
        """What a reply wants other than the call has, in words."""
        for sentence in sentences(self._proposals.own(text)):
            aside = "also" in sentence.split() or re.search(r"\b(tell|know|check)\b.*\?", sentence)
            if aside or not any(WORDS[cue].search(sentence) for cue in ("agree", "change", "request", "only")):
                continue
            wanted = facts.wanted(sentence)
            for one in self._call.details:
                found = self._call.told(one, wanted)
                if found not in (None, SAME) and not self._call.current(one) and self._call.told(one, text) != SAME:
                    return f"wants {found}"
            kinds, put = facts.kinds_in(wanted), facts.kinds_in(core)
            pays = any(one.kind == facts.PAYMENT for one in self._call.details)
            if not pays and kinds and put and not kinds & put:
                return f"wants {min(kinds).replace('_', ' ')}"
        return None

    def _taken_back(self, place: int) -> str | None:
        """Whether a later exchange takes an agreement back or changes what was agreed, in words."""
        exchange = self._exchanges[place]
        reply = replies.read(exchange.reply)
        mine = self._proposals.about(exchange.reply) or self._proposals.names(self._proposals.turn(place).set_out)
        if reply.stops or (reply.held and mine) or self._left_out(reply):
            return f"message {exchange.reply_at} takes the agreement back"
        if reply.changes and (found := self._changed("\n".join(reply.changes), "")):
            return f"message {exchange.reply_at} {found}"
        return None

    def _goes_ahead(self, place: int) -> bool:
        """Whether a reply to words that ask nothing agrees to what was put before."""
        reply = replies.read(self._exchanges[place].reply)
        asked = self._proposals.turn(place).asks in (asks.CONSENT, asks.OPEN) or "?" in self._exchanges[place].agent
        return reply.yes and not reply.held and not asked

    def _used(self, agreed: int) -> str | None:
        """What became of an agreement: one covers one success, and no call that does less or more than a failed one."""
        mine = _content(self._call.details)
        for made in self._earlier:
            if made.at <= agreed or made.name != self._made.name:
                continue
            other = _content(facts.of(made.arguments))
            if made.done and other == mine:
                return "was used by an earlier call"
            if made.failed and other > mine:
                return "was for more than this call does"
        return None


def _content(details: Sequence[facts.Detail]) -> set[facts.Detail]:
    """What a call does, however it is paid."""
    return {one for one in details if one.kind not in (facts.PAYMENT, facts.PAID)}


def _listed(text: str) -> dict[int, str]:
    """The lines of a numbered list."""
    return {int(number): line for number, line in re.findall(r"(?m)^[ (-]*(\d)[.)]\s+(.+)", text)}


def _ordinals(text: str) -> set[int]:
    """The places in a list that a text names."""
    return {place for place, words in WORDS["ordinal"].items() if words.search(text)}
