"""GRPO over the study's conversations: TRL's trainer, with our rollouts and rewards in place of its own.

TRL has the optimiser, the loss, the checkpoints and, for GPUs, vLLM. Its own ways to tools cost several times as much
here, give the model another prompt than the study does, and want a row to be one prompt and one completion; an answer
in JSON mode is several. So two methods of TRL's are replaced: the one that makes a batch, and the one that finds
log-probabilities, which are here of what a schema allowed. Both are private to TRL: its version is kept within bounds
in pyproject.toml.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from trl import GRPOTrainer

from toolcal.confidence.answering import Way
from toolcal.models.chat import ToolMode
from toolcal.models.json_mode import History
from toolcal.training.episodes import Desk, Episode, Row, roll_out
from toolcal.training.grammar import Grammar
from toolcal.training.log import Paid, terms_of
from toolcal.training.policy import Policy, Sample, Sampled
from toolcal.training.rewards import Design, group_advantages, total
from toolcal.training.shared_prefix import log_probabilities, sampler
from toolcal.training.tasks import Place, Task


@dataclass(frozen=True)
class Step:
    """What a batch was made of, for the log."""

    paid: Paid
    trained_tokens: int
    seconds: float


@dataclass(frozen=True)
class Rollouts:
    """How a batch of answers is made.

    Attributes:
        tasks: in the order in which they are asked, a batch after the other.
        desks: of each place, its tool.
        way: how the study has questions answered.
        design: what answers are paid.
        scale: whether advantages are divided by the group's deviation.
        tool_mode: how tools are offered to the model.
        history: in JSON mode, what the prompt holds.
        seed: with the number of the step, the seed of all chance in it.
        told: is given each batch.
    """

    tasks: Sequence[Task]
    desks: Mapping[Place, Desk]
    way: Way
    design: Design
    scale: bool
    tool_mode: ToolMode
    history: History
    seed: int
    told: Callable[[Step], None]


class Trainer(GRPOTrainer):  # type: ignore[misc]
    """TRL's trainer of a policy that answers the study's questions.

    Args:
        rollouts: how a batch of answers is made.
        given: the arguments of `trl.GRPOTrainer`; the data set's column `task` numbers the tasks of `rollouts`.
    """

    def __init__(self, rollouts: Rollouts, **given: Any) -> None:
        self._rollouts = rollouts
        self._allowed: dict[tuple[tuple[int, ...], tuple[int, ...]], list[bytes | None]] = {}
        # TRL wants to be told of a reward; it is never asked, since the method that would ask is replaced.
        super().__init__(reward_funcs=_not_asked, **given)
        width = self.accelerator.unwrap_model(self.model).get_output_embeddings().out_features
        self._grammar = Grammar(self._tokenizer, width) if rollouts.tool_mode == "json" else None

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        """A batch in TRL's form: rows of prompt and completion, masks, advantages."""
        asked, begun = self._rollouts, time.monotonic()
        # Of seed and step alone, so that a training that was killed goes on as it would have.
        torch.manual_seed(asked.seed * 1_000_003 + self.state.global_step)
        self.model.eval()
        try:
            with self.accelerator.autocast():
                policy = Policy(self._tokenizer, self._sample(), asked.tool_mode, asked.history)
                tasks = [asked.tasks[row["task"]] for row in inputs]
                episodes = roll_out(tasks, asked.desks, asked.way, policy, seed=asked.seed)
        finally:
            self.model.train()
        terms = terms_of(asked.design, episodes)
        advantages = group_advantages(total(terms).reshape(-1, self.num_generations), scale=asked.scale).ravel()
        batch = self._batch(*_with_advantage(episodes, advantages))
        trained = int(batch["num_items_in_batch"])
        asked.told(Step(Paid(episodes, terms, advantages), trained, time.monotonic() - begun))
        return batch

    def _sample(self) -> Sample:
        if not self.use_vllm:
            model = self.accelerator.unwrap_model(self.model)
            return sampler(
                model,
                self._tokenizer,
                max_tokens=self.max_completion_length,
                temperature=self.temperature,
                grammar=self._grammar,
            )

        def sample(prompts: Sequence[list[int]], _: Sequence[str | None]) -> list[Sampled]:
            # All free: a model in JSON mode is refused here by the configuration's checks.
            tokens, chances = self._generate_single_turn(list(prompts), None, {}, 1)
            return [Sampled(list(said), list(chance)) for said, chance in zip(tokens, chances, strict=True)]

        return sample

    def _batch(self, rows: Sequence[Row], advantages: Sequence[float]) -> dict[str, Any]:
        device = self.accelerator.device
        # TRL cuts a batch into equal parts: what is missing in the last one is filled with rows that train nothing.
        missing = -len(rows) % self.args.steps_per_generation
        rows = [*rows, *(replace(row, trained=[False] * len(row.completion)) for row in rows[:missing])]
        advantages = [*advantages, *[0.0] * missing]

        def padded(values: Sequence[Sequence[Any]], fill: float, kind: torch.dtype, *, left: bool = False) -> Any:
            longest = max(map(len, values))
            fills = [[fill] * (longest - len(row)) for row in values]
            filled = [[*more, *row] if left else [*row, *more] for row, more in zip(values, fills, strict=True)]
            return torch.tensor(filled, dtype=kind, device=device)

        prompts, completions = [row.prompt for row in rows], [row.completion for row in rows]
        trained = padded([row.trained for row in rows], 0, torch.long)
        # TRL shuffles and cuts the batch; by its tokens each row is known again.
        self._allowed = {(tuple(row.prompt), tuple(row.completion)): row.allowed for row in rows}
        batch = {
            "prompt_ids": padded(prompts, self._tokenizer.pad_token_id, torch.long, left=True),
            "prompt_mask": padded([[1] * len(p) for p in prompts], 0, torch.long, left=True),
            "completion_ids": padded(completions, self._tokenizer.pad_token_id, torch.long),
            "completion_mask": padded([[1] * len(c) for c in completions], 0, torch.long),
            "tool_mask": trained,
            "advantages": torch.tensor(advantages, dtype=torch.float32, device=device),
            "num_items_in_batch": trained.sum(),
        }
        if self.use_vllm:
            # The sampler's own numbers are those of the old policy: vLLM's differ a little from the trainer's.
            chances = [row.log_probabilities or [0.0] * len(row.completion) for row in rows]
            batch["old_per_token_logps"] = padded(chances, 0.0, torch.float32)
        if self.beta:
            batch["ref_per_token_logps"] = self._untreated(batch)
        return batch

    def _untreated(self, batch: Mapping[str, Any]) -> torch.Tensor:
        """Log-probabilities of the completions without the adapter."""
        tokens = torch.cat([batch["prompt_ids"], batch["completion_ids"]], dim=1)
        mask = torch.cat([batch["prompt_mask"], batch["completion_mask"]], dim=1)
        width = batch["completion_ids"].size(1)
        size = -(-len(tokens) // self.args.steps_per_generation)
        with torch.no_grad(), self.accelerator.unwrap_model(self.model).disable_adapter():
            found = self._get_per_token_logps_and_entropies(self.model, tokens, mask, width, batch_size=size)
        return torch.as_tensor(found[0])

    def _get_per_token_logps_and_entropies(
        self,
        model: Any,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        logits_to_keep: int,
        batch_size: int | None = None,
        **_: Any,
    ) -> tuple[torch.Tensor, torch.Tensor | None, torch.Tensor | None]:
        """As TRL's, over what a schema allowed, with the rows' common beginning read once (checkpointing cannot)."""
        size, split = batch_size or len(input_ids), input_ids.size(1) - logits_to_keep
        there = attention_mask.bool()
        prompts = [row[mask].tolist() for row, mask in zip(input_ids[:, :split], there[:, :split], strict=True)]
        completions = [row[mask].tolist() for row, mask in zip(input_ids[:, split:], there[:, split:], strict=True)]
        allowed = [self._allowed[tuple(row), tuple(more)] for row, more in zip(prompts, completions, strict=True)]
        plain = self.accelerator.unwrap_model(model)
        with self.accelerator.autocast():
            made = [
                log_probabilities(
                    plain,
                    prompts[at : at + size],
                    completions[at : at + size],
                    allowed[at : at + size],
                    temperature=self.temperature,
                    shared=not self.args.gradient_checkpointing,
                )
                for at in range(0, len(prompts), size)
            ]
        wide = [
            torch.cat([torch.nn.functional.pad(part[kind], (0, logits_to_keep - part[kind].size(1))) for part in made])
            for kind in (0, 1)
        ]
        return wide[0], wide[1], None

    def create_model_card(self, *_: Any, **__: Any) -> None:
        """None: what was done is in the configuration and the log."""


def _with_advantage(episodes: Sequence[Episode], advantages: np.ndarray) -> tuple[list[Row], list[float]]:
    """The rows of all episodes, and of each row the advantage of its episode.

    A row of an episode with advantage 0 still counts among the tokens that the loss is a mean over, as in TRL.
    """
    found = [(row, float(gain)) for episode, gain in zip(episodes, advantages, strict=True) for row in episode.rows]
    return [row for row, _ in found], [gain for _, gain in found]


def _not_asked(**_: Any) -> list[float]:
    raise AssertionError("rewards are given with the batch")
