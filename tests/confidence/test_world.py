"""The generated world: the same everywhere, answered alike by an independent query and by a reader of its prose."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from collections import Counter

import pytest

from tests.confidence.reader import Table, read
from tests.conftest import ROOT
from toolcal.confidence import world as module
from toolcal.confidence.firms import COLUMNS
from toolcal.confidence.noise import arm
from toolcal.confidence.questions import DIFFICULTIES, KINDS
from toolcal.confidence.world import VERSION, fingerprint, world

QUESTIONS = 1000


@pytest.fixture(scope="module")
def made():
    return world(7, QUESTIONS)


def test_version_1_is_what_it_was():
    """Where this fails, questions or passages have changed: raise `world.VERSION`, and put the new values here."""
    made = world(0, 12)
    seen = arm(made, 1, 0)
    said = repr((seen.passages, seen.rows.to_csv(), seen.done))
    assert VERSION == 1
    assert fingerprint(made) == "11e5c11d1e9c27d143676dcb83dfdcc963df054edd89d024150ec71229f29b59"
    assert (
        hashlib.sha256(said.encode()).hexdigest() == "330775065ecec2ecb66130279dfe31a7810e583ba05faa4edcbf916f41f55f51"
    )


def test_same_seed_same_bytes_in_other_processes():
    program = (
        "from toolcal.confidence.world import fingerprint, world\n"
        "from toolcal.confidence.noise import arm\n"
        "w = world(3, 40)\n"
        "a = arm(w, 0.5, 9)\n"
        "print(fingerprint(w), a.passages, a.rows.to_csv(), a.done)\n"
    )
    said = [
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONHASHSEED": seed},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "4242")
    ]
    assert len(said[0]) > 10_000
    assert len(set(said)) == 1
    assert said[0].startswith(fingerprint(world(3, 40)))


def test_another_seed_is_another_world():
    one, other = world(0, 12), world(1, 12)
    assert fingerprint(one) != fingerprint(other)
    assert not {q.text for q in one.questions} & {q.text for q in other.questions}


def test_the_answer_follows_from_the_table(made):
    table = Table(made.table)
    wrong = [q for q in made.questions if str(table.answer(q.text)) != q.answers[0]]
    assert len(made.questions) == QUESTIONS
    assert wrong == []


def test_the_answer_follows_from_the_gold_passages_alone(made):
    passages = {passage.passage_id: passage for passage in made.passages}
    for question in made.questions:
        stated = read([passages[name] for name in question.gold_passages])
        assert len(stated) == len(question.gold_passages)
        assert str(Table(stated).answer(question.text)) == question.answers[0], question


def test_each_gold_passage_is_needed(made):
    passages = {passage.passage_id: passage for passage in made.passages}
    for question in made.questions[:200]:
        for left_out in question.gold_passages:
            stated = read([passages[name] for name in question.gold_passages if name != left_out])
            assert Table(stated).answer(question.text) is None, question


def test_passages_state_the_table_and_nothing_else(made):
    keys = ["firm", "year"]
    stated = read(made.passages)[list(COLUMNS)].sort_values(keys, ignore_index=True)
    assert stated.equals(made.table.sort_values(keys, ignore_index=True).astype(stated.dtypes.to_dict()))


def test_questions_are_even_and_whole(made):
    assert Counter(q.difficulty for q in made.questions) == dict.fromkeys(DIFFICULTIES, QUESTIONS // 4)
    assert len({q.question_id for q in made.questions}) == len({q.text for q in made.questions}) == QUESTIONS
    for question in made.questions:
        assert question.kind in KINDS
        assert question.answers
        assert (question.kind == "choice") == (question.difficulty == "comparison")
        named = any(re.search(rf"\b{form}\b", question.text) for form in question.answers)
        assert named == (question.kind == "choice")
    sizes = {d: {len(q.gold_passages) for q in made.questions if q.difficulty == d} for d in DIFFICULTIES}
    assert sizes == {"one_fact": {1}, "several_facts": {2}, "aggregate": {3, 4}, "comparison": {3, 6}}


def test_no_two_questions_share_a_passage(made):
    met = Counter(name for question in made.questions for name in question.gold_passages)
    assert set(met.values()) == {1}
    assert len(made.passages) > 4 * len(met)


def test_passages_are_short_enough_for_a_small_model(made):
    lengths = [len(passage.text.split()) for passage in made.passages]
    assert min(lengths) >= 60
    assert max(lengths) <= 90
    assert len({passage.text for passage in made.passages}) == len(made.passages)


def test_names_are_told_apart(made):
    firsts = [name.split()[0] for name in made.firms]
    assert len(set(firsts)) == len(firsts)
    holders = made.table.groupby("chief")["firm"].nunique()
    assert (holders == 1).all()
    surnames = {chief.split()[1] for chief in holders.index}
    assert len(surnames) == len(holders)
    assert not surnames & (set(made.table["town"]) | set(firsts))


def test_the_answer_to_a_question_on_one_cell_stands_in_one_passage_of_its_firm(made):
    """So that a passage of another year does not give it away when the one that states it is gone."""
    for question in made.questions:
        if made.asked[question.question_id].rule != "value":
            continue
        (firm, year), *_ = made.asked[question.question_id].cells
        about = [p for p in made.passages if p.title.startswith(firm)]
        assert [p.title for p in about if re.search(rf"\b{question.answers[0]}\b", p.text)] == [f"{firm} in {year}"]


@pytest.mark.parametrize("questions", [0, -1, module.MOST + 1])
def test_a_world_without_questions_or_with_too_many_is_refused(questions):
    with pytest.raises(ValueError, match="questions, not"):
        world(0, questions)


def test_a_world_may_be_as_small_as_one_question():
    made = world(0, 1)
    assert str(Table(made.table).answer(made.questions[0].text)) == made.questions[0].answers[0]
    assert arm(made, 1, 0).done["world-0000"]["search"] != "none"
