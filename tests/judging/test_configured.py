from __future__ import annotations

import pytest

from tests.conftest import ROOT
from toolcal import configuration

SCHEMA = configuration.load_schema(ROOT / "schemas/config.schema.yaml")
ORACLE = {"source": "policy", "policy": "oracle", "family": "f"}


def config(judge, model="oracle"):
    return {"scenarios": {"bfcl-base": None}, "models": {model: ORACLE}, "judge": judge}


def test_a_judge_gets_the_defaults_of_its_parts_and_its_providers_endpoint():
    checked = configuration.validated(config({"model": "anthropic/claude"}), SCHEMA)
    every = ["confirmed_write", "nl_assertions", "right_answer"]
    assert checked["judge"] == {"model": "anthropic/claude", "parameters": {}, "questions": every}
    one = configuration.validated(config({"model": "a/b", "questions": ["nl_assertions"]}), SCHEMA)
    assert one["judge"]["questions"] == ["nl_assertions"]
    assert checked["endpoints"]["anthropic"]["concurrency"] == 16


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (config({}), "judge: 'model' is a required property"),
        (config({"model": "claude"}), "judge.model: found 'claude', allowed: text that matches"),
        (config({"model": "a/b", "tool_mode": "json"}), "judge.tool_mode: unknown key, allowed here: endpoint, model"),
        (config({"model": "a/b", "questions": []}), "judge.questions: found [], allowed: a list of at least 1"),
        (
            config({"model": "a/b", "questions": ["x"]}),
            "judge.questions.0: found 'x', allowed: one of confirmed_write, n",
        ),
        (config({"model": "a/b", "endpoint": "x"}), "judge.endpoint: found 'x', allowed are the keys of endpoints"),
        (config({"model": "a/b", "parameters": {"tools": []}}), "judge.parameters.tools: not a name allowed here"),
        (config({"model": "a/b", "parameters": {"x": float("inf")}}), "judge.parameters.x: found inf, allowed"),
        (config({"model": "a/b", "prices": {"input": 1}}), "judge.prices: 'output' is a required property"),
        (config({"model": "a/b"}, model="Judge"), "models.Judge: journal/Judge would hold this model's calls"),
    ],
)
def test_a_mistake_gets_a_line(given, said):
    with pytest.raises(configuration.ConfigError) as error:
        configuration.validated(given, SCHEMA)
    assert said in str(error.value)
