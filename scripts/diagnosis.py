"""Gold Action Recall against accuracy, cell by cell: fails where the identity between them does not hold."""

from toolcal import logs, tables
from toolcal.benchmarks import case_table
from toolcal.diagnosis.diagnose import diagnose
from toolcal.diagnosis.plan import PlannedCell


def main(smk):
    logs.to_file(smk.log[0])
    cases = tables.read("cases", *smk.input.cases)
    by_scenario = dict(list(cases.groupby("scenario")))
    plan = [
        PlannedCell(*cell, tuple(case_table.select(by_scenario[cell[1]], **selection)["case_id"]), trials)
        for *cell, selection, trials in smk.params.plan
    ]
    results = diagnose(
        cases,
        tables.read("trajectories", *smk.input.trajectories),
        tables.read("actions", *smk.input.actions),
        tables.read("grades", *smk.input.grades),
        plan,
        smk.params.families,
        labellers=smk.params.labellers,
        seed=smk.params.seed,
    )
    for name, data in results.items():
        tables.write(name, data, smk.output[name], {"seed": smk.params.seed, "code": smk.params.code})
        data.to_csv(smk.output[f"{name}_csv"], index=False)


if "snakemake" in globals():
    main(snakemake)  # noqa: F821
