"""The configuration: checked against its schema, defaults filled in, and the panel of cells that it plans."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from toolcal import corrections
from toolcal.cells import BASELINE, Cell
from toolcal.confidence import plan, turn_plan
from toolcal.models.entries import endpoint_name, is_conversation
from toolcal.training import checkpoints, training_plan

Config = dict[str, Any]

_UNPERTURBED = {
    "recorded": "is there as recorded runs, what it read cannot be changed any more",
    "audit": "is a scripted audit, which reads nothing that could be changed",
}
"""Sources that no perturbation is for, and why."""

SCRIPTED = "scripted"
"""The user that is no model."""

_NAMED_BY = {"static": "edit", "probe": "probe"}
"""Kind of a perturbation -> the key that says which one it is; that name's part of the schema has its parameters."""


def _is_integer(_: Any, value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)  # 2.0 would end as a float where a count is wanted


def _is_number(_: Any, value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


_Validator = jsonschema.validators.extend(  # type: ignore[no-untyped-call]
    jsonschema.Draft202012Validator,
    type_checker=jsonschema.Draft202012Validator.TYPE_CHECKER.redefine_many(
        {"integer": _is_integer, "number": _is_number}
    ),
)


class ConfigError(ValueError):
    """A configuration that cannot be run; one line an error: where, what was found, what is allowed."""


def load_schema(path: str | Path) -> dict[str, Any]:
    """The schema, from its YAML file."""
    schema: dict[str, Any] = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    return schema


def validated(config: Mapping[str, Any], schema: Mapping[str, Any]) -> Config:
    """The configuration with its defaults filled in, and the paths of recorded files as seen from the working folder.

    Raises:
        ConfigError: naming for every error the path of the key, what was found and what is allowed.
    """
    checked: Config = copy.deepcopy(dict(config))
    found = _Validator(schema).iter_errors(checked)
    errors = sorted(found, key=lambda error: [str(part) for part in error.absolute_path])
    lines = [line for error in errors for line in _lines(error)]
    if not lines:
        checked.setdefault("scenarios", {})
        lines = list(_contradictions(checked))
    if lines:
        raise ConfigError("\n".join(dict.fromkeys(lines)))
    _fill(checked, schema, schema)
    for entry in checked["models"].values():
        _fill(entry, schema["$defs"][entry["source"]], schema)
        if entry["source"] == "api":
            checked["endpoints"].setdefault(endpoint_name(entry), {})
        for key in {"results", "scores"} & entry.keys():
            entry[key] = str(Path(checked["recorded_folder"], entry[key]))
    if "judge" in checked:
        _fill(checked["judge"], schema["properties"]["judge"], schema)
        checked["endpoints"].setdefault(endpoint_name(checked["judge"]), {})
    for perturbation in checked["perturbations"].values():
        _fill(perturbation, schema["$defs"][perturbation["kind"]], schema)
        _fill(perturbation["parameters"], schema["$defs"][perturbation[_NAMED_BY[perturbation["kind"]]]], schema)
    for endpoint in checked["endpoints"].values():
        _fill(endpoint, schema["$defs"]["endpoint"], schema)
    if "confidence" in checked:
        study = schema["properties"]["confidence"]
        _fill(checked["confidence"], study, schema)
        for tool in ("search", "python"):
            _fill(checked["confidence"][tool], study["properties"][tool], schema)
    for design in checked["rewards"].values():
        _fill(design, schema["$defs"][design["formula"]], schema)
    if "training" in checked:
        training = schema["properties"]["training"]
        _fill(checked["training"], training, schema)
        for part in ("lora", "vllm"):
            _fill(checked["training"][part], training["properties"][part], schema)
        if checkpoints.SUPERVISED in checked["training"]:
            _fill(checked["training"][checkpoints.SUPERVISED], schema["$defs"]["supervised"], schema)
    for entry in training_plan.sets(checked).values():
        _fill(entry, schema["$defs"]["question_set"], schema)
    for key in {"conversations", "reward_bench", "turn_confidence", "explorer"} & checked.keys():
        _fill(checked[key], schema["properties"][key], schema)
    checked["scenarios"] = {name: entry or {} for name, entry in checked["scenarios"].items()}
    checkpoints.locate(checked)
    return checked


def cells(config: Config) -> list[Cell]:
    """The panel: every model on every scenario that it is given, as it is and under its perturbations."""
    return [
        Cell(model, scenario, perturbation)
        for model, entry in config["models"].items()
        for scenario in config["scenarios"]
        if scenario in entry.get("scenarios", config["scenarios"]) and runs_in(entry, scenario)
        for perturbation in (BASELINE, *_perturbations(config, model, scenario))
    ]


def perturbation(config: Config, name: str) -> dict[str, Any] | None:
    """What a perturbation does: {name, kind, edit or probe, parameters}; None for the baseline."""
    if name == BASELINE:
        return None
    entry = config["perturbations"][name]
    return {"name": name, **{key: entry[key] for key in ("kind", _NAMED_BY[entry["kind"]], "parameters")}}


def replayed(config: Config, cell: Cell) -> Cell | None:
    """The baseline whose answers a cell takes as long as what its model reads is the same; None where it asks for all.

    They are taken for a probe's cell (unless `replay` is off) of a model that is marked `deterministic`.
    """
    entry = config["perturbations"].get(cell.perturbation, {})
    if entry.get("kind") == "probe" and entry["replay"] and config["models"][cell.model].get("deterministic"):
        return cell._replace(perturbation=BASELINE)
    return None


def runs_in(entry: Mapping[str, Any], scenario: str) -> bool:
    """Whether a model can be in a scenario: recorded runs in their format's, scripts in the benchmark they are for."""
    benchmarks = {"policy": ("bfcl",), "audit": ("tau2",), "recorded": (str(entry.get("format")),)}
    return scenario.partition("-")[0] in benchmarks.get(entry["source"], ("bfcl", "tau2"))


def speaks_freely(scenario: str) -> bool:
    """Whether the user of a scenario says what it likes, so that its runs are conversations and no rollouts."""
    return not scenario.startswith("bfcl-")


def user(config: Config) -> dict[str, Any] | None:
    """The entry of the model that plays tau2's user; None for the scripted one."""
    name = config["conversations"]["user"]
    return None if name == SCRIPTED else config["models"][name]


def selection(config: Config, cell: Cell) -> dict[str, Any]:
    """Which cases a cell takes: the arguments `limit` and `case_ids` of `case_table.select`."""
    scenario = config["scenarios"][cell.scenario]
    limits = [entry["limit"] for entry in (scenario, config["models"][cell.model]) if "limit" in entry]
    return {"limit": min(limits, default=None), "case_ids": scenario.get("case_ids")}


def trials(config: Config, model: str) -> int | None:
    """How often a model runs each case; BFCL's recorded runs are there once, others as often as their file says."""
    entry = config["models"][model]
    if is_conversation(entry):
        return None
    return 1 if entry["source"] == "recorded" else int(config["trials"])


def ask_tasks(config: Config, scenario: str) -> str:
    """Which tasks of a tau2 scenario have ASK as a gold action besides."""
    return str(config["scenarios"][scenario].get("ask_tasks", "valid"))


def _perturbations(config: Config, model: str, scenario: str) -> list[str]:
    """The perturbations of a model in a scenario: none where it is not asked, or would not be perturbed by it."""
    if config["models"][model]["source"] in _UNPERTURBED:
        return []
    return [
        name
        for name, entry in config["perturbations"].items()
        if model in entry.get("models", [model])
        and scenario in entry.get("scenarios", [scenario])
        and not (speaks_freely(scenario) and _needs_turns(entry))
    ]


def _needs_turns(entry: Mapping[str, Any]) -> bool:
    """Whether a perturbation is of user messages or a decisive turn that must be known beforehand."""
    return entry.get("edit") == "message_edit" or entry.get("parameters", {}).get("variant") == "bypass"


def _fill(config: Config, part: Mapping[str, Any], schema: Mapping[str, Any]) -> None:
    for key, spec in part["properties"].items():
        if "$ref" in spec:
            spec = _at(spec["$ref"], schema)
        if "default" in spec:
            config.setdefault(key, copy.deepcopy(spec["default"]))


def _at(reference: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The part of the schema that a reference such as #/$defs/api names."""
    for key in reference.split("/")[1:]:
        schema = schema[key]
    return schema


def _contradictions(config: Config) -> Iterator[str]:
    """What the schema cannot say: names that must exist elsewhere in the configuration."""
    if not config["scenarios"] and "confidence" not in config:
        yield "scenarios: none is there, and no confidence study (key confidence) either: there is nothing to run"
        return
    study = config.get("confidence", {}).get("models", [])
    for model, entry in config["models"].items():
        for scenario in entry.get("scenarios", []):
            if scenario not in config["scenarios"]:
                allowed = ", ".join(config["scenarios"])
                yield f"models.{model}.scenarios: found {scenario!r}, allowed are the keys of scenarios: {allowed}"
            elif not runs_in(entry, scenario):
                yield f"models.{model}.scenarios: {scenario} cannot be run by source {entry['source']}" + (
                    f", format {entry['format']}" if "format" in entry else ""
                )
        able = any(runs_in(entry, scenario) for scenario in config["scenarios"])
        if not (able or "scenarios" in entry or model in study):
            there = ", ".join(config["scenarios"]) or "none is there"
            yield f"models.{model}: none of the scenarios is one that it can be in: {there}"
        yield from _contradictions_of_calls(f"models.{model}", entry, config)
        if entry["source"] == "vllm" and entry.get("tool_mode", "native") == "native" and "tool_parser" not in entry:
            yield f"models.{model}.tool_parser: is missing, native tool calls need vLLM's parser for this model"
    yield from _contradictions_of_user(config)
    yield from plan.contradictions(config)
    if "judge" in config:
        yield from _contradictions_of_calls("judge", config["judge"], config)
    for model in config["models"]:
        if model == SCRIPTED:
            yield f"models.{model}: is the name of the user that is no model (conversations.user); rename it"
        if model.lower() in ("judge", "user", "answers"):
            yield f"models.{model}: journal/{model} would hold this model's calls and other ones; rename it"
    for scenario, settings in config["scenarios"].items():
        if settings and "ask_tasks" in settings and not scenario.startswith("tau2-"):
            yield f"scenarios.{scenario}.ask_tasks: is for tau2's scenarios only"
    for name in config.get("perturbations", {}):
        yield from _contradictions_of_perturbation(name, config)
    yield from turn_plan.contradictions(config)
    yield from checkpoints.contradictions(config)
    yield from training_plan.contradictions(config)
    yield from corrections.contradictions(config)
    folded: dict[str, str] = {}
    for model in config["models"]:
        if folded.setdefault(model.lower(), model) != model:
            yield f"models: {folded[model.lower()]!r} and {model!r} would share files where case is ignored; rename one"


def _contradictions_of_user(config: Config) -> Iterator[str]:
    name = config.get("conversations", {}).get("user", SCRIPTED)
    sources = {model: entry["source"] for model, entry in config["models"].items()}
    if name != SCRIPTED and sources.get(name) not in ("api", "vllm", "embedded"):
        allowed = [SCRIPTED, *(model for model, source in sources.items() if source in ("api", "vllm", "embedded"))]
        yield f"conversations.user: found {name!r}, allowed: {', '.join(allowed)}"
        return
    for model, entry in config["models"].items():
        asked = (name, config.get("training", {}).get("model"), *config.get("confidence", {}).get("models", []))
        if entry.get("scenarios") == [] and model not in asked:
            yield (
                f"models.{model}.scenarios: is empty, and the model neither plays the user nor is in the confidence "
                "study, nor trained; name some or leave it out"
            )


def _contradictions_of_perturbation(name: str, config: Config) -> list[str]:
    where, entry = f"perturbations.{name}", config["perturbations"][name]
    lines = [
        f"{where}.{key}: found {found!r}, allowed are the keys of {key}: {', '.join(config[key])}"
        for key in ("models", "scenarios")
        for found in entry.get(key, [])
        if found not in config[key]
    ]
    for model in entry.get("models", []):
        if why := _UNPERTURBED.get(config["models"].get(model, {}).get("source")):
            lines.append(f"{where}.models: {model} {why}")
    for scenario in entry.get("scenarios", []):
        if scenario in config["scenarios"] and scenario.partition("-")[0] not in ("bfcl", "tau2"):
            lines.append(f"{where}.scenarios: {scenario} is there as recorded runs only, allowed are bfcl's and tau2's")
        elif speaks_freely(scenario) and _needs_turns(entry):
            lines.append(f"{where}.scenarios: in {scenario} the user speaks freely, this one needs turns known before")
    if not lines and not any(cell.perturbation == name for cell in cells(config)):
        lines.append(f"{where}: no model that it is for runs in a scenario that it is for")
    return lines


def _contradictions_of_calls(where: str, entry: Config, config: Config) -> Iterator[str]:
    for path, value in _leaves(entry.get("parameters", {})):
        if isinstance(value, float) and not math.isfinite(value):
            yield f"{where}.parameters{path}: found {value}, allowed: a finite number"
        elif not isinstance(value, str | int | float | None):
            yield f"{where}.parameters{path}: found {_short(value)}, allowed: what JSON has"
    if "endpoint" in entry and entry["endpoint"] not in config.get("endpoints", {}):
        allowed = ", ".join(config.get("endpoints", {})) or "none is there"
        yield f"{where}.endpoint: found {entry['endpoint']!r}, allowed are the keys of endpoints: {allowed}"


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _leaves(item, f"{path}.{key}")
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from _leaves(item, f"{path}.{place}")
    else:
        yield path, value


def _lines(error: jsonschema.ValidationError) -> Iterator[str]:
    where = ".".join(str(part) for part in error.absolute_path)
    prefix, at = f"{where}." if where else "", where or "top level"
    rule: str = str(error.validator)
    found: Any = error.instance
    spec: dict[str, Any] = error.schema if isinstance(error.schema, dict) else {}
    if rule == "additionalProperties":
        known = sorted(spec.get("properties", {}))
        for key in sorted(map(str, set(found) - set(known))):
            yield f"{prefix}{key}: unknown key, allowed here: {', '.join(known) or 'none'}"
    elif rule == "required":
        yield f"{at}: {error.message}"
    elif "propertyNames" in error.absolute_schema_path:
        name = found if isinstance(found, str) and found.isprintable() else repr(found)
        yield f"{prefix}{name}: not a name allowed here, {_allowed(rule, spec[rule])}"
    else:
        like = f", such as {spec['examples'][0]}" if "examples" in spec else ""
        yield f"{at}: found {_short(found)}, allowed: {_allowed(rule, spec.get(rule))}{like}"


def _allowed(rule: str, value: Any) -> str:
    """A schema's rule in words."""
    match rule:
        case "enum":
            return "one of " + ", ".join(map(str, value))
        case "type":
            return "a list" if value == "array" else value if isinstance(value, str) else " or ".join(value)
        case "not":
            return "anything but " + ", ".join(value["enum"]) + " (toolcal sets those itself)"
        case "anyOf":
            return ", or ".join(_allowed(key, branch[key]) for branch in value for key in branch)
        case "oneOf":
            return "either the keys " + ", or ".join(" and ".join(branch["required"]) for branch in value)
    words = {
        "const": "{}",
        "minimum": "{} or more",
        "maximum": "{} or less",
        "exclusiveMinimum": "more than {}",
        "exclusiveMaximum": "less than {}",
        "minItems": "a list of at least {}",
        "minProperties": "at least {} entry",
        "minLength": "text of at least {} character",
        "maxLength": "at most {} characters",
        "uniqueItems": "a list without repetitions",
        "pattern": "text that matches {}",
    }
    return words.get(rule, f"{rule} {{}}").format(value)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
