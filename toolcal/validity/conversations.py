"""The conversations that the validity set is drawn from, read alike whatever wrote them.

Others' texts are read from the folder of recorded runs and never kept here; the texts of the embedded model, which are
the project's own, stand in `embedded.jsonl`.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from toolcal.benchmarks.bfcl import cases as bfcl_cases
from toolcal.benchmarks.protocol import Case
from toolcal.benchmarks.protocol import Message as ChatMessage
from toolcal.recordings import tau1, tau2
from toolcal.recordings.run import Recording

EMBEDDED = Path(__file__).with_name("embedded.jsonl")


class ValidityError(ValueError):
    """Something that the validity set needs is not there or is wrong; the message says what and how to mend it."""


@dataclass(frozen=True)
class Call:
    """One tool call as the model gave it."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Message:
    """One message.

    Attributes:
        position: where it stands in its record: the index in the list of messages, or turn/step in BFCL.
        role: system, user, assistant or tool.
        text: the text without white space around it; "" where there is none.
        calls: the calls beside the text.
        of_model: the model under test wrote it.
    """

    position: str
    role: str
    text: str
    calls: tuple[Call, ...] = ()
    of_model: bool = False


@dataclass(frozen=True)
class Conversation:
    """One record of one file.

    Attributes:
        file: path relative to the recorded folder, or `embedded.jsonl`.
        record: task/trial, or BFCL's id.
        stratum: what the items are spread over: a file, or a model's folder where its files are small.
        cluster: conversations of one stratum with one cluster resemble each other and stay in one half.
        messages: all of them, in order.
        tools: names of the tools that the model had.
        recorded: the messages as the importer gives them; none for BFCL's runs.
    """

    file: str
    record: str
    stratum: str
    cluster: str
    messages: tuple[Message, ...]
    tools: frozenset[str] = frozenset()
    recorded: tuple[ChatMessage, ...] = ()


def read_all(recorded: Path, wanted: Collection[str] | None = None) -> list[Conversation]:
    """Every conversation of the recorded folder and of the embedded model.

    Args:
        recorded: a folder with tau2/*.json, tau1/*.json and bfcl/result_*.
        wanted: the files to read, relative to it; None for all.

    Raises:
        ValidityError: where the folder has none of them, or a file is not what its place says.
    """
    readers: dict[str, Callable[[Path, str], Iterator[Conversation]]] = {
        "tau2/*.json": _tau2,
        "tau1/*.json": _tau1,
        "bfcl/result_*/**/*_result.json": _bfcl,
    }
    found: list[Conversation] = []
    for pattern, reader in readers.items():
        for path in sorted(recorded.glob(pattern)):
            file = path.relative_to(recorded).as_posix()
            if wanted is not None and file not in wanted:
                continue
            try:
                found += reader(path, file)
            except (ValueError, LookupError, TypeError, AttributeError, RuntimeError) as error:
                raise ValidityError(f"{path}: cannot be read as {pattern} ({error}); get it again") from error
    if not found:
        raise ValidityError(
            f"recorded_folder: {recorded} holds no recorded runs; get them (README, Recorded runs), or set "
            "validity: false"
        )
    return found + list(_embedded(EMBEDDED))


def _tau2(path: Path, file: str) -> Iterator[Conversation]:
    return _of_recording(file, tau2.read(path, str(tau2.domain_of(path))))


def _tau1(path: Path, file: str) -> Iterator[Conversation]:
    return _of_recording(file, tau1.read(path, str(tau1.domain_of(path))))


def _of_recording(file: str, recording: Recording) -> Iterator[Conversation]:
    for run in recording.runs:
        messages = tuple(_openai(i, message) for i, message in enumerate(run.messages))
        tools = frozenset(tool["function"]["name"] for _, tool in recording.cases[run.case_id].tools)
        yield Conversation(file, f"{run.case_id}/{run.trial}", file, run.case_id, messages, tools, run.messages)


def _openai(index: int, message: Mapping[str, Any]) -> Message:
    calls = tuple(
        Call(call["function"]["name"], json.loads(call["function"]["arguments"]))
        for call in message.get("tool_calls", ())
    )
    # The engine's fixed greeting is not the model's.
    of_model = message["role"] == "assistant" and not message.get("canned")
    return Message(str(index), message["role"], (message["content"] or "").strip(), calls, of_model)


def _bfcl(path: Path, file: str) -> Iterator[Conversation]:
    stratum = "/".join(file.split("/")[:2])
    for line in path.read_text().splitlines():
        run = json.loads(line)
        turns = [[_bfcl_step(f"{t}/{s}", step) for s, step in enumerate(turn)] for t, turn in enumerate(run["result"])]
        yield _of_case(file, run["id"], stratum, turns)


def _bfcl_step(position: str, step: Any) -> Message:
    parts = step if isinstance(step, list) else [step]
    text = "\n".join(part for part in parts if isinstance(part, str)).strip()
    calls = [Call(n, json.loads(a)) for part in parts if isinstance(part, dict) for n, a in part.items()]
    return Message(position, "assistant", text, tuple(calls), True)


def _embedded(path: Path) -> Iterator[Conversation]:
    by_case: dict[str, dict[int, list[Message]]] = defaultdict(lambda: defaultdict(list))
    for line in path.read_text().splitlines():
        row = json.loads(line)
        calls = tuple(Call(**call) for call in row["calls"])
        message = Message(f"{row['turn']}/{row['step']}", "assistant", row["text"].strip(), calls, True)
        by_case[row["case_id"]][row["turn"]].append(message)
    for case_id, turns in by_case.items():
        yield _of_case(path.name, case_id, path.name, [turns[t] for t in range(max(turns) + 1)])


def _of_case(file: str, case_id: str, stratum: str, turns: list[list[Message]]) -> Conversation:
    """The user's side is the benchmark's; results of the calls were not kept."""
    case = _cases(case_id.removeprefix("multi_turn_").rsplit("_", 1)[0])[case_id]
    messages: list[Message] = []
    for turn, (asked, steps) in enumerate(zip(case.turns, turns, strict=False)):
        messages += [Message(f"{turn}", "user", str(m.get("content") or "")) for m in asked] + steps
    tools = frozenset(tool["function"]["name"] for _, tool in case.tools)
    return Conversation(file, case_id, stratum, case_id.rsplit("_", 1)[1], tuple(messages), tools)


@cache
def _cases(category: str) -> dict[str, Case]:
    return {case.case_id: case for case in bfcl_cases.load(category)}
