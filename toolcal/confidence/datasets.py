"""Real question sets: from a local JSON-lines file, or by name through the `datasets` package where there is a network.

A local file has one JSON object a line, with the fields that the published set has (`SETS`); other fields are passed
over. What was read is recorded: its source, its revision (the commit on the hub, or the file's SHA-256), its licence.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolcal.confidence.questions import Passage, Question

Row = Mapping[str, Any]


@dataclass(frozen=True)
class PublishedSet:
    """A published set: where it is, under which licence (as its page says it), and how a row becomes a question."""

    hub: str
    config: str | None
    split: str
    licence: str
    fields: Mapping[str, str]
    """The fields that are needed."""
    read: Callable[[Row], Question]


@dataclass(frozen=True)
class Loaded:
    """A set as loaded; `passages` are those that it brings along (HotpotQA's paragraphs), each once."""

    questions: tuple[Question, ...]
    passages: tuple[Passage, ...]
    source: str
    revision: str
    licence: str


class _Unfit(ValueError):
    """A row that is not as the set's rows are; says which field, and why."""


def _nq(row: Row) -> Question:
    answers = _texts(row, "answer")
    return Question("", _text(row, "question"), answers, "text", "")


def _hotpotqa(row: Row) -> Question:
    gold = dict.fromkeys(_passage_id(title) for title in _supporting(row))
    return Question(
        question_id=_text(row, "id" if "id" in row else "_id"),
        text=_text(row, "question"),
        answers=(_text(row, "answer"),),
        kind="text",
        difficulty=_text(row, "level"),
        gold_passages=tuple(gold),
    )


def _simpleqa(row: Row) -> Question:
    answer = _text(row, "answer")
    # What is said in brackets at the end (a tolerance, a remark) is no part of what is to be matched.
    short = re.sub(r"\s*\([^()]*\)\s*$", "", answer)
    forms = tuple(dict.fromkeys(form for form in (short, answer) if form))
    return Question(_text(row, "original_index"), _text(row, "problem"), forms, "text", "")


def _aime(row: Row) -> Question:
    answer = _text(row, "answer").strip()
    if not re.fullmatch(r"\d{1,3}", answer):
        raise _Unfit(f"field 'answer' is {answer!r}, not a whole number of at most three digits")
    forms = tuple(dict.fromkeys((str(int(answer)), answer)))
    return Question(_text(row, "id"), _text(row, "problem"), forms, "maths", "")


def _math500(row: Row) -> Question:
    level = row["level"]
    if isinstance(level, bool) or level not in (1, 2, 3, 4, 5):
        raise _Unfit(f"field 'level' is {level!r}, not 1 to 5")
    return Question(_text(row, "unique_id"), _text(row, "problem"), (_text(row, "answer"),), "maths", f"level {level}")


_AIME = {"id": "identifier", "problem": "the problem in LaTeX", "answer": "0 to 999"}
SETS: Mapping[str, PublishedSet] = {
    "nq": PublishedSet(
        "google-research-datasets/nq_open",
        "nq_open",
        "validation",
        "cc-by-sa-3.0",
        {"question": "the question", "answer": "list of accepted short answers"},
        _nq,
    ),
    "hotpotqa": PublishedSet(
        "hotpotqa/hotpot_qa",
        "distractor",
        "validation",
        "cc-by-sa-4.0",
        {
            "id": "identifier (`_id` in the file of the authors)",
            "question": "the question",
            "answer": "the answer",
            "level": "easy, medium or hard",
            "supporting_facts": "{title: [...], sent_id: [...]} (in the authors' file [[title, sentence], ...])",
            "context": "{title: [...], sentences: [[...], ...]} (in the authors' file [[title, [sentence, ...]], ...])",
        },
        _hotpotqa,
    ),
    "simpleqa_verified": PublishedSet(
        "google/simpleqa-verified",
        "simpleqa_verified",
        "eval",
        "mit",
        {"original_index": "number in SimpleQA", "problem": "the question", "answer": "the answer"},
        _simpleqa,
    ),
    "aime_2024": PublishedSet("HuggingFaceH4/aime_2024", None, "train", "not stated", _AIME, _aime),
    "aime_2025": PublishedSet("math-ai/aime25", None, "test", "apache-2.0", _AIME, _aime),
    "math_500": PublishedSet(
        "HuggingFaceH4/MATH-500",
        None,
        "test",
        "not stated; the source, PRM800K, is mit",
        {
            "unique_id": "identifier",
            "problem": "the problem in LaTeX",
            "answer": "the answer in LaTeX",
            "level": "1 to 5",
        },
        _math500,
    ),
}
"""The sets by name. Numbers of questions: 3,610, 7,405, 1,000, 30, 30, 500."""


def load(name: str, *, path: Path | None = None, revision: str = "main") -> Loaded:
    """Load a set.

    Args:
        name: one of `SETS`.
        path: a local JSON-lines file; without it the set is fetched from its hub.
        revision: of the set on its hub: a commit, a tag or a branch.

    Raises:
        ValueError: for an unknown set, and, in one line with file, line and field, for a row that is unfit.
        ModuleNotFoundError: where it is to be fetched, and the extra `datasets` is not installed.
    """
    if name not in SETS:
        raise ValueError(f"unknown set {name!r}: one of {', '.join(SETS)}")
    wanted = SETS[name]
    if path is None:
        rows, commit = _fetched(wanted, revision)
        return _loaded(name, rows, wanted.hub, commit)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ValueError(
            f"{path}: cannot be read ({error.strerror}); name the set's JSON-lines file in its path"
        ) from None
    return _loaded(name, _lines(path, content), str(path), f"sha256:{hashlib.sha256(content).hexdigest()}")


def _loaded(name: str, rows: Iterable[tuple[str, Row]], source: str, revision: str) -> Loaded:
    wanted = SETS[name]
    questions: dict[str, Question] = {}
    passages: dict[str, Passage] = {}
    for number, (where, row) in enumerate(rows):
        try:
            _complete(row, wanted.fields)
            question = wanted.read(row)
            found = f"{name}-{question.question_id or f'{number:05d}'}"
            if found in questions:
                raise _Unfit(f"question {found} is there a second time")
            if "context" in wanted.fields:
                passages |= {p.passage_id: p for p in _paragraphs(row) if p.passage_id not in passages}
        except _Unfit as unfit:
            raise ValueError(f"{where}: {unfit}") from None
        questions[found] = Question(**{**vars(question), "question_id": found})
    if not questions:
        raise ValueError(f"{source}: no question in it")
    return Loaded(tuple(questions.values()), tuple(passages.values()), source, revision, wanted.licence)


def _lines(path: Path, content: bytes) -> Iterator[tuple[str, Row]]:
    for number, line in enumerate(content.splitlines(), start=1):
        where = f"{path}, line {number}"
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            json.dumps(row, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise ValueError(f"{where}: holds half of a character (a lone surrogate)") from None
        except ValueError as error:
            raise ValueError(f"{where}: no JSON ({error})") from None
        except RecursionError:
            raise ValueError(f"{where}: JSON that is nested too deeply") from None
        if not isinstance(row, dict):
            raise ValueError(f"{where}: a JSON object is wanted, not {type(row).__name__}")
        yield where, row


def _fetched(wanted: PublishedSet, revision: str) -> tuple[Iterator[tuple[str, Row]], str]:
    try:
        from datasets import load_dataset
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            f"{wanted.hub} is fetched by the package datasets: pip install 'toolcal[datasets]', or name a local file"
        ) from None
    from huggingface_hub import HfApi

    # A branch moves: what is recorded, and loaded, is the commit.
    commit = str(HfApi().dataset_info(wanted.hub, revision=revision).sha)
    rows = load_dataset(wanted.hub, wanted.config, split=wanted.split, revision=commit)
    return ((f"{wanted.hub}, row {number}", row) for number, row in enumerate(rows)), commit


def _complete(row: Row, fields: Mapping[str, str]) -> None:
    for field in fields:
        if row.get(field, row.get("_id") if field == "id" else None) is None:
            raise _Unfit(f"field {field!r} is missing")


def _text(row: Row, field: str) -> str:
    value = row[field]
    if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
        raise _Unfit(f"field {field!r} is {value!r}, not a text")
    return str(value)


def _texts(row: Row, field: str) -> tuple[str, ...]:
    value = row[field]
    if not isinstance(value, list) or not value or not all(isinstance(text, str) and text.strip() for text in value):
        raise _Unfit(f"field {field!r} is {value!r}, not a list of texts")
    return tuple(dict.fromkeys(value))


def _supporting(row: Row) -> list[str]:
    facts = row["supporting_facts"]
    titles = facts.get("title") if isinstance(facts, dict) else [pair[0] for pair in _pairs(facts, "supporting_facts")]
    if not isinstance(titles, list) or not all(isinstance(title, str) for title in titles):
        raise _Unfit("field 'supporting_facts' has no list of titles")
    there = {passage.title for passage in _paragraphs(row)}
    if not titles or not set(titles) <= there:
        raise _Unfit("field 'supporting_facts' names no paragraph, or one that 'context' has not")
    return titles


def _paragraphs(row: Row) -> Iterator[Passage]:
    context = row["context"]
    pairs: Iterable[Any]
    if isinstance(context, dict):
        titles, sentences = context.get("title"), context.get("sentences")
        if not isinstance(titles, list) or not isinstance(sentences, list) or len(titles) != len(sentences):
            raise _Unfit("field 'context' has no titles and sentences of one length")
        pairs = zip(titles, sentences, strict=True)
    else:
        pairs = _pairs(context, "context")
    for title, parts in pairs:
        if not isinstance(title, str) or not isinstance(parts, list) or not all(isinstance(p, str) for p in parts):
            raise _Unfit("field 'context' has a paragraph that is no title with sentences")
        yield Passage(_passage_id(title), title, "".join(parts).strip())


def _pairs(value: Any, field: str) -> list[Any]:
    pairs = [list(pair.values()) if isinstance(pair, dict) else pair for pair in value] if type(value) is list else None
    if pairs is None or not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
        raise _Unfit(f"field {field!r} is neither an object of lists nor a list of pairs")
    return pairs


def _passage_id(title: str) -> str:
    return f"hotpotqa-{title}"
