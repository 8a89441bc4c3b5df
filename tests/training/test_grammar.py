"""What is sampled under a schema, on a model of some thousand random weights, and what is learnt of it."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("llguidance", reason="needs the extra `train`: docs/training.md")
pytest.importorskip("trl", reason="needs the extra `train`: docs/training.md")
import jsonschema
import torch

from tests.training import tiny
from toolcal.confidence import elicit
from toolcal.models import json_mode
from toolcal.training import setting_up, shared_prefix
from toolcal.training.episodes import roll_out, rows_of
from toolcal.training.grammar import Grammar
from toolcal.training.policy import Emission, Policy

pytestmark = pytest.mark.train

KNOWN = tiny.tokenizer()
STOP = KNOWN.eos_token_id
SEARCH = tiny.desks()[tiny.PLACE].schema


def schema_of(scale, **step):
    """The schema that the study sends along with a step's request."""

    class Request:
        guide = elicit.guide("prompted", tiny.WAY.wording, scale, ["search"])
        tools = elicit.offered([SEARCH], scale, **step)
        messages, turn_start = ({"role": "user", "content": "Which?"},), 0

    return json_mode.prompt(Request)[1]["json_schema"]["schema"]


FINAL = schema_of("percent", called=True, last=True)
EITHER = schema_of("percent", called=True, last=False)


@pytest.fixture(scope="module")
def model():
    return tiny.model().eval()


@pytest.fixture(scope="module")
def grammar(model):
    return Grammar(KNOWN, model.get_output_embeddings().out_features)


def sampled(model, grammar, schemas, max_tokens=400, seed=1):
    """Prompts, and what the model says to each under its schema."""
    prompts = [[*KNOWN(f"Question {number}")["input_ids"]] for number in range(len(schemas))]
    torch.manual_seed(seed)
    draw = shared_prefix.sampler(model, KNOWN, max_tokens=max_tokens, temperature=1.0, grammar=grammar)
    return prompts, draw(prompts, [schema and json.dumps(schema) for schema in schemas])


def test_a_response_under_a_schema_is_in_form_unless_the_limit_cuts_it(model, grammar):
    schemas = [FINAL, EITHER] * 12
    _, found = sampled(model, grammar, schemas)
    whole = [(said, schema) for said, schema in zip(found, schemas, strict=True) if said.tokens[-1] == STOP]
    assert len(whole) >= len(schemas) / 2
    for said, schema in whole:
        jsonschema.validate(json.loads(KNOWN.decode(said.tokens, skip_special_tokens=True)), schema)
    assert all(len(said.tokens) == 400 for said in found if said.tokens[-1] != STOP)


@pytest.mark.parametrize(
    ("scale", "stated"),
    [
        ("percent", {"0": True, "7": True, "100": True, "101": False, "-1": False, "50.5": False, '"high"': False}),
        ("unit", {"0": True, "1": True, "0.35": True, "1.5": False, "-1": False, "null": False}),
    ],
)
def test_any_confidence_of_the_scale_may_be_stated_and_no_other(grammar, scale, stated):
    schema = json.dumps(schema_of(scale, called=True, last=True))

    def holds(confidence):
        held = grammar.begin(schema)
        text = f'{{"action": "answer", "answer": "Tern", "confidence": {confidence}}}'
        try:
            for token in [*KNOWN(text)["input_ids"], STOP]:
                held.take(token)
        except ValueError:
            return False
        return True

    assert {confidence: holds(confidence) for confidence in stated} == stated


def test_the_update_is_of_the_distribution_that_was_sampled_from(model, grammar):
    """Along a response, what sampling drew from: the model's own, over what the schema allows; one row is free."""
    prompts, found = sampled(model, grammar, [FINAL, EITHER, None], max_tokens=60)
    assert found[2].allowed == [None] * len(found[2].tokens)
    completions, allowed = [said.tokens for said in found], [said.allowed for said in found]
    made, entropy = shared_prefix.log_probabilities(model, prompts, completions, allowed, temperature=1.0)
    for row, (prompt, said, schema) in enumerate(zip(prompts, found, [FINAL, EITHER, None], strict=True)):
        held = grammar.begin(json.dumps(schema)) if schema else None
        for place, token in enumerate(said.tokens):
            logits = model(input_ids=torch.tensor([prompt + said.tokens[:place]])).logits[0, -1]
            if held:
                bits = int.from_bytes(held.allowed(), "little")
                logits = logits + torch.tensor([0.0 if bits >> one & 1 else -torch.inf for one in range(len(logits))])
                held.take(token)
            chances = torch.log_softmax(logits, 0)
            assert float(made[row, place]) == pytest.approx(float(chances[token]), abs=1e-4)
            assert float(entropy[row, place]) == pytest.approx(float(torch.special.entr(chances.exp()).sum()), abs=1e-4)
            assert said.chosen[place] == (int((chances > -torch.inf).sum()) > 1)


def test_what_a_schema_shuts_out_gets_no_gradient(model, grammar):
    """Neither the head's rows of tokens that were never allowed, nor anything by a token that was given."""
    prompts, (said,) = sampled(model, grammar, [FINAL], max_tokens=12)
    head = model.get_output_embeddings().weight
    made, _ = shared_prefix.log_probabilities(model, prompts, [said.tokens], [said.allowed], temperature=1.0)
    (gradient,) = torch.autograd.grad(made.sum(), head, retain_graph=True)
    ever = 0
    for mask in said.allowed:
        ever |= int.from_bytes(mask, "little")
    open_rows = torch.tensor([bool(ever >> token & 1) for token in range(len(head))])
    assert not gradient[~open_rows].any()
    assert gradient[open_rows].any()
    given = torch.tensor([not chosen for chosen in said.chosen])
    assert given.any()
    assert not torch.autograd.grad(made[0, given].sum(), head)[0].any()


@pytest.mark.parametrize("checkpointing", [False, True])
def test_the_trainer_applies_what_each_row_was_held_to(tmp_path, checkpointing):
    """The batch is shuffled and cut into parts on the way: the numbers are still those of each row's schema."""
    base = tiny.folder(tmp_path / "base")
    settings = {"max_tokens": 60, "micro_batches": 2, "beta": 0.1, "gradient_checkpointing": checkpointing}
    training = setting_up.trainer(tiny.training(base, tmp_path / "progress", steps=1, **settings), Silent())
    seen = {}
    plain = training._get_per_token_logps_and_entropies

    def watched(model, tokens, mask, width, *given, **named):
        found = plain(model, tokens, mask, width, *given, **named)
        for row, there, values in zip(tokens, mask.bool(), found[0].detach(), strict=True):
            said = row[-width:][there[-width:]].tolist()
            seen[tuple(row[:-width][there[:-width]].tolist()), tuple(said)] = values[: len(said)]
        return found

    training._get_per_token_logps_and_entropies = watched
    training.train()
    held = [key for key, masks in training._allowed.items() if any(masks)]
    assert held
    model = training.accelerator.unwrap_model(training.model)
    with torch.no_grad(), model.disable_adapter():  # the first update begins with an adapter that changes nothing
        for prompt, said in held:
            alone, _ = shared_prefix.log_probabilities(
                model, [list(prompt)], [list(said)], [training._allowed[prompt, said]], temperature=1.0
            )
            torch.testing.assert_close(seen[prompt, said], alone[0], atol=1e-4, rtol=1e-4)


class Silent:
    def answered(self, step):
        pass

    def updated(self, step, told):
        pass

    def look(self):
        pass


def test_a_model_with_native_tools_samples_freely(model):
    policy = Policy(KNOWN, shared_prefix.sampler(model, KNOWN, max_tokens=8, temperature=1.0), "native")
    (episode,) = roll_out(tiny.tasks(1), tiny.desks(), tiny.NATIVE, policy, seed=0)
    (row,) = episode.rows
    assert row.allowed == [None] * len(row.completion)
    assert all(row.trained)


def test_a_schema_of_which_no_grammar_can_be_made_is_told_in_one_line(grammar):
    with pytest.raises(ValueError, match="no grammar for the schema") as raised:
        grammar.begin('{"type": "object", "properties": {"a": {"not": {"type": "string"}}}}')
    assert "\n" not in str(raised.value)


def test_an_answer_as_the_study_decodes_it(model, grammar):
    _, found = sampled(model, grammar, [FINAL] * 6)
    said = next(one for one in found if one.tokens[-1] == STOP)
    text = KNOWN.decode(said.tokens, skip_special_tokens=True)
    tools = elicit.offered([SEARCH], "percent", called=True, last=True)
    (call,) = json_mode.decode(text, tools)["tool_calls"]
    assert call["function"]["name"] == "answer"
    assert rows_of([Emission([1], said, text, True)])[0].trained == said.chosen
