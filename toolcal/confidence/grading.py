"""Whether an answer is right, by the kind of its question.

- `text`: equal to an accepted form after normalising, as in SQuAD's evaluate-v1.1 (Rajpurkar et al. 2016):
  lower case, no punctuation, no articles, single spaces. Before that, Unicode's compatible forms are folded (NFKC), and
  typographic quotes and dashes, which SQuAD does not do. The score is SQuAD's F1 of words; where a side has none, it is
  1 if both have none (evaluate-v2.0).
- `number`: the same number as an accepted form (`numbers` says what is read, and how rounding is treated). Units, the
  percent sign among them, may be left out on either side; where both have one it has to be the same. An answer that
  states several unlike numbers is wrong.
- `choice`: as text, or the letter of the option in any usual form: `B`, `(b)`, `B.`, `Option B`, `B) Birch`.
- `maths`: equal once LaTeX's dress is taken off, or else equal formulas for math-verify (extra `maths`).

For all but `text` the score is 1 or 0. Nothing that a model writes raises.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from toolcal.confidence.maths import Maths
from toolcal.confidence.numbers import Number, equal, numbers
from toolcal.confidence.questions import Question

LONGEST = 20_000
"""Characters of an answer that are read."""

REASONS = {
    "equal": "it is an accepted answer",
    "no_answer": "there is none, or it is empty",
    "different": "it is none of the accepted answers",
    "no_number": "no number in it",
    "several_numbers": "it states several numbers that are unlike each other",
    "other_unit": "the right number with another unit",
    "unreadable": "no formula in it that could be read",
    "late": "comparing the formulas took too long",
    "broken": "comparing the formulas took too much memory, or failed otherwise",
}
"""Why an answer got its grade."""


@dataclass(frozen=True)
class Grade:
    """The verdict on an answer."""

    correct: bool
    score: float
    """0 to 1: F1 for text, else 1 where correct and 0 where not."""
    reason: str
    """One of `REASONS`."""


def grade(question: Question, answer: str | None) -> Grade:
    """Grade an answer.

    Args:
        question: what was asked; its `kind` decides.
        answer: what was answered, without the confidence; None where there was no answer.

    Raises:
        ValueError: the question's kind is unknown, or it has no accepted answer.
        MathsMissing: a `maths` answer, and math-verify is not installed.
    """
    if question.kind not in _GRADERS:
        raise ValueError(f"question {question.question_id}: unknown kind {question.kind!r}")
    if not question.answers:
        raise ValueError(f"question {question.question_id}: no accepted answer")
    if answer is None or not answer.strip():
        return Grade(False, 0.0, "no_answer")
    return _GRADERS[question.kind](question.answers, answer[:LONGEST])


def normalised(text: str) -> str:
    """A text as it is compared: folded, in lower case, without punctuation and articles, single spaces."""
    folded = unicodedata.normalize("NFKC", text).translate(_TYPOGRAPHY).lower()
    bare = "".join(character for character in folded if character not in _PUNCTUATION)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", bare).split())


def f1(stated: str, wanted: str) -> float:
    """F1 of the words of two texts, normalised, with their counts.

    Args:
        stated: the answer.
        wanted: the right one.
    """
    given, right = normalised(stated).split(), normalised(wanted).split()
    if not given or not right:
        return float(given == right)
    shared = sum((Counter(given) & Counter(right)).values())
    return 2 * shared / (len(given) + len(right))


_PUNCTUATION = frozenset(string.punctuation)
_TYPOGRAPHY = str.maketrans(dict.fromkeys("‘’‚‛′`´", "'") | dict.fromkeys("“”„«»″", '"') | dict.fromkeys("‐‑‒–—−", "-"))
_LETTER = re.compile(
    r"(?:option|choice|answer)?[\s:]*\(?\[?([a-z])(?:[\]).:,]+(?:\s.*)?|\s*)", re.IGNORECASE | re.DOTALL
)
_DRESS = re.compile(
    r"\\(?:text|mathrm|mathbf|textbf|mbox)\s*\{([^{}]*)\}|\\(?:left|right|displaystyle|[,;:! ])|[$\s{}]"
)
_BOXED = re.compile(r"\\boxed\s*\{(.*)\}", re.DOTALL)


def _text(accepted: Sequence[str], answer: str) -> Grade:
    stated = normalised(answer)
    correct = any(stated == normalised(form) for form in accepted)
    score = max(f1(answer, form) for form in accepted)
    return Grade(correct, 1.0 if correct else score, "equal" if correct else "different")


def _number(accepted: Sequence[str], answer: str) -> Grade:
    stated = numbers(answer)
    if not stated:
        return Grade(False, 0.0, "no_number")
    if len({number.value for number in stated}) > 1:
        return Grade(False, 0.0, "several_numbers")
    wanted = [number for form in accepted for number in numbers(form)[:1]]
    same = [number for number in wanted if any(equal(given, number) for given in stated)]
    if not same:
        return Grade(False, 0.0, "different")
    if any(_units_agree(given, number) for number in same for given in stated):
        return Grade(True, 1.0, "equal")
    return Grade(False, 0.0, "other_unit")


def _units_agree(given: Number, wanted: Number) -> bool:
    return not given.unit or not wanted.unit or given.unit == wanted.unit


def _choice(accepted: Sequence[str], answer: str) -> Grade:
    letters = {form.strip("()[]. ").lower() for form in accepted}
    found = _LETTER.fullmatch(answer.strip())
    if found and found[1].lower() in letters:
        return Grade(True, 1.0, "equal")
    correct = _text(accepted, answer).correct
    return Grade(correct, float(correct), "equal" if correct else "different")


def _maths(accepted: Sequence[str], answer: str) -> Grade:
    if any(_undressed(answer) == _undressed(form) for form in accepted):
        return Grade(True, 1.0, "equal")
    results = {_comparer().compare(form, answer) for form in accepted}
    reason = next(result for result in ("equal", "late", "broken", "different", "unreadable") if result in results)
    return Grade(reason == "equal", float(reason == "equal"), reason)


def _undressed(text: str) -> str:
    boxed = _BOXED.search(text)
    return _DRESS.sub(lambda match: match[1] or "", boxed[1] if boxed else text).strip(".").lower()


@lru_cache(maxsize=1)
def _comparer() -> Maths:
    return Maths()


_GRADERS: dict[str, Callable[[Sequence[str], str], Grade]] = {
    "text": _text,
    "number": _number,
    "choice": _choice,
    "maths": _maths,
}
