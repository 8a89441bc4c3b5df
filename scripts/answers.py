"""Answers of a model to questions of the confidence study, with or without a tool, and how sure it says it is.

Every call goes through a journal; what has no answer is asked again on the next run.
"""

import asyncio
from contextlib import ExitStack

from toolcal import logs, runs, tables, unfinished
from toolcal.confidence import elicit
from toolcal.confidence.answering import Way
from toolcal.confidence.cell import answer_cell
from toolcal.confidence.open_tool import open_tool
from toolcal.confidence.plan import StudyCell
from toolcal.confidence.sets import questions_of
from toolcal.confidence.using import Using
from toolcal.confidence.web import WebSearch
from toolcal.journal import Journal
from toolcal.models.source import open_model


async def query(cell, about, files, entry, source):
    data = tables.read("questions", files["questions"])
    done = {} if cell.tool == "none" else dict(zip(data["question_id"], data[f"done_{cell.tool}"], strict=True))
    settings = about["settings"]
    tool = open_tool(cell.tool, settings, files["passages"], files["rows"])
    way = Way(
        agent=cell.configuration,
        wording=elicit.wordings()[settings["wording"]],
        scale=settings["scale"],
        json_mode=entry["tool_mode"] == "json",
        execute_leaked=entry.get("execute_leaked", False) or entry["tool_mode"] == "python_list",
        steps=settings["steps"],
    )
    with ExitStack() as stack:
        kept = stack.enter_context(Journal(about["found"])) if isinstance(tool, WebSearch) else None
        model = stack.enter_context(source.cell(None, cell.question_set, about["journal"]))
        return await answer_cell(
            cell,
            questions_of(data, about["limit"]),
            done,
            way,
            None if tool is None else Using(tool, kept),
            None if tool is None else tool.schema,
            model,
            trials=settings["trials"],
            seed=about["seed"],
        )


def tell_of_errors(cell, data, journal):
    broken = data[data["status"] == "infra_error"]
    if broken.empty:
        return
    unfinished.note(journal)
    logs.warn(
        f"{len(broken)} of {len(data)} questions of {cell.question_set} have no answer of {cell.model} "
        f"({cell.configuration}, {cell.tool}), which is no failure of the model; run again to go on"
    )


async def run(smk):
    name, config = smk.params.model, smk.config
    entry = config["models"][name]
    async with open_model(name, config, smk.log[0]) as source:
        names = ("questions", "passages", "rows")
        inputs = zip(*(smk.input[name] for name in names), strict=True)
        for about, paths, output in zip(smk.params.cells, inputs, smk.output.answers, strict=True):
            cell = StudyCell(*about["cell"])
            data = await query(cell, about, dict(zip(names, paths, strict=True)), entry, source)
            tell_of_errors(cell, data, about["journal"])
            metadata = {"model": smk.params.answers, "run": about, "code": smk.params.code}
            tables.write("answers", data, output, metadata)


def main(smk):
    logs.to_file(smk.log[0])
    asyncio.run(runs.while_it_lasts(smk.config["results"], run(smk)))


if "snakemake" in globals():
    main(snakemake)  # noqa: F821
