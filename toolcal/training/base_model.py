"""The untreated model as a plain folder: what training starts from, and what a checkpoint is compared with.

A GGUF file is read without a network, its quantised weights taken as the numbers that they stand for; from there on
they are ordinary weights, of 32 bits.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from toolcal.models.serve import Weights
from toolcal.training.libraries import library


class BaseModelError(RuntimeError):
    """Weights that cannot be trained; one line, with what to do."""


def prepare(weights: Weights, folder: str | Path) -> None:
    """Write a GGUF model as a folder that `from_pretrained` loads.

    Args:
        weights: the GGUF file, of an architecture that transformers reads.
        folder: is made anew, whole, with `config.json`, `model.safetensors` (32 bits) and the tokenizer with its chat
            template.

    Raises:
        BaseModelError: where transformers cannot read the file.
        MissingLibraryError: without the extra `train`.
    """
    transformers, torch = library("transformers"), library("torch")
    library("gguf")
    source = {"pretrained_model_name_or_path": str(weights.path.parent), "gguf_file": weights.path.name}
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(**source)
        model = transformers.AutoModelForCausalLM.from_pretrained(**source, dtype=torch.float32)
    except (OSError, ValueError, KeyError, NotImplementedError) as error:
        said = " ".join(str(error).split())
        raise BaseModelError(f"transformers cannot read {weights.path} for training: {said}") from error
    folder = Path(folder)
    made = folder.with_name(f".{folder.name}.tmp")
    shutil.rmtree(made, ignore_errors=True)
    model.save_pretrained(made)
    tokenizer.save_pretrained(made)
    shutil.rmtree(folder, ignore_errors=True)
    made.rename(folder)
