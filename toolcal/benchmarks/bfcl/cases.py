"""The four multi-turn categories of BFCL as cases.

Source: the data files inside `bfcl-eval` (Apache-2.0). The package's own loader is not used: it imports the handlers of
every provider, and makes folders where it is installed.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from toolcal.benchmarks.protocol import Case, Message, Tool

PACKAGE = "bfcl-eval"
GOLD_ACTION = {"base": "TOOL_CALL", "long_context": "TOOL_CALL", "miss_func": "REFUSE", "miss_param": "ASK"}
"""Gold action by category (method A3)."""

DOMAINS = (
    "GorillaFileSystem",
    "MathAPI",
    "MessageAPI",
    "TicketAPI",
    "TradingBot",
    "TravelAPI",
    "TwitterAPI",
    "VehicleControlAPI",
)
"""The classes that the multi-turn cases are made of."""

_JSON_TYPES = {"dict": "object", "float": "number", "tuple": "array", "list": "array", "bool": "boolean", "any": None}
_NAME = re.compile(r"[^A-Za-z0-9_-]")


class BenchmarkError(RuntimeError):
    """The benchmark's package is missing or is not as expected."""


@cache
def data_folder() -> Path:
    """Where bfcl-eval keeps its data."""
    spec = importlib.util.find_spec("bfcl_eval")
    if spec is None or not spec.submodule_search_locations:
        raise BenchmarkError("bfcl-eval is not installed; `uv sync`, or `pip install --no-deps bfcl-eval==2026.3.23`")
    return Path(next(iter(spec.submodule_search_locations))) / "data"


def revision() -> str:
    """The data set's revision: package and version."""
    return f"{PACKAGE}-{importlib.metadata.version(PACKAGE)}"


def data_files(category: str) -> list[Path]:
    """All files that a category's cases are made of, for checksums."""
    name = f"BFCL_v4_multi_turn_{category}.json"
    documents = sorted((data_folder() / "multi_turn_func_doc").glob("*.json"))
    return [data_folder() / name, data_folder() / "possible_answer" / name, *documents]


def load(category: str) -> list[Case]:
    """The 200 cases of a category, in the benchmark's order.

    Args:
        category: base, long_context, miss_func or miss_param.

    Raises:
        BenchmarkError: for another category, or where questions and answers don't belong together.
    """
    if category not in GOLD_ACTION:
        raise BenchmarkError(f"BFCL has no multi-turn category {category!r}; there are {', '.join(GOLD_ACTION)}")
    questions, answers = (_lines(path) for path in data_files(category)[:2])
    if [entry["id"] for entry in questions] != [entry["id"] for entry in answers]:
        raise BenchmarkError(f"BFCL {category}: questions and reference answers list different entries")
    return [_case(category, entry, answer["ground_truth"]) for entry, answer in zip(questions, answers, strict=True)]


def entry(case: Case) -> dict[str, Any]:
    """The case as BFCL's own checker wants it."""
    return {
        "id": case.case_id,
        "initial_config": case.initial_state["config"],
        "involved_classes": case.initial_state["classes"],
    }


@cache
def exclusions() -> dict[str, Any]:
    """The versioned list of turns that turn-level views leave out, with reasons."""
    found: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("exclusions.yaml").read_text())
    return found


def domains() -> dict[str, list[Tool]]:
    """Class -> its tools, of all classes that the multi-turn cases are made of."""
    documents = {name: _documents(name) for name in DOMAINS}
    return {name: [_tool(document["name"], document) for document in found] for name, found in documents.items()}


def api_names(names: Iterable[str]) -> dict[str, str]:
    """Tool name for an endpoint -> the benchmark's name: dots and other signs that APIs refuse become `_`.

    Raises:
        BenchmarkError: where two tools would get one name.
    """
    mapping: dict[str, str] = {}
    for name in names:
        wire = _NAME.sub("_", name)
        if mapping.setdefault(wire, name) != name:
            raise BenchmarkError(f"tools {mapping[wire]!r} and {name!r} would both be called {wire!r} by an API")
    return mapping


def json_schema(parameter: Mapping[str, Any]) -> dict[str, Any]:
    """BFCL's parameter description as JSON Schema: its own type names translated, all else kept."""
    schema = dict(parameter)
    if "type" in schema:
        schema["type"] = _JSON_TYPES.get(schema["type"], schema["type"])
        if schema["type"] is None:  # JSON Schema says "any" by saying nothing
            del schema["type"]
    if "properties" in schema:
        schema["properties"] = {name: json_schema(value) for name, value in schema["properties"].items()}
    if isinstance(schema.get("items"), Mapping):
        schema["items"] = json_schema(schema["items"])
    return schema


def _case(category: str, question: Mapping[str, Any], gold: list[list[str]]) -> Case:
    number = question["id"].rsplit("_", 1)[1]
    held_out = {int(turn): names for turn, names in question.get("missed_function", {}).items()}
    empty = [turn for turn, calls in enumerate(gold) if not calls]
    decisive = {"miss_func": min(held_out, default=0) - 1, "miss_param": empty[0] if empty else None}.get(category)
    return Case(
        benchmark="bfcl",
        scenario=f"bfcl-{category}",
        revision=revision(),
        case_id=question["id"],
        cluster_id=number,
        turns=tuple(_messages(turn, messages, held_out) for turn, messages in enumerate(question["question"])),
        tools=tuple(_tools(question["involved_classes"], held_out)),
        initial_state={"classes": question["involved_classes"], "config": question["initial_config"]},
        gold=tuple(tuple(calls) for calls in gold),
        gold_actions=(GOLD_ACTION[category],),
        decisive_turn=decisive,
        excluded_turns=tuple(exclusions()["turns"][category].get(int(number), ())),
    )


def _messages(turn: int, messages: list[Message], held_out: Mapping[int, list[str]]) -> tuple[Message, ...]:
    if turn not in held_out:
        return tuple(messages)
    from bfcl_eval.constants.default_prompts import DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_FC

    return ({"role": "user", "content": DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_FC},)


def _tools(classes: Iterable[str], held_out: Mapping[int, list[str]]) -> Iterable[tuple[int, Tool]]:
    """(turn at which it arrives, tool): held-out tools come last, in the order in which they arrive, as BFCL does."""
    arrives = {name: turn for turn, names in held_out.items() for name in names}
    documents = [document for name in classes for document in _documents(name)]
    wire = {name: sent for sent, name in api_names(document["name"] for document in documents).items()}
    order = {name: place for place, name in enumerate(arrives)}
    documents.sort(key=lambda document: order.get(document["name"], -1))
    for document in documents:
        yield arrives.get(document["name"], 0), _tool(wire[document["name"]], document)


def _tool(name: str, document: Mapping[str, Any]) -> Tool:
    function = {
        "name": name,
        # BFCL's own hint for Python entries; published runs had it.
        "description": document["description"] + " Note that the provided function is in Python 3 syntax.",
        "parameters": json_schema(document["parameters"]),
    }
    return {"type": "function", "function": function}


@cache
def _documents(class_name: str) -> tuple[dict[str, Any], ...]:
    from bfcl_eval.constants.executable_backend_config import MULTI_TURN_FUNC_DOC_FILE_MAPPING

    return tuple(_lines(data_folder() / "multi_turn_func_doc" / MULTI_TURN_FUNC_DOC_FILE_MAPPING[class_name]))


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
