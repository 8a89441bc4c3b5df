"""Run one model over one cell's cases; infrastructure errors are kept as rows, and tried again on the next run."""

import asyncio

from toolcal import logs, perturbations, rollout, tables, unfinished
from toolcal.benchmarks import case_table
from toolcal.benchmarks.registry import of_scenario
from toolcal.cells import Cell
from toolcal.models import open_model


async def query(smk, cell):
    run = smk.params.run
    selected = case_table.select(tables.read("cases", smk.input.cases), **run["selection"])
    contexts = perturbations.from_frame(tables.read("contexts", smk.input.contexts))
    benchmark = of_scenario(cell.scenario)
    async with open_model(cell.model, smk.params.entry, benchmark, journal=smk.params.journal) as model:
        return await rollout.run_cell(
            cell,
            case_table.from_frame(selected),
            contexts,
            model,
            benchmark,
            trials=run["trials"],
            seed=run["seed"],
        )


def main(smk):
    logs.to_file(smk.log[0])
    cell = Cell(smk.wildcards.model, smk.wildcards.scenario, smk.wildcards.perturbation)
    data = asyncio.run(query(smk, cell))
    broken = data[data["status"] == "infra_error"]
    if len(broken):
        unfinished.note(smk.params.journal)
        logs.warn(
            f"{len(broken)} cases of {cell.model} in {cell.scenario}.{cell.perturbation} ended with infrastructure "
            f"errors, the first with {broken['raw'].iloc[0]}; run again to try them again"
        )
    about = {
        "model": dict(smk.params.entry),
        "run": dict(smk.params.run),
        "revision": of_scenario(cell.scenario).revision,
        "code": smk.params.code,
    }
    tables.write("trajectories", data, smk.output.trajectories, about)


if "snakemake" in globals():
    main(snakemake)  # noqa: F821
