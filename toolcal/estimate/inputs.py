"""What the estimate reads of the tables `cases` and `contexts`: each file once, and only its columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from toolcal import configuration, perturbations, tables
from toolcal.benchmarks import case_table
from toolcal.benchmarks.protocol import Case
from toolcal.cells import Cell
from toolcal.estimate.model import Place
from toolcal.estimate.remaining import Run
from toolcal.estimate.sizes import USER_TURNS, confidence_size, result_lengths, size, user_size
from toolcal.estimate.work import Work


class Inputs:
    """The tables of a panel.

    Args:
        config: the configuration, validated.
        cases: files of the table `cases`, one a scenario.
        contexts: files of the table `contexts`, one a scenario and perturbation.
    """

    def __init__(
        self, config: configuration.Config, cases: Sequence[str | Path], contexts: Sequence[str | Path]
    ) -> None:
        self._config = config
        self._cases = {_first(path, "cases", "scenario"): path for path in cases}
        self._contexts = {_first(path, "contexts", "scenario", "perturbation"): path for path in contexts}
        # Each holds a few numbers a case; the tables themselves are not kept.
        self.turns = cache(self._turns)
        self._draws = cache(self._read_draws)
        self._references = cache(self._reference_results)
        self._sized = cache(self._sizes)

    def planned(self, cell: Cell) -> list[Run]:
        """The case-trials that a run of this cell takes."""
        selected = case_table.select(self._draws(cell.scenario), **configuration.selection(self._config, cell))
        turns = self.turns((cell.scenario, cell.perturbation))
        return [
            (case, trial) for case in selected["case_id"] if case in turns for trial in range(self._config["trials"])
        ]

    def sizes(self, place: Place, entry: Mapping[str, Any], *, after_turns: bool = False) -> Mapping[str, Work]:
        """Case id -> the work of one case-trial by `sizes.size`, for the tool mode of a model's entry.

        Args:
            place: scenario and perturbation.
            entry: the model's entry.
            after_turns: of the questions after the turns instead, by `sizes.confidence_size`.
        """
        json_tools = entry.get("tool_mode") == "json"
        return self._sized(place, json_tools, json_tools and entry.get("history") == "turn", after_turns)

    def user_sizes(self, place: Place) -> Mapping[str, Work]:
        """Case id -> the work of the model that plays the user in one case-trial."""
        return {case.case_id: user_size(case) for case in self._read_cases(place[0])}

    def _turns(self, place: Place) -> dict[str, int]:
        """Case id -> turns of its conversation, without the cases that the perturbation leaves out."""
        rows = tables.read("contexts", self._contexts[place], columns=["case_id", "turns", "left_out"])
        rows = rows[rows["left_out"].isna()]
        counts = (len(turns) or USER_TURNS for turns in map(case_table.turns_from_json, rows["turns"]))
        return dict(zip(rows["case_id"], counts, strict=True))

    def _read_draws(self, scenario: str) -> Any:
        return tables.read("cases", self._cases[scenario,], columns=["scenario", "case_id", "draw"])

    def _read_cases(self, scenario: str) -> list[Case]:
        return case_table.from_frame(tables.read("cases", self._cases[scenario,]))

    def _reference_results(self, scenario: str) -> dict[str, list[list[int]]]:
        return {case.case_id: result_lengths(case) for case in self._read_cases(scenario)}

    def _sizes(self, place: Place, json_tools: bool, by_turn: bool, after_turns: bool) -> dict[str, Work]:
        sized = confidence_size if after_turns else size
        results = self._references(place[0])
        contexts = perturbations.from_frame(tables.read("contexts", self._contexts[place]))
        return {
            case.case_id: sized(
                case, contexts[case.case_id], results[case.case_id], json_tools=json_tools, by_turn=by_turn
            )
            for case in self._read_cases(place[0])
            if case.case_id in self.turns(place)
        }


def _first(path: str | Path, name: str, *columns: str) -> tuple[str, ...]:
    """What a file is about: its first row's values of these columns."""
    return tuple(tables.read(name, path, columns=columns).iloc[0])
