"""What a run would still ask of its models: calls, tokens, cost and time. No model is asked for it."""

from functools import partial
from pathlib import Path

from toolcal import configuration, journal, logs, tables
from toolcal.confidence import plan, turn_plan
from toolcal.estimate import answers
from toolcal.estimate.inputs import Inputs
from toolcal.estimate.judge import judge_line
from toolcal.estimate.model import line
from toolcal.estimate.remaining import answered, asked, ended, remaining
from toolcal.estimate.table import shown
from toolcal.judging import items
from toolcal.judging.answer_items import answer_items
from toolcal.models import entries


def left(cell, entry, seed, inputs, calls, trajectories):
    """What is left of a cell, by a journal of its calls: the agent's, or the user's."""
    table = ended(trajectories, entry, seed)
    made = {} if table is None else asked(calls)
    return remaining(inputs.planned(cell), inputs.turns((cell.scenario, cell.perturbation)), made, table or {})


def left_after_turns(cell, config, inputs, calls, trajectories, confidences):
    """What is left of a cell's questions after its turns."""
    question = turn_plan.metadata(turn_plan.KEY, turn_plan.settings(config, cell))
    table = answered(confidences, question, ended(trajectories, config["models"][cell.model], config["seed"]))
    made = {} if table is None else asked(calls, turn_plan.BESIDE)
    return remaining(inputs.planned(cell), inputs.turns((cell.scenario, cell.perturbation)), made, table or {})


def of_judge(smk):
    """The judge's line, and the models that it cannot be told of yet."""
    config, there, unheld = smk.config, [], []
    for model, about in smk.params.judged.items():
        if all(Path(path).is_file() for paths in about["reads"].values() for path in paths):
            found = items.items(config["judge"]["questions"], items.read(about["reads"]))
            there.append((found, about["journal"]))
        else:
            unheld.append(model)
    for model, about in smk.params.answers_judged.items():
        if all(Path(path).is_file() for path in about["answers"]):
            answered = tables.read("answers", *about["answers"])
            questions = tables.read("questions", *dict.fromkeys(about["questions"]))
            there.append((answer_items(answered, questions), about["journal"]))
        else:
            unheld.append(f"{model} (its answers)")
    return judge_line(config["judge"], there, config["seed"], config["endpoints"]), unheld


def lines_of(name, config, cells, inputs):
    """The line of a model, and where another one plays its users that one's."""
    entry, user = config["models"][name], configuration.user(config)
    own = {cell: files for cell, files in cells.items() if cell.model == name}
    found = {
        cell[1:]: left(cell, entry, config["seed"], inputs, calls, table) for cell, (calls, _, table, _) in own.items()
    }
    if own:
        yield line(name, entry, found, partial(inputs.sizes, entry=entry), config["endpoints"])
    after = {
        cell[1:]: left_after_turns(cell, config, inputs, calls, table, confidences)
        for cell, (calls, _, table, confidences) in own.items()
        if turn_plan.settings(config, cell)
    }
    if after:
        sizes = partial(inputs.sizes, entry=entry, after_turns=True)
        yield line(f"{name} after its turns", entry, after, sizes, config["endpoints"])
    heard = {
        cell[1:]: left(cell, entry, config["seed"], inputs, calls, table)
        for cell, (_, calls, table, _) in own.items()
        if configuration.speaks_freely(cell.scenario)
    }
    if user and heard:
        playing = f"{config['conversations']['user']} as user of {name}"
        yield line(playing, user, heard, inputs.user_sizes, config["endpoints"])


def of_study(name, config, study):
    """The line of a model's answers in the confidence study, if it has any."""
    own = {plan.StudyCell(*cell): files for cell, files in study if cell[0] == name}
    trials = config["confidence"]["trials"] if own else 1
    found = {
        place(cell): answers.left_of(
            questions, calls, limit=config["confidence"]["sets"][cell.question_set].get("limit"), trials=trials
        )
        for cell, (questions, calls) in own.items()
    }
    by_place = {place(cell): (cell, questions) for cell, (questions, _) in own.items()}
    if own:
        yield line(
            f"{name} in the confidence study",
            config["models"][name],
            found,
            lambda at: answers.sizes(*by_place[at]),
            config["endpoints"],
        )


def place(cell):
    return cell.question_set, f"{cell.configuration}.{cell.tool}.{plan.level(cell.noise)}"


def main(smk):
    logs.to_file(smk.log[0])
    config = smk.config
    inputs = Inputs(config, smk.input.cases, smk.input.contexts)
    of_cells = (getattr(smk.params, name) for name in ("journals", "user_journals", "trajectories", "turn_confidence"))
    files = zip(*of_cells, strict=True)
    cells = dict(zip(configuration.cells(config), files, strict=True))
    silent = [name for name, entry in config["models"].items() if entry["source"] in entries.NO_CALLS]
    lines = [
        line
        for name in config["models"]
        if name not in silent
        for line in (*lines_of(name, config, cells, inputs), *of_study(name, config, smk.params.study))
    ]
    max_usd = config["limits"].get("max_usd")
    spent = (
        sum(map(journal.spent, (path for path in Path(smk.params.folder).rglob("*.jsonl") if path.is_file())))
        if max_usd is not None
        else 0.0
    )
    judge, unheld = of_judge(smk) if "judge" in config else (None, [])
    print(shown(lines, silent, max_usd=max_usd, spent=spent, judge=judge, unheld=unheld))


if "snakemake" in globals():
    main(snakemake)  # noqa: F821
