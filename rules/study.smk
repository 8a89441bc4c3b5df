# Of the confidence study and the training: where their files are, and what their jobs have to do.


def study_cells(model):
    """The model's cells of the confidence study."""
    return [cell for cell in STUDY if cell.model == model]


def study_path(pattern, cell):
    """The path of this pattern for a cell of the confidence study."""
    return str(pattern).format(**cell._asdict() | {"noise": plan.level(cell.noise)})


def of_study(pattern):
    """The paths of this pattern of all cells of the confidence study."""
    return list(dict.fromkeys(study_path(pattern, cell) for cell in STUDY))


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


def adapter_of(checkpoint):
    """The adapter that makes a checkpoint of the base model; none for the untreated one."""
    if checkpoint == checkpoints.UNTREATED:
        return []
    return str(ADAPTER).format(checkpoint=checkpoint)


def study_settings():
    """What the comparison has to know of the confidence study beside its cells and its files."""
    study = config.get("confidence", {"sets": {}})
    return {
        "limits": training_plan.limits(config, "confidence"),
        "services": {name: plan.service_of(study, name) for name in study["sets"]},
        "trials": study.get("trials"),
        "graded_by": study.get("graded_by"),
        "seed": config["seed"],
    }
