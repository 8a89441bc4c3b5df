"""In how many bits is computed."""

from __future__ import annotations

from toolcal.training.libraries import library


def half(precision: str) -> bool:
    """Whether to compute in bfloat16.

    Args:
        precision: `bf16`, `fp32`, or `auto`: as the GPU, or else the processor, has instructions for it.

    Raises:
        MissingLibraryError: without the extra `train`.
    """
    if precision != "auto":
        return precision == "bf16"
    torch = library("torch")
    if torch.cuda.is_available():
        return bool(torch.cuda.is_bf16_supported())
    able = torch.cpu.get_capabilities()
    return bool(able.get("avx512_bf16") or able.get("amx_bf16"))
