"""Whether a simulated user ends a conversation while the agent waits for its answer.

Legitimate is to decline, to say that nothing more is wanted, and to thank an agent that has reported the work done or
has refused it: what it then offers besides is not what the user came for. Whoever agrees, asks for something or gives
a value that was asked for, and leaves in the same message, does not let the agent act on it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from toolcal.actions import refined
from toolcal.benchmarks.tau2 import user_facts
from toolcal.writes import replies
from toolcal.writes.words import fold, sentences

_AGREES = re.compile(
    r"^(?:\w+, )?(?:yes|yeah|yep|yup|sure|absolutely|definitely|certainly)\b"
    r"|\bgo (?:ahead|for it)\b|\bi (?:confirm|agree|accept|approve|consent)\b|\bplease (?:do|proceed)\b"
)
_DECLINES = re.compile(
    r"^(?:no|nope|nah)\b(?!,? (?:problem|worries|rush))|\bno (?:need|thanks|thank you|longer)\b"
    r"|\bnothing (?:else|more)\b"
    r"|\b(?:that|this)(?:'s| is| was|'ll be| will be| would be) (?:all|it|everything)\b(?! (?:correct|right|good|fine))"
    r"|\b(?:don't|do not|won't|will not|wouldn't|didn't)(?: really)?"
    r" (?:want|need|wish|think|like|have any|proceed|accept)"
    r"|\bnot (?:interested|necessary|needed|now|today|worth|going to|proceed|right now)\b"
    r"|\bnever ?mind\b|\bforget (?:it|about)\b|\brather (?:not|keep|wait|leave|stay)\b|\b(?:decline|refuse)\b"
    r"|\b(?:can't|cannot|unable to) (?:move forward|proceed|go|do|afford|accept|agree|justify)\b"
    r"|\b(?:i'll|i will|i'd|i would|i'm going to|i am going to|let me|(?:need|have|like|want|prefer) to)"
    r"(?: (?:just|then|probably|have to|need to|like to|prefer to))*"
    r" (?:think|reconsider|consider|check|keep|leave|wait|hold off|look|call|get back|contact|reach out|try|figure"
    r"|handle|manage|decide|stick|pass|stay|discuss|talk|review|sort)\b"
    r"|\b(?:all set|another time|some other time|later)\b|\bi'm (?:good|fine|ok|okay|done)\b(?! with| to)"
    r"|\bkeep (?:my|the|it|everything|things)\b"
)
_REQUESTS = re.compile(
    r"\b(?:can|could|will|would) you\b"
    r"|\b(?:is|are|can|could|do|does|what|how|who|why|when|where|which)\b(?: \S+){3,}\?$"
    r"|\bplease (?!let me know|have|note|keep|take care|feel|stay|be\b|reach|don't|do not)\w+"
)
_COURTESY = re.compile(
    r"\b(?:ok|okay|alright|all right|great|perfect|wonderful|excellent|got it|hi|hello|bye|goodbye|cheers|you too)\b"
    r"|\b(?:thanks|thank you)[^.!?]*|\b(?:have|enjoy) (?:a|an|the|your) [^.!?]*|\b(?:i )?(?:really )?appreciate[^.!?]*"
)


def leaves_open(heard: str, said: str, scenario: str, before: Sequence[str]) -> bool:
    """Whether a closing leaves what the agent asked for without an answer that it can act on.

    Args:
        heard: the agent's last words.
        said: the user's closing, without the token that ends the conversation.
        scenario: what the user was told.
        before: what either has said before.
    """
    found = refined.read(heard)
    consent, information = ("consent" in found.sub), ("information" in found.sub)
    if not (consent or information):
        return False
    words = fold(said).strip()
    parts = sentences(words)
    declining = [part for part in parts if _DECLINES.search(part)]
    if any(_AGREES.search(part) for part in parts if part not in declining):
        return True
    if declining:
        return False
    if any(_REQUESTS.search(part) for part in parts) or (information and user_facts.new(said, before)):
        return True
    if found.cues.keys() & {"CONFIRM", "REFUSE"}:
        return False
    reply = replies.read(words)
    silent = not re.search(r"\w", _COURTESY.sub(" ", words))
    if consent and (silent or ((reply.yes or reply.weak) and not reply.held)):
        return True
    return information and silent and user_facts.asked_for(heard, scenario, before)
