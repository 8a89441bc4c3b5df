# Where each table, figure and journal is, and which of them a run makes.
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
COMPARISON = tables_of("comparison", folder="training") if COMPARED else {}
TABLES = {
    **(OF_DIAGNOSIS if CELLS else {}),
    **(tables_of("validity") if config["validity"] else {}),
    **(tables_of(*CONFIDENCE, folder="confidence") if STUDY else {}),
    **COMPARISON,
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
    *COMPARISON.values(),
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


def page_of(wildcards):
    """What a page is of: column -> value."""
    return figures.page(wildcards.figure, wildcards.of)


def caption_of(wildcards):
    """The caption of a figure: what its perturbation is, where it has one, and how it is read."""
    from toolcal.figures.about import about

    name = page_of(wildcards).get("perturbation")
    how = (BASE / f"report/{wildcards.figure}.rst").read_text(encoding="utf-8")
    return f"{about(name, config['perturbations'][name])}\n\n{how}" if name else how


def recordings_of_validity():
    """The files that the texts of the validity set stand in, as far as they are there."""
    from toolcal.validity.draw import read_items

    folder = Path(config["recorded_folder"])
    found = {folder / item.file for item in read_items()}
    return sorted(str(path) for path in found if path.is_file())
