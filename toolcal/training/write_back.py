"""From a trained adapter back to a model that is served: merged into the weights, and written as GGUF or as a folder.

The GGUF file of the untreated model is the mould: its architecture, tokenizer and chat template are kept as they are,
and each of its tensors is filled with the trained numbers. The untreated model goes the same way, without an adapter,
so that what rounding does to one is done to the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from toolcal.folders import made_whole
from toolcal.training.libraries import library

Floats = npt.NDArray[np.float32]
TensorType = Literal["f16", "q8_0"]
"""How matrices are stored: 16 bits, or 8 bits in blocks of 32 with a common scale; vectors always have 32 bits."""

_NOT_COPIED = ("GGUF.", "general.architecture", "general.file_type", "general.quantization_version")
"""Keys of the mould that describe its own file, or that the writer sets itself."""
_PAIRS_APART = ("llama",)
"""Architectures whose rotary pairs llama.cpp holds side by side and transformers half a head apart."""


class WriteBackError(RuntimeError):
    """Weights that do not fit the file they are written into; one line."""


def merged(base: str | Path, adapter: str | Path | None) -> Any:
    """The model of a folder, with an adapter's change added to its weights.

    Args:
        base: what `base_model.prepare` wrote.
        adapter: a folder that `PeftModel.save_pretrained` wrote; None leaves the model untreated.

    Returns:
        A transformers model, of 32-bit weights, in which nothing of the adapter is left apart.

    Raises:
        MissingLibraryError: without the extra `train`.
    """
    transformers, torch = library("transformers"), library("torch")
    model = transformers.AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32)
    if adapter is None:
        return model
    return library("peft").PeftModel.from_pretrained(model, adapter).merge_and_unload()


def write_gguf(model: Any, mould: str | Path, path: str | Path, *, tensor_type: TensorType = "f16") -> None:
    """Write a model into a GGUF file, whole: to a temporary name, then renamed.

    Args:
        model: what `merged` gave.
        mould: the GGUF file of the untreated model.
        path: the file to be written; the same weights give the same bytes.
        tensor_type: how matrices are stored.

    Raises:
        WriteBackError: where the model has not the tensors of the mould.
        MissingLibraryError: without the extra `train`.
    """
    gguf = library("gguf")
    cast = gguf.GGUFReader(mould)
    architecture = str(cast.fields["general.architecture"].contents())
    wanted = gguf.GGMLQuantizationType[tensor_type.upper()]
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.tmp")
    writer = gguf.GGUFWriter(temporary, architecture)
    for name, field in cast.fields.items():
        if not name.startswith(_NOT_COPIED):
            writer.add_key_value(
                name, field.contents(), field.types[0], field.types[-1] if len(field.types) > 1 else None
            )
    writer.add_file_type(gguf.LlamaFileType[f"MOSTLY_{tensor_type.upper()}"])
    writer.add_quantization_version(gguf.GGML_QUANT_VERSION)
    trained = dict(tensors(model, architecture))
    for tensor in cast.tensors:
        shape = tuple(int(n) for n in reversed(tensor.shape))
        values = trained.pop(tensor.name, None)
        if values is None or values.shape != shape:
            found = "no such tensor" if values is None else f"shape {values.shape}"
            raise WriteBackError(f"the trained model has {found} where {path.name} wants {tensor.name} of {shape}")
        kind = wanted if values.ndim > 1 else gguf.GGMLQuantizationType.F32
        writer.add_tensor(tensor.name, gguf.quants.quantize(values, kind), raw_dtype=kind)
    if trained:
        raise WriteBackError(f"{path.name} has no place for {', '.join(sorted(trained))}")
    try:
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_folder(model: Any, base: str | Path, folder: str | Path) -> None:
    """Write a model as a folder that vLLM serves, with the tokenizer of its base.

    Args:
        model: what `merged` gave; its weights are stored with 16 bits, as its configuration names them.
        base: the folder of the untreated model.
        folder: is made anew, whole.
    """
    transformers, torch = library("transformers"), library("torch")
    with made_whole(folder) as new:
        model.to(torch.bfloat16).save_pretrained(new)
        transformers.AutoTokenizer.from_pretrained(base).save_pretrained(new)


def tensors(model: Any, architecture: str) -> Iterator[tuple[str, Floats]]:
    """A model's tensors under the names and in the order of rows that llama.cpp has them in.

    Args:
        model: a transformers model.
        architecture: the mould's, by GGUF's name.

    Raises:
        WriteBackError: for a tensor that GGUF has no name for.
    """
    gguf = library("gguf")
    settings = model.config
    known = {name: kind for kind, name in gguf.MODEL_ARCH_NAMES.items()}
    names = gguf.get_tensor_name_map(known[architecture], settings.num_hidden_layers)
    tied = bool(getattr(settings, "tie_word_embeddings", False))
    for name, tensor in model.state_dict().items():
        if name == "lm_head.weight" and tied:
            continue
        place = names.get_name(name, try_suffixes=(".weight", ".bias"))
        if place is None:
            raise WriteBackError(f"GGUF has no name for {name} in a model of architecture {architecture}")
        values = tensor.detach().to("cpu").float().numpy()
        yield place, _side_by_side(values, place, settings) if architecture in _PAIRS_APART else values


def _side_by_side(values: Floats, place: str, settings: Any) -> Floats:
    """Rows of query and key projections with each rotary pair side by side (as llama.cpp's own converter has it)."""
    heads: Mapping[str, int] = {"attn_q": settings.num_attention_heads, "attn_k": settings.num_key_value_heads}
    count = heads.get(place.split(".")[-2])
    if count is None:
        return values
    halves = values.reshape(count, 2, values.shape[0] // count // 2, *values.shape[1:])
    return np.ascontiguousarray(halves.swapaxes(1, 2).reshape(values.shape))
