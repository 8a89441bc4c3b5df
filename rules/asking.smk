# What a job that asks a model has to do, and what has to be there before.


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


def after_turns(paths):
    """The output `turn_confidence` of a query job, where models are asked after each turn."""
    return {turn_plan.KEY: paths} if turn_plan.KEY in config else {}


def replayed(cell):
    """The trajectories that have to be there because the cell replays their journal."""
    baseline = configuration.replayed(config, cell)
    return [path_of(TRAJECTORIES, baseline)] if baseline else []


def weights_of(model, with_user=False):
    """The checkpoints of this run that have to be there before a model is asked, and where wanted before its user is."""
    user = configuration.user(config) if with_user else None
    asked = [config["models"][model], *([user] if user else [])]
    return list(
        dict.fromkeys(path for entry in asked for path in checkpoints.files(entry))
    )


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
