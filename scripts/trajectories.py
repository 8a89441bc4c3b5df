"""Run a model over cells, one after the other; infrastructure errors are rows, and tried again on the next run.

A cell with a probe also gives the probe's decisions, one whose model is asked after each turn its confidences; those of
other cells are empty.
"""

import asyncio
import logging
from pathlib import Path

from toolcal import logs, perturbations, rollout, runs, tables, unfinished
from toolcal.benchmarks import case_table
from toolcal.benchmarks.registry import of_scenario
from toolcal.cells import Cell
from toolcal.confidence import turn_plan
from toolcal.confidence.turn import TurnQuestion
from toolcal.models.recorded import Recorded
from toolcal.models.source import open_source


async def query(cell, about, cases_file, contexts_file, source, question):
    benchmark = of_scenario(cell.scenario)
    selected = case_table.select(tables.read("cases", cases_file), **about["selection"])
    contexts = perturbations.from_frame(tables.read("contexts", contexts_file))
    cases = case_table.from_frame(selected)
    with source.cell(benchmark, cell.scenario, about["journal"], about["replay"]) as model:
        if isinstance(model, Recorded):
            cases = recorded_of(cell, cases, model.case_ids)
        found = await rollout.run_cell(
            cell,
            cases,
            contexts,
            model,
            benchmark,
            trials=about["trials"],
            seed=about["seed"],
            question=question,
        )
        if isinstance(model, Recorded):
            tell_of_leftovers(cell, model.leftovers())
    return found


def recorded_of(cell, cases, case_ids):
    there = [case for case in cases if case.case_id in case_ids]
    if len(there) < len(cases):
        key = f"scenarios.{cell.scenario}.case_ids"
        logs.warn(
            f"{cell.model}: of {len(cases)} cases of {cell.scenario}, {len(there)} are recorded, the others missing. "
            f"The files hold {len(case_ids)}: name those in {key} to run them alone"
        )
    return there


def tell_of_leftovers(cell, leftovers):
    for case_id, turn, recorded, replayed in leftovers:
        logging.warning("%s, turn %d: %d steps recorded, %d replayed", case_id, turn, recorded, replayed)
    if leftovers:
        cases = len({case_id for case_id, *_ in leftovers})
        logs.warn(
            f"{cases} recorded cases of {cell.model} in {cell.scenario} made calls that are read differently here, "
            f"the first is {leftovers[0][0]}; they are graded as read here"
        )


async def run(smk):
    name, config = smk.params.model, smk.config
    entry = config["models"][name]
    async with open_source(
        name,
        entry,
        results=Path(config["results"]),
        endpoints=config["endpoints"],
        limits=config["limits"],
        log=Path(smk.log[0]).with_suffix(".server.log"),
    ) as source:
        inputs = zip(smk.input.cases, smk.input.contexts, strict=True)
        written = turn_plan.tables(rollout.CellRun._fields, config)
        outputs = zip(*(getattr(smk.output, table) for table in written), strict=True)
        for about, files, paths in zip(smk.params.cells, inputs, outputs, strict=True):
            cell = Cell(name, about["scenario"], about["perturbation"])
            asked = turn_plan.settings(config, cell)
            question = None if asked is None else TurnQuestion(**asked)
            found = await query(cell, about, *files, source, question)
            unfinished.tell(
                cell,
                found.trajectories,
                about["journal"],
                turn_confidence=found.turn_confidence,
                again=entry["source"] != "recorded",
            )
            metadata = {
                "model": smk.params.answers,
                "run": about,
                "revision": of_scenario(cell.scenario).revision,
                "code": smk.params.code,
            }
            for table, path in zip(written, paths, strict=True):
                tables.write(table, getattr(found, table), path, metadata | turn_plan.metadata(table, asked))


def main(smk):
    logs.to_file(smk.log[0])
    asyncio.run(runs.while_it_lasts(smk.config["results"], run(smk)))


if "snakemake" in globals():
    main(snakemake)  # noqa: F821
