"""The card of an exported data set: a README whose YAML heading tells the library `datasets` what lies where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from toolcal import __version__
from toolcal.columns import Column
from toolcal.exports.dataset import FOLDER, Config
from toolcal.tables import TABLES
from toolcal.typeset.markdown import escaped

_SAMPLE = """from datasets import load_dataset

cells = load_dataset("<this folder>", "cells", split="train")
"""

_ABOUT = """Conversations of tool-calling agents on multi-turn benchmarks, the action class of each of their messages,
the benchmarks' verdicts, and Gold Action Recall (GAR) against accuracy (Acc). Made by toolcal {version}. Columns of the
type json are JSON strings."""

_LICENCE = """The conversations hold texts of the benchmarks, under the benchmarks' licences (BFCL: Apache-2.0;
tau2-bench and tau-bench: MIT), and texts of the models, under each model's terms. Recorded runs are under the terms of
those who published them. Check these before you publish this folder."""


def card(configs: Sequence[Config], models: Mapping[str, str], revisions: Mapping[str, str], seed: int) -> str:
    """The text of the card.

    Args:
        configs: what was written.
        models: model -> family.
        revisions: scenario -> revision of its data.
        seed: the run's.
    """
    heading = {
        "pretty_name": "toolcal run",
        "license": "other",
        "license_name": "see-the-card",
        "license_link": "README.md",
        "language": ["en"],
        "tags": ["tool-calling", "agents", "evaluation", "calibration"],
        "size_categories": [_size(max((config.rows for config in configs), default=0))],
        "configs": [_config(config, default=at == 0) for at, config in enumerate(configs)],
        "dataset_info": [{"config_name": config.name, "features": _features(config)} for config in configs],
    }
    lines = [
        "---",
        yaml.safe_dump(heading, sort_keys=False, allow_unicode=True, width=1000).rstrip(),
        "---",
        "",
        "# A run of toolcal",
        "",
        _ABOUT.format(version=__version__),
        "",
        "```python",
        _SAMPLE.rstrip(),
        "```",
        "",
        "## Made of",
        "",
        f"Seed {seed}.",
        "",
        *(f"- {escaped(scenario)}: {escaped(revision)}" for scenario, revision in revisions.items()),
        *(f"- model {escaped(model)}, family {escaped(family)}" for model, family in models.items()),
        "",
        "## Licence",
        "",
        _LICENCE,
        "",
        *(line for config in configs for line in _described(config)),
    ]
    return "\n".join(lines)


def _config(config: Config, *, default: bool) -> dict[str, Any]:
    files = [{"split": "train", "path": f"{FOLDER}/{config.name}/**"}]
    return {"config_name": config.name, "data_files": files, **({"default": True} if default else {})}


def _features(config: Config) -> list[dict[str, str]]:
    return [{"name": column.name, "dtype": _dtype(str(column.type))} for column in config.schema]


def _dtype(arrow: str) -> str:
    return {"double": "float64"}.get(arrow, arrow)


def _size(rows: int) -> str:
    """Hugging Face's word for so many rows."""
    for below, name in ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M")):
        if rows < below:
            return name
    return "1M<n<10M"


def _described(config: Config) -> list[str]:
    """The section of a table."""
    columns = TABLES[config.name].columns
    rows = (f"| `{name}` | {_kind(columns[name])} | {escaped(columns[name].doc)} |" for name in config.schema.names)
    return [f"## {config.name}", "", f"{config.rows} rows.", "", "| column | type | |", "|---|---|---|", *rows, ""]


def _kind(column: Column) -> str:
    return column.type + (" or null" if column.null else "")
