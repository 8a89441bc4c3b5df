"""What a conversation would take where nothing is known of the model: a guess from the case's sizes.

The conversation is taken to be the reference's, somewhat longer: for each reference call `CALLS_PER_REFERENCE`
responses with a call (models look around, and make calls again), and a closing text in every turn. Results are as long
as the reference calls' are on the benchmark's simulators. Each response reads tools, messages, earlier answers and
results, at `CHARACTERS_PER_TOKEN`. A call takes `CALL_TOKENS`, a closing text `TEXT_TOKENS`. Reasoning is not in it.

Round numbers, not fitted. Against eight recorded BFCL conversations each of DeepSeek-V3.1 and Claude Sonnet 4.5, this
gives 0.8 and 1.0 times their calls, 0.8 times DeepSeek's prompt tokens (Claude's run did not count cached ones) and 1.0
and 0.9 times their answer tokens; in single conversations between 0.5 and 2.2 times.

Where the user speaks freely it is taken to say `USER_TURNS` texts of `USER_TOKENS` each, over which the reference calls
are spread.
"""

from __future__ import annotations

from collections.abc import Sequence

from toolcal import tables
from toolcal.benchmarks.protocol import Case, Message
from toolcal.benchmarks.registry import of_scenario
from toolcal.estimate.work import Work
from toolcal.models import json_mode
from toolcal.models.protocol import Request
from toolcal.perturbations import Context

CALLS_PER_REFERENCE = 1.5
CHARACTERS_PER_TOKEN = 4
CALL_TOKENS = 50
TEXT_TOKENS = 150
USER_TURNS = 6
USER_TOKENS = 40
GUIDELINE_TOKENS = 300
"""Of tau2's guidelines for its user."""
CONFIDENCE_TOKENS = 110, 10
"""Of the question after a turn, and of its answer."""
SRI_CHARACTERS = 4000
"""Of the message with which SRI asks once more in a turn; at most four requests of 700 and 2,400 of state."""

WORDS = (
    f"{CALLS_PER_REFERENCE} calls for each reference call and a closing text a turn,",
    f"{CHARACTERS_PER_TOKEN} characters a token, {CALL_TOKENS} tokens a call and {TEXT_TOKENS} a text;",
    f"{USER_TURNS} turns where the user speaks freely.",
    "A question of the confidence study takes two calls of its tool, with results of 400 tokens.",
    "The probe sri asks once more in each turn; replayed calls of a deterministic model are counted like others.",
    "A model that reasons answers several times that. A run with a small limit, and then this again, says more.",
)
"""The assumptions in lines, for the table's reader."""


def result_lengths(case: Case) -> list[list[int]]:
    """Characters of the reference calls' results, by turn: they are run on the benchmark's simulators."""
    if case.benchmark == "tau2":
        from toolcal.benchmarks.tau2.environment import reference_results

        lengths = [len(result) for result in reference_results(case)]
        return [lengths[turn::USER_TURNS] for turn in range(USER_TURNS)]
    benchmark = of_scenario(case.scenario)
    environment = benchmark.environment(case)
    return [
        [len(environment.execute(name, arguments).result) for name, arguments in benchmark.reference_calls(case, turn)]
        for turn in range(len(case.turns))
    ]


def size(
    case: Case,
    context: Context,
    results: Sequence[Sequence[int]],
    *,
    json_tools: bool = False,
    by_turn: bool = False,
) -> Work:
    """The work of one case-trial.

    Args:
        case: the case.
        context: what the model reads of it.
        results: `result_lengths` of the case.
        json_tools: the tools come as in `json` mode: short signatures, and long results cut.
        by_turn: the model reads the current turn only.
    """
    return _sizes(case, context, results, json_tools, by_turn)[0]


def confidence_size(
    case: Case,
    context: Context,
    results: Sequence[Sequence[int]],
    *,
    json_tools: bool = False,
    by_turn: bool = False,
) -> Work:
    """The work of the questions after each turn of one case-trial, of which none is asked again; as `size`."""
    return _sizes(case, context, results, json_tools, by_turn)[1]


def _sizes(
    case: Case, context: Context, results: Sequence[Sequence[int]], json_tools: bool, by_turn: bool
) -> tuple[Work, Work]:
    """The work of the conversation, and of the questions after its turns."""
    total, after, earlier = Work(), Work(), 0.0
    for turn, messages in enumerate(context.turns or _SPOKEN):
        said = sum(len(str(message.get("content") or "")) for message in messages) / CHARACTERS_PER_TOKEN
        opening = _opening(case, context, turn, json_tools) / CHARACTERS_PER_TOKEN
        start = opening + said + (0.0 if by_turn else earlier)
        lengths = [min(length, json_mode.RESULT_LENGTH) if json_tools else length for length in results[turn]]
        growth = CALL_TOKENS + sum(lengths) / max(1, len(lengths)) / CHARACTERS_PER_TOKEN
        called = CALLS_PER_REFERENCE * len(lengths)
        # The n-th response reads n - 1 calls and their results.
        read = (called + 1) * start + growth * called * (called + 1) / 2
        total += Work(called + 1, read, called * CALL_TOKENS + TEXT_TOKENS)
        earlier += said + called * growth + TEXT_TOKENS
        if context.probe and context.probe["probe"] == "sri":
            told = SRI_CHARACTERS / CHARACTERS_PER_TOKEN
            total += Work(1, start + called * growth + told, TEXT_TOKENS)
            earlier += told
        question, answer = CONFIDENCE_TOKENS
        # Read at the end of the turn, behind all that the conversation holds then.
        after += Work(1, opening + question + (said + called * growth + TEXT_TOKENS if by_turn else earlier), answer)
    return total, after


def user_size(case: Case) -> Work:
    """The work of the model that plays the user in one case-trial."""
    scenario = len(str(case.initial_state["task"].get("user_scenario"))) / CHARACTERS_PER_TOKEN + GUIDELINE_TOKENS
    growth = USER_TOKENS + TEXT_TOKENS
    return Work(
        USER_TURNS, USER_TURNS * scenario + growth * USER_TURNS * (USER_TURNS + 1) / 2, USER_TURNS * USER_TOKENS
    )


_SPOKEN = ((Message(role="user", content="x" * USER_TOKENS * CHARACTERS_PER_TOKEN),),) * USER_TURNS


def _opening(case: Case, context: Context, turn: int, json_tools: bool) -> int:
    """Characters of what every prompt of a turn begins with: system message and tools."""
    system, tools = context.system or "", context.tools_at(turn)
    if not json_tools:
        return len(system) + len(tables.dumps(tools))
    messages, _ = json_mode.prompt(Request(case, 0, turn, 0, 0, (), 0, tools, 0))
    return len(system) + sum(len(message["content"]) for message in messages)
