"""A judge beside the rule, over recorded conversations and a stand-in endpoint, through the workflow."""

from __future__ import annotations

import json

import pytest

from tests.standins.endpoint import endpoint
from tests.standins.faults import error
from tests.standins.player import completion
from toolcal import tables

KEY = "sk-standin-0123456789abcdef"


def lenient(body):
    """A judge that takes the user's last message for a yes."""
    record = body["messages"][1]["content"].partition("<record>\n")[2].partition("\n</record>")[0]
    said = [line["message"] for line in map(json.loads, record.splitlines()) if line["role"] == "user"]
    verdict = {"proposed": True, "agreed": True, "message": said[-1], "reason": f"Your key is {KEY}."}
    return completion(body, {"content": json.dumps(verdict)})


@pytest.mark.slow
def test_a_judge_stands_beside_the_rule_and_what_has_no_answer_is_asked_again(project, recorded, monkeypatch):
    project.in_one_process = True
    monkeypatch.setenv("STANDIN_API_KEY", KEY)
    run = {"format": "tau2", "results": str(recorded / "tau2/gpt-4o-2024-11-20_airline_50.json")}
    with endpoint(lenient, faults=lambda body, nth: error(400, "no such thing") if nth == 0 else None) as server:
        config = {
            "seed": 0,
            "labellers": ["paper_like"],
            "scenarios": {"tau2-airline": {"limit": 15}},
            "endpoints": {"standin": {"api_base": server.url, "api_key_env": "STANDIN_API_KEY"}},
            "judge": {"model": "openai/j", "endpoint": "standin"},
            "models": {"gpt-4o": {"source": "recorded", "family": "f", **run}},
        }
        estimated = project.snakemake("estimate", config=config)
        assert not server.seen
        said = project.snakemake("diagnosis", config=config)
        writes = tables.read("writes", project.results("writes/gpt-4o.parquet"))
        asked = int(writes["to_be_confirmed"].sum())
        assert asked > 3
        assert f"The judge has {asked} of {asked} writes to read, a call each." in estimated
        assert f"1 of {asked} writes of gpt-4o have no answer of the judge; the first: " in " ".join(said.split())
        agreement = tables.read("judge_agreement", project.results("diagnosis/judge_agreement.parquet"))
        assert agreement[["n", "n_judge", "n_missing"]].to_numpy().tolist() == [[asked - 1, asked - 1, 1]]
        rates = tables.read("write_rates", project.results("diagnosis/write_rates.parquet"))
        rates = rates[rates["writes"] == "all"].set_index("reader")
        assert rates["n"].to_dict() == {"rule": asked, "openai/j": asked - 1}
        assert (rates.loc["openai/j", "n_missing"], rates.loc["openai/j", "confirmed"]) == (1, 1.0)
        begun = len(server.seen)
        project.snakemake("results/judgements/gpt-4o.parquet", config=config)
    assert (begun, len(server.seen)) == (asked, asked + 1)
    judged = tables.read("judgements", project.results("judgements/gpt-4o.parquet"))
    assert judged["verdict"].tolist() == [True] * asked
    assert set(project.plan("diagnosis", config=config)) == {"diagnosis", "total"}
    assert {one.authorization for one in server.seen} == {f"Bearer {KEY}"}
    texts = [path for path in project.folder.rglob("*") if path.is_file()]
    assert [path for path in texts if KEY.encode() in path.read_bytes()] == []
