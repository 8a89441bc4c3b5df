"""The training of one design: from a model's folder to an adapter, with checkpoints and a log on the way.

What is kept on the way lies in one folder, `progress`: `log.jsonl` and `samples.jsonl`, which grow by each step,
`settings.json`, and the last two checkpoints, of which only whole ones count. A training that was killed goes on from
there; what was logged after the last checkpoint is done again.
"""

from __future__ import annotations

import json
import logging
import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolcal.folders import made_whole
from toolcal.training.episodes import Desk
from toolcal.training.libraries import library
from toolcal.training.log import Lines, line_of, log_row, sample_rows, stated
from toolcal.training.rewards import Design
from toolcal.training.tasks import Place, Task

if TYPE_CHECKING:
    from toolcal.confidence.answering import Way
    from toolcal.models.chat import ToolMode
    from toolcal.models.json_mode import History
    from toolcal.training.trainer import Step

_log = logging.getLogger(__name__)
_WHOLE = "whole"
"""A file in a checkpoint that was written to its end."""
_ADAPTER = ("adapter_config.json", "adapter_model.safetensors")
_FREE = ("steps", "save_every", "samples", "rolling", "micro_batches")
"""Settings that may differ when a training goes on: none of them bears on what is learnt in a step."""
_EVERY = 30.0
"""Seconds between lines on the terminal."""


class TrainingError(RuntimeError):
    """A training that cannot begin or go on; one line, with what to do."""


@dataclass(frozen=True)
class Training:
    """What a training is made of.

    Attributes:
        design: what answers are paid.
        settings: the configuration's `training`, with defaults filled in.
        about: what else decides what is learnt (the weights' checksum, the study's way of asking), JSON values.
        tasks: in the order in which they are asked, as many as all steps need.
        desks: of each place, its tool.
        way: how the study has questions answered.
        tool_mode: how tools are offered to the model.
        history: in JSON mode, what the prompt holds.
        base: the folder of the untreated model.
        progress: the folder of what is kept on the way.
    """

    design: Design
    settings: Mapping[str, Any]
    about: Mapping[str, Any]
    tasks: Sequence[Task]
    desks: Mapping[Place, Desk]
    way: Way
    tool_mode: ToolMode
    history: History
    base: Path
    progress: Path

    @property
    def log(self) -> Lines:
        """A row a step."""
        return Lines(self.progress / "log.jsonl")

    @property
    def samples(self) -> Lines:
        """Some answers of each step."""
        return Lines(self.progress / "samples.jsonl")


def train(training: Training, *, threads: int = 1, over: Callable[[], bool] = lambda: False) -> Path:
    """Train, from the beginning or from the last checkpoint.

    Args:
        training: what it is made of.
        threads: of the processor.
        over: whether the run that wants the training has ended; looked at after each step.

    Returns:
        The folder of the last checkpoint, in which the adapter is.

    Raises:
        MissingLibraryError: without the extra `train`.
        TrainingError: the folder holds another training's progress, the model cannot be loaded, or the run is over.
    """
    for name in ("torch", "transformers", "trl", "peft", "llguidance"):
        library(name)
    done = resumed(training)
    steps = training.settings["steps"]
    if done == steps:
        return _checkpoint(training, done)
    _log.info("%s: goes on after step %s of %s", training.design.name, done, steps)
    from toolcal.training import setting_up

    trainer = setting_up.trainer(training, _Told(training, over), threads=threads)
    trainer.train(resume_from_checkpoint=str(_checkpoint(training, done)) if done else None)
    return _checkpoint(training, steps)


def resumed(training: Training) -> int:
    """Take the progress folder: after how many steps does the training go on?

    What a kill left unfinished is removed, and the logs are taken back to the last checkpoint.

    Args:
        training: whose folder it is.

    Raises:
        TrainingError: it holds the progress of another training, or of more steps than are asked for.
    """
    folder, file = training.progress, training.progress / "settings.json"
    kept = {
        "design": {"formula": training.design.formula, **training.design.parameters},
        **{key: value for key, value in training.settings.items() if key not in _FREE},
        **training.about,
    }
    if file.is_file():
        before = json.loads(file.read_text(encoding="utf-8"))
        kept = json.loads(json.dumps(kept))
        differ = sorted(key for key in {*kept, *before} if kept.get(key) != before.get(key))
        if differ:
            shown = "; ".join(f"{key} was {before.get(key)}, is {kept.get(key)}" for key in differ)
            raise TrainingError(
                f"{folder} holds the progress of another training ({shown}): delete that folder to begin anew, "
                "or change it back"
            )
    else:
        folder.mkdir(parents=True, exist_ok=True)
        temporary = file.with_suffix(".tmp")
        temporary.write_text(json.dumps(kept, indent=1), encoding="utf-8")
        temporary.replace(file)
    done = 0
    for path in folder.glob("checkpoint-*"):
        if (path / _WHOLE).is_file():
            done = max(done, int(path.name.rpartition("-")[2]))
        else:
            shutil.rmtree(path)
    if done > training.settings["steps"]:
        raise TrainingError(
            f"training.steps: found {training.settings['steps']}, and {folder} has {done} steps behind it; delete that "
            "folder to begin anew, or ask for as many"
        )
    training.log.back_to(done)
    training.samples.back_to(done)
    return done


def keep_adapter(checkpoint: Path, folder: Path) -> None:
    """The adapter of a checkpoint in a folder of its own, as `PeftModel.from_pretrained` reads it.

    Args:
        checkpoint: a folder that `train` gave.
        folder: is made anew, whole.
    """
    with made_whole(folder) as new:
        for name in _ADAPTER:
            shutil.copyfile(checkpoint / name, new / name)


def mark_whole(folder: Path) -> None:
    """Say of a checkpoint that it was written to its end."""
    (folder / _WHOLE).touch()


def _checkpoint(training: Training, step: int) -> Path:
    return training.progress / f"checkpoint-{step}"


class _Told:
    """Hears of each batch and of each update, and writes the log.

    Args:
        training: whose log it is.
        over: whether the run has ended.
    """

    def __init__(self, training: Training, over: Callable[[], bool]) -> None:
        self._training, self._over = training, over
        self._answered: Step | None = None
        self._begun = self._said = time.monotonic()
        self._before = [pair for row in training.log.rows() for pair in row["stated"]]

    def answered(self, step: Step) -> None:
        """The answers of a step are there."""
        self._answered = step

    def updated(self, step: int, told: Mapping[str, Any]) -> None:
        """The update of a step is done.

        Args:
            step: from 1.
            told: by the trainer: loss, grad_norm, learning_rate, entropy and, with a beta, kl.
        """
        if self._answered is None:
            return
        made, self._answered = self._answered, None
        training, settings, now = self._training, self._training.settings, time.monotonic()
        name, pairs = training.design.name, stated(made.paid.episodes)
        row = log_row(name, step, made.paid, settings["completions"], self._before, settings["rolling"]) | {
            "trained_tokens": made.trained_tokens,
            "loss": told.get("loss"),
            "kl": told.get("kl"),
            "entropy": told.get("entropy"),
            "gradient_norm": told.get("grad_norm"),
            "learning_rate": told.get("learning_rate"),
            "rollout_seconds": made.seconds,
            "seconds": now - self._begun,
        }
        self._before += pairs
        self._begun = now
        training.samples.add(sample_rows(name, step, made.paid, settings["samples"]))
        training.log.add([row | {"stated": pairs}])
        line = line_of(row, settings["steps"])
        _log.info(line)
        if now - self._said > _EVERY:
            self._said = now
            print(f"toolcal: {line}", file=sys.stderr, flush=True)

    def look(self) -> None:
        """Look whether the run is over.

        Raises:
            TrainingError: it is.
        """
        if self._over():
            raise TrainingError("the run that started this training is over; it goes on from its last checkpoint")
