"""Answers of a model to questions of the confidence study, with or without a tool, and how sure it says it is.

Every call goes through a journal; what has no answer is asked again on the next run.
"""

import asyncio
from contextlib import ExitStack
from pathlib import Path

from toolcal import logs, runs, tables, unfinished
from toolcal.confidence import elicit
from toolcal.confidence.answering import Way
from toolcal.confidence.cell import answer_cell
from toolcal.confidence.firms import COLUMNS
from toolcal.confidence.interpreter import Interpreter
from toolcal.confidence.plan import StudyCell
from toolcal.confidence.sandbox.run import Limits
from toolcal.confidence.search import Search
from toolcal.confidence.sets import passages_of, questions_of
from toolcal.confidence.using import Using
from toolcal.confidence.web import WebSearch
from toolcal.journal import Journal
from toolcal.models.source import open_model


def tool_of(cell, settings, passages, rows):
    if cell.tool == "search":
        asked = settings["search"]
        if asked["service"] == "passages":
            return Search(passages_of(tables.read("passages", passages)), k=asked["k"], length=asked["length"])
        return WebSearch(asked["service"], k=asked["k"], length=asked["length"], key_variable=asked.get("key_env"))
    if cell.tool == "python":
        asked = settings["python"]
        limits = Limits(seconds=asked["seconds"], memory_mb=asked["memory_mb"])
        table = Path(rows).read_bytes()
        about = "columns " + ", ".join(COLUMNS) if table else ""
        files = {"table.csv": table} if table else {}
        return Interpreter(files, about=about, limits=limits, accept_weak=asked["accept_weak"])
    return None


async def query(cell, about, files, entry, source):
    data = tables.read("questions", files["questions"])
    done = {} if cell.tool == "none" else dict(zip(data["question_id"], data[f"done_{cell.tool}"], strict=True))
    settings = about["settings"]
    tool = tool_of(cell, settings, files["passages"], files["rows"])
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
