from __future__ import annotations

import decimal

import mpmath
import pytest

from tests.timing import best_of, cpu
from toolcal.benchmarks.bfcl.simulators import Simulators, state_of


def case_with(bfcl_cases, class_name, category="base"):
    return next(case for case in bfcl_cases[category] if class_name in case.initial_state["classes"])


def test_a_call_is_looked_up_and_its_effect_seen(bfcl_cases):
    environment = Simulators(case_with(bfcl_cases, "GorillaFileSystem"))
    made = environment.execute("mkdir", {"dir_name": "new_folder"})
    listed = environment.execute("ls", {})
    assert (made.executed, made.state_changed) == (True, True)
    assert (listed.executed, listed.state_changed) == (True, False)
    assert "new_folder" in listed.result


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("teleport", {"to": "moon"}),
        ("__init__", {}),
        ("_load_scenario", {"scenario": {}}),
        ("__class__", {}),
        ("print", {"x": 1}),
        ("__import__('os').system", {"command": "true"}),
        ("ls", {"a=True), print(": 1}),
        ("ls", {"class": 1}),
        ("ls", {"nope": 1}),
        ("ls", {"": 1}),
        ("mv", {"source": "a"}),
        ("echo", {"content": float("nan")}),
    ],
)
def test_what_is_no_call_of_the_simulators_is_not_run(bfcl_cases, name, arguments):
    environment = Simulators(case_with(bfcl_cases, "GorillaFileSystem"))
    result = environment.execute(name, arguments)
    assert not result.executed
    assert not result.state_changed
    assert result.result == f"Error during execution: {result.error}"


def test_python_in_arguments_stays_text(bfcl_cases, tmp_path):
    environment = Simulators(case_with(bfcl_cases, "GorillaFileSystem"))
    text = f"__import__('pathlib').Path({str(tmp_path / 'pwned')!r}).touch()"
    environment.execute("touch", {"file_name": "note.txt"})
    environment.execute("echo", {"content": text, "file_name": "note.txt"})
    assert text in environment.execute("cat", {"file_name": "note.txt"}).result.replace('\\"', '"')
    assert not (tmp_path / "pwned").exists()


def test_nested_arguments_without_end_are_refused(bfcl_cases):
    deep: list = []
    for _ in range(100_000):
        deep = [deep]
    result = Simulators(case_with(bfcl_cases, "GorillaFileSystem")).execute("echo", {"content": deep})
    assert result.error == "the arguments are nested too deeply"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("power", {"base": 9, "exponent": 9**9}),
        ("power", {"base": 10**20_000, "exponent": 2}),
        ("square_root", {"number": 2, "precision": 10**9}),
        ("logarithm", {"value": 3, "base": 2, "precision": 10**9}),
        ("logarithm", {"value": 3, "base": 2, "precision": 1e9}),
        ("add", {"a": 10**50_000, "b": 1}),
    ],
)
def test_numbers_that_would_hold_up_a_run_are_refused(bfcl_cases, name, arguments):
    environment = Simulators(case_with(bfcl_cases, "MathAPI"))
    found = []
    assert best_of(lambda: cpu(lambda: found.append(environment.execute(name, arguments))), 1) < 1
    assert found[0].result.startswith(("Error during execution", '{"error"'))


def test_a_power_that_can_be_computed_is(bfcl_cases):
    assert Simulators(case_with(bfcl_cases, "MathAPI")).execute("power", {"base": 2, "exponent": 10}).result == (
        '{"result": 1024}'
    )


def test_precision_set_by_a_simulator_stays_there(bfcl_cases):
    before = decimal.getcontext().prec, mpmath.mp.dps
    environment = Simulators(case_with(bfcl_cases, "MathAPI"))
    assert environment.execute("square_root", {"number": 2, "precision": 3}).executed
    assert environment.execute("logarithm", {"value": 8, "base": 2, "precision": 3}).executed
    assert (decimal.getcontext().prec, mpmath.mp.dps) == before


def test_two_runs_of_a_case_share_nothing(bfcl_cases):
    case = case_with(bfcl_cases, "GorillaFileSystem")
    first, second = Simulators(case), Simulators(case)
    first.execute("mkdir", {"dir_name": "only_here"})
    assert "only_here" not in second.execute("ls", {}).result
    assert "only_here" not in Simulators(case).execute("ls", {}).result


def test_every_turn_of_every_case_has_a_call_that_leaves_no_trace(bfcl, bfcl_cases):
    for found in bfcl_cases.values():
        for case in found[::10]:
            for turn in range(len(case.turns)):
                name, arguments = bfcl.read_only_call(case, turn)
                assert name in {tool["function"]["name"] for tool in case.tools_at(turn)}
                assert not Simulators(case).execute(name, arguments).state_changed


def test_reading_a_random_number_is_a_trace(bfcl_cases):
    case = case_with(bfcl_cases, "VehicleControlAPI")
    tools = [tool for _, tool in case.tools if tool["function"]["name"] == "get_current_speed"]
    assert tools
    assert Simulators(case).read_only_call(tools) is None


def test_long_context_is_long(bfcl_cases):
    base, long = (case_with(bfcl_cases, "GorillaFileSystem", category) for category in ("base", "long_context"))
    assert base.initial_state == long.initial_state
    sizes = [len(str([state_of(instance) for instance in Simulators(case)._instances])) for case in (base, long)]
    assert sizes[1] > 10 * sizes[0]
