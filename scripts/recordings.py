"""A recorded run of conversations with a user who speaks freely: its cases, emissions and grades, read in one go."""

import logging

from toolcal import logs, perturbations, tables
from toolcal.benchmarks import case_table
from toolcal.benchmarks.disagreement import disagreement
from toolcal.cells import Cell
from toolcal.recordings import grades, rows
from toolcal.recordings.files import open_recording


def tell_of_problems(cell, problems):
    for problem in problems:
        logging.warning("left out: %s", problem)
    if problems:
        logs.warn(f"{cell.model}: {len(problems)} records were left out, the first: {problems[0]}")


def main(smk):
    logs.to_file(smk.log[0])
    cell = Cell(*(smk.wildcards[name] for name in Cell._fields))
    found = open_recording(smk.params.recording, cell.scenario, smk.params.ask_tasks)
    tell_of_problems(cell, found.problems)
    all_cases = case_table.to_frame(list(found.cases.values()), smk.params.seed)
    chosen = set(case_table.select(all_cases, **smk.params.selection)["case_id"])
    runs = [run for run in found.runs if run.case_id in chosen]
    graded = grades.to_frame(cell, runs, found.cases)
    if words := disagreement(graded):
        logs.warn(f"{cell.model}: {words}")
    made = {
        "cases": all_cases,
        "contexts": perturbations.to_frame(list(found.cases.values()), cell.perturbation),
        "trajectories": rows.to_frame(cell, runs, found.cases),
        "user_messages": rows.user_messages(cell, runs),
        "grades": graded,
    }
    about = {"recording": str(found.path), "left_out": len(found.problems), "code": smk.params.code}
    for name, data in made.items():
        tables.write(name, data, smk.output[name], about)


if "snakemake" in globals():
    main(snakemake)  # noqa: F821
