# Configuration, wildcards and paths that every stage shares.
import re
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError

BASE = Path(workflow.basedir)

# The code that is hashed is the code that runs, in jobs and in conda environments too.
sys.path.insert(0, str(BASE))

from toolcal import configuration, figures, provenance, runs, unfinished
from toolcal.models import entries

provenance.run_from(BASE)

try:
    config = configuration.validated(
        config, configuration.load_schema(BASE / "schemas/config.schema.yaml")
    )
except configuration.ConfigError as error:
    raise WorkflowError(f"configuration:\n{error}") from None

RESULTS = Path(config["results"])
CELLS = configuration.cells(config)
BY_MODEL = [
    name for name, entry in config["models"].items() if entry["source"] == "vllm"
]
BY_RECORDING = [
    name for name, entry in config["models"].items() if entries.is_conversation(entry)
]
BY_CELL = [name for name in config["models"] if name not in BY_MODEL + BY_RECORDING]

# One table a scenario, a scenario and perturbation, a cell, or a model.
CASES = RESULTS / "cases/{scenario}.parquet"
CONTEXTS = RESULTS / "contexts/{scenario}.{perturbation}.parquet"
TRAJECTORIES = RESULTS / "trajectories/{model}/{scenario}.{perturbation}.parquet"
JOURNAL = RESULTS / "journal/{model}/{scenario}.{perturbation}.jsonl"
ACTIONS = RESULTS / "actions/{model}.parquet"
GRADES = RESULTS / "grades/{model}.parquet"
# A recorded conversation is judged by the tasks that came with it, so its model has tables of its own.
RECORDED = {
    CASES: RESULTS / "cases/{model}/{scenario}.{perturbation}.parquet",
    CONTEXTS: RESULTS / "contexts/{model}/{scenario}.{perturbation}.parquet",
    GRADES: RESULTS / "grades/{model}/{scenario}.{perturbation}.parquet",
}

# What sums all up.
DIAGNOSIS = ("outcomes", "turns", "confusion", "cells", "slack_reasons", "families")
TABLES = {
    **{name: RESULTS / f"diagnosis/{name}.parquet" for name in DIAGNOSIS},
    **{f"{name}_csv": RESULTS / f"diagnosis/{name}.csv" for name in DIAGNOSIS},
}
FIGURE = RESULTS / "figures/{figure}.{labeller}"
FIGURES = expand(
    f"{FIGURE}.{{suffix}}",
    figure=figures.TABLES,
    labeller=config["labellers"],
    suffix=("svg", "pdf", "csv"),
)
MANIFEST = RESULTS / "manifest.json"


wildcard_constraints:
    model="[^/]+",
    scenario="[a-z0-9_-]+",
    perturbation="[a-z0-9_-]+",
    labeller="[a-z0-9_]+",
    figure="[a-z0-9_]+",


def code_of(stage):
    """Hash of all code that a stage's script uses, for its params."""
    return provenance.code_hash(BASE / "scripts" / f"{stage}.py")


def run_of(cell):
    """What a query job has to do for a cell, and how often that ended with infrastructure errors.

    A new ending of that kind changes the params of the rule, which redoes the cell: once per run.
    """
    # One value, for Snakemake compares params as a set: two numbers that trade places would not be seen.
    journal = path_of(JOURNAL, cell)
    return {
        "scenario": cell.scenario,
        "perturbation": cell.perturbation,
        # Beside the results, not an output: Snakemake removes outputs before a job runs.
        "journal": journal,
        "selection": configuration.selection(config, cell),
        "trials": configuration.trials(config, cell.model),
        "seed": config["seed"],
        "unfinished": unfinished.count(journal),
    }


def cells_of(model):
    """The model's cells."""
    return [cell for cell in CELLS if cell.model == model]


def path_of(pattern, cell):
    """The cell's path of this pattern."""
    if cell.model in BY_RECORDING:
        pattern = RECORDED.get(pattern, pattern)
    return str(pattern).format(**cell._asdict())


def per_cell(pattern, model=None, but=()):
    """A path for every cell of the panel, or of one model; without those of some models."""
    cells = [
        cell for cell in CELLS if model in (None, cell.model) and cell.model not in but
    ]
    return list(dict.fromkeys(path_of(pattern, cell) for cell in cells))


def one_of(names):
    """A wildcard that takes these names alone."""
    return "|".join(map(re.escape, names)) or "(?!)"


def recordings(model):
    """The files of a model whose runs are recorded."""
    return entries.recordings(config["models"][model])


def estimates_only():
    """Whether this run looks at the results folder, and no more."""
    return set(workflow.dag_settings.targets) == {"estimate"}


def begin_run():
    """Take the results folder for this run, and tell what its models will lack; an estimate only looks at it."""
    try:
        entries.check(config["models"], config["endpoints"])
        if not estimates_only():
            runs.begin(RESULTS)
    except (entries.EntryError, runs.RunError) as error:
        raise WorkflowError(str(error)) from None


def closing_words():
    """The summary table, where the run got that far, and what it lacks."""
    from toolcal import tables
    from toolcal.summary import lacking, summary

    path = TABLES["cells"]
    if estimates_only() or not path.is_file():
        return ""
    cells = tables.read("cells", path)
    return f"\n{summary(cells)}\n\nFigures and tables are in {RESULTS}.{lacking(cells)}"
