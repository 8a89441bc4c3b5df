"""A judge beside the rule, over recorded conversations and a stand-in endpoint, through the workflow."""

from __future__ import annotations

import json

import pytest

from tests.standins.endpoint import endpoint
from tests.standins.faults import error
from tests.standins.player import completion
from toolcal import tables

KEY = "sk-standin-0123456789abcdef"
ASSERTIONS = "<assertions>\n"


def lenient(body):
    """A judge that takes the user's last message for a yes, and a run's first assertion alone for met."""
    asked = body["messages"][1]["content"]
    if ASSERTIONS in asked:
        numbers = range(asked.partition(ASSERTIONS)[2].partition("\n</assertions>")[0].count("\n") + 1)
        told = [{"number": number, "met": number == 0, "reason": f"Your key is {KEY}."} for number in numbers]
        return completion(body, {"content": json.dumps({"assertions": told})})
    record = asked.partition("<record>\n")[2].partition("\n</record>")[0]
    said = [line["message"] for line in map(json.loads, record.splitlines()) if line["role"] == "user"]
    verdict = {"proposed": True, "agreed": True, "message": said[-1], "reason": f"Your key is {KEY}."}
    return completion(body, {"content": json.dumps(verdict)})


class FirstOfEach:
    """Refuses the first call about a write, and the first about a run's assertions."""

    def __init__(self):
        self.refused = set()

    def __call__(self, body, nth):
        kind = ASSERTIONS in body["messages"][1]["content"]
        if kind in self.refused:
            return None
        self.refused.add(kind)
        return error(400, "no such thing")


@pytest.mark.slow
def test_a_judge_stands_beside_the_rule_and_what_has_no_answer_is_asked_again(project, recorded, monkeypatch):
    project.in_one_process = True
    monkeypatch.setenv("STANDIN_API_KEY", KEY)
    run = {"format": "tau2", "results": str(recorded / "tau2/gpt-4o-2024-11-20_airline_50.json")}
    with endpoint(lenient, faults=FirstOfEach()) as server:
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
        calls = asked + 15  # each of airline's tasks has assertions
        assert f"The judge has {calls} of {calls} calls to make: " in estimated
        told = tables.read("judgements", project.results("judgements/gpt-4o.parquet"))
        gaps = told[told["status"] == "infra_error"]["question"].value_counts()
        assertions = (told["question"] == "nl_assertions").sum()
        lacking = f"1 of {asked} writes and {gaps['nl_assertions']} of {assertions} assertions of gpt-4o have no answer"
        assert lacking in " ".join(said.split())
        (met,) = tables.records(tables.read("nl_assertions", project.results("diagnosis/nl_assertions.parquet")))
        assert [met[name] for name in ("n", "n_undecided", "n_missing")] == [14, 0, 1]
        assert met["n_assertions"] == assertions - gaps["nl_assertions"]
        assert met["met"] == pytest.approx(14 / met["n_assertions"])
        agreement = tables.read("judge_agreement", project.results("diagnosis/judge_agreement.parquet"))
        assert agreement[["n", "n_judge", "n_missing"]].to_numpy().tolist() == [[asked - 1, asked - 1, 1]]
        rates = tables.read("write_rates", project.results("diagnosis/write_rates.parquet"))
        rates = rates[rates["writes"] == "all"].set_index("reader")
        assert rates["n"].to_dict() == {"rule": asked, "openai/j": asked - 1}
        assert (rates.loc["openai/j", "n_missing"], rates.loc["openai/j", "confirmed"]) == (1, 1.0)
        begun = len(server.seen)
        project.snakemake("results/judgements/gpt-4o.parquet", config=config)
    assert (begun, len(server.seen)) == (calls, calls + 2)
    judged = tables.read("judgements", project.results("judgements/gpt-4o.parquet"))
    of_writes = judged["question"] == "confirmed_write"
    assert judged[of_writes]["verdict"].tolist() == [True] * asked
    assert (judged[~of_writes]["verdict"] == (judged[~of_writes]["assertion"] == 0)).all()
    assert len(judged) == asked + assertions
    assert set(project.plan("diagnosis", config=config)) == {"diagnosis", "total"}
    assert {one.authorization for one in server.seen} == {f"Bearer {KEY}"}
    texts = [path for path in project.folder.rglob("*") if path.is_file()]
    assert [path for path in texts if KEY.encode() in path.read_bytes()] == []
