"""Labeller `refined`: what a text says to its reader, as classes that need not exclude each other (method A2).

Every sentence is read by itself: the rules of `refined.yaml` find its speech acts. What a sentence alone does not tell
is then decided in the text: whether an offer is a question that the work waits for, whether something not found or a
hindrance ends the request, whether "is this correct?" stands before an action. What the text does not tell either, the
request and the calls made since decide, where they are known (`toolcal.actions.before`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from toolcal.actions.before import Before
from toolcal.actions.rules import load_rules
from toolcal.actions.sentences import Sentence, apart, sentences

RULES_FILE = Path(__file__).with_name("refined.yaml")
SUB_LABELS = ("information", "consent", "transfer")
"""Kinds of ASK, and of REFUSE, as the guidelines of the validity set tell them apart."""
ACTS = (
    "closing",
    "consent",
    "offer",
    "choice",
    "information",
    "aside",
    "transfer",
    "retry",
    "condition",
    "not_found",
    "failed",
    "refuse",
    "restriction",
    "trouble",
    "confirm",
    "changed",
    "step",
    "word_sent",
    "extra",
    "menu",
    "pending",
    "lookup_offer",
    "proceed",
    "same_offer",
    "further",
)
"""The speech acts that the rules find; what they mean stands beside the rules."""

_ASKING = ("consent", "offer", "information")
_DENIALS = {"refuse", "restriction", "not_found", "failed"}
_REPORTS = {"changed", "confirm", "step"}
_AGREEING = ("confirm", "reply", "respond", "answer", "say", "type", "verify", "write", "enter", "approve", "agree")
_OF_OFFERS = ("extra", "menu", "lookup_offer", "choice")
# A sentence before a list that shows what others wrote, a field with such words, a sentence before a list of what the
# agent is going to do (in the imperative, as it may be), and the beginning of an answer to one's own question.
_WRITTEN = re.compile(r"\b(?:messages|contents?|comments|posts|lines|says|reads)\b")
_PLAN = re.compile(
    r"(?:\w+,? )?(?:let me|i'll|i will|i'm going to|i am going to|my plan|the plan)\b"
    r"(?!.*\byou (?:need|have|can|should)\b)"
)
_ADVICE = re.compile(r"\b(?:you (?:can|could|may|might)|recommend|suggest|steps|tips)\b")
_FIELD = re.compile(r"(?:[^:\s]+ ){0,2}(?:message|content|tweet|text|comment|title|description|resolution)s?: ")
# What the user may have in mind or wish for, and what names an action or a value to go on with.
_IDEA = re.compile(r"(?:are you (?:\w+ )?(?:considering|interested|planning|thinking)|do you need (?:\w+ )?help)\b")
_WISH = re.compile(
    rf"^{_IDEA.pattern}|\byou(?:'d| would| may| might| are|'re)? (?:\w+ )?(?:like|want|wish|prefer|need|interested)\b"
)
_TO_GO_ON = re.compile(
    r"\b(?:proceed|continue|go ahead|move forward|confirm|provide|specify|share|give|supply|clarify"
    r"|(?:could|can) you)\b"
)
_NOW = re.compile(r"\b(?:now|just)\b")
_INDEFINITE = re.compile(r"\b(?:any|no|none|nothing|match\w*|occurrences?|instances?)\b")
_TO_ME = re.compile(r"\b(?:me|us|i|provide|share|give|tell|send|specify|supply|reply)\b")
_ANSWER = re.compile(r"\W*(?:yes|no|because)\b")
_SUBORDINATE = re.compile(
    r"(?<!\w)(?:if|once|when|whenever|after|until|till|unless|as soon as|in case|should you|whether|provided that"
    r"|before|while|as long as|so that|so you can"
    r"|(?:^|to |please |you |and |or |, )(?:make sure|ensure|confirm|verify|check|see))(?!\w)[^,;:]*"
)


@dataclass(frozen=True)
class Found:
    """The classes of one text: of each the words that decided it, in the order of `tables.ACTIONS`; and sub-labels."""

    cues: Mapping[str, str]
    sub: tuple[str, ...]


@dataclass(frozen=True)
class Read:
    """A sentence with its speech acts: of each the words that show it."""

    sentence: Sentence
    acts: Mapping[str, str]


def read(text: str, before: Before | None = None) -> Found:
    """The classes and sub-labels of a text, OTHER having none. Any text will do; time is linear in its length.

    Args:
        text: what the emission says.
        before: the user's request and the calls made since; None where they are not known, and the text alone decides.
    """
    said = [Read(one, _acts(one.text, one.question, one.item)) for one in _own(sentences(text))]
    if before and before.looked:
        said = [_as_found(one, before) for one in said]
    asked = _asked(said, before)
    refused = _refused(said, asked)
    reported = _reported(said, before)
    if before and before.reached and (words := refused.pop("transfer", None)):
        # Who asked to be put in touch with somebody, and was, is not handed over: it is work done.
        reported = reported or words
    cues: dict[str, str] = {}
    if refused:
        cues["REFUSE"] = next(iter(refused.values()))
    if asked:
        cues["ASK"] = next(iter(asked.values()))
    if reported:
        cues["CONFIRM"] = reported
    fits = {"information": asked.keys() & {"information", "choice"}, "consent": "consent" in asked}
    fits["transfer"] = "transfer" in refused
    return Found(cues, tuple(name for name in SUB_LABELS if fits[name]))


def _as_found(one: Read, before: Before) -> Read:
    """A sentence of somebody who has only looked: how things are is no work of theirs, unless they are so now.

    Nor is it bad news that there is none of what was looked for, where looking was all that was asked.
    """
    acts = dict(one.acts)
    if not _NOW.search(acts.get("changed", "now")):
        del acts["changed"]
    if before.answered and _INDEFINITE.search(one.sentence.text):
        acts.pop("not_found", None)
    return Read(one.sentence, acts)


def _own(told: Iterable[Sentence]) -> Iterator[Sentence]:
    """The sentences without those that show what was written: a list of messages, a field with a message's words."""
    shown = field = False
    for one in told:
        shown = (shown and one.listed) or (one.opens_list and bool(_WRITTEN.search(one.text)))
        field = (field and one.listed and not one.item) or bool(_FIELD.match(one.text))
        if not (field or (shown and one.listed)):
            yield one


@lru_cache(1 << 14)  # agents repeat themselves
def _acts(text: str, question: bool, item: bool) -> Mapping[str, str]:
    """The acts of a sentence; what asks is looked for in what stands before a closing phrase."""
    main = _SUBORDINATE.sub(" ", text)
    acts: dict[str, str] = {}
    asking = text
    for act, rules in RULES.items():
        if act in _OF_OFFERS and "offer" not in acts:
            continue
        within = asking if act in _ASKING or act in _OF_OFFERS else text
        for rule in rules:
            if words := rule.found(within, main, question, item):
                acts[act] = words
                if act != "closing":
                    break
                asking = within = text[: text.find(apart(words))]
    return acts


def _asked(said: Sequence[Read], before: Before | None) -> dict[str, str]:
    """What is asked: the words by kind (information, consent; choice is information that an offer asks for).

    An offer asks if the request still waits for the answer: something was denied, or nothing is reported as done yet,
    or after the report came something new. A mere offer to look further or to help may be ignored, and so may what
    leaves it to the user how to go on after such an offer; where nothing was denied also a menu of services and, after
    a report, further work. The items of an offer that opens a list are parts of it, those of a plan the agent's own,
    and those of advice are for the user, who gets no further here.
    Where the calls made since the request have answered it, and nothing went wrong, what is wished for next asks only
    if the request names it too.
    """
    asked: dict[str, str] = {}
    denied = any(_DENIALS & one.acts.keys() for one in said)
    troubled = denied or any("trouble" in one.acts for one in said)
    answered = before if before and before.answered and not troubled else None
    looking = any("retry" in one.acts for one in said)
    reported = pending = idle = listing = planned = advised = menus = False
    for at, one in enumerate(said):
        if one.sentence.item and (listing or (planned and not one.sentence.question)):
            continue
        planned = one.sentence.opens_list and bool(_PLAN.match(one.sentence.text)) and "information" not in one.acts
        if one.sentence.opens_list:
            advised = denied and bool(_ADVICE.search(one.sentence.text)) and not one.acts.keys() & set(_ASKING)
        elif advised and one.sentence.listed and not one.sentence.question and not _TO_ME.search(one.sentence.text):
            continue
        listing = one.sentence.question and one.sentence.opens_list and "offer" in one.acts
        if _REPORTS & one.acts.keys() and not one.sentence.question:
            reported, pending = True, False
        else:
            pending = pending or "pending" in one.acts
        menu = listing or "menu" in one.acts
        menus = menus or menu
        plain = one.sentence.question and (looking or "lookup_offer" not in one.acts)
        more = _more(one, answered)
        waits = denied or (not menu and (pending if reported else plain)) if more is None else not more
        settled = answered is not None or (reported and not pending)
        beyond = (settled and "further" in one.acts) or (menus and "same_offer" in one.acts)
        if not denied and (beyond or ("proceed" in one.acts and (idle or settled))):
            continue
        wished = bool(_WISH.search(one.sentence.text)) and not _TO_GO_ON.search(one.sentence.text)
        found = {} if more and wished else _asks(one, waits)
        idle = idle or ("offer" in one.acts and not found)
        if not _answers_itself(said, at):
            for kind, words in found.items():
                asked.setdefault("information" if kind == "bare" else kind, words)
    return asked


def _more(one: Read, answered: Before | None) -> bool | None:
    """Whether a sentence offers more than the answered request; None where that cannot be told."""
    if answered is None:
        return None
    return True if _IDEA.match(one.sentence.text) else answered.beyond(one.sentence.text)


def _asks(one: Read, waits: bool) -> dict[str, str]:
    """What one sentence asks: the words by kind; bare: a question without any word of a rule."""
    acts, question = one.acts, one.sentence.question
    if "consent" in acts and (question or acts.get("information", "").endswith(_AGREEING)):
        return {"consent": acts["consent"]}
    if "offer" in acts and (question or not {"consent", "information"} & acts.keys()):
        kind = "choice" if "choice" in acts else "consent"
        return {kind: acts["offer"]} if waits and "extra" not in acts else {}
    if not question:
        return {kind: acts[kind] for kind in ("consent", "information") if kind in acts}
    if "aside" in acts:
        return {}
    if "information" in acts:
        return {"information": acts["information"]}
    return {} if "closing" in acts else {"bare": "?"}


def _answers_itself(said: Sequence[Read], at: int) -> bool:
    """Whether a question to nobody is followed by its answer in the same paragraph."""
    sentence = said[at].sentence
    if at + 1 == len(said) or not sentence.question:
        return False
    after = said[at + 1].sentence
    if after.paragraph != sentence.paragraph or after.question or after.item:
        return False
    bare = not said[at].acts.keys() & {"consent", "offer", "information"} and not sentence.item
    return bare or bool(_ANSWER.match(after.text))


def _refused(said: Sequence[Read], asked: Mapping[str, str]) -> dict[str, str]:
    """What is said not to be done: the words by kind (transfer, refuse).

    No refusal is a hindrance that the agent goes on to mend, or a limit among the items of an action put to the user.
    """
    refused: dict[str, str] = {}
    retries = {at for at, one in enumerate(said) if "retry" in one.acts}
    retried = bool(retries)
    goes_on = bool(asked) or retried
    mends = any(one.sentence.question and {"condition", "offer"} <= one.acts.keys() for one in said)
    agreeing = any("consent" in one.acts for one in said)
    for at, one in enumerate(said):
        if "transfer" in one.acts:
            refused.setdefault("transfer", one.acts["transfer"])
        if one.sentence.question:
            continue
        mended = mends or at + 1 in retries or ("condition" in one.acts and goes_on)
        noted = one.sentence.item and agreeing
        if "refuse" in one.acts and not mended and not noted:
            refused.setdefault("refuse", one.acts["refuse"])
        if "restriction" in one.acts and not agreeing:
            refused.setdefault("refuse", one.acts["restriction"])
        if "not_found" in one.acts and not goes_on:
            refused.setdefault("refuse", one.acts["not_found"])
        # Who offers something else has given it up; who asks for a value has not.
        if "failed" in one.acts and not mended and not retried and "information" not in asked:
            refused.setdefault("refuse", one.acts["failed"])
    return refused


def _reported(said: Sequence[Read], before: Before | None) -> str | None:
    """The first words that report something as done. That somebody was told is a report if a call has told it."""
    sent = before is not None and bool(before.changing)
    for one in said:
        if sent and "word_sent" in one.acts and not one.sentence.question:
            return one.acts["word_sent"]
        if not one.sentence.question and "transfer" not in one.acts and (found := _REPORTS & one.acts.keys()):
            return one.acts[min(found)]
    return None


VERSION, RULES = load_rules(RULES_FILE, ACTS)
