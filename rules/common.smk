# Configuration, wildcards and paths that every stage shares.
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

# One table a scenario, a scenario and perturbation, a cell, or a model.
CASES = RESULTS / "cases/{scenario}.parquet"
CONTEXTS = RESULTS / "contexts/{scenario}.{perturbation}.parquet"
TRAJECTORIES = RESULTS / "trajectories/{model}/{scenario}.{perturbation}.parquet"
PROBE_EVENTS = RESULTS / "probe_events/{model}/{scenario}.{perturbation}.parquet"
TURN_CONFIDENCE = RESULTS / "turn_confidence/{model}/{scenario}.{perturbation}.parquet"
JOURNAL = RESULTS / "journal/{model}/{scenario}.{perturbation}.jsonl"
ACTIONS = RESULTS / "actions/{model}.parquet"
GRADES = RESULTS / "grades/{model}.parquet"
# Where a user spoke freely: what was said to the model, and what it wrote to the database.
USER_MESSAGES = RESULTS / "user_messages/{model}/{scenario}.{perturbation}.parquet"
WRITES = RESULTS / "writes/{model}.parquet"
JUDGEMENTS = RESULTS / "judgements/{model}.parquet"
JUDGE_JOURNAL = RESULTS / "journal/judge/{model}.jsonl"
ANSWER_JUDGEMENTS = RESULTS / "answer_judgements/{model}.parquet"
ANSWER_JUDGE_JOURNAL = RESULTS / "journal/judge/answers/{model}.jsonl"
USER_JOURNAL = RESULTS / "journal/user/{model}/{scenario}.{perturbation}.jsonl"
# What became of each correction, and the labels that differ for them.
CORRECTIONS = (
    {
        "corrections": RESULTS / "corrections/corrections.parquet",
        "corrected": RESULTS / "corrections/actions.parquet",
    }
    if CORRECTION_FILES
    else {}
)
# The confidence study: what is asked, what the tools see, what was answered.
QUESTIONS = RESULTS / "questions/{question_set}.{noise}.parquet"
PASSAGES = RESULTS / "questions/{question_set}.{noise}.passages.parquet"
ROWS = RESULTS / "questions/{question_set}.{noise}.csv"
ANSWERS = (
    RESULTS / "answers/{model}/{question_set}.{configuration}.{tool}.{noise}.parquet"
)
ANSWER_JOURNAL = (
    RESULTS
    / "journal/answers/{model}/{question_set}.{configuration}.{tool}.{noise}.jsonl"
)
# The training's adapters, and the model that they change.
BASE_MODEL = RESULTS / "training" / checkpoints.BASE
ADAPTER = RESULTS / "training/{checkpoint}/adapter"
# A conversation is judged where it is held or read.
CONVERSATION = {GRADES: RESULTS / "grades/{model}/{scenario}.{perturbation}.parquet"}
# A recorded one is judged by the tasks that came with it, so its model has cases of its own.
RECORDED = {
    CASES: RESULTS / "cases/{model}/{scenario}.{perturbation}.parquet",
    CONTEXTS: RESULTS / "contexts/{model}/{scenario}.{perturbation}.parquet",
    **CONVERSATION,
}

# What sums all up.
DIAGNOSIS = (
    "outcomes",
    "turns",
    "confusion",
    "cells",
    "slack_reasons",
    "families",
    "effects",
    "family_effects",
    "heterogeneity",
    "probe_rates",
    "pass_hat",
    "write_rates",
    "user_faults",
    *(["judge_agreement"] if "confirmed_write" in JUDGE_QUESTIONS else []),
    *(["nl_assertions"] if "nl_assertions" in JUDGE_QUESTIONS else []),
    *(["turn_calibration"] if turn_plan.KEY in config else []),
    *(["correction_agreement"] if CORRECTIONS else []),
)
CONFIDENCE = (
    "calibration",
    "calibration_tests",
    "reliability",
    "risk_coverage",
    "answer_causes",
    *(["answer_agreement"] if "right_answer" in JUDGE_QUESTIONS else []),
)
# What is trained here, and which of it answers in the study.
CHECKPOINTS = checkpoints.checkpoints(config)
COMPARED = checkpoints.in_study(config, STUDY)
# Whose answers a judge reads.
ANSWERING = (
    list(dict.fromkeys(cell.model for cell in STUDY))
    if "right_answer" in JUDGE_QUESTIONS
    else []
)


def tables_of(*names, folder="diagnosis"):
    """name and name_csv -> where the table is, for tables that sum all up."""
    return {
        **{name: RESULTS / f"{folder}/{name}.parquet" for name in names},
        **{f"{name}_csv": RESULTS / f"{folder}/{name}.csv" for name in names},
    }


REPRODUCE = tables_of("reproduce")
OF_DIAGNOSIS = tables_of(*DIAGNOSIS)
TABLES = {
    **(OF_DIAGNOSIS if CELLS else {}),
    **(tables_of("validity") if config["validity"] else {}),
    **(tables_of(*CONFIDENCE, folder="confidence") if STUDY else {}),
    **(tables_of("comparison", folder="training") if COMPARED else {}),
}
# The bench of reward designs, no part of `all`.
REWARDS = tables_of(
    "reward_designs",
    "reward_optima",
    "reward_curves",
    "tabular_agents",
    "tabular_kinds",
    "tabular_confidences",
    "tabular_summary",
    folder="rewards",
)
# Behind a figure's name stands what its page is of (`of`), each value behind a dot: a perturbation, a labeller, a
# question set, or none.
FIGURE = RESULTS / "figures/{figure}{of}"
PAGES = {
    "labeller": LABELLERS,
    "perturbation": [
        name
        for name in config["perturbations"]
        if any(cell.perturbation == name for cell in CELLS)
    ],
    "question_set": list(config["confidence"]["sets"]) if STUDY else [],
}


def figures_of(tables):
    """The files of all figures that show one of these tables."""
    return [
        path
        for name, source in figures.FIGURES.items()
        if source.table in tables and (WITH_USER or name != "confirmed_writes")
        for path in expand(
            f"{FIGURE}.{{suffix}}",
            figure=name,
            of=figures.pages(name, PAGES),
            suffix=("svg", "pdf", "csv"),
        )
    ]


FIGURES = figures_of(TABLES)
REWARD_FIGURES = figures_of(REWARDS)
# What the target `train` ends with: what training changed, in the study and in the diagnostic.
AFTER_TRAINING = [
    *(tables_of("comparison", folder="training").values() if COMPARED else []),
    *(
        path
        for path in FIGURES
        if Path(path).name.startswith(("comparison.", "gar_acc.")) and CHECKPOINTS
    ),
]
MANIFEST = RESULTS / "manifest.json"
# Of conversations: a study without scenarios has none.
EXPLORER = [RESULTS / "explorer/index.html"] if "explorer" in config and CELLS else []
EXPLORED = list(dict.fromkeys(cell.model for cell in CELLS))
EXPLORED_CONVERSATIONS = RESULTS / "explorer/data/conversations/{model}"


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


def run_of(cell):
    """What a query job has to do for a cell, and how often that ended with infrastructure errors.

    A new ending of that kind changes the params of the rule, which redoes the cell: once per run.
    """
    # One value, for Snakemake compares params as a set: two numbers that trade places would not be seen.
    journal = path_of(JOURNAL, cell)
    baseline = configuration.replayed(config, cell)
    return {
        "scenario": cell.scenario,
        "perturbation": cell.perturbation,
        # Beside the results, not an output: Snakemake removes outputs before a job runs.
        "journal": journal,
        "replay": path_of(JOURNAL, baseline) if baseline else None,
        **(
            _of_user(cell, baseline)
            if configuration.speaks_freely(cell.scenario)
            else {}
        ),
        "selection": configuration.selection(config, cell),
        "trials": configuration.trials(config, cell.model),
        "seed": config["seed"],
        "unfinished": unfinished.count(journal),
    }


def after_turns(paths):
    """The output `turn_confidence` of a query job, where models are asked after each turn."""
    return {turn_plan.KEY: paths} if turn_plan.KEY in config else {}


def study_cells(model):
    """The model's cells of the confidence study."""
    return [cell for cell in STUDY if cell.model == model]


def study_path(pattern, cell):
    """The path of this pattern for a cell of the confidence study."""
    return str(pattern).format(**cell._asdict() | {"noise": plan.level(cell.noise)})


def study_settings():
    """What the comparison has to know of the confidence study beside its cells and its files."""
    study = config.get("confidence", {"sets": {}})
    return {
        "limits": {name: entry.get("limit") for name, entry in study["sets"].items()},
        "services": {name: plan.service_of(study, name) for name in study["sets"]},
        "trials": study.get("trials"),
        "graded_by": study.get("graded_by"),
        "seed": config["seed"],
    }


def adapter_of(checkpoint):
    """The adapter that makes a checkpoint of the base model; none for the untreated one."""
    if checkpoint == checkpoints.UNTREATED:
        return []
    return str(ADAPTER).format(checkpoint=checkpoint)


def study_of(cell):
    """What a query job has to do for a cell of the confidence study, as `run_of` for one of the panel."""
    study = config["confidence"]
    journal = study_path(ANSWER_JOURNAL, cell)
    return {
        "cell": [*cell],
        "journal": journal,
        "found": str(Path(journal).with_suffix(".found.jsonl")),
        "limit": study["sets"][cell.question_set].get("limit"),
        "settings": {
            **{
                key: study[key]
                for key in ("scale", "wording", "steps", "trials", "python")
            },
            "search": study["search"]
            | {"service": plan.service_of(study, cell.question_set)},
        },
        "seed": config["seed"],
        "unfinished": unfinished.count(journal),
    }


def _of_user(cell, baseline):
    """What a query job has to know besides where the user speaks freely."""
    user = configuration.user(config)
    if config["models"][cell.model]["source"] == "audit":
        user = None
    return {
        "limits": {
            key: config["conversations"][key] for key in ("max_steps", "max_errors")
        },
        "user": user and entries.answering(user),
        "user_journal": path_of(USER_JOURNAL, cell),
        "user_replay": path_of(USER_JOURNAL, baseline) if baseline else None,
    }


def judged(model, journal=JUDGE_JOURNAL):
    """What a judge's job has to do, and how often it ended with infrastructure errors, as `run_of` a cell."""
    journal = str(journal).format(model=model)
    return {
        "model": model,
        "judge": entries.answering(config["judge"]),
        "journal": journal,
        "seed": config["seed"],
        "unfinished": unfinished.count(journal),
    }


def read_by_judge(model):
    """What a judge reads of a model: table -> its files."""
    return {
        "cases": per_cell(CASES, model, free=True),
        "trajectories": per_cell(TRAJECTORIES, model, free=True),
        "user_messages": per_cell(USER_MESSAGES, model, free=True),
        "grades": per_cell(GRADES, model, free=True),
        "writes": expand(WRITES, model=model),
    }


def replayed(cell):
    """The trajectories that have to be there because the cell replays their journal."""
    baseline = configuration.replayed(config, cell)
    return [path_of(TRAJECTORIES, baseline)] if baseline else []


def cells_of(model, free=None):
    """The model's cells: all, those whose users speak freely, or (False) those whose turns are fixed."""
    return [
        cell
        for cell in CELLS
        if cell.model == model
        and free in (None, configuration.speaks_freely(cell.scenario))
    ]


def path_of(pattern, cell):
    """The cell's path of this pattern."""
    if cell.model in BY_RECORDING:
        pattern = RECORDED.get(pattern, pattern)
    elif configuration.speaks_freely(cell.scenario):
        pattern = CONVERSATION.get(pattern, pattern)
    return str(pattern).format(**cell._asdict())


def per_cell(pattern, model=None, but=(), free=None):
    """A path for every cell of the panel, or of one model, without those of some models; `free` as in `cells_of`."""
    cells = [
        cell
        for name in ([model] if model else config["models"])
        if name not in but
        for cell in cells_of(name, free)
    ]
    return list(dict.fromkeys(path_of(pattern, cell) for cell in cells))


def files_of(cell):
    """Where the tables of a cell are, for `toolcal.explorer.model.CellFiles`."""
    free = configuration.speaks_freely(cell.scenario)
    recorded = cell.model in BY_RECORDING
    patterns = {
        "cases": CASES,
        "contexts": CONTEXTS,
        "trajectories": TRAJECTORIES,
        "grades": GRADES,
        **({} if recorded else {"probe_events": PROBE_EVENTS}),
        **({} if recorded else after_turns(TURN_CONFIDENCE)),
        **({"user_messages": USER_MESSAGES} if free else {}),
    }
    paths = {name: path_of(pattern, cell) for name, pattern in patterns.items()}
    return cell._asdict() | paths


def of_study(pattern):
    """The paths of this pattern of all cells of the confidence study."""
    return list(dict.fromkeys(study_path(pattern, cell) for cell in STUDY))


def of_training(pattern):
    """The paths of this pattern of all that is trained on, in the order of its places."""
    return [
        str(pattern).format(question_set=name, noise=plan.level(noise))
        for name, noise, _ in training_plan.places(config)
    ]


def asked_by_study(pattern):
    """The paths of this pattern of the study's question sets as they are without noise."""
    return [
        str(pattern).format(question_set=name, noise=plan.level(0))
        for name in config.get("confidence", {}).get("sets", {})
    ]


def one_of(names):
    """A wildcard that takes these names alone."""
    return "|".join(map(re.escape, names)) or "(?!)"


def page_of(wildcards):
    """What a page is of: column -> value."""
    return figures.page(wildcards.figure, wildcards.of)


def caption_of(wildcards):
    """The caption of a figure: what its perturbation is, where it has one, and how it is read."""
    from toolcal.figures.about import about

    name = page_of(wildcards).get("perturbation")
    how = (BASE / f"report/{wildcards.figure}.rst").read_text(encoding="utf-8")
    return f"{about(name, config['perturbations'][name])}\n\n{how}" if name else how


def published_names():
    """The name under which each model was published."""
    return {
        name: entry.get("published_as", name)
        for name, entry in config["models"].items()
    }


def recordings(model):
    """The files of a model whose runs are recorded."""
    return entries.recordings(config["models"][model])


def weights_of(model, with_user=False):
    """The checkpoints of this run that have to be there before a model is asked, and where wanted before its user is."""
    user = configuration.user(config) if with_user else None
    asked = [config["models"][model], *([user] if user else [])]
    return list(
        dict.fromkeys(path for entry in asked for path in checkpoints.files(entry))
    )


def recordings_of_validity():
    """The files that the texts of the validity set stand in, as far as they are there."""
    from toolcal.validity.draw import read_items

    folder = Path(config["recorded_folder"])
    found = {folder / item.file for item in read_items()}
    return sorted(str(path) for path in found if path.is_file())


def targets():
    """What this run was asked for by name."""
    return set(workflow.dag_settings.targets)


def estimates_only():
    """Whether this run looks at the results folder, and no more."""
    return targets() == {"estimate"}


def begin_run():
    """Take the results folder for this run, and tell what its models will lack; an estimate only looks at it."""
    if targets() & {"rewards", "reward_bench"} and not config["rewards"]:
        raise WorkflowError("rewards: no reward design is configured, name one")
    if "reproduce" in targets() and not CELLS:
        raise WorkflowError(
            "reproduce: no scenarios are run, so there is nothing to compare"
        )
    try:
        asks = JUDGED or ANSWERING
        asked = {"the judge": config["judge"] | {"source": "api"}} if asks else {}
        entries.check(config["models"] | asked, config["endpoints"])
        if not estimates_only():
            runs.begin(RESULTS)
    except (entries.EntryError, runs.RunError) as error:
        raise WorkflowError(str(error)) from None


def closing_words():
    """The summary table, where the run got that far, and what it lacks; the published figures where asked for."""
    from toolcal import tables
    from toolcal.summary import effects_summary, lacking, left_over, summary
    from toolcal.confidence.shown import study_summary, changes_summary

    if estimates_only():
        return ""
    if targets() == {"train"} and COMPARED:
        from toolcal.training.shown import shown as compared

        return f"\n{compared(tables.read('comparison', TABLES['comparison']))}"
    if targets() == {"reproduce"}:
        from toolcal.diagnosis.reproduce import shown

        return f"\n{shown(tables.read('reproduce', REPRODUCE['reproduce']))}"
    if targets() == {"rewards"}:
        from toolcal.training.reward_shown import shown

        return f"\n{shown(tables.read('tabular_summary', REWARDS['tabular_summary']))}"
    told = {
        name: tables.read(name, TABLES[name])
        for name in ("cells", "effects", "calibration", "calibration_tests")
        if name in TABLES and TABLES[name].is_file()
    }
    if not told:
        return ""
    blocks = [
        shown(told[name])
        for name, shown in (
            ("cells", summary),
            ("effects", effects_summary),
            ("calibration", study_summary),
            ("calibration_tests", changes_summary),
        )
        if name in told
    ]
    lacks = lacking(told["cells"]) if "cells" in told else ""
    blocks.append(
        f"Figures and tables are in {RESULTS}.{lacks}"
        f"{left_over(RESULTS / 'figures', FIGURES + REWARD_FIGURES)}"
    )
    return "\n" + "\n\n".join(block for block in blocks if block)
