"""A model's published run, replayed: BFCL's result files give the answers, and the rollout runs their calls again."""

from __future__ import annotations

import json
import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from toolcal import calls, logs
from toolcal.benchmarks.bfcl import inference_log
from toolcal.benchmarks.bfcl.grading import STEP_LIMIT
from toolcal.benchmarks.bfcl.result_files import Recording, Step, read_results
from toolcal.benchmarks.protocol import Message
from toolcal.models import python_list
from toolcal.models.faults import CONTEXT
from toolcal.models.protocol import Reply, Request

log = logging.getLogger(__name__)


class Recorded:
    """The recorded run of one model in one scenario.

    Where BFCL went on after a text, its decoder had found calls in that text: these are made again, whatever their
    dialect. The text that ends a turn stays text. What the files did not keep is marked: text beside native calls
    (unless the file logged the conversation), text in place of which an empty list stands, and all that came before
    an error.

    Args:
        entry: the model's entry in the configuration: `format` and `results`.
        scenario: e.g. `bfcl-miss_func`.

    Raises:
        RecordingError: where there is not exactly one result file, or no scenario of this format.
    """

    execute_leaked = False
    concurrency = 1

    def __init__(self, entry: Mapping[str, Any], scenario: str) -> None:
        results = read_results(entry, scenario)
        self._path = results.path
        self._recordings = results.recordings
        self._texts: dict[str, dict[tuple[int, int], str]] = {}
        self._replayed: dict[str, dict[int, int]] = defaultdict(dict)
        for problem in results.problems:
            log.warning("left out: %s", problem)
        if results.problems:
            logs.warn(f"{len(results.problems)} records were left out, the first: {results.problems[0]}")

    @property
    def case_ids(self) -> frozenset[str]:
        """The cases that have a good record."""
        return frozenset(self._recordings)

    async def respond(self, request: Request) -> Reply:
        """The recorded response of this case, turn and step; a failure where there is none."""
        case_id, turn, step = request.case.case_id, request.turn, request.step
        recording = self._recordings.get(case_id)
        if recording is None:
            return _failure("infra_error", f"{self._path.name} has no record of {case_id}")
        if request.trial or request.attempt:
            return _failure("infra_error", "a recorded run has one trial, and cannot be asked again")
        if recording.error is not None:
            overflow = CONTEXT.search(recording.error)
            return _failure("context_exceeded" if overflow else "infra_error", recording.error)
        steps = recording.turns[turn] if turn < len(recording.turns) else ()
        if step >= len(steps):
            return _failure("infra_error", f"the recording of {case_id} ends before step {step} of turn {turn}")
        self._replayed[case_id][turn] = step + 1
        found = steps[step]
        text = self._logged(case_id, recording).get((turn, step), found.text)
        message = _message(found, text, request, went_on=step + 1 < len(steps) or step == STEP_LIMIT)
        if found.reasoning:
            message["reasoning_content"] = found.reasoning
        return Reply(
            message,
            raw=found.raw,
            prompt_tokens=found.prompt_tokens,
            completion_tokens=found.completion_tokens,
            latency=found.latency,
            text_recorded=found.kept or text is not None,
        )

    def leftovers(self) -> list[tuple[str, int, int, int]]:
        """Turns of replayed cases of which recorded steps are left over: the parser here and BFCL's disagreed.

        Returns:
            (case id, turn, recorded steps, replayed steps), sorted.
        """
        found = [
            (case_id, turn, len(steps), replayed.get(turn, 0))
            for case_id, replayed in self._replayed.items()
            for turn, steps in enumerate(self._recordings[case_id].turns)
        ]
        return sorted(row for row in found if row[3] < row[2])

    def _logged(self, case_id: str, recording: Recording) -> dict[tuple[int, int], str]:
        """The texts that the file's log has for steps without any; parsed when the case is first asked for."""
        if case_id not in self._texts:
            places = [(turn, step) for turn, steps in enumerate(recording.turns) for step in range(len(steps))]
            steps = [step for turn in recording.turns for step in turn]
            logged = inference_log.texts(recording.history, steps) if recording.history else {}
            self._texts[case_id] = {places[at]: text for at, text in logged.items() if not steps[at].kept}
        return self._texts[case_id]


def _failure(kind: str, words: str) -> Reply:
    """Nothing of the response is known, nor whether others came before an error."""
    return Reply({"role": "assistant", "content": None}, raw=words, failure=kind, text_recorded=False)


def _message(step: Step, text: str | None, request: Request, *, went_on: bool) -> Message:
    prefix = f"call_{request.turn}_{request.step}"
    if step.calls or not text or not went_on:
        message: Message = {"role": "assistant", "content": text}
        return message | ({"tool_calls": _openai(step.calls, prefix)} if step.calls else {})
    message = python_list.decode(text, request.tools, prefix)
    if message.get("tool_calls"):
        return message
    found = calls.parse(message, None, {tool["function"]["name"] for tool in request.tools})
    if not found.calls:
        return message
    made = [(call.name, json.dumps(call.arguments)) for call in found.calls]
    return message | {"content": found.prose or None, "tool_calls": _openai(made, prefix)}


def _openai(made: Iterable[tuple[str, str]], prefix: str) -> list[dict[str, Any]]:
    return [
        {"id": f"{prefix}_{index}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for index, (name, arguments) in enumerate(made)
    ]
