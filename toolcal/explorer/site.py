"""The explorer's page and the data of its overview, tables and charts."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pandas as pd

from toolcal import tables
from toolcal.actions import refined
from toolcal.actions.label import CUES
from toolcal.explorer import data_file

HERE = Path(__file__).parent
PAGE = sorted(path for folder in ("page", "vendor") for path in (HERE / folder).iterdir())
"""The files of the page: what is not made from a run's data."""

_OF_MANIFEST = ("toolcal", "git", "seed", "python", "platform", "packages", "revisions")


def write_page(folder: str | Path) -> None:
    """Copy the page's files: `index.html` into the folder, what it loads into `page/`."""
    folder = Path(folder)
    (folder / "page").mkdir(parents=True, exist_ok=True)
    for path in PAGE:
        shutil.copyfile(path, folder / path.name if path.name == "index.html" else folder / "page" / path.name)


def write_data(
    folder: str | Path, results: Mapping[str, pd.DataFrame], manifest: Mapping[str, Any], conversations: Sequence[str]
) -> None:
    """Write the data of all pages but conversations: `about.js`, and a file a table (`outcomes` are in the lists).

    Args:
        folder: of the data.
        results: the tables that sum all up, by name.
        manifest: what the run was made of.
        conversations: the models whose conversations are there.
    """
    shown = {name: data for name, data in results.items() if name != "outcomes"}
    for name, data in shown.items():
        spec = tables.TABLES[name]
        docs = {str(column): spec.columns[str(column)].doc for column in data}
        data_file.write(folder, name, {"key": spec.key, "docs": docs, **data_file.by_column(data)})
    data_file.write(folder, "about", about(results, manifest, conversations))


def drop_others(folder: str | Path, models: Sequence[str]) -> None:
    """Remove the conversations of models that are no longer in the run: a folder that is published has no others.

    Args:
        folder: of all models' conversations.
        models: those that stay.
    """
    for path in [path for path in Path(folder).glob("*") if path.name not in models]:
        shutil.rmtree(path)


def about(
    results: Mapping[str, pd.DataFrame], manifest: Mapping[str, Any], conversations: Sequence[str]
) -> dict[str, Any]:
    """What ran, of what, and what is missing: the data of the overview."""
    config = manifest["config"]
    others = dict.fromkeys(name for name in results["cells"]["labeller"] if name not in config["labellers"])
    return {
        "run": {key: manifest[key] for key in _OF_MANIFEST if key in manifest},
        "id": _id(manifest),
        "explorer": config["explorer"],
        "labellers": {name: _version(name) for name in [*config["labellers"], *others]},
        "marked": config["labellers"],
        "actions": tables.ACTIONS,
        "models": {name: {key: entry[key] for key in ("family", "source")} for name, entry in config["models"].items()},
        "scenarios": list(config["scenarios"]),
        "perturbations": {name: _words(entry) for name, entry in config["perturbations"].items()},
        "folders": {model: quote(model, safe="") for model in conversations},
        "cells": data_file.by_column(_counts(results["outcomes"])),
        "tables": {name: len(data) for name, data in results.items() if name != "outcomes"},
    }


def _id(manifest: Mapping[str, Any]) -> str:
    """Under what a reader's browser keeps marks: the same when models or corrections come to the run."""
    own = [manifest["config"]["results"], manifest["seed"]]
    return hashlib.sha256(tables.dumps(own).encode()).hexdigest()[:12]


def _counts(outcomes: pd.DataFrame) -> pd.DataFrame:
    """How many runs each cell has with a verdict and without, and how many of the former were broken off."""
    runs = outcomes.drop_duplicates(list(tables.CASE))
    verdict = runs["passed"].notna()
    counts = runs[list(tables.CELL)].assign(
        n=verdict,
        n_missing=~verdict,
        n_context_exceeded=verdict & (runs["status"] == "context_exceeded"),
        n_step_limit=verdict & (runs["status"] == "step_limit"),
    )
    return counts.groupby(list(tables.CELL), as_index=False, sort=False).sum()


def _version(labeller: str) -> int | None:
    """The version of a labeller's rules; None for one that is not of this package's rules alone."""
    return refined.VERSION if labeller == "refined" else CUES.version if labeller in CUES.labellers else None


def _words(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {"kind": entry["kind"], "name": entry.get("edit") or entry.get("probe"), "rationale": entry["rationale"]}
