"""Which stage reads and writes which tables: how far a difference in one of them reaches."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from toolcal.tables import TABLES
from toolcal.training.reward_tables import REWARD_TABLES


class Stage(NamedTuple):
    """The tables that a stage reads and writes."""

    reads: frozenset[str]
    writes: frozenset[str]


_ASKED = ("trajectories", "probe_events", "turn_confidence")
_OF_STUDY = ("calibration", "calibration_tests", "reliability", "risk_coverage", "answer_causes", "answer_agreement")
_EARLIER: dict[str, tuple[str, tuple[str, ...]]] = {
    "cases": ("", ("cases",)),
    "contexts": ("cases", ("contexts",)),
    "trajectories": ("cases contexts", _ASKED),
    "conversations": ("cases contexts", (*_ASKED, "user_messages", "grades")),
    "recordings": ("", ("cases", "contexts", "trajectories", "user_messages", "grades")),
    "questions": ("", ("questions", "passages")),
    "answers": ("questions passages", ("answers",)),
    "actions": ("contexts trajectories user_messages", ("actions",)),
    "grades": ("cases trajectories", ("grades",)),
    "corrections": ("actions", ("actions", "corrections")),
    "writes": ("cases trajectories user_messages grades", ("writes",)),
    "judgements": ("cases trajectories user_messages grades writes", ("judgements",)),
    "answer_judgements": ("answers questions", ("answer_judgements",)),
    "calibration": ("answers questions answer_judgements", _OF_STUDY),
    "validity": ("", ("validity",)),
    "supervised": ("", ("supervised_log",)),
    "training": ("questions passages", ("training_log", "training_samples")),
    "comparison": ("answers questions answer_judgements", ("comparison",)),
    "reward_bench": ("", tuple(table.name for table in REWARD_TABLES)),
    "reproduce": ("cells effects outcomes write_rates", ("reproduce",)),
}
_READ_BY_DIAGNOSIS = (
    "actions cases contexts corrections grades judgements probe_events trajectories turn_confidence writes"
)
_written = {table for _, writes in _EARLIER.values() for table in writes}
_STAGES = _EARLIER | {"diagnosis": (_READ_BY_DIAGNOSIS, tuple(name for name in TABLES if name not in _written))}

STAGES = {name: Stage(frozenset(reads.split()), frozenset(writes)) for name, (reads, writes) in _STAGES.items()}
"""Stage -> its tables. Figures show what `diagnosis`, `calibration` and `validity` write."""

CHECKPOINTS = ("base_model", "checkpoint", "checkpoint_folder", "supervised", "training")
"""Stages out of which come the models that entries with `checkpoint` are."""

WITHOUT_TABLES = (
    *("base_model", "checkpoint", "checkpoint_folder"),
    *("estimate", "explorer", "explorer_conversations", "export_dataset", "export_inspect"),
    *("figures", "manifest", "tables"),
)
"""Stages that write no table."""


def reached(stages: Collection[str]) -> list[str]:
    """The tables that these stages write, and all that are made from them, in the order of `TABLES`.

    Args:
        stages: names of stages; others than those of `STAGES` reach nothing.
    """
    found = {table for name in stages if name in STAGES for table in STAGES[name].writes}
    while more := {t for stage in STAGES.values() if stage.reads & found for t in stage.writes} - found:
        found |= more
    return [table for table in TABLES if table in found]
