"""Real question sets: as the published files have them, from a file or by name; errors in one line."""

from __future__ import annotations

import hashlib
import json
import sys
from types import ModuleType, SimpleNamespace

import pytest

from toolcal.confidence.datasets import SETS, load
from toolcal.confidence.questions import KINDS, Passage, Question

# Invented rows in the published shape, all of its fields included.
ROWS = {
    "nq": [{"question": "who keeps the lamp in vibuburg", "answer": ["Runa Vane", "R. Vane", "Runa Vane"]}],
    "hotpotqa": [
        {
            "id": "5a7a06935542990198eaf050",
            "question": "Which of the two lakes is deeper?",
            "answer": "Lake Orla",
            "type": "comparison",
            "level": "medium",
            "supporting_facts": {"title": ["Lake Orla", "Lake Nilo", "Lake Orla"], "sent_id": [0, 0, 1]},
            "context": {
                "title": ["Lake Orla", "Lake Nilo", "Vibuburg"],
                "sentences": [["Lake Orla is deep.", " It is cold."], ["Lake Nilo is flat."], ["Vibuburg is a town."]],
            },
        }
    ],
    "simpleqa_verified": [
        {
            "original_index": 17,
            "problem": "How many people lived in Vibuburg?",
            "answer": "1,200 (acceptable range: anything between 1,188 and 1,212)",
            "topic": "Geography",
            "answer_type": "Number",
            "multi_step": False,
            "requires_reasoning": False,
            "urls": "https://example.org",
        }
    ],
    "aime_2024": [
        {
            "id": 60,
            "problem": "Find $x$.",
            "solution": "By looking.",
            "answer": "025",
            "url": "https://example.org",
            "year": "2024",
        }
    ],
    "aime_2025": [{"problem": "Find $y$.", "answer": "70", "id": "0"}],
    "math_500": [
        {
            "problem": "Find $z$.",
            "solution": "By hand.",
            "answer": "\\left( 3, \\frac{\\pi}{2} \\right)",
            "subject": "Precalculus",
            "level": 2,
            "unique_id": "test/precalculus/807.json",
        }
    ],
}
QUESTIONS = {
    "nq": Question("nq-00000", "who keeps the lamp in vibuburg", ("Runa Vane", "R. Vane"), "text", ""),
    "hotpotqa": Question(
        "hotpotqa-5a7a06935542990198eaf050",
        "Which of the two lakes is deeper?",
        ("Lake Orla",),
        "text",
        "medium",
        ("hotpotqa-Lake Orla", "hotpotqa-Lake Nilo"),
    ),
    "simpleqa_verified": Question(
        "simpleqa_verified-17",
        "How many people lived in Vibuburg?",
        ("1,200", "1,200 (acceptable range: anything between 1,188 and 1,212)"),
        "text",
        "",
    ),
    "aime_2024": Question("aime_2024-60", "Find $x$.", ("25", "025"), "maths", ""),
    "aime_2025": Question("aime_2025-0", "Find $y$.", ("70",), "maths", ""),
    "math_500": Question(
        "math_500-test/precalculus/807.json",
        "Find $z$.",
        ("\\left( 3, \\frac{\\pi}{2} \\right)",),
        "maths",
        "level 2",
    ),
}


def written(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", SETS)
def test_a_local_file(name, tmp_path):
    path = written(tmp_path / "set.jsonl", ROWS[name])
    found = load(name, path=path)
    assert found.questions == (QUESTIONS[name],)
    assert found.source == str(path)
    assert found.revision == "sha256:" + hashlib.sha256(path.read_bytes()).hexdigest()
    assert found.licence == SETS[name].licence
    assert found.questions[0].kind in KINDS


def test_hotpotqa_brings_its_paragraphs_each_once_in_each_shape(tmp_path):
    (row,) = ROWS["hotpotqa"]
    authors = {k: v for k, v in row.items() if k != "id"} | {
        "_id": "other",
        "supporting_facts": [["Lake Orla", 0], ["Lake Nilo", 0]],
        "context": [["Lake Orla", ["Lake Orla is deep.", " It is cold."]], ["Lake Nilo", ["Lake Nilo is flat."]]],
    }
    objects = row | {
        "id": "third",
        "supporting_facts": [{"title": "Lake Nilo", "sent_id": 0}],
        "context": [{"title": "Lake Nilo", "sentences": ["Lake Nilo is flat."]}],
    }
    found = load("hotpotqa", path=written(tmp_path / "set.jsonl", [row, authors, objects]))
    assert found.passages == (
        Passage("hotpotqa-Lake Orla", "Lake Orla", "Lake Orla is deep. It is cold."),
        Passage("hotpotqa-Lake Nilo", "Lake Nilo", "Lake Nilo is flat."),
        Passage("hotpotqa-Vibuburg", "Vibuburg", "Vibuburg is a town."),
    )
    assert [q.question_id for q in found.questions[1:]] == ["hotpotqa-other", "hotpotqa-third"]
    assert found.questions[2].gold_passages == ("hotpotqa-Lake Nilo",)
    assert found.questions[1].gold_passages == found.questions[0].gold_passages
    assert set(found.questions[0].gold_passages) <= {passage.passage_id for passage in found.passages}


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("nq", {"answer": None}, "field 'answer' is missing"),
        ("nq", {"answer": []}, "field 'answer' is [], not a list of texts"),
        ("nq", {"answer": "Runa"}, "field 'answer' is 'Runa', not a list of texts"),
        ("nq", {"question": " "}, "field 'question' is ' ', not a text"),
        ("simpleqa_verified", {"original_index": None}, "field 'original_index' is missing"),
        ("aime_2024", {"answer": "1000"}, "field 'answer' is '1000', not a whole number of at most three digits"),
        ("aime_2025", {"answer": "$7$"}, "field 'answer' is '$7$', not a whole number of at most three digits"),
        ("math_500", {"level": 6}, "field 'level' is 6, not 1 to 5"),
        ("math_500", {"level": "Level 2"}, "field 'level' is 'Level 2', not 1 to 5"),
        ("math_500", {"problem": 1.5}, "field 'problem' is 1.5, not a text"),
        ("hotpotqa", {"id": None}, "field 'id' is missing"),
        ("hotpotqa", {"context": 3}, "field 'context' is neither an object of lists nor a list of pairs"),
        ("hotpotqa", {"context": {"title": ["a"]}}, "field 'context' has no titles and sentences of one length"),
        ("hotpotqa", {"context": [["a", "b"]]}, "field 'context' has a paragraph that is no title with sentences"),
        ("hotpotqa", {"supporting_facts": {}}, "field 'supporting_facts' has no list of titles"),
    ],
)
def test_a_row_that_is_not_as_it_should_be(name, change, words, tmp_path):
    (row,) = ROWS[name]
    path = written(tmp_path / "set.jsonl", [row | change])
    with pytest.raises(ValueError, match=r".+") as caught:
        load(name, path=path)
    assert str(caught.value) == f"{path}, line 1: {words}"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("\n{oh", ", line 2: no JSON"),
        ("[1]\n", ", line 1: a JSON object is wanted, not list"),
        ("\n \n", ": no question in it"),
    ],
)
def test_a_file_that_is_none(content, words, tmp_path):
    path = tmp_path / "set.jsonl"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=r".+") as caught:
        load("nq", path=path)
    assert str(caught.value).startswith(f"{path}{words}")
    assert "\n" not in str(caught.value)


def test_the_same_question_twice(tmp_path):
    path = written(tmp_path / "set.jsonl", ROWS["aime_2024"] * 2)
    with pytest.raises(ValueError, match="line 2: question aime_2024-60 is there a second time"):
        load("aime_2024", path=path)


def test_an_unknown_set():
    with pytest.raises(ValueError, match="unknown set 'trivia': one of nq, hotpotqa"):
        load("trivia")


def stand_in(monkeypatch, name, rows):
    """The two calls of the network, as their packages have them."""
    asked = []
    datasets, hub = ModuleType("datasets"), ModuleType("huggingface_hub")

    def load_dataset(path, config=None, *, split, revision):
        asked.append((path, config, split, revision))
        return rows

    class HfApi:
        def dataset_info(self, repo_id, *, revision):
            asked.append((repo_id, revision))
            return SimpleNamespace(sha="c0ffee")

    datasets.load_dataset, hub.HfApi = load_dataset, HfApi
    monkeypatch.setitem(sys.modules, "datasets", datasets)
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    return asked


@pytest.mark.parametrize("name", SETS)
def test_by_name_the_commit_is_loaded_and_recorded(name, monkeypatch):
    asked = stand_in(monkeypatch, name, ROWS[name])
    found = load(name, revision="v1")
    wanted = SETS[name]
    assert asked == [(wanted.hub, "v1"), (wanted.hub, wanted.config, wanted.split, "c0ffee")]
    assert found.questions == (QUESTIONS[name],)
    assert (found.source, found.revision, found.licence) == (wanted.hub, "c0ffee", wanted.licence)


def test_a_fetched_row_that_is_not_as_it_should_be(monkeypatch):
    stand_in(monkeypatch, "nq", [*ROWS["nq"], {"question": "what"}])
    with pytest.raises(ValueError, match=r"^google-research-datasets/nq_open, row 1: field 'answer' is missing$"):
        load("nq")


def test_without_the_extra_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'toolcal\[datasets\]', or name a local file"):
        load("aime_2025")
