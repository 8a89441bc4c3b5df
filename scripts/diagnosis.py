"""Gold Action Recall against accuracy, cell by cell: fails where the identity between them does not hold."""

import pandas as pd

from toolcal import logs, tables
from toolcal.benchmarks import case_table
from toolcal.corrections.settle import overlay
from toolcal.diagnosis.diagnose import diagnose
from toolcal.diagnosis.plan import PlannedCell


def planned(cell, cases, left_out, selection, trials, grades):
    """A cell's part of the plan, without the cases that its perturbation leaves out.

    A recorded run was planned for as many trials as it has of some case.
    """
    if trials is None:
        own = grades[(grades[list(tables.CELL)] == cell).all(axis=1)]
        trials = 1 + max(own["trial"], default=0)
    revision = cases["revision"].iloc[0]
    selected = case_table.select(cases, **selection)["case_id"]
    return PlannedCell(*cell, tuple(selected[~selected.isin(left_out)]), trials, revision)


def left_out_of(path):
    """The cases that a file of the table `contexts` leaves out."""
    rows = tables.read("contexts", path, columns=["case_id", "left_out"])
    return set(rows.loc[rows["left_out"].notna(), "case_id"])


def main(smk):
    logs.to_file(smk.log[0])
    by_file = {str(path): tables.read("cases", path) for path in smk.input.cases}
    cases = pd.concat(by_file.values()).drop_duplicates(["scenario", "revision", "case_id"])
    left_out = {str(path): left_out_of(path) for path in smk.input.contexts}
    grades = tables.read("grades", *smk.input.grades)
    plan = [
        planned(cell, by_file[str(path)], left_out[str(context)], selection, trials, grades)
        for *cell, path, context, selection, trials in smk.params.plan
    ]
    actions, corrections = tables.read("actions", *smk.input.actions), None
    if smk.params.corrected:
        actions = overlay(actions, tables.read("actions", smk.input.corrected), smk.params.corrected)
        corrections = tables.read("corrections", smk.input.corrections)
    asked = getattr(smk.input, "turn_confidence", None)
    results = diagnose(
        cases,
        tables.read("trajectories", *smk.input.trajectories),
        actions,
        grades,
        plan,
        smk.params.families,
        labellers=smk.params.labellers,
        seed=smk.params.seed,
        writes=tables.read("writes", *smk.input.writes),
        judgements=tables.read("judgements", *smk.input.judgements),
        questions=smk.params.questions,
        probe_events=tables.read("probe_events", *smk.input.probe_events),
        probes=smk.params.probes,
        turn_confidence=None if asked is None else tables.read("turn_confidence", *asked),
        corrections=corrections,
    )
    for name, data in results.items():
        tables.write(name, data, smk.output[name], {"seed": smk.params.seed, "code": smk.params.code})
        data.to_csv(smk.output[f"{name}_csv"], index=False)


if "snakemake" in globals():
    main(snakemake)  # noqa: F821
