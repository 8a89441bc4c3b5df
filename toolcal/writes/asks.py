"""What an agent's words put to the user: whether they ask for agreement, and what they set out to be done."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from toolcal.actions import refined
from toolcal.writes.words import WORDS, any_of, sentences, stem

CONSENT, OPEN, ANNOUNCED, NOTHING = "consent", "open", "announced", "nothing"
"""Asks for agreement; asks for a choice or a value; only tells what it will do; none of these."""

_OPEN = re.compile(r"(?<!\w)(which|what|who|where|when|how|why|whose)(?!\w)")
_CLOSED = re.compile(
    r"^(so |and |then |also )*"
    r"((shall|should|may|can|could|do) (i|we)"
    r"|(is|would|does) (that|this|it)(?! (the|your) (order|item|one|account|booking|reservation|address|flight|card))"
    r"|ok|okay|ready|good) "
)
"""Begins a question for agreement, whatever stands in its clauses."""
_CHOICE = re.compile(r", or (?!not)|(?<!\w)or (just|only|the|would you (like|prefer)|do you)(?!\w)")
_FACT = re.compile(
    r"(?<!\w)(can|could|will) you (please |also |kindly |just )?"
    r"(?!confirm (?!your|which|what)|confirm$|agree|accept|approve|authori)\w+"
    r"|^(\w+,? ){0,2}(is|are|was|were|have|has|did|does) (the |your |there|this the|that the|\d)"
    r"|(?<!\w)still (yours?|valid|correct|right|have|in|at)(?!\w)"
)
"""Asks for a fact, or for something that the user is to do."""
_REPORT = re.compile(r"(?<!\w)(i|we)( have|'ve)( now| just| already)? \w+(ed|en|de)(?!\w)")
_STEP = re.compile(
    r"(?<!\w)confirm (if|that|whether) (you|i|we)('d| would| want| should| can| may|'re| are)(?! to (use|pay))"
    r"|(?<!\w)(tell me|let me know|say) (if|whether) (that|this|it|everything|all|these|those|you agree|i )"
    r"|^(?!.*(which|what|how)).*(?<!\w)(confirm|say|tell me|agree|okay|right|correct)(?!\w)"
    r".*(?<!\w)(proceed|i'll|i will|so (that )?i can)(?!\w)"
    r"|(?<!\w)(confirm|agree|approve)( (this|that|it|these|them|all|everything))?,? or (let me know|tell me|say)"
    r"|(?<!\w)confirm (the|this|these|your|that)( \w+){0,2} "
    r"(cancellation|return|exchange|change|modification|update|upgrade|booking|purchase|action|request)s?(?!\w)"
    r"|(?<!\w)(reply|respond|answer|type|enter|say)( with| by)?( the word)? ?\"?('|i )?(yes|confirm|ok|y)(?!\w)"
    r"|(?<!\w)(once|when|after) ((this|that|it|everything)('s| is) )?(confirmed|agreed|approved)(?!\w)"
    r"|(?<!\w)if (you're|you are) (happy|ok|okay|fine|good|satisfied|comfortable) with"
    r"|(?<!\w)if (that|this|it|everything)( all)?('s| is| sounds| looks| works| seems) .*(?<!\w)(i|we|please)(?!\w)"
    r"|(?<!\w)any(thing)? .*before (i|we) (proceed|go ahead|continue|process|submit|finali[sz]e|make)(?!\w)"
)
"""An agreement or a fact is asked for as the last thing before a step."""
_NEXT = re.compile(
    r"(?<!\w)(and|then|so( that)?|once|,) (then )?(i|we)('ll| will| can|'d)( then| be able to| go ahead and)? "
    r"(?!check|look|search|provide|find|see|help|assist|tell|explain|verify|confirm|ask|need)\w+"
    r"|how (you'd|you would|would you) like (me )?to (proceed|go on|continue)"
)
"""An answer is followed by a step, or is about the step itself."""
_LONG, _TAG = 600, 20
"""Characters: of the end of a sentence that is read; of a question as short as "Do it?"."""
BARE = 60
"""Characters of a question that points to what was just said rather than telling it."""


@dataclass(frozen=True)
class Turn:
    """An agent's words in one go.

    Attributes:
        asks: CONSENT, OPEN, ANNOUNCED or NOTHING.
        questions: the sentences that ask for agreement.
        choice: it asks which one of several.
        step: it says that the answer is all that it needs to act.
        set_out: its words without reports of done work and without refusals.
    """

    asks: str
    questions: tuple[str, ...]
    choice: bool
    step: bool
    set_out: str


@dataclass(frozen=True)
class Action:
    """The kind of action that a tool does, from its name.

    Attributes:
        tool: its name.
        name: its name in words.
        families: of `words.yaml`, those that its name has a word of.
        verb: how it is said.
        word: how the verb of its name itself is said.
        topic: how what it works on is said; None where the name tells nothing special.
    """

    tool: str
    name: str
    families: frozenset[str]
    verb: re.Pattern[str]
    word: re.Pattern[str]
    topic: re.Pattern[str] | None


@lru_cache(maxsize=1024)
def action(tool: str) -> Action:
    """The kind of action of a tool."""
    words = re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", tool).lower())
    known = {word for words_ in WORDS["tools"].values() for word in words_}
    verb = next((word for word in words if word in known), words[0] if words else "")
    families = frozenset(name for name, tools in WORDS["tools"].items() if verb in tools)
    word = re.escape(stem(verb)) or "$"
    said = [WORDS["families"][name].pattern for name in sorted(families)] or [word]
    topics = [word for word in words if word != verb and len(word) > 2 and word not in WORDS["common"]]
    about = [form for word in topics for form in (re.escape(stem(word)), *_also(word))]
    return Action(tool, " ".join(words), families, any_of(said), any_of([word]), any_of(about) if about else None)


def _also(word: str) -> list[str]:
    return [form for name, forms in WORDS["topics"].items() if stem(name) == stem(word) for form in forms]


@lru_cache(maxsize=1024)
def other_topics(of: Action) -> tuple[re.Pattern[str], ...]:
    """How what other actions work on is said, but for money."""
    words = [word for word in WORDS["topics"] if stem(word) not in of.name and word != "payment"]
    return tuple(any_of([re.escape(stem(word)), *WORDS["topics"][word]]) for word in words)


@lru_cache(maxsize=2048)
def read(text: str) -> Turn:
    """Read an agent's folded words."""
    asks, choice, step = NOTHING, False, False
    questions: list[str] = []
    kept: list[str] = []
    for sentence in sentences(text):
        found = _read(sentence)
        kind = _kind(sentence, found)
        if "CONFIRM" in found.cues:
            continue
        if "REFUSE" not in found.cues or kind == CONSENT:
            kept.append(sentence)
        elif " but " in sentence:
            kept.append(sentence.split(" but ", 1)[1])
        choice = choice or (kind in (CONSENT, OPEN) and WORDS["choice"].search(sentence) is not None)
        step = step or (kind in (CONSENT, OPEN) and _NEXT.search(sentence) is not None)
        if kind == CONSENT:
            questions.append(sentence)
        asks = min(asks, kind, key=(CONSENT, OPEN, ANNOUNCED, NOTHING).index)
    return Turn(asks, tuple(questions), choice, step, "\n".join(kept))


@lru_cache(maxsize=8192)
def _read(sentence: str) -> refined.Found:
    return refined.read(sentence)


def _kind(sentence: str, found: refined.Found) -> str:
    """How a sentence asks; a question that is open in no way and about no fact is one for agreement."""
    sentence = sentence[-_LONG:]
    question = sentence.rstrip("\"') ").endswith("?")
    if question and _REPORT.search(sentence):
        return NOTHING
    if "consent" in found.sub or _STEP.search(sentence) or (question and _CLOSED.search(sentence)):
        return CONSENT
    closed = question and not (_CHOICE.search(sentence) or _OPEN.search(sentence) or _FACT.search(sentence))
    if closed and (len(sentence) <= _TAG or WORDS["generic"].search(sentence)):
        return CONSENT
    if "information" in found.sub:
        return OPEN
    return ANNOUNCED if WORDS["announce"].search(sentence) else NOTHING
