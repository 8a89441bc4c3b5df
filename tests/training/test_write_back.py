"""From an adapter back to a served model: with the real small weights, so that what is served is what users serve."""

from __future__ import annotations

import asyncio

import httpx
import numpy as np
import pytest

from tests.models.test_serve import WEIGHTS
from toolcal import tables
from toolcal.models.serve import find_weights, serve_embedded
from toolcal.training.base_model import BaseModelError, prepare
from toolcal.training.supervised import fine_tune
from toolcal.training.write_back import WriteBackError, merged, tensors, write_folder, write_gguf

pytestmark = pytest.mark.train

torch = pytest.importorskip("torch", reason="needs the extra train")
gguf = pytest.importorskip("gguf", reason="needs the extra train")
peft = pytest.importorskip("peft", reason="needs the extra train")
transformers = pytest.importorskip("transformers", reason="needs the extra train")

LORA = {"rank": 4, "alpha": 8, "dropout": 0.0, "targets": ["q_proj", "k_proj", "v_proj", "down_proj"]}
QUESTION = {"messages": [{"role": "user", "content": "Name a colour."}], "max_tokens": 12, "temperature": 0.0}


@pytest.fixture(scope="module")
def mould():
    return find_weights(WEIGHTS).path


@pytest.fixture(scope="module")
def base(mould, tmp_path_factory):
    folder = tmp_path_factory.mktemp("base") / "base"
    prepare(mould, folder)
    return folder


@pytest.fixture(scope="module")
def untreated(base):
    return merged(base, None)


@pytest.fixture(scope="module")
def adapter(base, tmp_path_factory):
    """An adapter that changes much, so that it is seen in what the model says."""
    torch.manual_seed(0)
    model = peft.get_peft_model(
        transformers.AutoModelForCausalLM.from_pretrained(base),
        peft.LoraConfig(task_type="CAUSAL_LM", r=4, target_modules=LORA["targets"], init_lora_weights=False),
    )
    folder = tmp_path_factory.mktemp("adapter") / "adapter"
    model.save_pretrained(folder)
    return folder


def served(path):
    async def ask():
        async with (
            serve_embedded(find_weights({"path": str(path)}), context_length=512) as url,
            httpx.AsyncClient(timeout=120) as client,
        ):
            answer = await client.post(f"{url}/chat/completions", json=QUESTION)
        return answer.json()["choices"][0]["message"]["content"]

    return asyncio.run(ask())


def said(model, base):
    tokenizer = transformers.AutoTokenizer.from_pretrained(base)
    asked = tokenizer.apply_chat_template(
        QUESTION["messages"], add_generation_prompt=True, return_tensors="pt", return_dict=True
    )
    written = model.generate(**asked, max_new_tokens=QUESTION["max_tokens"], do_sample=False)
    return tokenizer.decode(written[0, asked["input_ids"].shape[1] :], skip_special_tokens=True)


def test_the_untreated_model_comes_back_as_it_was_within_rounding(mould, untreated, tmp_path):
    write_gguf(untreated, mould, tmp_path / "a.gguf")
    before, after = gguf.GGUFReader(mould), gguf.GGUFReader(tmp_path / "a.gguf")
    kept = ("tokenizer.chat_template", "tokenizer.ggml.tokens", "llama.rope.freq_base", "llama.attention.head_count_kv")
    assert all(before.fields[name].contents() == after.fields[name].contents() for name in kept)
    found = {tensor.name: tensor for tensor in after.tensors}
    assert len(found) == len(before.tensors)
    for tensor in before.tensors:
        one = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
        other = gguf.quants.dequantize(found[tensor.name].data, found[tensor.name].tensor_type)
        assert np.abs(one - other).max() <= 2**-11 * np.abs(one).max(), tensor.name
    write_gguf(untreated, mould, tmp_path / "b.gguf")
    assert (tmp_path / "a.gguf").read_bytes() == (tmp_path / "b.gguf").read_bytes()


@pytest.mark.model
def test_a_trained_model_is_served_as_it_was_trained(mould, base, untreated, adapter, tmp_path):
    trained = merged(base, adapter)
    assert not any("lora" in name for name in trained.state_dict())
    write_gguf(trained, mould, tmp_path / "trained.gguf")
    assert served(tmp_path / "trained.gguf") == said(trained, base) != said(untreated, base)


def test_a_folder_for_vllm_holds_the_merged_weights_and_the_tokenizer(base, adapter, tmp_path):
    trained = merged(base, adapter)
    changed = trained.state_dict()["model.layers.0.self_attn.q_proj.weight"].clone()
    write_folder(trained, base, tmp_path / "model")
    again = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "model")
    assert torch.allclose(again.state_dict()["model.layers.0.self_attn.q_proj.weight"].float(), changed, rtol=2**-7)
    assert transformers.AutoTokenizer.from_pretrained(tmp_path / "model").chat_template


def test_weights_that_do_not_fit_are_told_in_one_line_and_nothing_is_written(mould, untreated, tmp_path):
    small = transformers.LlamaForCausalLM(
        transformers.LlamaConfig(
            hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2, vocab_size=64
        )
    )
    with pytest.raises(WriteBackError, match=r"has shape .* where x.gguf wants token_embd.weight"):
        write_gguf(small, mould, tmp_path / "x.gguf")
    (tmp_path / "broken.gguf").write_bytes(b"GGUF" + bytes(100))
    with pytest.raises(BaseModelError, match=r"cannot read .*broken.gguf for training") as told:
        prepare(tmp_path / "broken.gguf", tmp_path / "folder")
    assert "\n" not in str(told.value)
    assert [path.name for path in tmp_path.iterdir()] == ["broken.gguf"]


def test_a_short_fine_tune_lowers_the_loss_of_its_responses(tmp_path):
    """On a tiny random model with the small model's words."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(
        find_weights(WEIGHTS).path.parent, gguf_file=find_weights(WEIGHTS).path.name
    )
    torch.manual_seed(0)
    tiny = transformers.LlamaConfig(
        hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2, vocab_size=len(tokenizer)
    )
    transformers.LlamaForCausalLM(tiny).save_pretrained(tmp_path / "base")
    tokenizer.save_pretrained(tmp_path / "base")
    settings = {"examples": 32, "abstaining": 0.25, "epochs": 2, "batch": 8, "learning_rate": 0.05}
    log = fine_tune(tmp_path / "base", tmp_path / "adapter", settings, lora=LORA, precision="auto", seed=1)
    tables.check("supervised_log", log)
    assert log["step"].tolist() == list(range(8))
    assert log["loss"].iloc[-1] < log["loss"].iloc[0] - 0.1
    assert (tmp_path / "adapter" / "adapter_model.safetensors").is_file()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["adapter", "base"]
    assert dict(tensors(merged(tmp_path / "base", tmp_path / "adapter"), "llama"))
