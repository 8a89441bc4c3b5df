"""A deterministic endpoint: a cell with a probe asks only for what its baseline did not ask for."""

from __future__ import annotations

import pytest

from tests.models.asking import warm, with_chat  # noqa: F401
from tests.perturbations.probes.runs import context
from tests.standins.endpoint import endpoint
from toolcal import rollout
from toolcal.cells import Cell

KEY = ["case_id", "turn", "step", "attempt"]
PROBES = {
    "sri": ("sri", {"gate": "all"}),
    "retry": ("cri", {}),
    "bypass": ("cri", {"variant": "bypass"}),
}


def cell(path, url, bfcl, cases, probe=None, replay=None, **parameters):
    contexts = {case.case_id: context(case, probe, **parameters) for case in cases}

    async def work(chat):
        return await rollout.run_cell(Cell("m", cases[0].scenario, "p"), cases, contexts, chat, bfcl)

    return with_chat(path, url, work, replay=replay)


@pytest.mark.parametrize("name", PROBES)
def test_fresh_calls_are_those_after_each_cases_first_trigger(name, bfcl, bfcl_cases, tmp_path):
    probe, parameters = PROBES[name]
    cases = bfcl_cases["miss_param"][:4]
    with endpoint() as server:
        baseline = cell(tmp_path / "b", server.url, bfcl, cases).trajectories
        asked = len(server.bodies)
        found = cell(tmp_path / "p", server.url, bfcl, cases, probe, tmp_path / "b", **parameters)
        fresh = len(server.bodies) - asked
        full = cell(tmp_path / "full", server.url, bfcl, cases, probe, **parameters)
        again = cell(tmp_path / "p", server.url, bfcl, cases, probe, tmp_path / "b", **parameters)
    assert asked == len(baseline)
    assert not baseline["replayed"].any()
    rows = found.trajectories[found.trajectories["origin"] == "model"]
    first = {}
    for event in found.probe_events.query("triggered").to_dict("records"):
        first.setdefault(event["case_id"], tuple(event[key] for key in KEY[1:]))
    expected = [
        row["case_id"] in first and tuple(row[key] for key in KEY[1:]) > first[row["case_id"]]
        for row in rows.to_dict("records")
    ]
    assert list(~rows["replayed"].astype(bool)) == expected
    assert fresh == sum(expected)
    assert rows.loc[rows["replayed"].astype(bool), "cost"].fillna(0).eq(0).all()
    unlike = ["latency", "cost", "cached", "replayed"]
    assert found.trajectories.drop(columns=unlike).equals(full.trajectories.drop(columns=unlike))
    assert again.trajectories["cached"][again.trajectories["origin"] == "model"].all()
    assert again.trajectories["replayed"].equals(found.trajectories["replayed"])


def test_without_a_baseline_everything_is_asked(bfcl, bfcl_cases, tmp_path):
    with endpoint() as server:
        found = cell(tmp_path / "p", server.url, bfcl, bfcl_cases["base"][:1], "sri", tmp_path / "none")
        assert len(server.bodies) == len(found.trajectories)
    assert not found.trajectories["replayed"].any()
