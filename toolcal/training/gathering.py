"""A training as its stage's files and parameters have it: tasks in order, tools, and the way of asking."""

from __future__ import annotations

import hashlib
import itertools
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from toolcal import tables
from toolcal.confidence import elicit
from toolcal.confidence.answering import Way
from toolcal.confidence.open_tool import open_tool
from toolcal.confidence.using import Using
from toolcal.provenance import sha256
from toolcal.training.episodes import Desk
from toolcal.training.rewards import Design
from toolcal.training.tasks import Place, spread, tasks_of
from toolcal.training.train import Training

_log = logging.getLogger(__name__)


def gathered(
    design: Design,
    files: Mapping[Place, Mapping[str, str]],
    held_out: Sequence[str | Path],
    *,
    settings: Mapping[str, Any],
    asking: Mapping[str, Any],
    model: Mapping[str, Any],
    limits: Mapping[str, int | None],
    study_limits: Mapping[str, int | None],
    base: Path,
    progress: Path,
) -> Training:
    """Put a training together.

    Args:
        design: what answers are paid.
        files: of each place, where its `questions`, `passages` and `rows` are.
        held_out: tables `questions` of the study, which are not trained on.
        settings: the configuration's `training`, with defaults filled in.
        asking: how the study asks: scale, wording, steps, search, python.
        model: the model's entry.
        limits: of each set that is trained on, how many of its questions are taken; None for all.
        study_limits: the same of the study's sets.
        base: the folder of the untreated model.
        progress: the folder of what is kept on the way.

    Raises:
        NoQuestionError: no question is left.
        SandboxError: python is among the tools, and this machine cannot keep its snippets off everything.
    """
    asking = {**asking, "search": {**asking["search"], "service": "passages"}}
    desks = {}
    for place, paths in files.items():
        tool = open_tool(place.tool, asking, paths["passages"], paths["rows"])
        assert tool is not None
        desks[place] = Desk(Using(tool), tool.schema)
    questions = {place: tables.read("questions", paths["questions"]) for place, paths in files.items()}
    tasks = tasks_of(
        questions,
        limits,
        [_asked(tables.read("questions", path), study_limits) for path in held_out],
    )
    _log.info("%s tasks in %s strata", len(tasks), len({task.stratum for task in tasks}))
    order = spread(tasks, settings["seed"])
    return Training(
        design=design,
        settings=settings,
        about={
            "asking": asking,
            "wordings": elicit.version(),
            "model": {key: model[key] for key in ("tool_mode", "history") if key in model},
            "held_to_schema": model["tool_mode"] == "json",
            "weights": {path.name: sha256(path) for path in sorted(base.glob("*.safetensors"))},
            "questions": {str(tuple(vars(place).values())): _checksum(data) for place, data in questions.items()},
        },
        tasks=list(itertools.islice(order, settings["steps"] * settings["prompts"])),
        desks=desks,
        way=Way(
            agent="trained",
            wording=elicit.wordings()[asking["wording"]],
            scale=asking["scale"],
            json_mode=model["tool_mode"] == "json",
            execute_leaked=True,
            steps=asking["steps"],
            again=False,
        ),
        tool_mode=model["tool_mode"],
        history=model.get("history", "turn"),
        base=base,
        progress=progress,
    )


def _checksum(questions: pd.DataFrame) -> str:
    """Of what a table says; its file holds the hash of the code too, and an edit there is no reason to train anew."""
    return hashlib.sha256(questions.to_csv(index=False).encode()).hexdigest()


def _asked(data: pd.DataFrame, limits: Mapping[str, int | None]) -> pd.DataFrame:
    """Of a table `questions`, what the study asks."""
    limit = limits[data["question_set"].iloc[0]] if len(data) else None
    return data if limit is None else data[data["draw"] < limit]
