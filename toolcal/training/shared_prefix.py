"""Reading many rows that begin alike: what they have in common is read once, also where gradients are wanted.

In the study's prompts instructions and examples come first and are long, so that most of what a step reads is the same
in all rows. The numbers are those of reading each row by itself, gradients included (tests compare the two).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from transformers import DynamicCache

from toolcal.training.policy import Sample, Sampled, stop_tokens


def common_prefix(rows: Sequence[Sequence[int]]) -> int:
    """How many tokens all rows begin with alike, the last one of the shortest not among them.

    Args:
        rows: at least one, none empty.
    """
    shortest = min(map(len, rows)) - 1
    return next(
        (place for place in range(shortest) if len({row[place] for row in rows}) > 1),
        shortest,
    )


def read(model: Any, rows: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor, DynamicCache, int]:
    """Read rows of unlike lengths.

    Args:
        model: a causal language model of transformers, with or without an adapter of peft.
        rows: tokens; at least one row, none empty.

    Returns:
        The hidden states (rows, longest remainder, width) behind the common prefix, padding at the end; the mask (rows,
        prefix + longest remainder) of what is no padding; the cache of keys and values; the prefix's length.
    """
    device, body = model.device, _body(model)
    prefix = common_prefix(rows)
    cache = DynamicCache(config=model.config)
    if prefix:
        body(input_ids=torch.tensor([list(rows[0][:prefix])], device=device), past_key_values=cache, use_cache=True)
        cache.batch_repeat_interleave(len(rows))
    rest = [list(row[prefix:]) for row in rows]
    longest = max(map(len, rest))
    tokens = torch.tensor([row + [0] * (longest - len(row)) for row in rest], device=device)
    there = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rest], device=device)
    mask = torch.cat([there.new_ones(len(rows), prefix), there], dim=1)
    places = prefix + torch.arange(longest, device=device).expand(len(rows), -1)
    found = body(input_ids=tokens, attention_mask=mask, position_ids=places, past_key_values=cache, use_cache=True)
    return found.last_hidden_state, mask, cache, prefix


def log_probabilities(
    model: Any, prompts: Sequence[list[int]], completions: Sequence[list[int]], *, temperature: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """The log-probability of each token of completions, and the entropy of what might stand there.

    Args:
        model: as in `read`.
        prompts: none empty.
        completions: one a prompt.
        temperature: by which the logits are divided.

    Returns:
        Both (rows, longest completion), 0 behind a completion's end; the first carries the gradient.
    """
    hidden, _, _, prefix = read(model, [before + after for before, after in zip(prompts, completions, strict=True)])
    rows, columns, places, tokens = [], [], [], []
    for row, (before, after) in enumerate(zip(prompts, completions, strict=True)):
        rows += [row] * len(after)
        columns += range(len(after))
        places += range(len(before) - prefix - 1, len(before) - prefix - 1 + len(after))
        tokens += after
    # The head is applied to what is wanted alone: its output is wider than all else in a small model.
    logits = model.get_output_embeddings()(hidden[rows, places]).float() / temperature
    chances = torch.log_softmax(logits, dim=-1)
    said = chances.gather(1, torch.tensor(tokens, device=chances.device)[:, None])[:, 0]
    with torch.no_grad():
        entropy = -(chances.exp() * chances).sum(-1)
    empty = hidden.new_zeros(len(prompts), max(map(len, completions)), dtype=torch.float32)
    where = (torch.tensor(rows, device=empty.device), torch.tensor(columns, device=empty.device))
    return empty.index_put(where, said), empty.index_put(where, entropy)


def sampler(model: Any, tokenizer: Any, *, max_tokens: int, temperature: float) -> Sample:
    """What continues prompts with samples of a model.

    Args:
        model: as in `read`.
        tokenizer: its tokenizer.
        max_tokens: of a sample.
        temperature: of the sampling; there is no other cut, so that what is trained is what was sampled from.
    """
    stops = torch.tensor(stop_tokens(tokenizer), device=model.device)

    def sample(prompts: Sequence[list[int]]) -> list[Sampled]:
        with torch.no_grad():
            hidden, mask, cache, prefix = read(model, prompts)
            lengths = torch.tensor([len(prompt) for prompt in prompts], device=model.device)
            last = hidden[torch.arange(len(prompts), device=model.device), lengths - prefix - 1]
            going = torch.ones_like(lengths, dtype=torch.bool)
            said: list[list[int]] = [[] for _ in prompts]
            for step in range(max_tokens):
                logits = model.get_output_embeddings()(last).float() / temperature
                tokens = torch.multinomial(torch.softmax(logits, dim=-1), 1)[:, 0]
                for row in going.nonzero()[:, 0].tolist():
                    said[row].append(int(tokens[row]))
                going = going & ~torch.isin(tokens, stops)
                if step == max_tokens - 1 or not going.any():
                    break
                mask = torch.cat([mask, mask.new_ones(len(prompts), 1)], dim=1)
                last = _body(model)(
                    input_ids=tokens[:, None],
                    attention_mask=mask,
                    position_ids=(lengths + step)[:, None],
                    past_key_values=cache,
                    use_cache=True,
                ).last_hidden_state[:, 0]
        return [Sampled(tokens) for tokens in said]

    return sample


def _body(model: Any) -> Any:
    """The model without its head; an adapter of peft sits in its layers."""
    return (model.get_base_model() if hasattr(model, "get_base_model") else model).base_model
