"""The adapter that is trained: what the configuration says of it, as peft takes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolcal.training.libraries import library


def lora_config(lora: Mapping[str, Any]) -> Any:
    """A `peft.LoraConfig`.

    Args:
        lora: `training.lora` of the configuration.

    Raises:
        MissingLibraryError: without the extra `train`.
    """
    return library("peft").LoraConfig(
        task_type="CAUSAL_LM",
        r=lora["rank"],
        lora_alpha=lora["alpha"],
        lora_dropout=lora["dropout"],
        # By itself this is peft's word for all, in a list it would be the name of a layer.
        target_modules=lora["targets"][0] if lora["targets"] == ["all-linear"] else lora["targets"],
    )
