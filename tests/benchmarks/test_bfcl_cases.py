from __future__ import annotations

import json

import jsonschema
import pytest

from tests.conftest import CATEGORIES
from toolcal import tables
from toolcal.benchmarks import case_table
from toolcal.benchmarks.bfcl import cases


def test_every_category_has_200_cases_whose_turns_count_as_published(bfcl_cases):
    counted = {
        category: sum(len(case.turns) - len(case.excluded_turns) for case in found)
        for category, found in bfcl_cases.items()
    }
    assert {category: len(found) for category, found in bfcl_cases.items()} == dict.fromkeys(CATEGORIES, 200)
    assert counted == {"base": 731, "long_context": 731, "miss_func": 931, "miss_param": 931}


def test_gold_empty_turns_are_decisive_or_on_the_versioned_list(bfcl_cases):
    for category, found in bfcl_cases.items():
        for case in found:
            empty = {turn for turn, calls in enumerate(case.gold) if not calls}
            decisive = {case.decisive_turn} if case.decisive_turn is not None else set()
            assert empty == decisive | set(case.excluded_turns), case.case_id
            assert bool(decisive) == category.startswith("miss_"), case.case_id
    numbers = {int(case.cluster_id) for found in bfcl_cases.values() for case in found if case.excluded_turns}
    assert numbers == set(cases.exclusions()["reasons"]) == {167, 180}


def test_held_out_tools_arrive_right_after_the_decisive_turn(bfcl_cases):
    for case in bfcl_cases["miss_func"]:
        late = {turn for turn, _ in case.tools if turn}
        assert min(late) == case.decisive_turn + 1, case.case_id
        for turn in late:
            assert [message["content"] for message in case.turns[turn]] == [
                "I have updated some more functions you can choose from. What about now?"
            ]
        names = [tool["function"]["name"] for tool in case.tools_at(case.decisive_turn)]
        assert not set(names) & {tool["function"]["name"] for turn, tool in case.tools if turn}


def test_tools_are_openai_functions_in_json_schema(bfcl_cases):
    for found in bfcl_cases.values():
        for _, tool in {json.dumps(tool): tool for case in found for tool in case.tools}.values():
            assert set(tool) == {"type", "function"}
            jsonschema.Draft202012Validator.check_schema(tool["function"]["parameters"])
            assert tool["function"]["parameters"]["type"] == "object"


def test_bfcl_type_names_are_translated_at_every_depth():
    schema = cases.json_schema(
        {
            "type": "dict",
            "properties": {
                "a": {"type": "tuple", "items": {"type": "float"}},
                "b": {"type": "dict", "properties": {"c": {"type": "any", "description": "d"}}},
            },
        }
    )
    assert schema["properties"]["a"] == {"type": "array", "items": {"type": "number"}}
    assert schema["properties"]["b"] == {"type": "object", "properties": {"c": {"description": "d"}}}


def test_dotted_names_map_both_ways_and_a_collision_is_refused():
    assert cases.api_names(["fs.ls", "cd"]) == {"fs_ls": "fs.ls", "cd": "cd"}
    with pytest.raises(cases.BenchmarkError, match=r"'fs\.ls' and 'fs_ls' would both be called 'fs_ls'"):
        cases.api_names(["fs.ls", "fs_ls"])


def test_unknown_category_names_those_there_are():
    with pytest.raises(cases.BenchmarkError, match="base, long_context, miss_func, miss_param"):
        cases.load("composite")


def test_cases_survive_the_table(bfcl_cases, tmp_path):
    for found in bfcl_cases.values():
        tables.write("cases", case_table.to_frame(found, seed=1), tmp_path / "cases.parquet")
        back = case_table.from_frame(tables.read("cases", tmp_path / "cases.parquet"))
        assert json.loads(tables.dumps([vars(case) for case in back])) == json.loads(
            tables.dumps([vars(case) for case in found])
        )


def test_a_limit_takes_the_same_numbers_everywhere_and_grows(bfcl_cases):
    frames = {category: case_table.to_frame(found, seed=5) for category, found in bfcl_cases.items()}
    eight = {c: set(case_table.select(f, limit=8)["cluster_id"]) for c, f in frames.items()}
    nine = set(case_table.select(frames["base"], limit=9)["cluster_id"])
    assert len(eight["base"]) == 8
    assert all(chosen == eight["base"] for chosen in eight.values())
    assert eight["base"] < nine
    assert eight["base"] != set(case_table.select(case_table.to_frame(bfcl_cases["base"], 6), limit=8)["cluster_id"])


def test_case_ids_are_chosen_by_name_and_a_wrong_one_is_refused(bfcl_cases):
    frame = case_table.to_frame(bfcl_cases["base"], seed=0)
    names = ["multi_turn_base_7", "multi_turn_base_3"]
    assert set(case_table.select(frame, case_ids=names)["case_id"]) == set(names)
    with pytest.raises(ValueError, match=r"scenarios\.bfcl-base\.case_ids: no case 'nope'"):
        case_table.select(frame, case_ids=["nope"])
