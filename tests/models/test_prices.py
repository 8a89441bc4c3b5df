"""Prices: the user's, litellm's, or none."""

import pytest

from toolcal.models import prices
from toolcal.models.litellm_client import client


def of(model, *, endpoint=None, **entry):
    entry = {"source": "api", "model": model, "parameters": {}, **entry}
    return prices.of(entry, {model.partition("/")[0]: endpoint or {}})


def test_own_prices_are_by_the_million_and_go_before_the_list():
    found = of("openai/gpt-5-mini", prices={"input": 3.0, "output": 12.5})
    assert (found.input, found.output) == (found.most_input, found.most_output) == pytest.approx((3e-6, 12.5e-6))
    assert found.own
    assert found.longest_answer == 128_000
    assert of("openai/gpt-5-mini", prices={"input": 0, "output": 0}).most_output == 0.0


def test_litellms_list_is_for_the_providers_own_address():
    listed = client().model_cost["gpt-5-mini"]
    found = of("openai/gpt-5-mini")
    assert (found.input, found.output) == (listed["input_cost_per_token"], listed["output_cost_per_token"])
    assert not found.own
    assert of("openai/gpt-5-mini", endpoint={"api_base": "http://host/v1"}) is None
    there = of("openai/gpt-5-mini", endpoint={"api_base": "http://host/v1"}, prices={"input": 1, "output": 2})
    assert there.longest_answer is None


@pytest.mark.parametrize(
    "model",
    [
        "gemini/gemini-3-pro-preview",  # listed with 0 and 0
        "azure_ai/model_router",  # listed with a price for prompts alone
        "dashscope/qwen3-coder-plus",  # listed by tiers alone
        "openai/no-such-model",
        "nobody/at-all",
    ],
)
def test_an_unknown_price_is_no_zero(model):
    assert of(model) is None


def test_other_sources_have_no_price():
    assert prices.of({"source": "vllm", "model": "m"}, {}) is None


@pytest.mark.parametrize(
    ("model", "dearest_input", "dearest_output"),
    [
        ("gemini/gemini-2.5-pro", "input_cost_per_token_above_200k_tokens_priority", None),
        ("anthropic/claude-sonnet-4-5", "cache_creation_input_token_cost_above_1hr", None),
        ("dashscope/qwen-turbo", None, "output_cost_per_reasoning_token"),
    ],
)
def test_the_most_covers_dearer_tiers(model, dearest_input, dearest_output):
    listed = client().model_cost[client().get_model_info(model)["key"]]
    found = of(model)
    for name, most in ((dearest_input, found.most_input), (dearest_output, found.most_output)):
        if name:
            assert most >= listed[name] > 0
    assert found.most_input >= found.input
    assert found.most_output >= found.output


def test_service_that_is_had_by_asking_counts_where_it_is_asked_for():
    model = "openai/gpt-6.1-sol"
    listed = client().model_cost["gpt-6.1-sol"]
    dearest = listed["input_cost_per_token_above_272k_tokens_ultrafast"]
    assert of(model).most_input < dearest <= of(model, parameters={"service_tier": "ultrafast"}).most_input


def test_no_listed_cost_of_a_call_passes_its_bound():
    """litellm's own reckoning of a large and of a small call, for every chat model that has a price."""
    litellm, seen = client(), 0
    for model, listed in list(litellm.model_cost.items())[::7]:
        if listed.get("mode") != "chat" or "/" not in model:
            continue
        found = of(model)
        if found is None:
            continue
        seen += 1
        for prompt, answer in ((1000, 10), (900_000, 30_000)):
            try:
                cost = sum(litellm.cost_per_token(model=model, prompt_tokens=prompt, completion_tokens=answer))
            except Exception:  # it cannot tell: then the listed price is taken
                continue
            assert cost <= 1.000001 * (prompt * found.most_input + answer * found.most_output), model
    assert seen > 50
