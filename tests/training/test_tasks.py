from __future__ import annotations

import itertools
from collections import Counter

import pytest

from toolcal.confidence.sets import question_set
from toolcal.training.tasks import NoQuestionError, Place, spread, tasks_of

ENTRY = {"source": "world", "questions": 24, "seed": 1}
PLACES = [Place("made", level, tool) for level in (0.0, 0.5) for tool in ("search", "python")]


def questions(seed=1, name="made", level=0.0):
    return question_set(name, {**ENTRY, "seed": seed}, level, 0).questions


@pytest.fixture(scope="module")
def tasks():
    return tasks_of({place: questions(level=place.noise) for place in PLACES}, {"made": None})


def test_a_step_takes_its_questions_from_all_strata_in_turn(tasks):
    strata = {task.stratum for task in tasks}
    assert len(strata) == 4 * 4  # four places, four difficulties
    order = [task.stratum for task in itertools.islice(spread(tasks, 3), 10 * len(strata))]
    for start in range(0, len(order), len(strata)):
        assert set(order[start : start + len(strata)]) == strata


def test_no_task_comes_again_before_all_of_its_stratum_did(tasks):
    for counts in (Counter(itertools.islice(spread(tasks, 3), len(tasks) * rounds)) for rounds in (1, 3)):
        assert len(set(counts.values())) == 1


def test_the_order_is_the_seeds_alone_and_a_longer_one_begins_alike(tasks):
    first = list(itertools.islice(spread(tasks, 3), 20))
    assert first == list(itertools.islice(spread(tasks, 3), 50))[:20]
    assert first != list(itertools.islice(spread(tasks, 4), 20))


def test_what_the_study_asks_is_not_trained_on():
    asked = questions(name="world")
    limit = asked[asked["draw"] < 6]
    left = tasks_of({PLACES[0]: questions()}, {"made": None}, [limit])
    assert len(left) == 24 - 6
    assert not {task.question.text for task in left} & set(limit["text"])


def test_worlds_of_two_seeds_have_no_question_in_common():
    assert len(tasks_of({PLACES[0]: questions(2)}, {"made": None}, [questions(1, "world")])) == 24


def test_where_no_question_is_left_one_line_says_why():
    with pytest.raises(NoQuestionError, match=r"no question is left .* the study .* asks all 24") as raised:
        tasks_of({PLACES[0]: questions()}, {"made": None}, [questions(name="world")])
    assert "\n" not in str(raised.value)


def test_noise_is_known_of_each_task(tasks):
    assert {task.done for task in tasks if task.place.noise == 0} == {"none"}
    assert 0 < sum(task.done != "none" for task in tasks if task.place == PLACES[2]) < 24
