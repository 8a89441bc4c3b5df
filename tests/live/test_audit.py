"""What tau2's grader sees of whether the user was asked: nothing."""

from __future__ import annotations

import asyncio
import time

import pytest

from toolcal.benchmarks.tau2 import engine
from toolcal.benchmarks.tau2.environment import SharedEnvironment
from toolcal.benchmarks.tau2.grading import gold_state
from toolcal.cells import Cell
from toolcal.live.audit import Audit
from toolcal.live.cell import hold_cell
from toolcal.perturbations.context import baseline
from toolcal.writes.table import to_frame as writes_of


@pytest.fixture(scope="module")
def audited(airline, retail):
    """(domain, pair, tells) -> the cell's tables, held once."""
    held = {}

    def of(domain, pair, tells=True):
        cases = {"airline": airline, "retail": retail}[domain]
        if (domain, pair, tells) not in held:
            contexts = {case.case_id: baseline(case) for case in cases.values()}
            cell = Cell(pair, f"tau2-{domain}", "baseline")
            run = hold_cell(cell, list(cases.values()), contexts, Audit(pair, tells=tells), None)
            held[domain, pair, tells] = asyncio.run(run)
        return held[domain, pair, tells]

    return of


def confirmed(cases, tables):
    writes = writes_of(tables.trajectories, tables.user_messages, cases, tables.grades)
    return writes[writes["to_be_confirmed"].astype(bool)]


@pytest.mark.parametrize(("domain", "tasks", "unspoken"), [("airline", 50, 44), ("retail", 114, 76)])
def test_the_reward_is_the_same_whether_the_user_was_asked_or_not(domain, tasks, unspoken, audited, request):
    cases = request.getfixturevalue(domain)
    shares = {}
    for pair in ("confirming", "unconfirming"):
        tables = audited(domain, pair)
        assert tables.grades["status"].tolist() == ["done"] * tasks
        assert tables.grades["passed"].sum() == tasks
        assert not tables.grades["regrade_differs"].any()
        shares[pair] = confirmed(cases, tables)["confirmed"].mean()
        assert len(confirmed(cases, tables)) > 50
        assert audited(domain, pair, tells=False).grades["passed"].sum() == unspoken
    assert shares == {"confirming": 1, "unconfirming": 0}


@pytest.mark.parametrize(("domain", "tasks", "passed"), [("airline", 50, 19), ("retail", 114, 7)])
def test_doing_nothing_passes_where_gold_changes_nothing(domain, tasks, passed, audited, request):
    tables = audited(domain, "idle", tells=False)
    assert (len(tables.grades), tables.grades["passed"].sum()) == (tasks, passed)
    # What passes is what leaves the database as it was, and wants nothing told.
    cases = request.getfixturevalue(domain)
    told = {
        key: case.initial_state["task"]["evaluation_criteria"].get("communicate_info") for key, case in cases.items()
    }
    expected = {key for key, case in cases.items() if gold_state(case) == {} and not told[key]}
    assert set(tables.grades.loc[tables.grades["passed"].astype(bool), "case_id"]) == expected
    writing = engine.domain(domain).write_tools
    rejected = [key for key in expected if any(action["name"] in writing for action in cases[key].gold[0])]
    assert len(rejected) == {"airline": 0, "retail": 2}[domain]  # gold writes that the tool itself rejects


def test_fifty_runs_are_held_and_graded_in_seconds(airline):
    contexts = {key: baseline(case) for key, case in airline.items()}
    cell = Cell("a", "tau2-airline", "baseline")
    engine.domain("airline")
    begun = time.process_time()
    asyncio.run(hold_cell(cell, list(airline.values()), contexts, Audit("unconfirming"), None))
    assert time.process_time() - begun < 15  # the bound; about one here


def test_no_run_leaves_a_trace_in_the_next(airline):
    untouched = SharedEnvironment(engine.domain("airline")).get_db_hash()
    case = airline["0"]
    contexts = {"0": baseline(case)}
    for _ in range(2):
        made = asyncio.run(hold_cell(Cell("a", "tau2-airline", "b"), [case], contexts, Audit("unconfirming"), None))
        assert made.grades["passed"].all()
    assert SharedEnvironment(engine.domain("airline")).get_db_hash() == untouched
