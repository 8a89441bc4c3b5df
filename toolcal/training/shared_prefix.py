"""Reading many rows that begin alike: what they have in common is read once, also where gradients are wanted.

In the study's prompts instructions and examples come first and are long, so that most of what a step reads is the same
in many rows; those that begin alike are read together. The numbers are those of reading each row by itself, gradients
included (tests compare the two).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from transformers import DynamicCache

from toolcal.training.grammar import Grammar, narrowed
from toolcal.training.policy import Sample, Sampled, stop_tokens

_WORTH_READING, _WORTH_SAMPLING = 100, 1000
"""Tokens that a further group has to save: it costs some calls of the model, in sampling one for each token written."""


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


def alike(rows: Sequence[Sequence[int]], worth: int) -> list[list[int]]:
    """Places of rows in groups, so that few tokens are read in all: a group reads its common prefix once.

    Args:
        rows: tokens; none empty.
        worth: tokens that a further group has to save.
    """
    order = sorted(range(len(rows)), key=lambda place: list(rows[place]))

    def cost(group: Sequence[int]) -> int:
        prefix = common_prefix([rows[place] for place in group])
        return prefix + sum(len(rows[place]) - prefix for place in group)

    def split(group: list[int]) -> list[list[int]]:
        if len(group) == 1:
            return [group]
        # In sorted order, what two parts have in common is what the neighbours at the cut have.
        cut = min(range(1, len(group)), key=lambda at: common_prefix([rows[group[at - 1]], rows[group[at]]]))
        if cost(group) - cost(group[:cut]) - cost(group[cut:]) < worth:
            return [group]
        return split(group[:cut]) + split(group[cut:])

    return split(order)


def read(
    model: Any, rows: Sequence[Sequence[int]], most: int | None = None
) -> tuple[torch.Tensor, torch.Tensor, DynamicCache, int]:
    """Read rows of unlike lengths.

    Args:
        model: a causal language model of transformers, with or without an adapter of peft.
        rows: tokens; at least one row, none empty.
        most: tokens of the common prefix, at most.

    Returns:
        The hidden states (rows, longest remainder, width) behind the common prefix, padding at the end; the mask (rows,
        prefix + longest remainder) of what is no padding; the cache of keys and values; the prefix's length.
    """
    device, body = model.device, _body(model)
    prefix = min(common_prefix(rows), len(rows[0]) if most is None else most)
    cache = DynamicCache(config=model.config)
    if prefix:
        body(input_ids=torch.tensor([list(rows[0][:prefix])], device=device), cache=cache, use_cache=True)
        cache.batch_repeat_interleave(len(rows))
    rest = [list(row[prefix:]) for row in rows]
    longest = max(map(len, rest))
    tokens = torch.tensor([row + [0] * (longest - len(row)) for row in rest], device=device)
    there = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rest], device=device)
    mask = torch.cat([there.new_ones(len(rows), prefix), there], dim=1)
    places = prefix + torch.arange(longest, device=device).expand(len(rows), -1)
    found = body(input_ids=tokens, attention_mask=mask, position_ids=places, cache=cache, use_cache=True)
    return found.last_hidden_state, mask, cache, prefix


def log_probabilities(
    model: Any,
    prompts: Sequence[list[int]],
    completions: Sequence[list[int]],
    allowed: Sequence[Sequence[bytes | None]],
    *,
    temperature: float,
    shared: bool = True,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The log-probability of each token of completions, and the entropy of what might stand there.

    Args:
        model: as in `read`.
        prompts: none empty.
        completions: one a prompt.
        allowed: of each of their tokens, what could have stood there (`grammar.narrowed`).
        temperature: by which the logits are divided.
        shared: whether the common prefix is read once; otherwise once a row.

    Returns:
        Both (rows, longest completion), 0 behind a completion's end; the first carries the gradient.
    """
    whole = [before + after for before, after in zip(prompts, completions, strict=True)]
    longest = max(map(len, completions))
    found = [torch.zeros(len(prompts), longest, device=model.device) for _ in range(2)]
    for group in alike(prompts, _WORTH_READING):
        # What follows a prompt's last token is wanted, also where completions begin alike.
        most = min(len(prompts[place]) for place in group) - 1 if shared else 0
        hidden, _, _, prefix = read(model, [whole[place] for place in group], most)
        # Of each token: its row in group and batch, its place in the completion, and that of the state before it.
        tokens = [
            (at, place, column, len(prompts[place]) - prefix - 1 + column, token)
            for at, place in enumerate(group)
            for column, token in enumerate(completions[place])
        ]
        at, row, column, before, said = torch.tensor(tokens, device=model.device).T
        # The head is applied to what is wanted alone: its output is wider than all else in a small model.
        logits = model.get_output_embeddings()(hidden[at, before]).float() / temperature
        chances = torch.log_softmax(narrowed(logits, [mask for place in group for mask in allowed[place]]), dim=-1)
        found[0] = found[0].index_put((row, column), chances.gather(1, said[:, None])[:, 0])
        with torch.no_grad():
            found[1][row, column] = torch.special.entr(chances.exp()).sum(-1)
    return found[0], found[1]


def sampler(
    model: Any, tokenizer: Any, *, max_tokens: int, temperature: float, grammar: Grammar | None = None
) -> Sample:
    """What continues prompts with samples of a model.

    Args:
        model: as in `read`.
        tokenizer: its tokenizer.
        max_tokens: of a sample.
        temperature: of the sampling; nothing but a schema cuts it, so that what is trained is what was sampled from.
        grammar: of the tokenizer; needed where prompts come with a schema.
    """
    stops = stop_tokens(tokenizer)

    def sample(prompts: Sequence[list[int]], schemas: Sequence[str | None]) -> list[Sampled]:
        found: dict[int, Sampled] = {}
        for group in alike(prompts, _WORTH_SAMPLING):
            asked, forms = [prompts[place] for place in group], [schemas[place] for place in group]
            found |= zip(group, together(asked, forms), strict=True)
        return [found[place] for place in range(len(prompts))]

    def together(prompts: Sequence[list[int]], schemas: Sequence[str | None]) -> list[Sampled]:
        held = [grammar.begin(schema) if grammar and schema else None for schema in schemas]
        said: list[list[int]] = [[] for _ in prompts]
        kept: list[list[bytes | None]] = [[] for _ in prompts]
        going = list(range(len(prompts)))
        with torch.no_grad():
            hidden, mask, cache, prefix = read(model, prompts)
            lengths = torch.tensor([len(prompt) for prompt in prompts], device=model.device)
            last = hidden[torch.arange(len(prompts), device=model.device), lengths - prefix - 1]
            for step in range(max_tokens):
                logits = model.get_output_embeddings()(last).float() / temperature
                allowed = [form.allowed() if (form := held[row]) else None for row in going]
                tokens = torch.multinomial(torch.softmax(narrowed(logits, allowed), dim=-1), 1)[:, 0]
                for row, token, open_to in zip(going, tokens.tolist(), allowed, strict=True):
                    said[row].append(token)
                    kept[row].append(open_to)
                    if form := held[row]:
                        form.take(token)
                left = [place for place, token in enumerate(tokens.tolist()) if token not in stops]
                if step == max_tokens - 1 or not left:
                    break
                if len(left) < len(going):  # what has ended is computed no further
                    going, chosen = [going[place] for place in left], torch.tensor(left, device=model.device)
                    tokens, mask, lengths = tokens[chosen], mask[chosen], lengths[chosen]
                    cache.batch_select_indices(chosen)
                mask = torch.cat([mask, mask.new_ones(len(going), 1)], dim=1)
                last = _body(model)(
                    input_ids=tokens[:, None],
                    attention_mask=mask,
                    position_ids=(lengths + step)[:, None],
                    cache=cache,
                    use_cache=True,
                ).last_hidden_state[:, 0]
        return [Sampled(tokens, allowed=masks) for tokens, masks in zip(said, kept, strict=True)]

    return sample


def _body(model: Any) -> Any:
    """The model without its head; an adapter of peft sits in its layers."""
    return (model.get_base_model() if hasattr(model, "get_base_model") else model).base_model
