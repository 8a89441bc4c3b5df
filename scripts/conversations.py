"""Conversations of a model with tau2's user, judged by tau2's own evaluator; every call goes through a journal."""

import asyncio
from contextlib import AsyncExitStack, nullcontext
from pathlib import Path

from toolcal import configuration, logs, perturbations, runs, tables, unfinished
from toolcal.benchmarks import case_table
from toolcal.benchmarks.disagreement import disagreement
from toolcal.benchmarks.tau2 import engine
from toolcal.cells import Cell
from toolcal.confidence import turn_plan
from toolcal.confidence.turn import TurnQuestion
from toolcal.models.source import open_source

TABLES = ("trajectories", "probe_events", "user_messages", "grades", "turn_confidence")


async def hold(cell, about, cases_file, contexts_file, agent, user, question):
    # Imports tau2, which takes seconds.
    from toolcal.live.cell import hold_cell
    from toolcal.live.conversation import Limits

    cases = case_table.from_frame(case_table.select(tables.read("cases", cases_file), **about["selection"]))
    contexts = perturbations.from_frame(tables.read("contexts", contexts_file))
    with (
        agent.cell(None, cell.scenario, about["journal"], about["replay"]) as speaking,
        user.cell(None, cell.scenario, about["user_journal"], about["user_replay"])
        if user
        else nullcontext() as playing,
    ):
        return await hold_cell(
            cell,
            cases,
            contexts,
            speaking,
            playing,
            trials=about["trials"],
            seed=about["seed"],
            limits=Limits(**about["limits"]),
            question=question,
        )


async def run(smk):
    name, config = smk.params.model, smk.config
    settings = {
        "results": Path(config["results"]),
        "endpoints": config["endpoints"],
        "limits": config["limits"],
        "log": Path(smk.log[0]).with_suffix(".server.log"),
    }
    async with AsyncExitStack() as stack:
        agent = await stack.enter_async_context(open_source(name, config["models"][name], **settings))
        playing, entry = config["conversations"]["user"], configuration.user(config)
        if entry is None or config["models"][name]["source"] == "audit":
            user = None
        elif playing == name:
            user = agent
        else:
            user = await stack.enter_async_context(open_source(playing, entry, **settings))
        inputs = zip(smk.input.cases, smk.input.contexts, strict=True)
        written = turn_plan.tables(TABLES, config)
        outputs = zip(*(smk.output[table] for table in written), strict=True)
        for about, files, paths in zip(smk.params.cells, inputs, outputs, strict=True):
            cell = Cell(name, about["scenario"], about["perturbation"])
            asked = turn_plan.settings(config, cell)
            question = None if asked is None else TurnQuestion(**asked)
            found = await hold(cell, about, *files, agent, user, question)
            unfinished.tell(cell, found.trajectories, about["journal"], turn_confidence=found.turn_confidence)
            if words := disagreement(found.grades):
                logs.warn(f"{name}: {words}")
            metadata = {
                "model": smk.params.answers,
                "run": about,
                "revision": engine.revision(),
                "code": smk.params.code,
            }
            for table, path in zip(written, paths, strict=True):
                tables.write(table, getattr(found, table), path, metadata | turn_plan.metadata(table, asked))


def main(smk):
    logs.to_file(smk.log[0])
    asyncio.run(runs.while_it_lasts(smk.config["results"], run(smk)))


if "snakemake" in globals():
    main(snakemake)  # noqa: F821
