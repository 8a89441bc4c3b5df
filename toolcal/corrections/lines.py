"""Files of corrections: JSON lines, each one reader's word on one message, checked line by line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from toolcal.tables import ACTIONS, EMISSION

Emission = tuple[str | int, ...]
"""The values of the columns `tables.EMISSION`."""


class CorrectionError(ValueError):
    """Files of corrections that cannot be used; `lines` says of each bad line where it is, what is wrong, and what is
    allowed there."""

    def __init__(self, lines: list[str]) -> None:
        super().__init__(f"labels.corrections: {len(lines)} lines cannot be used; mend them or take them out")
        self.lines = lines


@dataclass(frozen=True)
class Correction:
    """One line of a file: a message, what a labeller said of it, and what its class is by the reader `by`."""

    file: str
    line: int
    model: str
    scenario: str
    perturbation: str
    case_id: str
    trial: int
    turn: int
    step: int
    attempt: int
    labeller: str
    was: str | None
    action: str
    note: str | None
    by: str
    time: str
    labeller_version: str | None

    @property
    def emission(self) -> Emission:
        """The key of the message."""
        return tuple(getattr(self, name) for name in EMISSION)

    @property
    def moment(self) -> datetime:
        """When it was marked; a time without a zone is taken for UTC."""
        found = datetime.fromisoformat(self.time)
        return found if found.tzinfo else found.replace(tzinfo=UTC)

    def columns(self) -> dict[str, Any]:
        """Its part of a row of the table `corrections`."""
        return asdict(self)


KEYS = tuple(field.name for field in fields(Correction))[2:]
"""The keys of a line; all have to be there."""


def read(*paths: str | Path) -> list[Correction]:
    """The corrections of some files, in their order; empty lines are passed over.

    Raises:
        CorrectionError: where a file cannot be read or a line breaks the form; then none is given.
    """
    found: list[Correction] = []
    wrong: list[str] = []
    for path in map(Path, paths):
        try:
            text = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            why = "is not UTF-8 text" if isinstance(error, ValueError) else f"cannot be read ({error.strerror})"
            wrong.append(f"{path}: {why}")
            continue
        for number, line in enumerate(text.split("\n"), 1):
            if not line.strip():
                continue
            values = _object(line)
            faults = list(_faults(values))
            wrong += [f"{path} line {number}: {fault}" for fault in faults]
            if values and not faults:
                found.append(Correction(str(path), number, **_stored(values)))
    if wrong:
        raise CorrectionError(wrong)
    return found


def _object(line: str) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _stored(values: Mapping[str, Any]) -> dict[str, Any]:
    version = values["labeller_version"]
    return {**values, "labeller_version": None if version is None else str(version)}


def _faults(values: Mapping[str, Any] | None) -> Iterator[str]:
    """What is wrong with a line, in words."""
    if values is None:
        yield "is no JSON object; each line holds one, whole"
        return
    if unknown := sorted(values.keys() - set(KEYS)):
        yield f"{unknown[0]}: unknown key, allowed are {', '.join(KEYS)}"
    if lacking := [key for key in KEYS if key not in values]:
        yield f"{', '.join(lacking)}: {'is' if len(lacking) == 1 else 'are'} missing"
    for key in (key for key in KEYS if key in values):
        allowed, fits = _FORMS[key]
        if not fits(values[key]):
            yield f"{key}: found {_short(values[key])}, allowed: {allowed}"


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip()) and _is_text(value)


def _is_text(value: Any) -> bool:
    """Whether it can be stored: no halves of characters."""
    return value is None or (isinstance(value, str) and not any("\ud800" <= sign <= "\udfff" for sign in value))


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31


def _is_action(value: Any) -> bool:
    return isinstance(value, str) and value in ACTIONS


def _is_moment(value: Any) -> bool:
    try:
        datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return False
    return True


def _is_version(value: Any) -> bool:
    return _is_text(value) or _is_number(value)


_Form = tuple[str, Callable[[Any], bool]]
_NAME: _Form = ("text, not empty", _is_name)
_NUMBER: _Form = ("a whole number, 0 or more", _is_number)
_CLASSES = f"one of {', '.join(ACTIONS)}"
_FORMS: dict[str, _Form] = {
    **dict.fromkeys(("model", "scenario", "perturbation", "case_id", "labeller", "by"), _NAME),
    **dict.fromkeys(("trial", "turn", "step", "attempt"), _NUMBER),
    "action": (_CLASSES, _is_action),
    "was": (f"{_CLASSES}, or null", lambda value: value is None or _is_action(value)),
    "note": ("text or null", _is_text),
    "time": ("a date and time such as 2026-12-01T08:15:00Z", _is_moment),
    "labeller_version": ("text, a whole number or null", _is_version),
}


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
