"""A cell as a log of Inspect (inspect_ai), which `inspect view` opens: a sample per case and trial, with scores.

Needs the extra `inspect`. The log is written through Inspect's own classes; what it holds of time and ids is made from
the cell, for the tables know no clock: equal tables, equal bytes.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalMetric, EvalResults, EvalSample, EvalScore, EvalSpec
from inspect_ai.log import write_eval_log as _write
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    ModelOutput,
)
from inspect_ai.scorer import Score
from inspect_ai.tool import ToolCall, ToolCallError

from toolcal import __version__
from toolcal.cells import Cell
from toolcal.exports.runs import Exported
from toolcal.exports.transcript import Transcript
from toolcal.utf8 import in_utf8
from toolcal.writes.conversation import Place, place_of
from toolcal.writes.talk import arguments_of

_CREATED = "1970-01-01T00:00:00+00:00"
_ZIP_TIME = (1980, 1, 1, 0, 0, 0)
_SCORED = {True: "C", False: "I"}
"""Inspect's letters for right and wrong."""


def cell_log(cell: Cell, runs: Sequence[Exported], rates: Sequence[Mapping[str, Any]], *, family: str) -> EvalLog:
    """The log of one cell.

    Args:
        cell: whose runs they are.
        runs: its runs, in the order of their key.
        rates: its rows of table `cells`.
        family: the model's family.
    """
    samples = [_sample(cell, run) for run in runs]
    cases = list(dict.fromkeys(str(sample.id) for sample in samples))
    of = _id(*cell)
    return EvalLog(
        status="success",
        eval=EvalSpec(
            eval_id=of,
            run_id=of,
            task_id=of,
            created=_CREATED,
            task=f"{cell.scenario}.{cell.perturbation}",
            dataset=EvalDataset(name=cell.scenario, samples=len(cases), sample_ids=cases),
            model=f"{family.replace('/', '-')}/{cell.model}",
            config=EvalConfig(epochs=1 + max((run.trial for run in runs), default=0)),
            packages={"toolcal": __version__},
            metadata={**cell._asdict(), "family": family},
        ),
        results=EvalResults(
            total_samples=len(samples),
            completed_samples=sum("passed" in (sample.scores or {}) for sample in samples),
            scores=_results(rates),
        ),
        samples=samples,
    )


def write(log: EvalLog, path: Path) -> None:
    """Write a log whole, to a temporary name first; the entries of the archive bear one fixed time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    given, settled = (path.with_name(f".{path.stem}.{part}.eval") for part in ("given", "settled"))
    try:
        _write(log, str(given), format="eval")
        with zipfile.ZipFile(given) as source, zipfile.ZipFile(settled, "w") as target:
            for entry in source.infolist():
                copy = zipfile.ZipInfo(entry.filename, _ZIP_TIME)
                copy.compress_type = zipfile.ZIP_DEFLATED
                with source.open(entry) as content, target.open(copy, "w", force_zip64=True) as place:
                    shutil.copyfileobj(content, place)
        settled.replace(path)
    finally:
        given.unlink(missing_ok=True)
        settled.unlink(missing_ok=True)


def _sample(cell: Cell, run: Exported) -> EvalSample:
    told = run.transcript
    of = f"{run.case_id}.{run.trial}"
    messages = _messages(told, run.labels, _id(*cell, of))
    answers = [message for message in messages if isinstance(message, ChatMessageAssistant)]
    output = ModelOutput.from_message(answers[-1]) if answers else ModelOutput()
    output.model = cell.model
    output.completion = answers[-1].text if answers else ""
    return EvalSample(
        id=_sample_id(run.case_id),
        epoch=run.trial + 1,
        input=next((message.text for message in messages if message.role == "user"), ""),
        target=run.gold_actions,
        messages=messages,
        output=output,
        scores=_scores(run),
        metadata=in_utf8(dict(run.about)) | {"taken_back": [_gone(row) for row in told.taken_back]},
        uuid=_id(*cell, of, "sample"),
    )


def _sample_id(case_id: str) -> str:
    """A case's id as the name of a file in the archive, which is cut at a NUL and led elsewhere by a slash."""
    return re.sub(r"[\x00-\x1f\x7f%/\\]", lambda sign: f"%{ord(sign[0]):02X}", case_id)


def _messages(told: Transcript, labels: Mapping[Place, Mapping[str, Any]], of: str) -> list[ChatMessage]:
    found: list[ChatMessage] = []
    names: dict[str | None, str] = {}
    for at, message in enumerate(told.messages):
        content, id = message["content"] or "", f"{of}-{at}"
        calls = [_call(call, f"{id}-{number}") for number, call in enumerate(message.get("tool_calls") or ())]
        match message["role"]:
            case "assistant":
                row = told.emissions[at]
                place = {key: row[key] for key in ("turn", "step", "attempt")}
                about = place | {"status": row["status"], "origin": row["origin"]}
                about |= {"labels": dict(labels.get(place_of(row), {}))}
                names = {call.id: call.function for call in calls}
                found.append(ChatMessageAssistant(id=id, content=content, tool_calls=calls or None, metadata=about))
            case "tool":
                call_id = message.get("tool_call_id")
                error = ToolCallError("unknown", content) if message.get("failed") else None
                found.append(
                    ChatMessageTool(
                        id=id, content=content, tool_call_id=call_id, function=names.get(call_id), error=error
                    )
                )
            case "system":
                found.append(ChatMessageSystem(id=id, content=content))
            case _:
                # What the user called is told in words: Inspect's users call nothing.
                said = [content, *(f"{call.function}({call.arguments})" for call in calls)]
                found.append(ChatMessageUser(id=id, content="\n".join(filter(None, said))))
    return found


def _call(call: Mapping[str, Any], id: str) -> ToolCall:
    function = call.get("function") or {}
    arguments = arguments_of(function.get("arguments"))
    wrong = None if arguments is not None else f"no JSON object: {function.get('arguments')}"
    return ToolCall(str(call.get("id") or id), str(function.get("name") or ""), dict(arguments or {}), wrong)


def _scores(run: Exported) -> dict[str, Score]:
    """Its verdicts, and whether it showed its gold action, by labeller; what is not known has no score."""
    found = {}
    for name in ("passed", "passed_strict"):
        if (verdict := run.grade.get(name)) is not None:
            why = ": ".join(str(run.grade[key]) for key in ("reason", "detail") if run.grade.get(key))
            found[name] = Score(value=_SCORED[verdict], explanation=why or None)
    for row in run.outcomes:
        if row["emitted_case_any"] is not None:
            found[_gar(row)] = Score(
                value=_SCORED[row["emitted_case_any"]],
                explanation=row["outcome_case_any"],
                metadata={key: row[key] for key in ("emitted_decisive", "outcome_decisive")},
            )
    return found


def _results(rates: Sequence[Mapping[str, Any]]) -> list[EvalScore]:
    """The cell's rates, as the table `cells` has them: intervals and n beside each."""
    found = {}
    for row in rates:
        for name, measure in (("passed", "acc"), ("passed_strict", "acc_strict"), (_gar(row), "gar_case_any")):
            if row[measure] is not None:
                values = {measure: row[measure], "low": row[f"{measure}_low"], "high": row[f"{measure}_high"]}
                metrics = {key: EvalMetric(name=key, value=value) for key, value in values.items()}
                found[name] = EvalScore(
                    name=name, scorer=name, scored_samples=row["n"], unscored_samples=row["n_missing"], metrics=metrics
                )
    return list(found.values())


def _gar(row: Mapping[str, Any]) -> str:
    return f"{row['gold_action']} by {row['labeller']}"


def _gone(row: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: row[key] for key in ("turn", "step", "attempt", "retracted", "content", "tool_calls")}
    return dict(in_utf8(kept))


def _id(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:22]
