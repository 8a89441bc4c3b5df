from __future__ import annotations

import asyncio
import json
import math

import numpy as np
import pytest

from tests.training import tiny
from toolcal.confidence.answering import answer
from toolcal.confidence.tools import ToolError
from toolcal.confidence.using import Using
from toolcal.models import json_mode
from toolcal.models.protocol import Reply
from toolcal.training.episodes import Desk, roll_out, rows_of
from toolcal.training.log import Lines, Paid, log_row, terms_of
from toolcal.training.policy import Emission, Policy, Sampled
from toolcal.training.rewards import design_of, group_advantages

RLCR = design_of("rlcr", {"formula": "rlcr"})
STOP = 256


class Bytes:
    """A tokenizer of bytes, without transformers; its prompts are the messages as JSON."""

    eos_token_id = STOP

    def apply_chat_template(self, messages, tools, **_):
        return list(json.dumps([messages, tools]).encode())

    def decode(self, tokens, **_):
        return bytes(token for token in tokens if token != STOP).decode()

    def __call__(self, text, **_):
        return {"input_ids": list(text.encode())}


def sampled(action, stop=True):
    """A response, cut off without its stop token."""
    text = action if isinstance(action, str) else json.dumps(action)
    return Sampled([*text.encode(), *([STOP] if stop else [])])


SEARCH = {"action": "search", "query": "head office"}


def played(*conversations, desks=None):
    """Episodes of a question, a list of actions each."""
    turns = [iter(conversation) for conversation in conversations]
    prompts = []

    def sample(asked, _):
        prompts.append([json.loads(bytes(prompt)) for prompt in asked])
        speaking = [turn for turn in turns if turn.__length_hint__()]
        made = [made if isinstance(made, tuple) else (made,) for made in map(next, speaking)]
        return [sampled(*one) for one in made]

    policy = Policy(Bytes(), sample, "json")
    task = tiny.tasks(1)[0]
    episodes = roll_out([task] * len(turns), desks or tiny.desks(), tiny.WAY, policy, seed=0)
    return episodes, prompts


def given(text, confidence=None):
    return {"action": "answer", "answer": text, **({} if confidence is None else {"confidence": confidence})}


def test_the_model_reads_in_training_what_it_reads_in_the_study():
    """The prompts of an episode, and those of the study's own conversation with the same answers."""
    episodes, prompts = played([SEARCH, given("Tern", 40)])
    task, (using, schema) = tiny.tasks(1)[0], vars(tiny.desks()[tiny.PLACE]).values()
    asked = []

    class Model:
        execute_leaked, concurrency = True, 1

        async def respond(self, request):
            asked.append(json_mode.prompt(request)[0])
            text = json.dumps([SEARCH, given("Tern", 40)][len(asked) - 1])
            return Reply(json_mode.decode(text, request.tools, guide=request.guide), "stop")

    async def use(call, number):
        return await using.use("q", 0, call, number)

    found = asyncio.run(answer(task.question, tiny.WAY, schema, use, Model(), trial=0, seed=0))
    assert [messages for ((messages, _),) in prompts] == asked
    assert episodes[0].answered.confidence == found.confidence
    assert (episodes[0].confidence, episodes[0].formatted) == (0.4, True)


def test_form_confidence_and_grade_of_what_was_said():
    right = tiny.tasks(1)[0].question.answers[0]
    episodes, _ = played(
        [SEARCH, given(right, 90)],
        [SEARCH, given(right)],  # no confidence
        [SEARCH, given(right, "high")],
        [SEARCH, ("I do not know", True)],
        [SEARCH, (json.dumps(given(right, 90))[:-4], False)],  # cut off
    )
    assert [episode.formatted for episode in episodes] == [True, False, False, False, False]
    assert [episode.correct for episode in episodes] == [1, 1, 1, 0, 0]
    np.testing.assert_array_equal([episode.confidence for episode in episodes], [0.9, *[math.nan] * 4])
    assert [len(episode.emissions) for episode in episodes] == [2, 2, 2, 2, 2], "nobody is asked again"


def test_a_missing_confidence_gets_no_calibration_term_and_is_not_a_low_one():
    right = tiny.tasks(1)[0].question.answers[0]
    episodes, _ = played([SEARCH, given(right)], [SEARCH, given(right, 0)])
    terms = terms_of(RLCR, episodes)
    assert terms["calibration"].tolist() == [0, -1]
    assert [sum(values[row] for values in terms.values()) for row in (0, 1)] == pytest.approx([0, 0.1])


def test_an_answer_whose_tool_was_down_has_no_part_in_the_update():
    class Down:
        name = "search"

        def find(self, _):
            raise ToolError("out of order", "service", retryable=True)

    desk = tiny.desks()[tiny.PLACE]
    down = Desk(Using(Down(), wait=0), desk.schema)  # type: ignore[arg-type]
    (episode,), _ = played([SEARCH], desks={tiny.PLACE: down})
    fine, _ = played([SEARCH, given("Tern", 40)], [SEARCH, given("Tern", 80)])
    episodes = [*fine, episode]
    terms = terms_of(RLCR, episodes)
    gains = group_advantages(np.asarray(sum(terms.values()))[None], scale=True)[0]
    assert gains[2] == 0
    assert gains[0] > 0
    assert gains[1] == pytest.approx(-gains[0])
    row = log_row("rlcr", 1, Paid(episodes, terms, gains), 3, [], 100)
    assert (row["n"], row["n_ungraded"], row["rolling_n"]) == (2, 1, 2)
    assert row["confidence"] == pytest.approx(0.6)
    assert row["rolling_ece"] == pytest.approx(0.6)


def test_what_a_tool_returned_is_not_trained_on():
    first = Emission([1, 2], Sampled([3, 4], [-0.5, -0.25]), "", True)
    second = Emission([1, 2, 3, 4, 7, 8], Sampled([5, 6], [-1.0, -2.0], [None, b"\x03"]), "", True)
    (row,) = rows_of([first, second])
    assert (row.prompt, row.completion) == ([1, 2], [3, 4, 7, 8, 5, 6])
    assert row.trained == [True, True, False, False, True, True]
    assert row.log_probabilities == [-0.5, -0.25, 0.0, 0.0, -1.0, -2.0]
    assert row.allowed == [*[None] * 5, b"\x03"]


def test_what_a_schema_gives_is_not_trained_on():
    """Where one token alone was allowed, there was no choice to learn from."""
    (row,) = rows_of([Emission([1], Sampled([3, 4, 5], None, [b"\x00\x08", b"\x10\x10", None]), "", True)])
    assert row.trained == [False, True, True]


def test_a_prompt_that_does_not_go_on_begins_another_row():
    first = Emission([1, 2], Sampled([3, 4]), "", True)
    second = Emission([9, 2, 3, 4, 7], Sampled([5]), "", True)
    assert [(row.prompt, row.completion) for row in rows_of([first, second])] == [
        ([1, 2], [3, 4]),
        (second.prompt, [5]),
    ]
    assert rows_of([]) == []


def test_a_log_goes_back_to_a_step_whatever_a_kill_left(tmp_path):
    lines = Lines(tmp_path / "log.jsonl")
    for step in (1, 2, 3):
        lines.add([{"step": step}])
    with (tmp_path / "log.jsonl").open("a") as file:
        file.write('{"step": 4, "rew')
    lines.back_to(2)
    lines.add([{"step": 3}])
    assert [row["step"] for row in lines.rows()] == [1, 2, 3]
