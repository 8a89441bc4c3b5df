from __future__ import annotations

import json

import pytest

from toolcal.benchmarks.tau2.cases import TaskError, case_of, task_file
from toolcal.benchmarks.tau2.nl_assertions import of_state, of_task


@pytest.mark.parametrize(("domain", "tasks", "assertions"), [("airline", 50, 122), ("retail", 8, 12)])
def test_assertions_of_the_installed_tasks(domain, tasks, assertions):
    found = [of_state({"task": task}) for task in json.loads(task_file(domain).read_text(encoding="utf-8"))]
    assert sum(map(bool, found)) == tasks
    assert sum(map(len, found)) == assertions


@pytest.mark.parametrize("criteria", [None, {}, {"nl_assertions": None}, {"nl_assertions": []}])
def test_a_task_may_have_none(criteria):
    assert of_task({"evaluation_criteria": criteria}) == of_state({}) == []


@pytest.mark.parametrize("found", ["Agent helps.", [1], [None], {"a": "b"}, 0])
def test_a_task_whose_assertions_are_no_texts_is_named(found):
    task = {"id": "1", "evaluation_criteria": {"actions": [], "nl_assertions": found}}
    with pytest.raises(TaskError, match=r"evaluation_criteria\.nl_assertions: not a list of texts"):
        case_of(task, "airline", "r")
