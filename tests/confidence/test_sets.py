"""A question set as its stage writes it, and read again."""

from __future__ import annotations

import io
import json

import pandas as pd
import pytest

from toolcal import tables
from toolcal.confidence import plan
from toolcal.confidence.sets import passages_of, question_set, questions_of

WORLD = {"source": "world", "questions": 8, "noise": [0, 0.5], "revision": "main"}


def test_the_world_at_two_levels_asks_the_same_questions():
    clean, noisy = (question_set("w", WORLD, level, 3) for level in (0.0, 0.5))
    assert clean.questions["text"].tolist() == noisy.questions["text"].tolist()
    assert (clean.questions["done_search"] == "none").all()
    assert (noisy.questions["done_search"] != "none").sum() == 4
    assert clean.rows != noisy.rows
    assert set(pd.read_csv(io.StringIO(clean.rows)).columns) >= {"firm", "year", "chief"}


def test_a_set_survives_its_tables(tmp_path):
    made = question_set("w", WORLD, 0.5, 3)
    for name in ("questions", "passages"):
        tables.write(name, getattr(made, name), tmp_path / f"{name}.parquet")
    data = tables.read("questions", tmp_path / "questions.parquet")
    assert [question.question_id for question in questions_of(data)] == made.questions["question_id"].tolist()
    chosen = questions_of(data, 3)
    assert len(chosen) == 3
    assert {question.question_id for question in chosen} <= set(data["question_id"])
    passages = passages_of(tables.read("passages", tmp_path / "passages.parquet"))
    gold = {passage for question in chosen for passage in question.gold_passages}
    assert gold
    assert len(passages) == len(made.passages)


def test_a_seed_of_its_own_makes_the_same_world_whatever_the_run_s():
    one, other = (question_set("w", WORLD | {"seed": 5}, 0.0, seed) for seed in (1, 2))
    assert one.rows == other.rows


def test_a_published_set_from_a_file(tmp_path):
    line = {"question": "who wrote it", "answer": ["Mara Lindt"]}
    (tmp_path / "nq.jsonl").write_text(json.dumps(line) + "\n")
    (tmp_path / "passages").mkdir()
    (tmp_path / "passages/a.jsonl").write_text(json.dumps({"passage_id": "p", "title": "t", "text": "x"}) + "\n")
    entry = {
        "source": "nq",
        "path": str(tmp_path / "nq.jsonl"),
        "passages": str(tmp_path / "passages"),
        "revision": "main",
    }
    found = question_set("nq", entry, 0.0, 0)
    assert found.questions["revision"].iloc[0].startswith("sha256:")
    assert (found.passages["passage_id"].tolist(), found.rows) == (["p"], "")
    (tmp_path / "nq.jsonl").write_text("{}\n")
    with pytest.raises(ValueError, match=r"nq\.jsonl"):
        question_set("nq", entry, 0.0, 0)


def test_cells_of_the_study():
    config = {
        "models": {"a": {"source": "api"}, "b": {"source": "vllm", "base_model": "a"}},
        "confidence": {"models": ["a", "b"], "sets": {"w": WORLD, "nq": {"source": "nq"}}},
    }
    cells = plan.cells(config)
    assert len(cells) == len(set(cells)) == 2 * (1 + 2 * 2 + 1 + 1)
    assert {(cell.model, cell.configuration) for cell in cells if cell.tool != "none"} == {
        ("a", "prompted"),
        ("b", "trained"),
    }
    assert {cell.noise for cell in cells if cell.configuration == "direct"} == {0.0}
    assert plan.cells({"models": {}}) == []
    assert [plan.level(noise) for noise in (0.0, 0.25, 1.0)] == ["0", "0.25", "1"]
