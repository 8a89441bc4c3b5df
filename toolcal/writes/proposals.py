"""Which of the agent's words put a call to the user: they ask for agreement, and name the action and its matter."""

from __future__ import annotations

import re
from collections.abc import Sequence

from toolcal.writes import asks, replies
from toolcal.writes import details as facts
from toolcal.writes.asks import ANNOUNCED, BARE, NOTHING, OPEN, Action, Turn
from toolcal.writes.compare import SAME, Comparison
from toolcal.writes.details import Detail
from toolcal.writes.talk import Exchange, Made
from toolcal.writes.words import WORDS, sentences

NEAR = 2
"""So many exchanges before a question may have told what it is about."""

_OR_ELSE = re.compile(r",? or (please |just )?(let me know|tell me|say)(?!\w)")
_TELLING = (facts.CHOICE, facts.TEXT, facts.WORD, facts.AMOUNT, facts.TIME)


class Proposals:
    """The exchanges before a call, asked whether they put it."""

    def __init__(
        self, exchanges: Sequence[Exchange], earlier: Sequence[Made], action: Action, call: Comparison
    ) -> None:
        self._exchanges = exchanges
        self._earlier = earlier
        self.action = action
        self.call = call
        topic = action.topic
        self._telling = [one for one in call.details if one.kind in _TELLING or (topic and topic.search(one.key))]

    def turn(self, place: int) -> Turn:
        """The agent's words of an exchange, as read."""
        return asks.read(self._exchanges[place].agent)

    def put(self, place: int) -> str | None:
        """The words that put the action in this exchange; None where none do."""
        turn, exchange = self.turn(place), self._exchanges[place]
        if not self._asks(turn, exchange.reply):
            return None
        if self.names(turn.set_out):
            return turn.set_out
        if not self.action.verb.search(turn.set_out) and any(map(_announced, sentences(turn.set_out))):
            return None
        told = turn.set_out
        for before in range(place - 1, max(-1, place - 1 - NEAR), -1):
            told = f"{self.turn(before).set_out}\n{told}"
            if self.names(told):
                return told
        return None

    def mended(self, place: int) -> str | None:
        """The words that settle how to pay after a proposal's call failed, and those of the proposal."""
        exchange, turn, reply = self._exchanges[place], self.turn(place), replies.read(self._exchanges[place].reply)
        settles = (reply.yes or reply.requests) and not reply.held and turn.asks != NOTHING
        if exchange.reply_at is None or not settles or not facts.kinds_in(f"{exchange.agent}\n{exchange.reply}"):
            return None
        if turn.questions and not any(self._this(question) for question in turn.questions):
            return None
        for before in range(place - 1, max(-1, place - 2 - NEAR), -1):
            since = self._exchanges[before].reply_at
            tried = [m for m in self._earlier if m.failed and m.name == self.action.tool]
            if (
                since is not None
                and any(since < m.at < exchange.reply_at for m in tried)
                and (told := self.put(before))
            ):
                return f"{told}\n{turn.set_out}"
        return None

    def names(self, text: str) -> bool:
        """Whether two things tell the action: its verb, what it works on, what sets it apart, half its details."""
        verb = self.action.verb.search(text) is not None
        topic = self.action.topic is not None and self.action.topic.search(text) is not None
        if verb and (topic or not (self._telling or self.action.topic)):
            return True
        if not verb and (not self.action.families or _families(text) - {"pay"}):
            return False
        told = [one for one in self.call.details if self.call.told(one, text) == SAME]
        apart = any(one in self._telling for one in told)
        most = bool(told) and len(told) >= len(self.call.details) / 2
        return verb + topic + apart + most > 1

    def asked_for(self, request: str) -> bool:
        """Whether a user's sentence asks for the action, by its name or by few words."""
        brief = self.action.verb.search(request) is not None and len(request.split()) <= 8
        return (brief and "also" not in request) or self.names(request)

    def touched(self, text: str) -> bool:
        """Whether a text has a detail that sets the action apart."""
        return any(self.call.told(one, text) == SAME for one in self._telling)

    def about(self, text: str) -> bool:
        """Whether a part of a reply speaks of this action rather than of another one."""
        return (self.action.topic or self.action.verb).search(text) is not None or self.action.word.search(
            text
        ) is not None

    def own(self, reply: str) -> str:
        """A reply without the sentences that are about other actions only."""
        return "\n".join(sentence for sentence in sentences(reply) if not self._elsewhere(sentence))

    def _elsewhere(self, sentence: str) -> bool:
        if self.action.topic is not None and self.action.topic.search(sentence):
            return False
        if self.action.topic is not None and any(topic.search(sentence) for topic in asks.other_topics(self.action)):
            return True
        if self.action.verb.search(sentence) or WORDS["change"].search(sentence):
            return False
        return bool(_families(sentence) - {"pay"}) or WORDS["another"].search(sentence) is not None

    def picked(self, turn: Turn, reply: str) -> bool:
        """Whether a reply picks, among what the agent set out with its price, what sets the call apart."""
        put: list[Detail] = [one for one in self._telling if self.call.told(one, turn.set_out) == SAME]
        pays = any(one.kind in (facts.PAYMENT, facts.PAID) for one in self.call.details)
        ready = WORDS["money" if pays else "announce"].search(turn.set_out)
        if not turn.choice or not put or not ready or replies.read(reply).asks:
            return False
        topic = self.action.topic
        named = any(self.call.told(one, reply) == SAME for one in put) or bool(topic and topic.search(reply))
        return named or any(place.search(reply) for place in WORDS["ordinal"].values())

    def _asks(self, turn: Turn, reply: str) -> bool:
        if turn.asks == OPEN:
            return self.picked(turn, reply) or (turn.step and replies.read(reply).yes and self.names(turn.set_out))
        if turn.asks == ANNOUNCED:
            return replies.read(reply).yes and "?" not in turn.set_out
        return turn.asks != NOTHING and any(self._this(question) for question in turn.questions)

    def _this(self, question: str) -> bool:
        """Whether a question can be about this action: it names it, or points to what was set out."""
        question = _OR_ELSE.split(question)[0]
        if WORDS["human"].search(question):
            return False
        if self.action.verb.search(question):
            return True
        if WORDS["elsewhere"].search(question):
            return False
        return WORDS["generic"].search(question) is not None or len(question) <= BARE or not _families(question)


def _announced(sentence: str) -> bool:
    """Whether a sentence tells some action as the next step."""
    return WORDS["announce"].search(sentence) is not None and bool(_families(sentence))


def _families(text: str) -> set[str]:
    return {name for name, said in WORDS["families"].items() if said.search(text)}
