from __future__ import annotations

import runpy
from types import SimpleNamespace

import pytest

from tests.conftest import ROOT
from toolcal import perturbations, tables, unfinished
from toolcal.benchmarks import case_table
from toolcal.benchmarks.grades import grade_trajectories
from toolcal.models import policies
from toolcal.models.protocol import Reply

MAIN = runpy.run_path(str(ROOT / "scripts/trajectories.py"))["main"]


def journal_of(smk):
    return smk.params.cells[0]["journal"]


class Names(SimpleNamespace):
    """Snakemake's named values: by attribute and by key."""


@pytest.fixture
def smk(bfcl_cases, tmp_path):
    found = bfcl_cases["miss_param"][:3]
    tables.write("cases", case_table.to_frame(found, 0), tmp_path / "cases.parquet")
    tables.write("contexts", perturbations.to_frame(found, "baseline"), tmp_path / "contexts.parquet")
    return SimpleNamespace(
        input=Names(cases=[tmp_path / "cases.parquet"], contexts=[tmp_path / "contexts.parquet"]),
        output=[tmp_path / "t.parquet"],
        config={
            "results": str(tmp_path),
            "endpoints": {},
            "limits": {},
            "models": {"m": {"source": "policy", "policy": "oracle", "family": "f"}},
        },
        params=Names(
            model="m",
            answers={"source": "policy", "policy": "oracle"},
            cells=[
                {
                    "scenario": "bfcl-miss_param",
                    "perturbation": "baseline",
                    "journal": str(tmp_path / "journal.jsonl"),
                    "selection": {"limit": None, "case_ids": None},
                    "trials": 2,
                    "seed": 1,
                    "unfinished": 0,
                }
            ],
            code="abc",
        ),
        log=[str(tmp_path / "log")],
    )


def test_every_case_is_run_as_often_as_asked(smk):
    MAIN(smk)
    data = tables.read("trajectories", smk.output[0])
    assert data.groupby("trial")["case_id"].nunique().to_dict() == {0: 3, 1: 3}
    assert unfinished.count(journal_of(smk)) == 0
    assert tables.metadata(smk.output[0])["run"]["trials"] == 2


def test_an_infrastructure_error_is_told_kept_apart_and_counted_once_a_run(smk, monkeypatch, capsys):
    whole = policies.Policy.respond

    async def broken(self, request):
        if request.case.case_id.endswith("_1") and request.turn == 1:
            return Reply({}, raw="connection refused", failure="infra_error")
        return await whole(self, request)

    monkeypatch.setattr(policies.Policy, "respond", broken)
    MAIN(smk)
    data = tables.read("trajectories", smk.output[0])
    assert data["status"].value_counts()["infra_error"] == 2
    grades = grade_trajectories(data, tables.read("cases", smk.input.cases[0])).set_index("case_id")
    assert grades.loc["multi_turn_miss_param_1", "passed"].isna().all()
    assert grades.loc["multi_turn_miss_param_0", "passed"].all()
    assert unfinished.count(journal_of(smk)) == 1
    assert (
        "toolcal: 2 cases of m in bfcl-miss_param.baseline ended with infrastructure errors" in capsys.readouterr().err
    )
    monkeypatch.setattr(policies.Policy, "respond", whole)
    MAIN(smk)
    assert unfinished.count(journal_of(smk)) == 1
