"""Which file of a recorded model holds a scenario, and its recording."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from toolcal.recordings import openai, tau1, tau2
from toolcal.recordings.run import Recording
from toolcal.recordings.stream import RecordingError

_DOMAIN_OF = {"tau2": tau2.domain_of, "tau1": tau1.domain_of}


def open_recording(entry: Mapping[str, Any], scenario: str, ask_subset: str = "valid") -> Recording:
    """Read the recording of a scenario.

    Args:
        entry: `format` (tau2, tau1 or openai), and `results`: a file, or the folder with the files of one model.
        scenario: the benchmark and what of it, e.g. tau2-airline.
        ask_subset: for tau2, which tasks have ASK as a gold action besides.

    Raises:
        RecordingError: where there is not exactly one file of the scenario, or it cannot be used at all.
    """
    part = scenario.partition("-")[2]
    path = the_file(entry, part)
    if entry["format"] == "openai":
        return openai.read(path, scenario)
    return tau1.read(path, part) if entry["format"] == "tau1" else tau2.read(path, part, ask_subset)


def the_file(entry: Mapping[str, Any], part: str) -> Path:
    """The one file of a domain, told by what the files say themselves; of the plain form, told by its name.

    Raises:
        RecordingError: where there is none, or more than one.
    """
    where = Path(entry["results"])
    if not where.exists():
        raise RecordingError(f"{where}: no such file or folder; results has to be where one model's runs are")
    domain_of = _DOMAIN_OF.get(entry["format"])
    if domain_of is None:
        found = [where] if where.is_file() else sorted(where.rglob(f"{part}.jsonl"))
        wanted = f"{part}.jsonl"
    else:
        files = [where] if where.is_file() else sorted(where.rglob("*.json"))
        found = [path for path in files if domain_of(path) == part]
        wanted = f"file of {entry['format']}'s {part}"
    if len(found) != 1:
        more = f"{len(found)} files, e.g. {found[0]} and {found[1]}" if found else f"no {wanted}"
        raise RecordingError(
            f"{where}: {more}; results has to hold one file of each scenario, and scenarios may leave out what was "
            "not run"
        )
    return found[0]
