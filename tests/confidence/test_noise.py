"""Noise: known for every item, nested, alike in both arms; nothing at 0, and no answer left at 1."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import pairwise

import pandas as pd
import pytest

from tests.confidence.reader import Table, asked, facts, possible_answers
from toolcal.confidence.noise import KINDS, arm
from toolcal.confidence.questions import DIFFICULTIES
from toolcal.confidence.world import world

LEVELS = (0, 0.1, 0.3, 0.6, 1)


@pytest.fixture(scope="module")
def made():
    return world(7, 1000)


@pytest.fixture(scope="module")
def arms(made):
    return {level: arm(made, level, 5) for level in LEVELS}


@pytest.fixture(scope="module")
def stated(arms):
    """Level -> firm -> what its passages state."""
    found = {level: defaultdict(list) for level in arms}
    for level, seen in arms.items():
        for passage in seen.passages:
            found[level][facts(passage.text)["firm"]].append(facts(passage.text))
    return found


def of_question(question, made, stated):
    """What all passages on the firms of a question state."""
    firms = {firm for firm, _ in made.asked[question.question_id].cells}
    return [row for firm in sorted(firms) for row in stated[firm]]


def answers_of(question, made, stated):
    return set(map(str, possible_answers(question.text, of_question(question, made, stated))))


def test_at_0_nothing_is_done(made, arms):
    assert arms[0].passages == made.passages
    pd.testing.assert_frame_equal(arms[0].rows, made.table)
    assert set(arms[0].done) == {question.question_id for question in made.questions}
    assert all(done == {"search": "none", "python": "none"} for done in arms[0].done.values())


def test_at_1_neither_arm_holds_any_answer(made, arms, stated):
    table = Table(arms[1].rows)
    for question in made.questions:
        assert str(table.answer(question.text)) != question.answers[0], question
        assert question.answers[0] not in answers_of(question, made, stated[1]), question


def test_at_1_no_passage_on_the_firm_has_the_words_of_the_answer(made, arms):
    about = {}
    for passage in arms[1].passages:
        about.setdefault(passage.title.rsplit(" in ", 1)[0], []).append(passage.text)
    for question in made.questions:
        if made.asked[question.question_id].rule == "value":
            firm = made.asked[question.question_id].cells[0][0]
            assert not any(re.search(rf"\b{question.answers[0]}\b", text) for text in about[firm]), question


@pytest.mark.parametrize("level", LEVELS)
def test_exactly_the_corrupted_questions_lose_their_answer(made, arms, stated, level):
    table = Table(arms[level].rows)
    for question in made.questions:
        intact = arms[level].done[question.question_id]["search"] == "none"
        assert (arms[level].done[question.question_id]["python"] == "none") == intact
        assert (str(table.answer(question.text)) == question.answers[0]) == intact
        assert (answers_of(question, made, stated[level]) == {question.answers[0]}) == intact


@pytest.mark.parametrize("level", LEVELS)
def test_the_level_is_the_share_in_every_difficulty_and_kinds_are_even(made, arms, level):
    done = arms[level].done
    for difficulty in DIFFICULTIES:
        names = [q.question_id for q in made.questions if q.difficulty == difficulty]
        kinds = Counter(done[name]["search"] for name in names)
        del kinds["none"]
        assert sum(kinds.values()) == pytest.approx(level * len(names))
        assert max(kinds[kind] for kind in KINDS) - min(kinds[kind] for kind in KINDS) <= 1


def test_levels_are_nested(arms):
    for lower, higher in pairwise(LEVELS):
        low = {name: done for name, done in arms[lower].done.items() if done["search"] != "none"}
        assert low.items() <= arms[higher].done.items()
        new = set(arms[lower].passages) - set(arms[0].passages)
        by_text = {(p.title, p.text) for p in arms[higher].passages}
        assert {(p.title, p.text) for p in new} <= by_text
        changed = {tuple(row) for row in arms[lower].rows.to_numpy()} - {tuple(row) for row in arms[0].rows.to_numpy()}
        assert changed <= {tuple(row) for row in arms[higher].rows.to_numpy()}
        assert len(low) < len([d for d in arms[higher].done.values() if d["search"] != "none"])


def test_what_was_done_is_what_it_is_called(made, arms, stated):
    """Of each kind: what the passages state of the asked cells, and what the rows hold."""
    rows = {(row["firm"], row["year"]): row for row in arms[1].rows.to_dict(orient="records")}
    titles = {passage.title for passage in arms[1].passages}
    seen = Counter()
    for question in made.questions:
        how, done = made.asked[question.question_id], arms[1].done[question.question_id]
        assert done["python"] == KINDS[done["search"]]
        said = of_question(question, made, stated[1])
        for firm, year in how.cells:
            here = [row[how.column] for row in said if (row["firm"], row["year"]) == (firm, year) and how.column in row]
            before, true = (made.firms[firm].facts[when][how.column] for when in (year - 1, year))
            held = rows.get((firm, year), {}).get(how.column)
            if done["search"] in ("irrelevant", "missing"):
                assert (here, held) == ([], None)
                assert (f"{firm} in {year}" in titles) == (done["search"] == "irrelevant")
            elif done["search"] == "outdated":
                assert (here, held) == ([before], before)
            else:
                assert len({*here, true, before}) == 4
                assert held == here[0]
            seen[done["search"]] += 1
    assert set(seen) == set(KINDS)


def test_the_rest_of_the_world_stays(made, arms):
    touched = {cell for how in made.asked.values() for cell in how.cells}
    titles = {f"{firm} in {year}" for firm, year in touched}
    assert [p for p in arms[1].passages if p.title not in titles] == [p for p in made.passages if p.title not in titles]
    index = made.table.set_index(["firm", "year"]).index
    rest = made.table[~index.isin(touched)]
    index = arms[1].rows.set_index(["firm", "year"]).index
    pd.testing.assert_frame_equal(
        arms[1].rows[~index.isin(touched)].reset_index(drop=True), rest.reset_index(drop=True)
    )
    # Of a touched row only the asked column is another.
    both = made.table.merge(arms[1].rows, on=["firm", "year"], suffixes=("", "_now"))
    changed = sum(
        (both[column] != both[f"{column}_now"]).astype(int) for column in ("town", "chief", "staff", "revenue")
    )
    assert set(changed) == {0, 1}


def test_identifiers_stay_unique_and_tell_nothing(made, arms):
    for found in arms.values():
        ids = [passage.passage_id for passage in found.passages]
        assert len(set(ids)) == len(ids)
        assert all(len(name) == 6 and name[1:].isdigit() for name in ids)


def test_another_seed_corrupts_other_questions(made):
    def names(seed):
        return {name for name, done in arm(made, 0.3, seed).done.items() if done["search"] != "none"}

    assert names(1) == names(1)
    assert names(1) != names(2)


@pytest.mark.parametrize("noise", [-0.1, 1.1, float("nan")])
def test_noise_outside_0_and_1_is_refused(made, noise):
    with pytest.raises(ValueError, match="within 0 and 1"):
        arm(made, noise, 0)


def test_the_reader_of_questions_knows_every_rule(made):
    assert {asked(question.text)[1] for question in made.questions} == {"value", "led", "sum", "max", "min", "growth"}
