"""A real language model as tau2's agent, with the scripted user: small, and yet all statuses have to be right."""

from __future__ import annotations

import asyncio

import pytest
import yaml

from tests.conftest import ROOT
from toolcal import tables
from toolcal.cells import Cell
from toolcal.live.cell import hold_cell
from toolcal.live.conversation import Limits
from toolcal.models.source import open_source
from toolcal.perturbations.context import baseline


@pytest.mark.model
@pytest.mark.slow
def test_one_conversation_a_domain_runs_to_an_end(airline, retail, tmp_path):
    entry = yaml.safe_load((ROOT / "config.yaml").read_text())["models"]["smollm2-135m"]
    held = {}

    async def both():
        settings = {"results": tmp_path, "endpoints": {}, "limits": {}, "log": tmp_path / "server.log"}
        async with open_source("smollm2-135m", entry, **settings) as source:
            for domain, cases in (("airline", airline), ("retail", retail)):
                scenario, chosen = f"tau2-{domain}", [cases["2"]]
                contexts = {case.case_id: baseline(case) for case in chosen}
                with source.cell(None, scenario, tmp_path / f"{scenario}.jsonl") as model:
                    cell = Cell("smollm2-135m", scenario, "baseline")
                    held[domain] = await hold_cell(cell, chosen, contexts, model, None, limits=Limits(max_steps=14))

    asyncio.run(both())
    for found in held.values():
        assert found.grades["status"].isin(["done", "step_limit", "premature", "context_exceeded"]).all()
        assert found.grades["passed"].notna().all()
        said = found.trajectories[found.trajectories["origin"] == "model"]
        assert len(said) >= 1
        assert (said["prompt_tokens"].dropna() > 1000).all()  # it read the policy
        tables.check("trajectories", found.trajectories)
        tables.check("user_messages", found.user_messages)
