from __future__ import annotations

import json
import math
import random

import pytest

from toolcal.confidence.hits import NOTHING, cut
from toolcal.confidence.questions import Passage
from toolcal.confidence.search import PassageError, Search, read_passages
from toolcal.confidence.tools import ToolError

PASSAGES = (
    Passage("p3", "Alder", "Alder Works was founded in Brenton in 1987 by Ida Holm."),
    Passage("p1", "Birch", "Birch Mills was founded in Corley in 1990."),
    Passage("p2", "Birch", "Birch Mills was founded in Corley in 1990."),
    Passage("p4", "Brenton", "Brenton is a town of 12,400 people. " + "It lies by a river. " * 40),
    Passage("p5", "", "Köln, İzmir and 東京 are cities."),
)


def ids(hits):
    return [hit.source for hit in hits]


def test_the_passage_that_says_it_comes_first():
    search = Search(PASSAGES)
    assert ids(search.find("Who founded Alder Works in 1987?"))[0] == "p3"
    assert ids(search.find("TOWN river"))[0] == "p4"
    assert ids(search.find("köln")) == ["p5"]


def test_ties_are_in_the_order_of_ids_and_the_order_given_changes_nothing():
    wanted = ids(Search(PASSAGES).find("Birch Mills founded"))
    assert wanted[:2] == ["p1", "p2"]
    for seed in range(5):
        shuffled = random.Random(seed).sample(PASSAGES, len(PASSAGES))
        assert ids(Search(shuffled).find("Birch Mills founded")) == wanted


def test_the_ranking_is_that_of_the_formula():
    words = [f"w{n}" for n in range(30)]
    chance = random.Random(1)
    texts = {f"{n:03}": chance.choices(words, k=chance.randint(3, 40)) for n in range(200)}
    mean = sum(map(len, texts.values())) / len(texts)

    def score(query, text):
        total = 0.0
        for word in query:
            n, tf = sum(word in other for other in texts.values()), text.count(word)
            total += math.log(1 + (200 - n + 0.5) / (n + 0.5)) * tf / (tf + 1.5 * (0.25 + 0.75 * len(text) / mean))
        return total

    search = Search([Passage(key, "", " ".join(text)) for key, text in texts.items()], k=20)
    for _ in range(20):
        query = chance.sample(words, 4)
        found = [score(query, texts[key]) for key in ids(search.find(" ".join(query)))]
        assert found == pytest.approx(sorted((score(query, text) for text in texts.values()), reverse=True)[:20])


def test_no_more_than_k_and_only_what_shares_a_word():
    assert len(Search(PASSAGES, k=2).find("founded in 1990")) == 2
    assert ids(Search(PASSAGES, k=50).find("river")) == ["p4"]


@pytest.mark.parametrize("query", ["?!", "zzz unknown", "\ud800", "🙂", "-" * 10_000])
def test_queries_without_a_known_word_find_nothing(query):
    assert Search(PASSAGES).find(query) == []
    assert Search(PASSAGES).run({"query": query}) == NOTHING


@pytest.mark.parametrize("passages", [(), (Passage("a", "", "?"),)])
def test_nothing_to_be_found_finds_nothing(passages):
    assert Search(passages).run({"query": "Alder"}) == NOTHING


@pytest.mark.parametrize(
    "arguments", [{}, {"query": ""}, {"query": "  "}, {"query": None}, {"query": 3}, {"q": "Alder"}]
)
def test_a_missing_query_is_the_callers_fault(arguments):
    with pytest.raises(ToolError, match="`query` is") as caught:
        Search(PASSAGES).run(arguments)
    assert (caught.value.fault, caught.value.retryable) == ("arguments", False)


def test_what_the_model_reads_is_cut_and_shows_no_id():
    text = Search(PASSAGES, length=60).run({"query": "Brenton"})
    first, second = text.split("\n\n")
    assert first.splitlines()[0] == "[1] Brenton" or first.splitlines()[0] == "[1] Alder"
    assert second.startswith("[2] ")
    assert all(len(block.splitlines()[1]) <= 60 for block in (first, second))
    assert "…" in text
    assert not any(passage.passage_id in text for passage in PASSAGES)


def test_cutting_ends_at_a_word():
    assert cut("one two three", 13) == "one two three"
    assert cut("one two three", 12) == "one two…"
    assert cut("one two  \n three", 9) == "one two…"
    assert cut("one two three", 4) == "one…"
    assert cut("abcdefgh", 4) == "abc…"
    assert cut("", 4) == ""
    for length in range(1, 30):
        assert len(cut("the quick brown fox jumps", length)) <= max(length, 1)


def test_long_queries_are_answered():
    assert ids(Search(PASSAGES).find("Alder " * 20_000))[0] == "p3"


def test_the_same_id_twice_is_refused():
    with pytest.raises(PassageError, match="'p1' is there twice"):
        Search([PASSAGES[1], PASSAGES[0], PASSAGES[1]])


def test_passages_are_read_from_a_folder(tmp_path):
    (tmp_path / "b.jsonl").write_text('{"passage_id": "3", "text": "c", "title": null}\n')
    (tmp_path / "a.jsonl").write_bytes(
        b'\xef\xbb\xbf{"passage_id": "1", "title": "A", "text": "a", "x": 1}\r\n\n{"passage_id": "2", "text": "b"}'
    )
    (tmp_path / "notes.txt").write_text("no passages")
    assert read_passages(tmp_path) == [Passage("1", "A", "a"), Passage("2", "", "b"), Passage("3", "", "c")]


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("{", "line 2: no JSON"),
        ("[" * 100_000, "line 2: no JSON"),
        ("[1]", "line 2: no JSON object"),
        ("{}", "line 2: passage_id is missing; there are no fields"),
        ('{"id": "x", "text": "a"}', "line 2: passage_id is missing; there are id, text"),
        ('{"passage_id": 4, "text": "a"}', "line 2: passage_id is no text"),
        ('{"passage_id": " ", "text": "a"}', "line 2: passage_id is empty"),
        ('{"passage_id": "x", "text": ""}', "line 2: text is empty"),
        ('{"passage_id": "x", "text": "a", "title": 1}', "line 2: title is no text"),
        ('{"passage_id": "1", "text": "a"}', "line 2: passage_id '1' has been there before"),
        (b"\xff\xfe", "line 2: not UTF-8"),
    ],
)
def test_a_wrong_line_is_named_in_one_line(tmp_path, line, fault):
    content = line if isinstance(line, bytes) else line.encode()
    (tmp_path / "a.jsonl").write_bytes(json.dumps({"passage_id": "1", "text": "a"}).encode() + b"\n" + content)
    with pytest.raises(PassageError) as caught:
        read_passages(tmp_path)
    assert str(caught.value) == f"{tmp_path / 'a.jsonl'}, {fault}"


def test_an_empty_or_missing_folder_is_named(tmp_path):
    with pytest.raises(PassageError, match="file in it"):
        read_passages(tmp_path)
    with pytest.raises(PassageError, match="no such folder"):
        read_passages(tmp_path / "none")
