"""The supervised fine-tune: LoRA on invented tool calls, to see what learning to call does to asking and refusing.

The loss is of the response's tokens alone. It takes minutes on a processor and begins anew where it was killed.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from toolcal.training.adapter import lora_config
from toolcal.training.invented import Example, examples
from toolcal.training.libraries import library
from toolcal.training.precision import half

_COLUMNS = {
    "loss": "loss",
    "token_accuracy": "mean_token_accuracy",
    "gradient_norm": "grad_norm",
    "learning_rate": "learning_rate",
    "tokens": "num_tokens",
}
"""Columns of the log, and what TRL calls them."""


def fine_tune(
    base: str | Path,
    adapter: str | Path,
    settings: Mapping[str, Any],
    *,
    lora: Mapping[str, Any],
    precision: str,
    seed: int,
    threads: int | None = None,
) -> pd.DataFrame:
    """Train an adapter on invented examples.

    Args:
        base: what `base_model.prepare` wrote.
        adapter: the folder to be made, as `PeftModel.save_pretrained` writes it.
        settings: `training.supervised` of the configuration.
        lora: `training.lora` of the configuration.
        precision: `training.precision` of the configuration.
        seed: of the examples, their order and the adapter's first values.
        threads: compute threads; None leaves it to torch.

    Returns:
        The table `supervised_log`: a row per optimizer step.

    Raises:
        MissingLibraryError: without the extra `train`.
    """
    torch, trl, transformers, datasets = map(library, ("torch", "trl", "transformers", "datasets"))
    dtype = torch.bfloat16 if half(precision) else torch.float32
    if threads is not None:
        torch.set_num_threads(threads)
    made = examples(seed, settings["examples"], abstaining=settings["abstaining"])
    adapter = Path(adapter)
    with tempfile.TemporaryDirectory(dir=adapter.parent, prefix=".supervised.") as scratch:
        arguments = trl.SFTConfig(
            output_dir=scratch,
            per_device_train_batch_size=settings["batch"],
            num_train_epochs=settings["epochs"],
            learning_rate=settings["learning_rate"],
            lr_scheduler_type="linear",
            warmup_steps=0,
            logging_steps=1,
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
            seed=seed,
            bf16=False,  # the frozen weights have the precision themselves, which is faster than casting them each time
            use_cpu=not torch.cuda.is_available(),
            completion_only_loss=True,
            max_length=None,
            gradient_checkpointing=False,
        )
        trainer = trl.SFTTrainer(
            model=transformers.AutoModelForCausalLM.from_pretrained(base, dtype=dtype),
            args=arguments,
            train_dataset=datasets.Dataset.from_list([_row(example) for example in made]),
            processing_class=transformers.AutoTokenizer.from_pretrained(base),
            peft_config=lora_config(lora),
        )
        trainer.train()
        kept = Path(scratch, "adapter")
        trainer.model.save_pretrained(kept)
        shutil.rmtree(adapter, ignore_errors=True)
        kept.rename(adapter)
    return _log(trainer.state.log_history)


def _row(example: Example) -> dict[str, Any]:
    return {
        "prompt": list(example.messages),
        "completion": [{"role": "assistant", "content": example.response}],
    }


def _log(history: list[dict[str, Any]]) -> pd.DataFrame:
    """The steps of a trainer's history, which ends with a line of the whole run."""
    steps = [entry for entry in history if "loss" in entry]
    rows = [
        {"step": at, **{ours: entry.get(theirs) for ours, theirs in _COLUMNS.items()}} for at, entry in enumerate(steps)
    ]
    log = pd.DataFrame(rows, columns=["step", *_COLUMNS])
    return log.astype({"tokens": "int64"})
