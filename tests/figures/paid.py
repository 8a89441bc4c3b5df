"""The tables of the bench of reward designs, of two designs and of agents that are hardly trained."""

from __future__ import annotations

from functools import cache
from typing import Any

from toolcal import tables
from toolcal.training.reward_analysis import analyse
from toolcal.training.reward_bench import bench
from toolcal.training.rewards import design_of
from toolcal.training.tabular_agent import Training


@cache
def reward_tables() -> dict[str, list[dict[str, Any]]]:
    """The rows of every table of the bench."""
    entries = {"accuracy": {"formula": "accuracy"}, "mscr": {"formula": "mscr", "b1": 1, "b2": 2}}
    designs = [design_of(name, entry) for name, entry in entries.items()]
    training = Training(seeds=2, steps=10, questions=2, group_size=4, learning_rate=1)
    return {name: tables.records(data) for name, data in (analyse(designs) | bench(designs, training, seed=0)).items()}
