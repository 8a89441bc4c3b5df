"""Was a write proposed to the user with its details, and did the user agree to it, before it was made?

A rule after the guidelines of the validity set: the conversation before the call is read as exchanges (what the agent
said, what the user replied). The last exchange that puts this action to the user decides, unless a later one takes the
agreement back or settles a detail that was left open.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolcal.writes import details as facts
from toolcal.writes import items, matching, payments, proposals, replies, talk
from toolcal.writes.cues import CUES, fold, sentences

VERSION = 1
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


@dataclass(frozen=True)
class _State:
    """What is settled so far: the exchange that puts the action, and the index of the agreement."""

    put: int | None
    agreed: int | None
    why: str


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
    return _Judge(messages, at, call, made).decide()


class _Judge:
    """One call and the conversation before it."""

    def __init__(self, messages: Sequence[Mapping[str, Any]], at: int, call: int, made: talk.Made) -> None:
        start = talk.window(messages, at)
        self._exchanges = talk.exchanges(messages, start, at)
        self._earlier = talk.calls(messages, start, at) + talk.calls_of(messages, at)[:call]
        self._known = talk.Known(messages, at)
        self._made = made
        self._action = proposals.action(made.name)
        self._details = facts.of(made.arguments)
        self._turns = [proposals.read(exchange.agent) for exchange in self._exchanges]

    def decide(self) -> Decision:
        what = f"{self._made.name.replace('_', ' ')}"
        state = _State(None, None, f"no agent message puts this to the user: {what}")
        for place in range(len(self._exchanges)):
            state = self._after(state, place)
        if state.put is None:
            return Decision(False, False, None, state.why)
        proposal = self._exchanges[state.put].at
        if found := self._against(state):
            return Decision(False, False, None, found)
        if found := self._paid_otherwise(state.put):
            return Decision(True, False, proposal, found)
        if state.agreed is None:
            return Decision(True, False, proposal, state.why)
        if self._used(state.agreed):
            return Decision(
                True, False, proposal, f"the agreement in message {state.agreed} was used by an earlier call"
            )
        return Decision(True, True, state.agreed, state.why)

    def _after(self, state: _State, place: int) -> _State:
        """What is settled after one more exchange."""
        exchange, turn = self._exchanges[place], self._turns[place]
        reply = replies.read(exchange.reply)
        core = self._put(place)
        if core is None:
            planned = self._planned(place) if reply.yes and not reply.held else None
            if planned is not None and exchange.reply_at is not None:
                return _State(planned, exchange.reply_at, f"the user asked for it again in message {exchange.reply_at}")
            return self._later(state, place, reply, turn)
        said = self._said(place, core)
        if found := matching.difference(self._details, said, self._known):
            return _State(None, None, f"message {exchange.at} puts another action: {found}")
        if exchange.reply_at is None:
            return _State(place, None, f"message {exchange.at} proposes it, and nothing came in reply")
        if why := self._not_agreed(exchange, reply, turn):
            return _State(place, None, f"message {exchange.at} proposes it, but {why}")
        return _State(
            place,
            exchange.reply_at,
            f"the user's reply in message {exchange.reply_at} agrees to the proposal in message {exchange.at}",
        )

    def _put(self, place: int) -> str | None:
        """The words that put the action to the user in this exchange; None where none do."""
        turn, exchange = self._turns[place], self._exchanges[place]
        reply = replies.read(exchange.reply)
        if not turn.asks:
            if self._announced(turn, reply):
                return turn.set_out
            picked = (
                turn.chooses and (reply.picks or reply.brief) and self._names(turn.set_out) and self._chosen(exchange)
            )
            return turn.set_out if picked and CUES.lists["money"].search(turn.set_out) else None
        if self._names(turn.set_out):
            pays = any(name == "payment" for name, _ in self._action.topics)
            if self._details.payments and not pays and all(_payment_only(ask, self._action) for ask in turn.asks):
                return None
            mine = [ask for ask in turn.asks if self._action.said.search(ask)]
            others = [ask for ask in turn.asks if ask not in mine and proposals.specific(ask)]
            return turn.set_out if mine or not others or len(others) < len(turn.asks) else None
        if turn.families & {self._action.family} and self._action.topics:
            return None
        for before in range(place - 1, max(-1, place - 3), -1):
            earlier = self._turns[before]
            if self._names(earlier.set_out) and (earlier.asks or earlier.plans):
                return None if turn.families - earlier.families else f"{earlier.set_out}\n{turn.set_out}"
        return None

    def _announced(self, turn: proposals.Turn, reply: replies.Reply) -> bool:
        """Whether a message that asks nothing tells the action as the next step, and the user agrees."""
        told = self._told(turn.set_out)
        steps = CUES.lists["announce"].search(turn.set_out) is not None
        return (
            told and steps and reply.yes and not turn.chooses and "?" not in turn.set_out and self._names(turn.set_out)
        )

    def _told(self, text: str) -> bool:
        """Whether a text names the record or the thing that the call is for."""
        ids = [fold(value).lstrip("#") for _, value in self._details.identities]
        return any(facts.contains(text, form) for form in ids) or matching.touches(
            self._details, text, self._known, any_value=False
        )

    def _names(self, text: str) -> bool:
        """Whether a text speaks of such an action, on what the call is for."""
        action = self._action
        return action.said.search(text) is not None and (
            action.on_topic(text) or matching.touches(self._details, text, self._known, action.guessed)
        )

    def _chosen(self, exchange: talk.Exchange) -> bool:
        """Whether a reply names what sets the call apart."""
        reply = exchange.reply
        forms = [*self._details.codes, *self._details.new_items]
        if any(facts.contains(reply, form) for form in forms):
            return True
        options = [v for item in self._details.new_items for v in items.options_of(item, self._known)[0].values()]
        return any(len(option) > 2 and facts.contains(reply, option) for option in options) or bool(
            CUES.lists["ordinal"].search(reply)
        )

    def _planned(self, place: int) -> int | None:
        """An earlier exchange whose plan has this action, where the reply asks for it by name."""
        reply = self._exchanges[place].reply
        if not self._names(reply):
            return None
        for before in range(place, max(-1, place - 3), -1):
            turn = self._turns[before]
            if turn.asks and all(_payment_only(ask, self._action) for ask in turn.asks):
                continue
            put = turn.plans and (turn.asks or not turn.chooses or self._told(reply))
            if put and self._told(turn.set_out) and self._names(turn.set_out):
                said = self._said(place, turn.set_out)
                return None if matching.difference(self._details, said, self._known) else before
        return None

    def _later(self, state: _State, place: int, reply: replies.Reply, turn: proposals.Turn) -> _State:
        """What an exchange that does not put the action does to an agreement."""
        exchange = self._exchanges[place]
        if state.agreed is None or exchange.reply_at is None:
            return state
        tried = any(m.name == self._made.name and m.failed and m.at > state.agreed for m in self._earlier)
        settles = not reply.held and (reply.yes or reply.picks) and (turn.asks or turn.chooses)
        if settles and tried and facts.kinds_in(exchange.reply):
            return _State(state.put, exchange.reply_at, f"message {exchange.reply_at} settles what was left open")
        if reply.held and (self._action.named(exchange.reply) or self._names(turn.set_out)):
            return _State(state.put, None, f"message {exchange.reply_at} takes the agreement back")
        assert state.put is not None
        if self._changed(reply, self._turns[state.put]):
            return _State(state.put, None, f"message {exchange.reply_at} changes the request")
        if tried and (reply.held or not reply.yes) and not self._chosen(exchange):
            return _State(None, None, f"after a failed call message {exchange.reply_at} asks for something else")
        return state

    def _not_agreed(self, exchange: talk.Exchange, reply: replies.Reply, turn: proposals.Turn) -> str | None:
        """Why a reply to the proposal is no agreement; None where it is one."""
        where = f"message {exchange.reply_at}"
        if reply.held:
            return f"{where} holds back"
        picked = (reply.picks or reply.brief) and self._chosen(exchange)
        for sentence in reply.without:
            if self._excluded(sentence):
                return f"{where} leaves it out"
        mine = [fold(v).lstrip("#") for _, v in self._details.identities]
        if mine and not any(facts.contains(exchange.reply, form) for form in mine):
            thing = {name for key, _ in self._details.identities for name in (key, key.removesuffix("_id") + "s")}
            others = {fold(v).lstrip("#") for key in thing for v in self._known.values(key)} - set(mine)
            for sentence in sentences(exchange.reply):
                limits = CUES.lists["agree"].search(sentence) or CUES.lists["only"].search(sentence)
                named = any(len(other) > 2 and facts.contains(sentence, other) for other in others)
                if limits and named and not re.search(r"\b(also|both|all|too)\b", sentence):
                    return f"{where} agrees to another one"
        requests = [s for s in sentences(exchange.reply) if CUES.lists["request"].search(s) and self._names(s)]
        if not reply.yes and not picked and not requests:
            return f"{where} does not agree"
        changed = self._changed(reply, turn)
        return f"{where} changes {changed}, and the call does not" if changed else None

    def _changed(self, reply: replies.Reply, turn: proposals.Turn) -> str | None:
        """What a reply changes that the call does not have so."""
        parts = (matching.changed(self._details, part, turn.set_out, self._known) for part in reply.changes)
        return next((part for part in parts if part), None)

    def _excluded(self, sentence: str) -> bool:
        topics = self._action.topics
        if not topics or not self._action.on_topic(sentence):
            return False
        found = CUES.lists["without"].search(sentence)
        return bool(found and any(p.search(sentence[found.end() : found.end() + 25]) for _, p in topics)) and not (
            replies.read(sentence).yes
        )

    def _said(self, place: int, core: str) -> facts.Said:
        seen = self._exchanges[: place + 1]
        before = self._exchanges[place - 1] if place else talk.Exchange(None, "", None, "")
        return facts.Said(
            core,
            self._exchanges[place].reply,
            f"{before.agent}\n{before.reply}",
            "\n".join(exchange.agent for exchange in seen),
            "\n".join(exchange.reply for exchange in seen),
        )

    def _against(self, state: _State) -> str | None:
        """What speaks against the proposal once all was said: payment, which is often settled last."""
        assert state.put is not None
        said = self._said(len(self._exchanges) - 1, self._turns[state.put].set_out)
        said = facts.Said(said.core, self._exchanges[state.put].reply, said.before, said.agent, said.user)
        later = "\n".join(f"{e.agent}\n{e.reply}" for e in self._exchanges[state.put + 1 :])
        if found := payments.difference(self._details, said, later, self._known):
            return found
        untold = self._details.payments and not CUES.lists["money"].search(said.all)
        if untold and (payments.costs(self._details) or payments.price_known(self._details, self._known)):
            return "nothing was said about the payment"
        return None

    def _paid_otherwise(self, put: int) -> str | None:
        """Whether the call pays other than the user answered."""
        answers = [e.reply for e in self._exchanges[put:] if facts.kinds_in(e.reply)]
        return payments.otherwise(self._details, answers[-1], self._known) if answers else None

    def _used(self, agreed: int) -> bool:
        """Whether the same call succeeded since the agreement."""
        return any(
            m.done and m.at > agreed and m.name == self._made.name and facts.of(m.arguments).same(self._details)
            for m in self._earlier
        )


def _payment_only(ask: str, action: proposals.Action) -> bool:
    """Whether a question is about how to pay, and names the action only as what is paid for."""
    paying = CUES.lists["paying"].search(ask)
    named = action.said.search(ask)
    return paying is not None and (named is None or named.start() > paying.start())
