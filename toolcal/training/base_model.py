"""The untreated model as a plain folder: what training starts from, and what a checkpoint is compared with.

A GGUF file is read without a network, its quantised weights taken as the numbers that they stand for; from there on
they are ordinary weights.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from toolcal.folders import made_whole
from toolcal.training.libraries import library


class BaseModelError(RuntimeError):
    """Weights that cannot be trained; one line, with what to do."""


def prepare(gguf: str | Path, folder: str | Path) -> None:
    """Write a GGUF model as a folder that `from_pretrained` loads.

    Args:
        gguf: the file, of an architecture that transformers reads.
        folder: is made anew, whole, with `config.json`, `model.safetensors` (32 bits) and the tokenizer with its chat
            template.

    Raises:
        BaseModelError: where transformers cannot read the file.
        MissingLibraryError: without the extra `train`.
    """
    transformers, torch = library("transformers"), library("torch")
    library("gguf")
    gguf = Path(gguf)
    source = {"pretrained_model_name_or_path": str(gguf.parent), "gguf_file": gguf.name}
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(**source)
        read = transformers.AutoModelForCausalLM.from_pretrained(**source, dtype=torch.float32)
    except (OSError, ValueError, KeyError, NotImplementedError) as error:
        said = " ".join(str(error).split())
        raise BaseModelError(f"transformers cannot read {gguf} for training: {said}") from error
    # What was read counts as quantised, and transformers saves no such model; its weights are plain numbers by now.
    config = read.config
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    model.load_state_dict(read.state_dict())
    model.generation_config = read.generation_config
    _save(model, tokenizer, folder)


def prepare_from_hub(name: str, revision: str | None, folder: str | Path) -> None:
    """Write a model of a hub, or of a local folder, as a folder, in the precision that it comes in.

    Args:
        name: its name on the Hugging Face hub, or a folder.
        revision: branch, tag or commit.
        folder: is made anew, whole.

    Raises:
        BaseModelError: where it cannot be fetched or read.
        MissingLibraryError: without the extra `train`.
    """
    transformers = library("transformers")
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(name, revision=revision)
        model = transformers.AutoModelForCausalLM.from_pretrained(name, revision=revision, dtype="auto")
    except (OSError, ValueError, KeyError) as error:
        raise BaseModelError(f"{name} cannot be loaded for training: {' '.join(str(error).split())}") from error
    _save(model, tokenizer, folder)


def _save(model: Any, tokenizer: Any, folder: str | Path) -> None:
    with made_whole(folder) as new:
        model.save_pretrained(new)
        tokenizer.save_pretrained(new)
