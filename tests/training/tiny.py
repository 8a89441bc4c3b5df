"""A language model of some thousand random weights that reads bytes, and a small world for it to be asked about."""

from __future__ import annotations

import json
import random
from dataclasses import replace

from toolcal.confidence import elicit, noise, world
from toolcal.confidence.answering import Way
from toolcal.confidence.search import Search
from toolcal.confidence.using import Using
from toolcal.training.episodes import Desk
from toolcal.training.policy import Sampled
from toolcal.training.rewards import design_of
from toolcal.training.tasks import Place, Task, spread
from toolcal.training.train import Training

PLACE = Place("made", 0.5, "search")
WAY = Way("prompted", elicit.wordings()["plain"], "percent", json_mode=True, execute_leaked=True, again=False)
NATIVE = replace(WAY, json_mode=False)
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def tokenizer():
    """A token a byte, and the two that open and close a message."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    plain = Tokenizer(models.BPE({letter: place for place, letter in enumerate(alphabet)}, []))
    plain.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    plain.decoder = decoders.ByteLevel()
    made = PreTrainedTokenizerFast(
        tokenizer_object=plain, bos_token="<|im_start|>", eos_token="<|im_end|>", pad_token="<|im_end|>"
    )
    made.chat_template = TEMPLATE
    return made


def model(seed=0):
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.set_num_threads(1)  # more would only wait for each other
    torch.manual_seed(seed)
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer()),
            hidden_size=16,
            intermediate_size=32,
            num_hidden_layers=2,
            num_attention_heads=2,
            num_key_value_heads=1,
            max_position_embeddings=8192,
            initializer_range=0.3,
        )
    )


def folder(path):
    """The model as a folder that `from_pretrained` loads."""
    model().save_pretrained(path)
    tokenizer().save_pretrained(path)
    return path


def tasks(number):
    made = world.world(5, 8)
    order = spread([Task(PLACE, question, "none") for question in made.questions], 0)
    return [next(order) for _ in range(number)]


def desks():
    made = world.world(5, 8)
    search = Search(noise.arm(made, 0.5, 5).passages, k=1, length=60)
    return {PLACE: Desk(Using(search), search.schema)}


def training(base, progress, design=("rlcr", {"formula": "rlcr"}), **changed):
    """The training of the tiny model, as a configuration without further keys would have it."""
    settings = {
        **{"prompts": 2, "completions": 2, "steps": 2, "max_tokens": 12, "temperature": 1.0, "learning_rate": 0.01},
        **{"warmup_steps": 0, "max_gradient_norm": 1.0, "beta": 0.0, "clip": 0.2, "scale_rewards": True, "seed": 0},
        **{"precision": "fp32", "micro_batches": 1, "gradient_checkpointing": False, "save_every": 1, "samples": 2},
        **{"rolling": 100, "rollouts": "transformers"},
        "lora": {"rank": 2, "alpha": 4, "dropout": 0.0, "targets": ["q_proj", "v_proj"]},
        **changed,
    }
    return Training(
        design=design_of(*design),
        settings=settings,
        about={"weights": "tiny"},
        tasks=tasks(settings["steps"] * settings["prompts"]),
        desks=desks(),
        way=WAY,
        tool_mode="json",
        history="turn",
        base=base,
        progress=progress,
    )


def said(text):
    """A response as if the model had sampled it."""
    known = tokenizer()
    return Sampled([*known(text, add_special_tokens=False)["input_ids"], known.eos_token_id])


def answered(answer, confidence=None):
    stated = {} if confidence is None else {"confidence": confidence}
    return said(json.dumps({"action": "answer", "answer": answer, **stated}))


def play(seed=0):
    """Samples that are no model's: a search, then an answer of some confidence, at times without any."""
    chance = random.Random(seed)
    known, searched = tokenizer(), said('{"action": "search", "query": "head office"}')

    def sample(prompts, schemas):
        assert all(schemas), "in JSON mode each response has a schema"
        return [
            answered("Tern", chance.choice([None, 20, 90]))
            if "Result:" in known.decode(prompt).rpartition("<|im_start|>user")[2]
            else searched
            for prompt in prompts
        ]

    return sample
