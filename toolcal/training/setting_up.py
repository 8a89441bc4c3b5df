"""TRL's trainer, set up as the configuration says."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import torch
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer, PrinterCallback, TrainerCallback
from trl import GRPOConfig

from toolcal.training.adapter import lora_config
from toolcal.training.precision import half
from toolcal.training.train import Training, TrainingError, mark_whole
from toolcal.training.trainer import Rollouts, Step, Trainer

if TYPE_CHECKING:
    from collections.abc import Mapping


class Told(Protocol):
    """Who hears of each step."""

    def answered(self, step: Step) -> None:
        """The answers of a step are there."""

    def updated(self, step: int, told: Mapping[str, Any]) -> None:
        """The update of a step is done."""

    def look(self) -> None:
        """Look whether the run is over."""


def trainer(training: Training, told: Told, *, threads: int = 1) -> Trainer:
    """The trainer of a design.

    Args:
        training: what it is made of.
        told: hears of each step.
        threads: of the processor.

    Raises:
        TrainingError: the model cannot be loaded.
    """
    torch.set_num_threads(threads)
    settings = training.settings
    short = half(settings["precision"])
    try:
        tokenizer = AutoTokenizer.from_pretrained(training.base)
        model = AutoModelForCausalLM.from_pretrained(training.base, dtype=torch.bfloat16 if short else torch.float32)
    except (OSError, ValueError) as error:
        raise TrainingError(f"no model to train in {training.base}: {' '.join(str(error).split())}") from error
    made = Trainer(
        Rollouts(
            tasks=training.tasks,
            desks=training.desks,
            way=training.way,
            design=training.design,
            scale=settings["scale_rewards"],
            tool_mode=training.tool_mode,
            history=training.history,
            seed=settings["seed"],
            told=told.answered,
        ),
        model=model,
        args=arguments(settings, training.progress, bfloat16=short),
        # TRL repeats each row for the answers of its group; the order is the tasks' own.
        train_dataset=Dataset.from_list(
            [{"prompt": task.question.text, "task": place} for place, task in enumerate(training.tasks)]
        ),
        processing_class=tokenizer,
        peft_config=lora_config(settings["lora"]),
        callbacks=[_Reports(told, settings["steps"])],
    )
    made.remove_callback(PrinterCallback)  # it would print what the log has
    return made


def arguments(settings: Mapping[str, Any], folder: Path, *, bfloat16: bool) -> GRPOConfig:
    """TRL's arguments.

    Args:
        settings: the configuration's `training`.
        folder: for the checkpoints.
        bfloat16: whether to compute in 16 bits.
    """
    answers = settings["prompts"] * settings["completions"]
    return GRPOConfig(
        output_dir=str(folder),
        max_steps=settings["steps"],
        per_device_train_batch_size=answers // settings["micro_batches"],
        gradient_accumulation_steps=settings["micro_batches"],
        num_generations=settings["completions"],
        max_completion_length=settings["max_tokens"],
        temperature=settings["temperature"],
        learning_rate=settings["learning_rate"],
        # Constant, so that a training can be made longer later.
        lr_scheduler_type="constant_with_warmup",
        warmup_steps=settings["warmup_steps"],
        max_grad_norm=settings["max_gradient_norm"],
        beta=settings["beta"],
        epsilon=settings["clip"],
        # A mean over all trained tokens of the step: it is the same however answers are cut into rows.
        loss_type="dapo",
        gradient_checkpointing=settings["gradient_checkpointing"],
        bf16=bfloat16,
        use_cpu=not torch.cuda.is_available(),
        seed=settings["seed"],
        save_steps=settings["save_every"],
        save_total_limit=2,
        logging_steps=1,
        shuffle_dataset=False,
        report_to=[],
        disable_tqdm=True,
        **(_vllm(settings["vllm"]) if settings["rollouts"] == "vllm" else {}),
    )


def _vllm(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "use_vllm": True,
        "vllm_mode": "colocate",
        "vllm_gpu_memory_utilization": settings["gpu_memory"],
        "vllm_max_model_length": settings["context_length"],
        # Its numbers are taken as those of the old policy (`Trainer._batch`), and so corrected by the clipped ratio.
        "vllm_importance_sampling_correction": False,
    }


class _Reports(TrainerCallback):  # type: ignore[misc]
    """Hands on what TRL reports of an update, and marks checkpoints that are whole."""

    def __init__(self, told: Told, steps: int) -> None:
        self._told, self._steps = told, steps

    def on_log(self, args: Any, state: Any, control: Any, logs: Mapping[str, Any], **_: Any) -> None:
        """TRL logs after each update."""
        self._told.updated(int(state.global_step), logs)

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> Any:
        """The last step is always kept, whatever `save_every` is."""
        if state.global_step >= self._steps:
            control.should_save = True
        self._told.look()
        return control

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """TRL has written a checkpoint to its end."""
        mark_whole(Path(args.output_dir) / f"checkpoint-{state.global_step}")
