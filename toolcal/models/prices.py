"""What a call costs: US dollars, or None where the price is not known. An unknown price is never zero."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from toolcal.models.entries import endpoint_name

_ON_REQUEST = ("flex", "batches", "balanced", "decisions", "ultrafast")
"""Service that is had only by asking for it; priority may be an account's standing choice."""


@dataclass(frozen=True)
class Prices:
    """US dollars per token.

    `most_input` and `most_output` are the dearest that long prompts, written caches, reasoning, a region or the service
    may make them. `longest_answer` is in tokens, None where it is not known; `own` says that the user gave the prices.
    """

    input: float
    output: float
    most_input: float
    most_output: float
    longest_answer: int | None = None
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
        own = entry["prices"]["input"] / 1e6, entry["prices"]["output"] / 1e6
        return Prices(*own, *own, longest, own=True)
    given, answered = (listed.get(f"{side}_cost_per_token") or 0.0 for side in ("input", "output"))
    if not (given and answered):
        return None
    tiers = () if "service_tier" in entry.get("parameters", {}) else _ON_REQUEST
    uplift = max([1.0, *_numbers(listed, ("regional_", "fedramp_"), ())])
    inputs = _numbers(listed, ("input_cost_per_token", "cache_creation_input_token_cost"), tiers)
    outputs = _numbers(listed, ("output_cost_per_token", "output_cost_per_reasoning_token"), tiers)
    return Prices(given, answered, max(inputs) * uplift, max(outputs) * uplift, longest)


def _numbers(listed: Mapping[str, Any], beginnings: tuple[str, ...], without: Collection[str]) -> list[float]:
    return [
        float(value)
        for prices in (listed, *(listed.get("tiered_pricing") or ()))
        for name, value in prices.items()
        if name.startswith(beginnings) and isinstance(value, int | float) and not set(without) & set(name.split("_"))
    ]


def _listed(model: str) -> Mapping[str, Any]:
    from toolcal.models.litellm_client import client

    try:
        known: Mapping[str, Any] = client().get_model_info(model)
    except Exception:  # it raises a plain Exception for a model that it does not list
        return {}
    listed: Mapping[str, Any] = client().model_cost.get(known["key"], {})  # some tiers stand here alone
    return {**listed, **{name: value for name, value in known.items() if value is not None}}
