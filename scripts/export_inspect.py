"""A model's runs as logs of Inspect, one a cell: fails, in words, where the extra `inspect` is not there."""

from toolcal import logs, tables
from toolcal.cells import Cell
from toolcal.corrections.settle import overlay
from toolcal.exports.runs import of_cell
from toolcal.folders import made_whole


def main(smk):
    logs.to_file(smk.log[0])
    try:
        from toolcal.exports import inspect_log
    except ModuleNotFoundError as error:
        raise RuntimeError(
            f"exports: inspect needs the extra inspect ({error.name} is missing): pip install 'toolcal[inspect]'"
        ) from None
    actions = tables.read("actions", smk.input.actions)
    if smk.params.corrected:
        actions = overlay(actions, tables.read("actions", smk.input.corrected), smk.params.corrected)
    grades = tables.read("grades", *smk.input.grades)
    outcomes, rates = (tables.read(name, smk.input[name]) for name in ("outcomes", "cells"))
    with made_whole(smk.output.logs) as folder:
        for *parts, cases, contexts, trajectories, user_messages in smk.params.cells:
            cell = Cell(*parts)
            runs = of_cell(
                tables.read("cases", cases),
                tables.read("contexts", contexts),
                tables.read("trajectories", trajectories),
                tables.read("user_messages", *([user_messages] if user_messages else [])),
                actions,
                grades,
                outcomes,
            )
            own = tables.records(rates[(rates[list(tables.CELL)] == [*cell]).all(axis=1)])
            log = inspect_log.cell_log(cell, list(runs), own, family=smk.params.family)
            inspect_log.write(log, folder / f"{cell.scenario}.{cell.perturbation}.eval")


if "snakemake" in globals():
    main(snakemake)  # noqa: F821
