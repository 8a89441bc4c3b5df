"""What a call costs: US dollars, or None where the price is not known. An unknown price is never zero."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolcal.models.entries import endpoint_name


@dataclass(frozen=True)
class Prices:
    """US dollars per token.

    `longest_answer` is in tokens, None where it is not known; `dearer` is how many times more long prompts or special
    service may cost at most; `own` says that the user gave these prices.
    """

    input: float
    output: float
    longest_answer: int | None = None
    dearer: float = 1.0
    own: bool = False


def of(entry: Mapping[str, Any], endpoints: Mapping[str, Mapping[str, Any]]) -> Prices | None:
    """The prices of an `api` model: its own, else litellm's for a provider's own address.

    A price of zero in litellm's list stands for an unknown one (previews are listed so); a model that is free says so
    in its entry. Behind an address of the user's the list says nothing.

    Args:
        entry: the model's entry, validated.
        endpoints: the configuration's endpoints.

    Returns:
        The prices, or None where they are unknown; for models that are no `api` always None.
    """
    if entry["source"] != "api":
        return None
    listed = _listed(entry["model"]) if "api_base" not in endpoints.get(endpoint_name(entry), {}) else {}
    longest = listed.get("max_output_tokens")
    if "prices" in entry:
        return Prices(entry["prices"]["input"] / 1e6, entry["prices"]["output"] / 1e6, longest, own=True)
    base = {side: listed.get(f"{side}_cost_per_token") or 0.0 for side in ("input", "output")}
    if not all(base.values()):
        return None
    dearer = [
        price / base[side]
        for side in base
        for name, price in listed.items()
        if name.startswith(f"{side}_cost_per_token") and isinstance(price, int | float)
    ]
    return Prices(base["input"], base["output"], longest, dearer=max(dearer))


def _listed(model: str) -> Mapping[str, Any]:
    from toolcal.models.litellm_client import client

    try:
        found: Mapping[str, Any] = client().get_model_info(model)
    except Exception:  # it raises a plain Exception for a model that it does not list
        return {}
    return found
