"""The result and score files of BFCL's own generator and evaluator, read and checked record by record."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from toolcal import logs


class RecordingError(ValueError):
    """Files that cannot be used at all; the message says which, and what to do."""


class _Odd(ValueError):
    """A record that cannot be used, as `field: what is wrong`."""


@dataclass(frozen=True)
class Step:
    """One response: its calls as (name, arguments as JSON text), or its text.

    `text` is None where there was none, and where none was kept (`kept` false).
    """

    raw: Any
    calls: tuple[tuple[str, str], ...] = ()
    text: str | None = None
    kept: bool = True
    reasoning: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    latency: float | None = None
    """Seconds."""


@dataclass(frozen=True)
class Recording:
    """One conversation: its turns' steps, or the error that stands in their place.

    `history` is what the model read before its last step, where the file logged that: see `inference_log`.
    """

    turns: tuple[tuple[Step, ...], ...]
    error: str | None = None
    history: Any = None


@dataclass(frozen=True)
class Results:
    """A result file: the good records by case id, all ids, lines without one, and what is wrong with what was left."""

    path: Path
    recordings: Mapping[str, Recording]
    ids: frozenset[str]
    nameless: int
    problems: tuple[str, ...]


def read_results(entry: Mapping[str, Any], scenario: str) -> Results:
    """Read the one result file of a scenario, at any depth below a folder.

    Of several records with one id the first is kept.

    Args:
        entry: `format`, and `results`: the folder with the files of one model.
        scenario: e.g. `bfcl-miss_func`.

    Raises:
        RecordingError: where there is no such file, more than one, it cannot be read, or has no such scenario.
    """
    category = _category(entry, scenario)
    path = _the_file(entry["results"], category, "result")
    if path is None:
        raise RecordingError(f"{entry['results']}: no {_pattern(category, 'result')}; {_HINTS['result']}")
    recordings: dict[str, Recording] = {}
    problems: list[str] = []
    ids: set[str] = set()
    nameless = 0
    for number, line in _lines(path):
        where = f"{path}, line {number}"
        try:
            record = _object(line)
            case_id = _case_id(record, category)
        except _Odd as odd:
            problems.append(f"{where}, {odd}")
            nameless += 1
            continue
        if case_id in ids:
            problems.append(f"{where}, id: {case_id} is there a second time")
            continue
        ids.add(case_id)
        try:
            recordings[case_id] = _recording(record)
        except _Odd as odd:
            problems.append(f"{where}, {odd} ({case_id})")
    return Results(path, recordings, frozenset(ids), nameless, tuple(problems))


def verdicts(entry: Mapping[str, Any], scenario: str) -> dict[str, bool]:
    """The verdicts that a run's publisher recorded: a score file names its failures, the other results passed.

    Where the score file does not fit the result file, only what it names has a verdict, and the user is told.

    Args:
        entry: `format`, `results` and, where there is any, `scores`: the folder with the score files.
        scenario: e.g. `bfcl-miss_func`.

    Returns:
        Case id -> passed; empty without `scores`, and without a score file of the scenario.

    Raises:
        RecordingError: where the result file is missing, a file is there twice or cannot be read.
    """
    category = _category(entry, scenario)
    path = _the_file(entry["scores"], category, "score") if entry.get("scores") else None
    if path is None:
        return {}
    results = read_results(entry, scenario)
    head: Mapping[str, Any] = {}
    named: dict[str, bool] = {}
    unread = 0
    for place, (_, line) in enumerate(_lines(path)):
        try:
            record = _object(line)
            if place == 0 and "accuracy" in record:
                head = record
                continue
            if type(record.get("valid")) is not bool:
                raise _Odd("valid: neither true nor false")
            named[_case_id(record, category)] = record["valid"]
        except _Odd:
            unread += 1
    total, correct, failed = head.get("total_count"), head.get("correct_count"), list(named.values()).count(False)
    fits = total == len(results.ids) + results.nameless and correct == total - failed
    if unread or not fits or len(named.keys() - results.ids) > results.nameless:
        logs.warn(
            f"{path}: does not fit {results.path.name}: {failed} failures are named, the first line tells of {correct} "
            f"passes in {total} cases, and the results are of {len(results.ids) + results.nameless}; only the cases "
            "that are named have a recorded verdict"
        )
        return named
    return dict.fromkeys(results.recordings, True) | named


_HINTS = {
    "result": "results has to be the folder of one model's runs, and scenarios may leave out what it did not run",
    "score": "scores has to be the folder of one model's scores",
}


def _category(entry: Mapping[str, Any], scenario: str) -> str:
    benchmark, _, category = scenario.partition("-")
    if benchmark != entry["format"]:
        raise RecordingError(f"{entry['results']}: recorded runs of format {entry['format']} are not of {scenario}")
    return category


def _pattern(category: str, kind: str) -> str:
    return f"BFCL_v*_multi_turn_{category}_{kind}.json"


def _the_file(folder: str | Path, category: str, kind: str) -> Path | None:
    if not Path(folder).is_dir():
        raise RecordingError(f"{folder}: no such folder; {_HINTS[kind]}")
    found = sorted(Path(folder).rglob(_pattern(category, kind)))
    if len(found) > 1:
        raise RecordingError(
            f"{folder}: {len(found)} {kind} files of {category}, e.g. {found[0]} and {found[1]}; {_HINTS[kind]}"
        )
    return found[0] if found else None


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    try:
        with path.open("rb") as file:
            yield from ((number, line) for number, line in enumerate(file, 1) if line.strip())
    except OSError as error:
        raise RecordingError(f"{path}: cannot be read ({error.strerror})") from None


def _object(line: bytes) -> dict[str, Any]:
    try:
        # What is not JSON (NaN) becomes null: it can only be a measurement.
        record = json.loads(line, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        raise _Odd("the record: not JSON" + ("" if line.endswith(b"\n") else ", perhaps cut off")) from None
    if not isinstance(record, dict):
        raise _Odd("the record: not an object")
    return record


def _case_id(record: Mapping[str, Any], category: str) -> str:
    case_id = record.get("id")
    if not isinstance(case_id, str) or not re.fullmatch(rf"multi_turn_{re.escape(category)}_\d+", case_id):
        raise _Odd(f"id: {str(case_id)[:60]!r} is no id of multi_turn_{category}")
    return case_id


def _recording(record: Mapping[str, Any]) -> Recording:
    result = record.get("result")
    if isinstance(result, str):
        return Recording((), error=result)
    if not isinstance(result, list) or not result:
        raise _Odd("result: not a list of turns")
    for turn, steps in enumerate(result):
        if not isinstance(steps, list) or not steps:
            raise _Odd(f"result[{turn}]: not a list of steps")
    turns = [
        tuple(_step(value, record, turn, step) for step, value in enumerate(steps)) for turn, steps in enumerate(result)
    ]
    return Recording(tuple(turns), history=_last_input(record.get("inference_log")))


def _step(value: Any, record: Mapping[str, Any], turn: int, step: int) -> Step:
    at = partial(_measured, record, turn, step)
    reasoning = at("reasoning_content")
    make = partial(
        Step,
        value,
        reasoning=reasoning if isinstance(reasoning, str) and reasoning else None,
        prompt_tokens=_whole(at("input_token_count")),
        completion_tokens=_whole(at("output_token_count")),
        latency=_number(at("latency")),
    )
    items: Sequence[Any] = [value] if isinstance(value, dict) else value if isinstance(value, list) else ()
    if value is None or isinstance(value, str):
        return make(text=value)
    if value == []:  # no call, and no text where there may have been some
        return make(kept=False)
    if items and all(isinstance(item, str) for item in items):
        return make(text="\n".join(items))
    if not items or not all(isinstance(item, dict) and item for item in items):
        raise _Odd(f"result[{turn}][{step}]: neither calls nor text")
    calls = [call for item in items for call in item.items()]
    for name, arguments in calls:
        if not isinstance(arguments, str | dict):
            raise _Odd(f"result[{turn}][{step}]: the arguments of {name} are neither JSON text nor an object")
    texts = [(name, given if isinstance(given, str) else json.dumps(given)) for name, given in calls]
    return make(calls=tuple(texts), kept=False)


def _measured(record: Mapping[str, Any], turn: int, step: int, field: str) -> Any:
    """What stands beside a step in a field of the result's shape; None where it has another shape."""
    value = record.get(field)
    for place in (turn, step):
        value = value[place] if isinstance(value, list) and place < len(value) else None
    return value


def _number(value: Any) -> float | None:
    known = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0
    return float(value) if known else None


def _whole(value: Any) -> int | None:
    number = _number(value)
    return int(number) if number is not None and number == int(number) and number < 2**53 else None


def _last_input(log: Any) -> Any:
    """What the model read before its last step, of a log that kept that (BFCL's --include-input-log)."""
    turns = [turn for turn in log if isinstance(turn, dict)] if isinstance(log, list) else []
    for steps in reversed(list(turns[-1].values()) if turns else []):
        for entry in steps if isinstance(steps, list) else ():
            if isinstance(entry, dict) and entry.get("role") == "inference_input":
                content = entry.get("content")
                return content.get("message") if isinstance(content, dict) else None
    return None
