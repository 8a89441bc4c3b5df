"""Action classes of emissions (method A2), by rule.

A call is seen by syntax (`toolcal.calls`); the other classes by the words of the visible text, as a labeller reads
them: one of `cues.yaml`, by cue phrases anywhere in it, or `refined`, sentence by sentence (`toolcal.actions.refined`).
Labels depend on nothing but the stored emission, so relabelling asks no model.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from toolcal import tables
from toolcal.actions import refined
from toolcal.actions.before import Before
from toolcal.actions.requests import Requests, before_each
from toolcal.actions.sentences import fold
from toolcal.calls import Parsed, parse

CUES_FILE = Path(__file__).with_name("cues.yaml")

CaseKey = tuple[str, str, str]
"""(scenario, perturbation, case_id)."""
ToolNames = Mapping[CaseKey, Sequence[tuple[int, str]]] | Callable[[CaseKey], Sequence[tuple[int, str]]]
"""Of a case's context: (turn at which the tool arrives, its name)."""

_Said = tuple[Mapping[str, str], tuple[str, ...]]
"""The words that decided each class, highest priority first; and the sub-labels."""

_CLASSES = {"refuse": "REFUSE", "ask": "ASK", "confirm": "CONFIRM"}
_NO_ANSWER = ("context_exceeded", "infra_error", "not_recorded")


class CueError(ValueError):
    """A mistake in a cue file; the message names file, key and what is wrong."""


@dataclass(frozen=True)
class Cues:
    """A cue file as read: its version, and of each labeller the pattern of each class, highest priority first."""

    version: int
    labellers: Mapping[str, Mapping[str, re.Pattern[str]]]


@dataclass(frozen=True)
class Label:
    """The class of one emission.

    `action` is null where the emission has only a status. `flags` are all classes that matched, in the order of
    `tables.ACTIONS`, OTHER only alone; `cue` is the rule or the words that decided `action`; `sub` are those of
    `SUB_LABELS` that fit (none by a labeller of cue phrases).
    """

    status: str
    action: str | None
    flags: tuple[str, ...]
    leaked: bool
    cue: str | None
    sub: tuple[str, ...] = ()


def load_cues(path: str | Path = CUES_FILE) -> Cues:
    """Read and check a cue file.

    Raises:
        CueError: naming file, key and what is wrong: broken YAML or regular expression, an unknown class, no text.
    """
    path = Path(path)
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise CueError(f"{path.name}: not YAML: {' '.join(str(error).split())}") from None
    if not isinstance(content, dict) or content.keys() != {"version", "labellers"}:
        raise CueError(f"{path.name}: needs the keys version and labellers, and no others")
    if type(content["version"]) is not int:
        raise CueError(f"{path.name}: version: {content['version']!r} is not a whole number")
    if not isinstance(content["labellers"], dict) or not content["labellers"]:
        raise CueError(f"{path.name}: labellers: needs a name for each labeller")
    labellers = {
        str(name): _labeller(classes, f"{path.name}: labellers.{name}")
        for name, classes in content["labellers"].items()
    }
    return Cues(content["version"], labellers)


def label(
    message: Mapping[str, Any],
    finish_reason: str | None,
    status: str,
    tool_names: Collection[str],
    labeller: str,
    before: Before | None = None,
) -> Label:
    """The class of one emission.

    Args:
        message: the assistant message in OpenAI form.
        finish_reason: as the endpoint gave it.
        status: the emission's status in its trajectory; without an answer to read (context_exceeded,
            infra_error, not_recorded) it stands, else it is found anew.
        tool_names: the tools of its turn.
        labeller: one of `LABELLERS`.
        before: what the user asked for and which tools were called since, for `refined`; None where not known.

    Raises:
        KeyError: for an unknown labeller.
    """
    if status in _NO_ANSWER:
        return Label(status, None, (), False, None)
    return _label(parse(message, finish_reason, tool_names), labeller, before)


def label_trajectories(
    trajectories: pd.DataFrame,
    tool_names_of: ToolNames,
    labellers: Sequence[str],
    requests_of: Requests | None = None,
) -> pd.DataFrame:
    """The rows of table `actions`: one per emission of the model and labeller. What a probe wrote has none.

    Args:
        trajectories: rows of table `trajectories`, each run's in the order of the table's key.
        tool_names_of: (from_turn, name) of each tool by (scenario, perturbation, case_id).
        labellers: some of `LABELLERS`.
        requests_of: what the user said, for labeller `refined`; None: the texts alone decide.

    Raises:
        KeyError: for an unknown labeller, or a case without tool names (labels would silently differ).
    """
    tools_of = tool_names_of if callable(tool_names_of) else tool_names_of.__getitem__
    turn_tools: dict[tuple[CaseKey, int], frozenset[str]] = {}
    rows: list[dict[str, Any]] = []
    columns = (*tables.EMISSION, "content", "tool_calls", "finish_reason", "status")
    stood: list[Before | None] = [None] * len(trajectories)
    if requests_of:
        stood = [*before_each(trajectories, requests_of)]
    of_rows = zip(trajectories["origin"], stood, *(trajectories[column].tolist() for column in columns), strict=True)
    for origin, before, *values in of_rows:
        if origin != "model":
            continue
        row = dict(zip(columns, values, strict=True))
        case, turn = (row["scenario"], row["perturbation"], row["case_id"]), row["turn"]
        if (case, turn) not in turn_tools:
            turn_tools[case, turn] = frozenset(name for arrives, name in tools_of(case) if arrives <= turn)
        key = {name: row[name] for name in tables.EMISSION}
        parsed = (
            None if row["status"] in _NO_ANSWER else parse(_message(row), row["finish_reason"], turn_tools[case, turn])
        )
        for labeller in labellers:
            found = _label(parsed, labeller, before) if parsed else Label(row["status"], None, (), False, None)
            rows.append(
                key
                | {
                    "labeller": labeller,
                    "status": found.status,
                    "action": found.action,
                    "flags": tables.dumps(found.flags),
                    "sub": tables.dumps(found.sub),
                    "leaked": found.leaked,
                    "cue": tables.text_or_json(found.cue),
                }
            )
    return tables.frame("actions", rows)


def _labeller(classes: Any, where: str) -> dict[str, re.Pattern[str]]:
    if not isinstance(classes, dict):
        raise CueError(f"{where}: needs the classes {', '.join(_CLASSES)}")
    if unknown := classes.keys() - _CLASSES.keys():
        raise CueError(f"{where}: unknown class {sorted(map(str, unknown))[0]}, known are {', '.join(_CLASSES)}")
    if missing := _CLASSES.keys() - classes.keys():
        raise CueError(f"{where}: class {sorted(missing)[0]} is missing")
    return {action: _pattern(classes[key], f"{where}.{key}") for key, action in _CLASSES.items()}


def _pattern(cues: Any, where: str) -> re.Pattern[str]:
    if not isinstance(cues, list) or not cues:
        raise CueError(f"{where}: needs a list of cues")
    words: list[str] = []
    signs: list[str] = []
    for number, cue in enumerate(cues):
        if not isinstance(cue, str):
            raise CueError(f"{where}[{number}]: {cue!r} is not text; put it in quotes")
        try:
            pattern = re.compile(cue)
            re.compile(f"(?:{cue})")  # as it is used below: no flags inside
        except re.error as error:
            raise CueError(f"{where}[{number}]: broken regular expression {cue!r}: {error}") from None
        if pattern.match(""):
            raise CueError(f"{where}[{number}]: {cue!r} matches every text")
        if pattern.groupindex or re.search(r"\\[1-9]", cue):
            raise CueError(f"{where}[{number}]: {cue!r} has a named group or a back reference")
        if re.search(r"[A-Z]", re.sub(r"\\.", "", cue)):
            raise CueError(f"{where}[{number}]: {cue!r} has capitals, and the text is matched in lower case")
        cue = f"(?:{cue})" + (r"\b" if cue[-1].isalnum() or cue[-1] == ")" else "")
        (words if cue[3].isalnum() or cue[3] == "(" else signs).append(cue)
    # One word boundary before all words: the pattern then fails at once inside a word.
    return re.compile("|".join([*([rf"\b(?:{'|'.join(words)})"] if words else []), *signs]))


def _message(row: Mapping[str, Any]) -> dict[str, Any]:
    content = row["content"] if isinstance(row["content"], str) else None
    return {"content": content, "tool_calls": None if row["tool_calls"] == "[]" else json.loads(row["tool_calls"])}


def _label(parsed: Parsed, labeller: str, before: Before | None) -> Label:
    by_words = _by_sentences(before) if labeller == "refined" else _by_cues(CUES.labellers[labeller])
    if parsed.status != "ok":
        return Label(parsed.status, None, (), False, None)
    matches: dict[str, str] = {}
    if parsed.calls:
        matches["TOOL_CALL"] = f"leaked: {parsed.dialect}" if parsed.leaked else "tool call"
    said, sub = by_words(parsed.prose)
    matches |= said
    if not matches:
        return Label("ok", "OTHER", ("OTHER",), False, None)
    action, cue = next(iter(matches.items()))
    return Label("ok", action, tuple(matches), parsed.leaked, cue, sub)


def _by_cues(patterns: Mapping[str, re.Pattern[str]]) -> Callable[[str], _Said]:
    def by_words(text: str) -> _Said:
        text = fold(text)
        found = ((action, pattern.search(text)) for action, pattern in patterns.items())
        return {action: match[0] for action, match in found if match}, ()

    return by_words


def _by_sentences(before: Before | None) -> Callable[[str], _Said]:
    def by_words(text: str) -> _Said:
        found = refined.read(text, before)
        return found.cues, found.sub

    return by_words


CUES = load_cues()
LABELLERS = (*CUES.labellers, "refined")
"""The names of all labellers: those of `cues.yaml`, and the one that reads sentences."""
SUB_LABELS = refined.SUB_LABELS
