"""Run a model over cells, one after the other; infrastructure errors are kept as rows, and tried again on the next run."""

import asyncio
from pathlib import Path

from toolcal import logs, perturbations, rollout, runs, tables, unfinished
from toolcal.benchmarks import case_table
from toolcal.benchmarks.registry import of_scenario
from toolcal.cells import Cell
from toolcal.models.source import open_source


async def query(cell, about, cases_file, contexts_file, source):
    benchmark = of_scenario(cell.scenario)
    selected = case_table.select(tables.read("cases", cases_file), **about["selection"])
    contexts = perturbations.from_frame(tables.read("contexts", contexts_file))
    with source.cell(benchmark, cell.scenario, about["journal"]) as model:
        return await rollout.run_cell(
            cell,
            case_table.from_frame(selected),
            contexts,
            model,
            benchmark,
            trials=about["trials"],
            seed=about["seed"],
        )


def tell_of_errors(cell, data, about, again):
    broken = data[data["status"] == "infra_error"]
    if broken.empty:
        return
    if again:
        unfinished.note(about["journal"])
    logs.warn(
        f"{len(broken)} cases of {cell.model} in {cell.scenario}.{cell.perturbation} ended with infrastructure "
        f"errors, the first with {broken['raw'].iloc[0]}" + ("; run again to try them again" if again else "")
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
        files = zip(smk.params.cells, smk.input.cases, smk.input.contexts, smk.output, strict=True)
        for about, cases_file, contexts_file, output in files:
            cell = Cell(name, about["scenario"], about["perturbation"])
            data = await query(cell, about, cases_file, contexts_file, source)
            tell_of_errors(cell, data, about, again=entry["source"] != "recorded")
            metadata = {
                "model": smk.params.answers,
                "run": about,
                "revision": of_scenario(cell.scenario).revision,
                "code": smk.params.code,
            }
            tables.write("trajectories", data, output, metadata)


def main(smk):
    logs.to_file(smk.log[0])
    asyncio.run(runs.while_it_lasts(smk.config["results"], run(smk)))


if "snakemake" in globals():
    main(snakemake)  # noqa: F821
