# Configuration, cells and wildcards that every stage shares.
import re
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError

BASE = Path(workflow.basedir)

# The code that is hashed is the code that runs, in jobs and in conda environments too.
sys.path.insert(0, str(BASE))

from toolcal import configuration, corrections, figures, provenance, runs, unfinished
from toolcal.cells import BASELINE
from toolcal.confidence import plan, turn_plan
from toolcal.models import entries
from toolcal.training import checkpoints
from toolcal.training import training_plan
from toolcal.repeated_keys import repeated_keys

provenance.run_from(BASE)

given = workflow.overwrite_configfiles or [BASE / "config.yaml"]
if twice := [line for path in given for line in repeated_keys(path)]:
    raise WorkflowError("configuration:\n" + "\n".join(twice))

try:
    config = configuration.validated(
        config, configuration.load_schema(BASE / "schemas/config.schema.yaml")
    )
except configuration.ConfigError as error:
    raise WorkflowError(f"configuration:\n{error}") from None

RESULTS = Path(config["results"])
if RESULTS.exists() and not RESULTS.is_dir():
    raise WorkflowError(f"results: {RESULTS} is a file; name a folder")
if workflow.remote_exec:
    try:
        runs.arrive(RESULTS)
    except runs.RunError as error:
        raise WorkflowError(str(error)) from None
CELLS = configuration.cells(config)
STUDY = plan.cells(config)
BY_MODEL = [
    name for name, entry in config["models"].items() if entry["source"] == "vllm"
]
BY_RECORDING = [
    name for name, entry in config["models"].items() if entries.is_conversation(entry)
]
BY_CELL = [name for name in config["models"] if name not in BY_MODEL + BY_RECORDING]
# Whose users speak freely, and may agree to what is written.
WITH_USER = list(
    dict.fromkeys(
        cell.model for cell in CELLS if configuration.speaks_freely(cell.scenario)
    )
)
JUDGED = WITH_USER if "judge" in config else []
JUDGE_QUESTIONS = config["judge"]["questions"] if "judge" in config else []
# Readers' corrections make one more labeller.
CORRECTION_FILES = corrections.files(config)
CORRECTED_FROM = config["labellers"][0] if CORRECTION_FILES else None
LABELLERS = config["labellers"] + ([corrections.CORRECTED] if CORRECTION_FILES else [])


wildcard_constraints:
    model="[^/]+",
    scenario="[a-z0-9_-]+",
    perturbation="[a-z0-9_-]+",
    question_set="[a-z0-9_-]+",
    configuration="direct|prompted|trained",
    tool="none|search|python",
    noise="[0-9.]+",
    figure="[a-z0-9_]+",
    of=r"(\.[a-z0-9_-]+)*",


def code_of(stage):
    """Hash of all code that a stage's script uses, for its params."""
    return provenance.code_hash(BASE / "scripts" / f"{stage}.py")


def cells_of(model, free=None):
    """The model's cells: all, those whose users speak freely, or (False) those whose turns are fixed."""
    return [
        cell
        for cell in CELLS
        if cell.model == model
        and free in (None, configuration.speaks_freely(cell.scenario))
    ]


def one_of(names):
    """A wildcard that takes these names alone."""
    return "|".join(map(re.escape, names)) or "(?!)"


def published_names():
    """The name under which each model was published."""
    return {
        name: entry.get("published_as", name)
        for name, entry in config["models"].items()
    }


def recordings(model):
    """The files of a model whose runs are recorded."""
    return entries.recordings(config["models"][model])
