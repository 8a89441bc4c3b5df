"""The training itself, on a model of some thousand random weights."""

from __future__ import annotations

import math

import numpy as np
import pytest

pytest.importorskip("trl", reason="needs the extra `train`: docs/training.md")
import safetensors.torch as weights
import torch

from tests.training import tiny
from toolcal.training import setting_up, shared_prefix, trainer
from toolcal.training.episodes import Row
from toolcal.training.train import TrainingError, keep_adapter, train

pytestmark = pytest.mark.train


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return tiny.folder(tmp_path_factory.mktemp("base"))


@pytest.fixture
def scripted(monkeypatch):
    """What is sampled is played, since a random model would never find the form; what is learnt from it is not."""
    monkeypatch.setattr(trainer, "sampler", lambda *_, **__: tiny.play())


class Silent:
    def answered(self, step):
        self.step = step

    def updated(self, step, told):
        pass

    def look(self):
        pass


def one_by_one(model, prompts, completions, temperature):
    """Log-probabilities and entropies, each row read by itself from its first token to its last."""
    rows = []
    for prompt, completion in zip(prompts, completions, strict=True):
        logits = model(input_ids=torch.tensor([prompt + completion])).logits[0, len(prompt) - 1 : -1] / temperature
        chances = torch.distributions.Categorical(logits=logits)
        rows.append((chances.log_prob(torch.tensor(completion)), chances.entropy()))
    return rows


# Two kinds of prompts, as of a conversation's two steps, that are alike for long and so are read in two groups.
PROMPTS = [
    [*([1] * (7 if kind else 150)), *([2] * (150 if kind else 7)), *rest]
    for kind, rest in ((0, [8, 9, 10]), (1, [20]), (0, [8, 30, 31, 32]), (1, [21, 22]))
]
COMPLETIONS = [[40, 41, 42], [50, 51, 52, 53, 54], [60], [61, 62]]
ANY = [[None] * len(completion) for completion in COMPLETIONS]
FREE = [None] * len(PROMPTS)


def test_reading_the_common_prefix_once_changes_neither_numbers_nor_gradients():
    model = tiny.model()
    assert len(shared_prefix.alike(PROMPTS, 100)) == 2
    together, entropy = shared_prefix.log_probabilities(model, PROMPTS, COMPLETIONS, ANY, temperature=0.7)
    apart = one_by_one(model, PROMPTS, COMPLETIONS, 0.7)
    for row, (chances, entropies) in enumerate(apart):
        torch.testing.assert_close(together[row, : len(chances)], chances, atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(entropy[row, : len(chances)], entropies, atol=1e-5, rtol=1e-5)
        assert not together[row, len(chances) :].any()
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    first = torch.autograd.grad(together.sum(), weights)
    second = torch.autograd.grad(sum(chances.sum() for chances, _ in apart), weights)
    for one, other in zip(first, second, strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-4)


def test_samples_are_the_models_own():
    """Nearly without chance they are what transformers' greedy search finds, whatever stands beside them."""
    model = tiny.model().eval()
    found = shared_prefix.sampler(model, tiny.tokenizer(), max_tokens=8, temperature=1e-6)(PROMPTS, FREE)
    for prompt, sampled in zip(PROMPTS, found, strict=True):
        greedy = model.generate(torch.tensor([prompt]), max_new_tokens=8, do_sample=False, eos_token_id=257)
        assert sampled.tokens == greedy[0, len(prompt) :].tolist()


def test_samples_are_drawn_as_often_as_the_model_holds_them_likely():
    model, number = tiny.model().eval(), 4000
    torch.manual_seed(0)
    draw = shared_prefix.sampler(model, tiny.tokenizer(), max_tokens=1, temperature=1.0)
    drawn = draw([PROMPTS[0]] * number, [None] * number)
    found = np.bincount([sampled.tokens[0] for sampled in drawn], minlength=258) / number
    with torch.no_grad():
        chances = torch.softmax(model(input_ids=torch.tensor([PROMPTS[0]])).logits[0, -1], 0).numpy()[: len(found)]
    # Four standard errors of each token's share.
    assert (np.abs(found - chances) <= 4 * np.sqrt(chances * (1 - chances) / number) + 1e-3).all()


def made(base, tmp_path, **changed):
    return setting_up.trainer(tiny.training(base, tmp_path, **changed), Silent())


def test_what_a_tool_returned_gets_no_gradient(base, tmp_path):
    """Of a row with a tool's result between two responses, the loss has a gradient for the responses' tokens alone."""
    training = made(base, tmp_path)
    training.current_gradient_accumulation_steps = 1
    trained = [True, True, False, False, False, True]
    rows = [Row([5, 6], [40, 41, 7, 8, 9, 42], trained, None, [None] * 6), Row([5, 6, 7], [50], [True], None, [None])]
    batch = training._batch(rows, [1.0, -1.0])
    seen = []
    plain = training._get_per_token_logps_and_entropies

    def watched(*given, **named):
        found = plain(*given, **named)
        found[0].retain_grad()
        seen.append(found[0])
        return found

    training._get_per_token_logps_and_entropies = watched
    training.compute_loss(training.model.train(), batch).backward()
    assert (seen[0].grad != 0).tolist() == [trained, [True] + [False] * 5]
    # A token's part is its advantage over the number of trained tokens of the step.
    np.testing.assert_allclose(seen[0].grad[0, :2], -1 / 4, rtol=1e-6)
    assert any(weight.grad is not None and weight.grad.any() for weight in training.model.parameters())


def test_the_loss_is_the_same_in_one_piece_and_in_several(base, tmp_path, scripted):
    losses = []
    for parts in (1, 2, 4):
        training = tiny.training(base, tmp_path / str(parts), steps=1, micro_batches=parts, beta=0.1)
        train(training)
        losses.append(training.log.rows()[0]["gradient_norm"])
    assert losses[0] > 0
    np.testing.assert_allclose(losses, losses[0], rtol=1e-3)


def test_a_training_that_was_killed_goes_on_as_if_it_had_not_been(base, tmp_path, scripted):
    whole = tiny.training(base, tmp_path / "whole", steps=3)
    keep_adapter(train(whole), tmp_path / "adapter")
    looks = iter([False, True])
    killed = tiny.training(base, tmp_path / "killed", steps=3)
    with pytest.raises(TrainingError, match="is over; it goes on from its last checkpoint"):
        train(killed, over=lambda: next(looks))
    # What a kill may leave besides: a checkpoint that is no whole one, steps logged after the last one, half a line.
    (killed.progress / "checkpoint-2").mkdir()
    killed.log.add([killed.log.rows()[0] | {"step": 2}])
    with (killed.progress / "log.jsonl").open("a") as file:
        file.write('{"design": "rl')
    keep_adapter(train(killed), tmp_path / "adapter again")
    table, again = (
        one.log.table("training_log", 3).drop(columns=["design", "rollout_seconds", "seconds"]).astype(float)
        for one in (whole, killed)
    )
    assert again["step"].tolist() == [1, 2, 3]
    np.testing.assert_allclose(again, table, rtol=1e-5)
    first, second = (
        weights.load_file(tmp_path / folder / "adapter_model.safetensors") for folder in ("adapter", "adapter again")
    )
    for name in first:
        torch.testing.assert_close(first[name], second[name])
    assert any(first[name].any() for name in first if "lora_B" in name), "something was learnt"
    assert (killed.samples.table("training_samples", 3)["step"].value_counts() == 2).all()


def test_progress_of_another_training_is_refused_in_one_line(base, tmp_path, scripted):
    train(tiny.training(base, tmp_path, steps=1))
    for changed, words in (
        ({"learning_rate": 0.5}, "learning_rate was 0.01, is 0.5"),
        ({"design": ("accuracy", {"formula": "accuracy"})}, "design was"),
    ):
        with pytest.raises(TrainingError, match="progress of another training") as raised:
            train(tiny.training(base, tmp_path, **changed))
        assert words in str(raised.value)
        assert "\n" not in str(raised.value)
    assert len(tiny.training(base, tmp_path).log.rows()) == 1, "nothing computed is lost"


def test_a_folder_without_a_model_is_told_in_one_line(tmp_path):
    with pytest.raises(TrainingError, match="no model to train in") as raised:
        train(tiny.training(tmp_path / "none", tmp_path / "progress"))
    assert "\n" not in str(raised.value)


def test_a_longer_training_goes_on_where_a_shorter_one_ended(base, tmp_path, scripted):
    train(tiny.training(base, tmp_path, steps=1))
    longer = tiny.training(base, tmp_path, steps=2)
    train(longer)
    assert [row["step"] for row in longer.log.rows()] == [1, 2]
    with pytest.raises(TrainingError, match="has 2 steps behind it"):
        train(tiny.training(base, tmp_path, steps=1))


def test_rows_without_a_token_to_train_leave_the_model_as_it_is(base, tmp_path):
    training = made(base, tmp_path)
    training.current_gradient_accumulation_steps = 1
    batch = training._batch([Row([5, 6], [40], [False], None, [None])], [1.0])
    loss = training.compute_loss(training.model.train(), batch)
    assert math.isfinite(float(loss.detach()))
    assert float(loss.detach()) == 0
